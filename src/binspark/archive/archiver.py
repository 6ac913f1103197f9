"""Archiving a server: its logs are followed and copied, to a folder of this machine or to a remote store."""

from __future__ import annotations

import logging
from pathlib import Path

from binspark.archive.directory import ArchiveFolder, FolderLock
from binspark.archive.progress import ProgressMeter
from binspark.archive.recovery import RecoveredLog, first_position, recover_log, resume_position
from binspark.archive.settings import ArchiveSettings
from binspark.archive.target import ArchiveTarget, LocalTarget
from binspark.archive.writer import ArchiveWriter
from binspark.errors import OptionError
from binspark.files.progress import begin_job, is_watched
from binspark.files.storage import Storage
from binspark.files.storage.uri import parse_uri
from binspark.monitoring.reporter import OnStatus, monitored
from binspark.monitoring.status import Status
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import FollowSettings
from binspark.replication.stop import StopCondition
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect
from binspark.server.info import bytes_after, server_logs

log = logging.getLogger("binspark.archive")


class Archiver:
    """Copies the logs of a server to a folder, until it is stopped or, with `until_end`, has all that is there.

    After any interruption the next one continues: it reads what is on disk of the last log, and requests the last event
    that is complete, and what comes after it.
    """

    def __init__(
        self,
        config: ConnectionConfig,
        folder: ArchiveFolder,
        target: ArchiveTarget,
        settings: ArchiveSettings,
        on_progress: OnStatus | None = None,
    ) -> None:
        self._config = config
        self._folder = folder
        self._target = target
        self._settings = settings
        self._on_progress = on_progress
        self._meter = ProgressMeter(config)
        addresses = frozenset(map(str, config.addresses))
        self._writer = ArchiveWriter(folder, target, self._meter, settings, addresses)
        self._follower: Follower | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the copy in order, from a signal or any thread."""
        self._is_stopped = True
        if self._follower is not None:
            self._follower.stop()

    def status(self) -> Status:
        """Return how far the copy is, from any thread. This queries the server, at most once a second."""
        return self._meter.status()

    def run(self) -> Status:
        """Copy; return how far the copy came."""
        settings = self._settings
        with monitored(self.status, settings.metrics, self._on_progress, settings.progress_seconds, self.stop):
            self._run()
        return self._meter.summary()

    def _run(self) -> None:
        try:
            with FolderLock(self._folder.path):
                self._target.prepare()
                found = self._last_log()
                with connect(self._config) as connection:
                    self._follow(self._find_position(connection, found), connection)
                self._target.close(self._writer.active)
        finally:
            self._writer.close()

    def _last_log(self) -> RecoveredLog | None:
        """Return the log to continue. One that has not even its first event is begun again."""
        names = self._folder.logs()
        while names:
            path = self._folder.path / names.pop()
            found = recover_log(path)
            if found is not None:
                return found
            self._folder.remove([path.name])
        return None

    def _find_position(self, connection: Connection, found: RecoveredLog | None) -> BinlogPosition:
        if found is None:
            return first_position(connection, self._settings.start_from)
        position = resume_position(connection, found, self._folder.server)
        if found.size > found.end:
            invalid = found.size - found.end
            log.warning("%s: %d bytes after the last valid event are copied again", found.name, invalid)
        self._writer.resume(found)
        return position

    def _follow(self, position: BinlogPosition, connection: Connection) -> None:
        settings = FollowSettings(
            stream=self._settings.stream, retry=self._settings.retry, tick_seconds=self._settings.tick_seconds
        )
        follower = self._follower = Follower(
            self._config,
            position,
            settings,
            stop=StopCondition(end_of_log=self._settings.until_end),
            complete_transactions=False,
            connection=connection,
        )
        follower.activity = self._meter.activity
        self._announce(connection, position)
        with follower:
            while not self._is_stopped and (chunk := next(follower, None)) is not None:
                self._writer.take(chunk)
                self._writer.attend()
            self._writer.sync()

    def _announce(self, connection: Connection, position: BinlogPosition) -> None:
        """Announce how much will be copied, if somebody shows progress and there is an end."""
        if self._settings.until_end and is_watched():
            activity, total = self._meter.activity, bytes_after(server_logs(connection), position.file, position.offset)
            begin_job("copying", lambda: activity.bytes, total)


def open_archiver(
    config: ConnectionConfig,
    target: str | Path,
    settings: ArchiveSettings | None = None,
    on_progress: OnStatus | None = None,
    *,
    spool: str | Path | None = None,
    storage: Storage | None = None,
) -> Archiver:
    """Return an archiver that copies a server's logs to a folder of this machine, or to a URI of a remote store.

    >>> archiver = open_archiver(connection_config(host="db1"), "s3://bucket/logs/")  # doctest: +SKIP
    >>> archiver.run()  # doctest: +SKIP

    Before they are in a remote store, logs are in the folder `spool`. `storage` says how the store is reached, if the
    URI and the environment do not.
    """
    settings = settings or ArchiveSettings()
    uri = parse_uri(str(target))
    if uri is None or uri.is_local:
        if spool is not None:
            raise OptionError("is only valid with a remote target", option="spool")
        folder = ArchiveFolder(Path(str(target) if uri is None else uri.local_path()))
        return Archiver(config, folder, LocalTarget(folder, settings.keep), settings, on_progress)
    return _remote_archiver(config, str(target), settings, on_progress, spool, storage)


def _remote_archiver(
    config: ConnectionConfig,
    target: str,
    settings: ArchiveSettings,
    on_progress: OnStatus | None,
    spool: str | Path | None,
    storage: Storage | None,
) -> Archiver:
    from binspark.archive.remote import RemoteStore, RemoteTarget, default_spool

    store = RemoteStore(target, storage)
    folder = ArchiveFolder(Path(spool) if spool is not None else default_spool(store.uri))
    remote = RemoteTarget(folder, store, settings.keep, settings.upload_seconds)
    return Archiver(config, folder, remote, settings, on_progress)
