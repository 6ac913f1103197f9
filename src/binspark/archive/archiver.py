"""An archiver for a folder of this machine or a store, whichever a caller names."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from binspark.archive.directory import ArchiveFolder, FolderLock, checked_name
from binspark.archive.progress import Meter, Report
from binspark.archive.recovery import FoundLog, first_place, look_at, next_place
from binspark.archive.settings import ArchiveSettings
from binspark.archive.target import Depot, LocalDepot
from binspark.archive.writer import Appender, GrowingLog, Syncer
from binspark.client.bulk.begun import begin_with
from binspark.client.bulk.follow_runs import RunFollower
from binspark.client.bulk.runs import Run
from binspark.client.connect import Connection, connect
from binspark.client.options import ConnectionOptions
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings
from binspark.errors import Malformed, OptionError
from binspark.files.storage import Storage
from binspark.files.storage.uri import parse_uri
from binspark.frames import EventCode, Family
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position

OnReport = Callable[[Report], None]

log = logging.getLogger("binspark.archive")


class Archiver:
    """Copies the logs of a server to a folder, until it is stopped or, with `until_end`, has all that is there.

    Whatever happens to it, the next one goes on: it reads what is on disk of the last log, and asks the server for the
    last event that is whole and for what comes behind it.
    """

    def __init__(
        self,
        connection: ConnectionOptions,
        folder: ArchiveFolder,
        depot: Depot,
        settings: ArchiveSettings,
        on_report: OnReport | None = None,
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._depot = depot
        self._settings = settings
        self._on_report = on_report
        self._meter = Meter(connection, settings.report_seconds if on_report else 0)
        self._appender = Appender(self._written)
        self._syncer = Syncer(settings.sync_seconds, settings.sync_bytes)
        self._follower: RunFollower | None = None
        self._stopped = False
        self._log: GrowingLog | None = None
        self._family = Family.MYSQL
        self._ended = False

    def stop(self) -> None:
        """End the copy in order, from a signal or any thread."""
        self._stopped = True
        if self._follower is not None:
            self._follower.stop()

    def run(self) -> Report:
        """Copy; return how far the copy came."""
        try:
            with FolderLock(self._folder.path):
                self._depot.prepare()
                found = self._last_log()
                with connect(self._connection) as connection:
                    self._follow(self._find_place(connection, found), connection)
                self._depot.close(self._log)
        finally:
            self._appender.close()
            self._syncer.close()
            if self._log is not None:
                self._log.close()
        return self._meter.summary()

    def _find_place(self, connection: Connection, found: FoundLog | None) -> ResumePoint:
        if found is None:
            return first_place(connection, self._settings.start_from)
        point = next_place(connection, found, self._folder.server)
        if found.size > found.end:
            log.warning("%s: %d bytes behind the last whole event are copied again", found.name, found.size - found.end)
        self._family, self._ended = found.family, found.is_ended
        self._log = GrowingLog.reopen(found)
        self._meter.copied(found.name, found.end, 0, 0)
        return point

    def _last_log(self) -> FoundLog | None:
        """Return the log to go on with. One that has not even its first event is begun again."""
        names = self._folder.logs()
        while names:
            path = self._folder.path / names.pop()
            found = look_at(path)
            if found is not None:
                return found
            self._folder.remove([path.name])
        return None

    def _follow(self, point: ResumePoint, connection: Connection) -> None:
        settings = FollowSettings(stream=self._settings.stream, retry=self._settings.retry)
        follower = self._follower = RunFollower(self._connection, point, settings, self._settings.tick_seconds)
        begin_with(follower, connection)
        try:
            while not self._stopped and (run := next(follower, None)) is not None:
                self._take(run)
                self._look_after()
            self._sync()
        finally:
            follower.close()

    def _take(self, run: Run) -> None:
        event = run.event
        if run.data:
            self._write(run)
        elif event is not None and event.type_code == EventCode.ROTATE:
            self._turn_to(checked_name(event.file))
        if event is not None and event.in_file and event.type_code in (EventCode.ROTATE, EventCode.STOP):
            self._end()

    def _write(self, run: Run) -> None:
        if run.event is not None and run.event.type_code == EventCode.START_ENCRYPTION:
            log.warning("%s: the server encrypts its logs; their copy is not encrypted", run.file)
        if self._log is None:
            self._log = self._begin(run)
            self._written(run, self._log.size)
        elif self._log.name != run.file:
            raise Malformed(
                f"the server goes from {self._log.name} to another log unasked", Position(run.file, run.offset)
            )
        else:
            self._appender.append(self._log, run)

    def _written(self, run: Run, new_bytes: int) -> None:
        self._syncer.written(new_bytes, ends_transaction=run.whole_end is not None)
        self._meter.copied(run.file, run.end, new_bytes, run.time)

    def _sync(self) -> None:
        """Wait until all that came is on disk."""
        self._appender.settle()
        if self._log is not None:
            self._syncer.sync(self._log)

    def _begin(self, run: Run) -> GrowingLog:
        event = run.event
        if event is None or event.type_code != EventCode.FORMAT_DESCRIPTION or run.offset != FIRST_EVENT_OFFSET:
            raise Malformed("the server sends the middle of a log before its beginning", Position(run.file, run.offset))
        begun = GrowingLog.create(self._folder.path / checked_name(run.file), run.data)
        self._family, self._ended = event.frame.format.family, False
        self._note_server()
        self._depot.begun()
        return begun

    def _note_server(self) -> None:
        """Note whose logs these are. A server that has no name of its own goes by its address, which may change."""
        point = self._follower.resume if self._follower is not None else None
        if point is not None and point.server not in map(str, self._connection.addresses):
            self._folder.note_server(point.server)

    def _end(self) -> None:
        """The server has closed the log in order: so is its copy."""
        if self._log is not None:
            self._sync()
            self._log.mark(in_use=False)
            self._ended = True

    def _turn_to(self, file: str) -> None:
        """Finish the log if the stream goes on in another one.

        One that no ROTATE or STOP ends was cut off by a crash. MySQL closes it when it starts again, MariaDB leaves it
        as it is.
        """
        finished = self._log
        if finished is None or finished.name == file:
            return
        self._appender.settle()
        finished.mark(in_use=not self._ended and self._family is Family.MARIADB)
        self._syncer.sync(finished)
        finished.close()
        self._log = None
        self._depot.finished()

    def _look_after(self) -> None:
        self._appender.look()
        if self._log is not None:
            self._syncer.look(self._log)
        self._depot.look(self._log)
        if self._on_report is not None and self._meter.is_due:
            self._on_report(self._meter.report())


def open_archiver(
    connection: ConnectionOptions,
    target: str | Path,
    settings: ArchiveSettings | None = None,
    on_report: OnReport | None = None,
    *,
    spool: str | Path | None = None,
    storage: Storage | None = None,
) -> Archiver:
    """Return an archiver that copies a server's logs to a folder of this machine, or to a URI of a store.

    >>> archiver = open_archiver(connection_options(hosts="db1"), "s3://bucket/logs/")  # doctest: +SKIP
    >>> archiver.run()  # doctest: +SKIP

    On their way to a store, logs grow in the folder `spool`. `storage` says how the store is reached, where the URI and
    the environment do not.
    """
    settings = settings or ArchiveSettings()
    uri = parse_uri(str(target))
    if uri is None or uri.is_local:
        if spool is not None:
            raise OptionError("spool: logs that are kept on this machine grow where they are")
        folder = ArchiveFolder(Path(str(target) if uri is None else uri.local_path()))
        return Archiver(connection, folder, LocalDepot(folder, settings.keep), settings, on_report)
    return _for_store(connection, str(target), settings, on_report, spool, storage)


def _for_store(
    connection: ConnectionOptions,
    target: str,
    settings: ArchiveSettings,
    on_report: OnReport | None,
    spool: str | Path | None,
    storage: Storage | None,
) -> Archiver:
    from binspark.archive.remote import Store, StoreDepot, default_spool

    store = Store(target, storage)
    folder = ArchiveFolder(Path(spool) if spool is not None else default_spool(store.uri))
    depot = StoreDepot(folder, store, settings.keep, settings.upload_seconds)
    return Archiver(connection, folder, depot, settings, on_report)
