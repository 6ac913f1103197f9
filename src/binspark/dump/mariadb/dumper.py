"""Writes the logs of a MariaDB server as `mariadb-binlog` prints them."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.dump.dumper import Warn
from binspark.dump.mariadb.gtid_filter import GtidFilter, GtidOrder
from binspark.dump.mariadb.heading import Clock
from binspark.dump.mariadb.load_files import LoadFiles
from binspark.dump.mariadb.printer import LogPrinter
from binspark.dump.output import Output
from binspark.dump.settings import Base64Output, DumpSettings
from binspark.errors import BinlogError, DecodeError, OptionError, SourceError, Truncated
from binspark.event import Event, EventDecoder, GtidList
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.frames import ChecksumState, EventCode, Frame, Framer, HeaderFlag
from binspark.files.read import bad_checksum
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import describe_os_error
from binspark.position import Position

_CHUNK = 1 << 20
_DESCRIPTION, _ROTATE = EventCode.FORMAT_DESCRIPTION, EventCode.ROTATE
_MANY = 3


class _Stop(Exception):
    """Everything that is wanted was written."""


class MariadbDumper:
    """Writes logs as the server's own tool does."""

    def __init__(self, settings: DumpSettings, output: Output, warn: Warn) -> None:
        self._settings = settings
        self._output = output
        self._warn = warn
        self._filter = GtidFilter(settings)
        self._order: GtidOrder | None = GtidOrder(self._filter, is_strict=settings.mariadb.gtid_strict_mode)
        self._files = LoadFiles(settings.local_load, warn)
        self._clock = Clock(settings.timezone)
        self._shows_positions = _shows_positions(settings)
        self._events_to_skip = settings.offset
        self._start_time = settings.selection.start_time
        self._has_seen_gtid_list = settings.selection.start_position is not None
        self._failed = False

    def begin(self) -> None:
        """Write what comes before the first log."""
        settings = self._settings
        self._output.write(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n")
        self._output.write(b"/*!40019 SET @@session.max_delayed_threads=0*/;\n")
        if settings.disable_log_bin:
            self._output.write(b"/*!32316 SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0*/;\n")
        self._output.write(b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n")
        if settings.set_charset is not None:
            for name in (b"CHARACTER_SET_CLIENT", b"CHARACTER_SET_RESULTS", b"COLLATION_CONNECTION"):
                self._output.write(b"\n/*!40101 SET @OLD_%b=@@%b */;" % (name, name))
            self._output.write(b"\n/*!40101 SET NAMES %b */;\n" % settings.set_charset.encode())

    def dump(self, source: LogSource) -> bool:
        """Write one log; return whether the next one is wanted."""
        printer = LogPrinter(self._settings, self._output, self._clock, self._files)
        self._output.write(b"DELIMITER /*!*/;\n")
        wants_next = True
        try:
            self._dump_events(source, printer)
        except _Stop:
            wants_next = False
        except BinlogError:
            self._failed = True
            raise
        self._output.write(b"DELIMITER ;\n")
        return wants_next

    def end(self) -> None:
        """Write what comes after the last log; nothing after damage."""
        if self._failed:
            return
        settings = self._settings
        self._output.write(b"# End of log file\nROLLBACK /* added by mysqlbinlog */;\n")
        self._output.write(b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n")
        if settings.disable_log_bin:
            self._output.write(b"/*!32316 SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN*/;\n")
        if settings.set_charset is not None:
            for name in (b"CHARACTER_SET_CLIENT", b"CHARACTER_SET_RESULTS", b"COLLATION_CONNECTION"):
                self._output.write(b"/*!40101 SET %b=@OLD_%b */;\n" % (name, name))
        self._output.write(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n")
        if self._filter.is_given:
            self._output.write(b"/*!100001 SET @@SESSION.SERVER_ID=@@GLOBAL.SERVER_ID */;\n")
            self._output.write(b"/*!100001 SET @@SESSION.GTID_DOMAIN_ID=@@GLOBAL.GTID_DOMAIN_ID */;\n")
        self._filter.warn_about_stops(self._warn)
        if self._order is not None:
            self._order.finish(self._warn)

    def _dump_events(self, source: LogSource, printer: LogPrinter) -> None:
        decoder = EventDecoder(source.name)
        is_active = True
        for frame in self._frames(source):
            if frame.offset < source.start and not self._precedes_start(frame):
                continue
            try:
                event: Event | None = decoder.decode(frame)
            except DecodeError:
                if not self._settings.force_read:
                    raise
                event = None
            if event is not None:
                is_active = self._takes_gtids(event, is_active)
            if is_active:
                self._dump_event(source, frame, event, printer)

    def _dump_event(self, source: LogSource, frame: Frame, event: Event | None, printer: LogPrinter) -> None:
        header, code = frame.header, frame.type_code
        if code != _DESCRIPTION:
            if self._events_to_skip or header.timestamp < self._start_time:
                self._events_to_skip = max(self._events_to_skip - 1, 0)
                return
            self._start_time = 0
            if code != _ROTATE and self._filter.servers.excludes(header.server_id):
                return
        stop_time = self._settings.selection.stop_time
        if stop_time is not None and header.timestamp >= stop_time:
            raise _Stop
        if source.stop is not None and frame.offset >= source.stop:
            raise _Stop
        if self._shows_positions:
            self._output.write(b"# at %d\n" % frame.offset)
        if event is None:
            printer.print_unknown(frame)
            return
        printer.print(event)
        if code == _DESCRIPTION and header.flags & HeaderFlag.BINLOG_IN_USE and not self._settings.force_if_open:
            message = "a server is writing this log, or has crashed while it did; use --force-if-open to dump it"
            raise OptionError(f"{source.name}: {message}")

    def _precedes_start(self, frame: Frame) -> bool:
        """Return whether an event before the start is printed: the format, unless rows are not printed as base64."""
        shows_base64 = self._settings.base64_output in (Base64Output.AUTO, Base64Output.UNSPEC)
        return frame.type_code == _DESCRIPTION and shows_base64

    def _takes_gtids(self, event: Event, is_active: bool) -> bool:
        """Return whether an event belongs to a transaction that is dumped."""
        code = event.type_code
        if code == EventCode.GTID_LIST and event.header.timestamp:
            body: GtidList = event.body
            if self._order is not None and not self._has_seen_gtid_list and body.gtids:
                self._order.begin(body.gtids)
            self._has_seen_gtid_list = True
        if code != EventCode.MARIADB_GTID:
            return is_active
        gtid = event.body.gtid(event.header.server_id)
        if self._filter.is_given:
            if self._filter.has_finished:
                raise _Stop
            excluded = self._filter.excludes(gtid)
            if self._filter.filters_groups:
                is_active = not excluded
        if self._order is not None and is_active:
            if not self._settings.mariadb.gtid_strict_mode and self._settings.verbose < _MANY:
                self._order = None
            else:
                self._record(event, gtid)
        return is_active

    def _record(self, event: Event, gtid: object) -> None:
        try:
            self._order.record(gtid)
        except DecodeError as error:
            raise error.at(event.position) from None

    def _frames(self, source: LogSource) -> Iterator[Frame]:
        """Yield the events of a log; one that a server was writing may end inside an event."""
        framer = Framer(report_checksums=True)
        framer.verifies_checksums = self._settings.verify_binlog_checksum
        in_use = False
        try:
            with source.open() as file:
                for chunk in _chunks(file):
                    for frame in framer.feed(chunk):
                        if frame.checksum is ChecksumState.BAD and self._settings.verify_binlog_checksum:
                            raise bad_checksum(frame, source.name)
                        if frame.type_code == _DESCRIPTION:
                            in_use = bool(frame.header.flags & HeaderFlag.BINLOG_IN_USE)
                        yield frame
                framer.finish()
        except DecodeError as error:
            if not in_use:
                raise error.at(Position(file=source.name)) from None
        except OSError as error:
            raise SourceError(describe_os_error(error), Position(source.name, framer.offset)) from None


def _chunks(file: LogFile) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _shows_positions(settings: DumpSettings) -> bool:
    given = settings.mariadb.print_row_event_positions
    return given if given is not None else not settings.short_form and not settings.mariadb.flashback
