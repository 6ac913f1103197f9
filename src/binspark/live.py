"""Servers: connect to one, follow its transactions, archive its logs, serve an archive. Each is one call.

The keyword arguments of the connection are those of `binspark.options.server.ServerArguments`: `host`, `port`, `user`,
`password`, `socket`, `defaults_file`, `ssl_mode`, `ssl_ca`, `ssl_cert`, `ssl_key`, `get_server_public_key`,
`server_public_key_path`, `enable_cleartext_plugin`, `connect_timeout`. A connection that is configured already may be
given instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from binspark.errors import OptionError
from binspark.kernels import cache
from binspark.options.keyring import KEYRING_OPTIONS
from binspark.options.monitoring import METRICS_OPTIONS
from binspark.options.option import Option, OptionTable, Surface, warn_renamed
from binspark.options.serve import SERVE_OPTIONS
from binspark.options.server import (
    ARCHIVE_OPTIONS,
    SERVER_OPTIONS,
    STREAM_OPTIONS,
    ServerArguments,
    ServerOption,
    connection_arguments,
)

if TYPE_CHECKING:
    from binspark.archive.archiver import Archiver
    from binspark.files.storage import Storage
    from binspark.monitoring.status import Status
    from binspark.replication.follow import Follower
    from binspark.replication.position import BinlogPosition
    from binspark.replication.settings import StreamSettings
    from binspark.serve.server import ArchiveServer
    from binspark.server.config import ConnectionConfig
    from binspark.server.connection import Connection

_OPTIONS: OptionTable[Option] = OptionTable(
    (*STREAM_OPTIONS, *ARCHIVE_OPTIONS, *METRICS_OPTIONS, *SERVER_OPTIONS), Surface.PYTHON, warn_renamed
)
_PROGRESS = next(option for option in ARCHIVE_OPTIONS if option.name == "progress_seconds")
_FOLLOW_OPTIONS: OptionTable[Option] = OptionTable(
    (_PROGRESS, *METRICS_OPTIONS, *SERVER_OPTIONS), Surface.PYTHON, warn_renamed
)


def connect(config: ConnectionConfig | None = None, /, **server: Unpack[ServerArguments]) -> Connection:
    """Connect to a server; of several hosts, to the first that answers.

    >>> with binspark.connect(host="db1", user="repl") as connection:  # doctest: +SKIP
    ...     connection.rows("SELECT VERSION()")
    """
    from binspark.server.connection import connect

    return connect(_config(config, server))


def follow(
    config: ConnectionConfig | None = None,
    /,
    *,
    start: str | BinlogPosition = "latest",
    until: str | None = None,
    connection_server_id: int | None = None,
    heartbeat_seconds: float | None = None,
    on_progress: Callable[[Status], None] | None = None,
    **options: Unpack[_Follow],
) -> Follower:
    """Follow the transactions of a server, over lost connections, restarts and failovers.

    start                 latest, earliest, `binlog.000003:154`, GTIDs, `timestamp:…`, or a stored position
    until                 `end` (of what the server has written now), `binlog.000003:154`, GTIDs, or a time; without it,
                          iteration does not end
    connection_server_id  the server id to connect with; random if it is not given
    heartbeat_seconds     how often an idle server sends a heartbeat, which is a chunk without events
    on_progress           is called with rate and lag, every `progress_seconds`, in another thread

    The other options are those of `WatchArguments` and of the connection. Metrics are served until the follower is
    closed.

    >>> with binspark.follow(host="db1,db2", user="repl", start="latest") as follower:  # doctest: +SKIP
    ...     for chunk in follower:
    ...         for event in chunk.events():
    ...             print(event.type, event.body)
    ...         store(str(follower.position))
    """
    from binspark.monitoring.settings import metrics_settings
    from binspark.replication.follow import follow
    from binspark.replication.settings import FollowSettings

    cache.enable()
    stream = stream_settings(connection_server_id=connection_server_id, heartbeat_seconds=heartbeat_seconds)
    given, server = _divided(_FOLLOW_OPTIONS, options)
    connected = _config(config, server)
    metrics = metrics_settings(given.get("metrics_port"), given.get("metrics_host"))
    follower = follow(connected, start, FollowSettings(stream=stream), until=until)
    if metrics is not None or on_progress is not None:
        from binspark.monitoring.followed import watching  # loads an HTTP server

        seconds = given.get("progress_seconds")
        try:
            follower.watch_with(watching(follower, connected, metrics, on_progress, seconds))
        except OptionError:  # the port is taken
            follower.close()
            raise
    return follower


class WatchArguments(TypedDict, total=False):
    """The options of watching as keyword arguments; `METRICS_OPTIONS` and `ARCHIVE_OPTIONS` have their meanings."""

    progress_seconds: float | None
    metrics_port: int | None
    metrics_host: str | None


class _Follow(WatchArguments, ServerArguments, total=False):
    """The keyword arguments of `follow` besides its own."""


class ArchiveArguments(WatchArguments, total=False):
    """The options of an archive as keyword arguments; `STREAM_OPTIONS` and `ARCHIVE_OPTIONS` have their meanings."""

    start: str | None
    until: Literal["end"] | None
    keep_days: float | None
    keep_bytes: int | str | None
    sync_seconds: float | None
    upload_seconds: float | None
    spool: str | os.PathLike[str] | None
    connection_server_id: int | None
    heartbeat_seconds: float | None


class _Archive(ArchiveArguments, ServerArguments, total=False):
    """All keyword arguments of `open_archiver`."""


def open_archiver(
    target: str | os.PathLike[str],
    config: ConnectionConfig | None = None,
    /,
    *,
    on_progress: Callable[[Status], None] | None = None,
    storage: Storage | None = None,
    **options: Unpack[_Archive],
) -> Archiver:
    """Return an archiver of a server's logs, for a new archive or one that exists: `run` copies until `stop` is called.

    target       a directory, or the URI of one in an object store
    on_progress  is called with rate and lag, every `progress_seconds`, in another thread
    storage      how to reach the object store, if the URI and the environment do not say it

    The other options are those of `ArchiveArguments` and of the connection.

    >>> binspark.open_archiver("archive/", host="db1", user="repl", keep_days=30).run()  # doctest: +SKIP
    """
    from binspark.archive.archiver import open_archiver
    from binspark.archive.retention import Retention
    from binspark.archive.settings import ArchiveSettings
    from binspark.monitoring.settings import metrics_settings

    cache.enable()
    given, server = _divided(_OPTIONS, options)
    settings = ArchiveSettings(
        until_end=_until_end(given.get("until")),
        stream=stream_settings(
            connection_server_id=given.get("connection_server_id"), heartbeat_seconds=given.get("heartbeat_seconds")
        ),
        metrics=metrics_settings(given.get("metrics_port"), given.get("metrics_host")),
        keep=Retention(given.get("keep_days"), given.get("keep_bytes")),
        **{name: value for name, value in given.items() if name in _SETTINGS and value is not None},
    )
    return open_archiver(
        _config(config, server), os.fspath(target), settings, on_progress, spool=given.get("spool"), storage=storage
    )


_SETTINGS = ("start", "sync_seconds", "upload_seconds", "progress_seconds")
"""The options that `ArchiveSettings` has under the same names."""


class ServeArguments(TypedDict, total=False):
    """The options of serving as keyword arguments; `SERVE_OPTIONS` and `METRICS_OPTIONS` have their meanings."""

    bind: str | None
    port: int | None
    user: str | None
    password_file: str | os.PathLike[str] | None
    server_id: int | None
    heartbeat_seconds: float | None
    progress_seconds: float | None
    metrics_port: int | None
    metrics_host: str | None
    ssl_cert: str | os.PathLike[str] | None
    ssl_key: str | os.PathLike[str] | None
    keyring: str | os.PathLike[str] | None
    keyring_password_file: str | os.PathLike[str] | None


def open_server(
    archive: str | os.PathLike[str],
    /,
    *,
    password: str | None = None,
    on_progress: Callable[[Status], None] | None = None,
    storage: Storage | None = None,
    **options: Unpack[ServeArguments],
) -> ArchiveServer:
    """Return a server of an archive, a replication source, which listens already: `run` serves until `stop` is called.

    archive      a directory of logs of one server, or the URI of one in an object store
    password     the password of the user, instead of `password_file`
    on_progress  is called with what was sent, every `progress_seconds`, in another thread
    storage      how to reach the object store, if the URI and the environment do not say it

    The other options are those of `ServeArguments`; `keyring` has the keys of encrypted logs. In a `with` block, it
    serves in the background.

    >>> with binspark.open_server("archive/", port=3307) as server:  # doctest: +SKIP
    ...     print(server.address)
    """
    from binspark.files.keyring_file import keyring_storage
    from binspark.monitoring.settings import metrics_settings
    from binspark.serve.server import open_server
    from binspark.serve.settings import ServeSettings, read_password

    cache.enable()
    found = {name: _value(*each) for name, each in _SERVE_OPTIONS.find_all(options).items()}
    given = {name: value for name, value in found.items() if value is not None}
    file = given.pop("password_file", None)
    if file is not None and password is not None:
        raise OptionError("and password cannot be combined", option="password_file")
    password = read_password(file) if file is not None else password
    storage = keyring_storage(given.pop("keyring", None), given.pop("keyring_password_file", None), storage)
    metrics = metrics_settings(given.pop("metrics_port", None), given.pop("metrics_host", None))
    settings = ServeSettings(password=password or "", metrics=metrics, **given)
    return open_server(os.fspath(archive), settings, on_progress, storage=storage)


_SERVE_OPTIONS: OptionTable[Option] = OptionTable(
    (*SERVE_OPTIONS, _PROGRESS, *METRICS_OPTIONS, *KEYRING_OPTIONS), Surface.PYTHON, warn_renamed
)


def _until_end(until: str | None) -> bool:
    if until not in (None, "end"):
        raise OptionError(f"must be 'end' for an archive, got {until!r}", option="until")
    return until is not None


def stream_settings(
    *, connection_server_id: int | None = None, heartbeat_seconds: float | None = None
) -> StreamSettings:
    """Return how a stream is requested; None is the default."""
    from binspark.replication.settings import StreamSettings

    given = {"connection_server_id": connection_server_id, "heartbeat_seconds": heartbeat_seconds}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return StreamSettings(**chosen)


def _divided(table: OptionTable[Option], options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of options, and what is given for the connection."""
    found = table.find_all(options)
    given = {name: _value(*each) for name, each in found.items() if not isinstance(each[0], ServerOption)}
    return given, {name: value for name, (option, value) in found.items() if isinstance(option, ServerOption)}


def _value(option: Option, value: Any) -> Any:
    return None if value is None else option.read(value, Surface.PYTHON)


def _config(config: ConnectionConfig | None, server: Any) -> ConnectionConfig:
    from binspark.server.config import connection_config

    arguments = connection_arguments(server)
    if config is None:
        return connection_config(**arguments)
    if arguments:
        raise OptionError("cannot be combined with a connection that is configured already", option=next(iter(server)))
    return config
