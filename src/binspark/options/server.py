"""The options of connections, under the names of MySQL's own clients, and those of streams and archives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from binspark.errors import OptionError
from binspark.options import values
from binspark.options.option import Option, OptionTable, Surface, warn_renamed

_SSL_MODES = ("disabled", "preferred", "required", "verify_ca", "verify_identity")
_NOT_IN_SPARK = frozenset({Surface.COMMAND_LINE, Surface.PYTHON})
_MAX_SERVER_ID = (1 << 32) - 1


class ServerOption(Option):
    """An option of a connection, which `binspark.server.config.connection_config` takes under its name in Python."""

    __slots__ = ()


def _hosts(value: str | Iterable[str]) -> str:
    return ",".join(values.names(value))


def _path(value: str | os.PathLike[str]) -> str:
    return os.fspath(value)


def _ssl_mode(value: str) -> str:
    if str(value).lower() not in _SSL_MODES:
        raise values.InvalidValue(values.listed(_SSL_MODES), value)
    return str(value).lower()


SERVER_OPTIONS = (
    ServerOption(
        name="host", short="-h", parse=_hosts, metavar="HOST[:PORT]", default="localhost", is_list=True,
        help="The server, or several servers with the same data.",
        old_names={Surface.PYTHON: "hosts"},
    ),
    ServerOption(
        name="port", short="-P", parse=values.port, metavar="NUMBER", default="3306",
        help="The port of hosts that are given without one.",
    ),
    ServerOption(
        name="user", short="-u", parse=values.text, metavar="NAME", default="your login name",
        help="The user that connects.",
    ),
    ServerOption(
        name="password", short="-p", parse=values.text, metavar="TEXT",
        default="from the option file, BINSPARK_PASSWORD or MYSQL_PWD",
        help="The password. On the command line without a value, binspark asks for it; with a value, every user of the "
        "machine can see it.",
    ),
    ServerOption(
        name="socket", short="-S", parse=_path, metavar="PATH",
        help="The socket file of a server on this machine, instead of a host.",
    ),
    ServerOption(
        name="defaults_file", parse=_path, metavar="FILE",
        default="on the command line those of MySQL's clients: /etc/my.cnf, /etc/mysql/my.cnf, ~/.my.cnf",
        help="A MySQL option file: options that are not given are read from its groups [client] and [binspark].",
    ),
    ServerOption(
        name="no_defaults", parse=values.flag, metavar="", surfaces=frozenset({Surface.COMMAND_LINE}),
        help="Read no option file.",
    ),
    ServerOption(
        name="ssl_mode", parse=_ssl_mode, choices=_SSL_MODES,
        default="verify_ca if a CA is given, else preferred",
        help="Whether the connection is encrypted and the server's certificate verified.",
        old_names={Surface.PYTHON: "tls_mode"},
    ),
    ServerOption(
        name="ssl_ca", parse=_path, metavar="FILE",
        help="The certificate authorities that the server's certificate is verified against (PEM).",
        old_names={Surface.PYTHON: "tls_ca"},
    ),
    ServerOption(
        name="ssl_cert", parse=_path, metavar="FILE",
        help="The client certificate, for servers that require one (PEM).",
        old_names={Surface.PYTHON: "tls_cert"},
    ),
    ServerOption(
        name="ssl_key", parse=_path, metavar="FILE",
        help="The private key of the client certificate (PEM).",
        old_names={Surface.PYTHON: "tls_key"},
    ),
    ServerOption(
        name="get_server_public_key", parse=values.flag, metavar="",
        help="Without TLS, encrypt the password with the RSA key that the server sends. Whoever answers can send one.",
    ),
    ServerOption(
        name="server_public_key_path", parse=_path, metavar="FILE",
        help="Without TLS, encrypt the password with the server's RSA key in this file (PEM).",
    ),
    ServerOption(
        name="enable_cleartext_plugin", parse=values.flag, metavar="",
        help="Send the password in clear text if the server requests it, over TLS or a socket only.",
    ),
    ServerOption(
        name="connect_timeout", parse=values.seconds, metavar="SECONDS", default="10",
        help="How long to wait for a connection, the login included.",
        old_names={Surface.PYTHON: "connect_seconds"},
    ),
)  # fmt: skip


class ServerArguments(TypedDict, total=False):
    """The options of a connection as keyword arguments; see `SERVER_OPTIONS` for what they mean."""

    host: str | Iterable[str] | None
    port: int | None
    user: str | None
    password: str | None
    socket: str | os.PathLike[str] | None
    defaults_file: str | os.PathLike[str] | None
    ssl_mode: str | None
    ssl_ca: str | os.PathLike[str] | None
    ssl_cert: str | os.PathLike[str] | None
    ssl_key: str | os.PathLike[str] | None
    get_server_public_key: bool | None
    server_public_key_path: str | os.PathLike[str] | None
    enable_cleartext_plugin: bool | None
    connect_timeout: float | None


_ARGUMENTS = OptionTable(SERVER_OPTIONS, Surface.PYTHON, warn_renamed)


def connection_arguments(given: Mapping[str, Any], surface: Surface = Surface.PYTHON) -> dict[str, Any]:
    """Return the arguments of `connection_config` for options by their names in Python; None is not given."""
    arguments: dict[str, Any] = {}
    if given.get("host") and given.get("socket"):
        raise OptionError(f"{surface.spell('host')} and {surface.spell('socket')} cannot be combined")
    for option, value in _ARGUMENTS.find_all(given).values():
        if value is not None:
            arguments[option.name] = option.read(value, surface)
    return arguments


STREAM_OPTIONS = (
    Option(
        name="start", parse=values.text, metavar="POSITION", default="latest; earliest for an archive",
        spelling={Surface.SPARK: "startingOffsets"},
        help="Where to start: latest, earliest, FILE:POSITION, GTIDs that you already have, or "
        "timestamp:2026-11-15T09:30:00Z.",
    ),
    Option(
        name="until", parse=values.text, metavar="POSITION", surfaces=_NOT_IN_SPARK, default="never",
        help="Where to stop: end (of what the server has written now), FILE:POSITION, GTIDs, or a time.",
    ),
    Option(
        name="connection_server_id", parse=values.integer_in(1, _MAX_SERVER_ID), metavar="NUMBER",
        surfaces=_NOT_IN_SPARK, default="random",
        help="The server id that binspark connects with. It must differ from the id of every server and replica.",
    ),
    Option(
        name="heartbeat_seconds", parse=values.seconds, metavar="SECONDS", surfaces=_NOT_IN_SPARK, default="10",
        help="How often an idle server sends a heartbeat. After three missing heartbeats, binspark reconnects.",
    ),
)  # fmt: skip

ARCHIVE_OPTIONS = (
    Option(
        name="keep_days", parse=values.days, metavar="DAYS", surfaces=_NOT_IN_SPARK, default="no limit",
        help="Delete files whose last event is older.",
    ),
    Option(
        name="keep_bytes", parse=values.size, metavar="SIZE", surfaces=_NOT_IN_SPARK, default="no limit",
        help="Delete the oldest files while the archive is larger: 500M, 2T.",
    ),
    Option(
        name="sync_seconds", parse=values.seconds_or_zero, metavar="SECONDS", surfaces=_NOT_IN_SPARK, default="1",
        help="The maximum time until a copied transaction is synced to disk.",
    ),
    Option(
        name="upload_seconds", parse=values.seconds, metavar="SECONDS", surfaces=_NOT_IN_SPARK, default="60",
        help="How often the active log is uploaded to a remote target.",
    ),
    Option(
        name="spool", parse=_path, metavar="DIR", surfaces=_NOT_IN_SPARK,
        default="a directory of binspark's own",
        help="Where files are kept until they are uploaded to a remote target.",
    ),
    Option(
        name="progress_seconds", parse=values.seconds_or_zero, metavar="SECONDS", surfaces=_NOT_IN_SPARK, default="10",
        help="How often rate and lag are reported; 0 for never.",
    ),
)  # fmt: skip
