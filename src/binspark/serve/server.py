"""Serving an archive: listening, and a thread for each client. See docs/adr/0033 for why threads."""

from __future__ import annotations

import itertools
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from binspark.errors import BinlogError, ConnectionLost, OptionError
from binspark.files.storage import Storage
from binspark.monitoring.reporter import OnStatus, monitored
from binspark.monitoring.status import Status
from binspark.os_errors import describe_os_error
from binspark.replication.packets import ErrorPacket, encode_error
from binspark.serve.archive_end import EndFinder
from binspark.serve.certificate import tls_context
from binspark.serve.channel import ClientChannel
from binspark.serve.errors import ClientError
from binspark.serve.find import StartFinder
from binspark.serve.logs import ArchiveLogs, SourceIdentity
from binspark.serve.session import Service, Session
from binspark.serve.settings import ServeSettings
from binspark.serve.source_info import SourceInfo

_STOP_SECONDS = 10.0
_BACKLOG = 128
_COMMAND = "serve"

log = logging.getLogger("binspark.serve")


class ArchiveServer:
    """Serves the logs of an archive as a replication source, until it is stopped.

    >>> with open_server("archive/", ServeSettings(port=0)) as server:  # doctest: +SKIP
    ...     print(server.port)

    In a `with` block it serves in the background; `run` serves until `stop` is called.
    """

    def __init__(self, logs: ArchiveLogs, settings: ServeSettings, on_progress: OnStatus | None = None) -> None:
        self._settings = settings
        self._on_progress = on_progress
        self._stop = threading.Event()
        end = self._end = EndFinder(logs)
        source = SourceInfo(logs, end, settings.server_id)
        tls = tls_context(settings.ssl_cert, settings.ssl_key)
        self._service = Service(settings, logs, source, StartFinder(logs, end), tls, self._stop)
        self._listener = _listen(settings)
        self._clients: dict[ClientChannel, threading.Thread] = {}
        self._sessions = self._sent_bytes = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._watching = ExitStack()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._listener.getsockname()[1])

    @property
    def address(self) -> str:
        """The address that it listens on, as `host:port`."""
        host = self._settings.bind
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def identity(self) -> SourceIdentity:
        """Which server the logs are from."""
        return self._service.logs.identity

    @property
    def server_id(self) -> int:
        """The server id that clients see."""
        return self._service.source.server_id

    def status(self) -> Status:
        """Return how much was sent, and where the archive ends, from any thread."""
        with self._lock:
            clients, sessions = len(self._clients), self._sessions
            sent = self._sent_bytes + sum(channel.sent_bytes for channel in self._clients)
        errors = self._service.errors.copy()
        status = Status(command=_COMMAND, clients=clients, sessions=sessions, bytes=sent, errors=errors)
        try:
            end = self._end.find()
        except BinlogError as error:
            return replace(status, error=str(error))
        gtids = "" if end.gtids is None else str(end.gtids)
        return replace(status, position=f"{end.log.name}:{end.offset}", gtids=gtids)

    def run(self) -> None:
        """Serve until `stop` is called."""
        with self._watched():
            self._run()

    def _watched(self) -> AbstractContextManager[None]:
        settings = self._settings
        return monitored(self.status, settings.metrics, self._on_progress, settings.progress_seconds, self.stop)

    def _run(self) -> None:
        numbers = itertools.count(1)
        with self._closing():
            while not self._stop.is_set():
                try:
                    connected, _ = self._listener.accept()
                except OSError:
                    if self._stop.is_set():
                        return
                    self._stop.wait(0.1)  # too many open files: those of others may be closed soon
                    continue
                self._begin_session(connected, next(numbers))

    def stop(self) -> None:
        """End all connections and stop serving, from a signal or any thread."""
        self._stop.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._watching.enter_context(self._watched())
        self._thread = threading.Thread(target=self._run, name="binspark-serve", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()
        self._watching.close()

    def _begin_session(self, connected: socket.socket, number: int) -> None:
        try:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            channel = ClientChannel(connected)
        except OSError:  # the client is gone already
            connected.close()
            return
        try:
            self._service.admission.connected(channel)
        except ClientError as error:
            _refuse(channel, error)
            return
        thread = threading.Thread(
            target=self._serve, args=(channel, number), name=f"binspark-serve-{number}", daemon=True
        )
        with self._lock:
            self._clients[channel] = thread
            self._sessions += 1
        thread.start()

    def _serve(self, channel: ClientChannel, number: int) -> None:
        try:
            Session(self._service, channel, number).run()
        except Exception:  # one client must not end the others
            log.exception("%s: the session failed", channel.client)
        finally:
            with self._lock:
                del self._clients[channel]
                self._sent_bytes += channel.sent_bytes

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """At the end, close the listener, end all sessions, and wait for them."""
        try:
            yield
        finally:
            self._stop.set()
            self._listener.close()
            with self._lock:
                clients = dict(self._clients)
            for channel in clients:
                channel.shut()
            for thread in clients.values():
                thread.join(_STOP_SECONDS)


def open_server(
    archive: str | Path,
    settings: ServeSettings | None = None,
    on_progress: OnStatus | None = None,
    *,
    storage: Storage | None = None,
) -> ArchiveServer:
    """Return a server for the logs in a directory, or at a URI; it listens already."""
    return ArchiveServer(ArchiveLogs(archive, storage), settings or ServeSettings(), on_progress)


def _listen(settings: ServeSettings) -> socket.socket:
    address = (settings.bind, settings.port)
    family = socket.AF_INET6 if ":" in settings.bind else socket.AF_INET
    try:
        return socket.create_server(address, family=family, backlog=_BACKLOG)
    except OSError as error:
        problem = f"{settings.bind} and port {settings.port} cannot be listened on: {describe_os_error(error)}"
        raise OptionError(problem, option="bind") from None


def _refuse(channel: ClientChannel, error: ClientError) -> None:
    with suppress(ConnectionLost):
        channel.send(encode_error(ErrorPacket(error.code, error.message)))
    channel.close()
