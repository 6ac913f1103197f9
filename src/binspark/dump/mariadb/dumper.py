"""Writes the logs of a MariaDB server as `mariadb-binlog` prints them."""

from __future__ import annotations

from binspark.dump.clock import Clock
from binspark.dump.dumper import Warn
from binspark.dump.mariadb.gtid_filter import GtidFilter, GtidOrder
from binspark.dump.mariadb.load_files import LoadFiles
from binspark.dump.mariadb.printer import LogPrinter, check_printable
from binspark.dump.mariadb.reader import LogEnds, LogReader
from binspark.dump.output import Output
from binspark.dump.selected import SelectedTables
from binspark.dump.settings import Base64Output, DumpSettings
from binspark.errors import BinlogError, DecodeError, OptionError, SourceError
from binspark.event import Event, EventDecoder, GtidList, Query
from binspark.files.sources import LogSource
from binspark.files.standard_input import STANDARD_INPUT
from binspark.frames import EventCode, Frame, HeaderFlag
from binspark.gtid import MariadbGtid
from binspark.os_errors import describe_os_error
from binspark.position import Position

_DESCRIPTION, _ROTATE = EventCode.FORMAT_DESCRIPTION, EventCode.ROTATE
_MANY = 3
MIN_BULK_BYTES = 4 << 20
_MICROSECONDS = 1_000_000


_OF_MYSQL = ("skip_gtids", "idempotent", "require_row_format")


class _Stop(Exception):
    """Everything that is wanted was written."""


class MariadbDumper:
    """Writes logs as the server's own tool does."""

    def __init__(self, settings: DumpSettings, output: Output, warn: Warn) -> None:
        for name in _OF_MYSQL:
            if getattr(settings, name):
                raise OptionError("is for MySQL's logs; mariadb-binlog has no such option", option=name)
        self._settings = settings
        self._output = output
        self._warn = warn
        self._filter = GtidFilter(settings)
        self._order = GtidOrder(self._filter, is_strict=settings.mariadb.gtid_strict_mode)
        self._files = LoadFiles(settings.local_load, warn)
        self._clock = Clock(settings.timezone)
        self._skips_annotations = settings.mariadb.skip_annotate_row_events
        self._shows_positions = _shows_positions(settings)
        self._shows_base64 = settings.base64_output in (Base64Output.AUTO, Base64Output.UNSPEC)
        self._events_to_skip = settings.offset
        self._start_time = settings.selection.start_time
        self._has_seen_gtid_list = settings.selection.start_position is not None
        self._is_active_log = False
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
            if self._can_print_in_bulk(source):
                self._dump_in_bulk(source, printer)
            else:
                self._dump_events(source, printer)
        except _Stop:
            wants_next = False
        except LogEnds as end:
            if not self._is_active_log:
                self._failed = True
                raise end.error from None
            self._warn(f"{end.error}; a server is writing the log, or has crashed while it did")
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
        if self._order.is_checked:
            self._order.finish(self._warn)

    def _can_print_in_bulk(self, source: LogSource) -> bool:
        """Return whether a kernel can print most events: it knows no filters, and loading it has to pay."""
        settings, selection = self._settings, self._settings.selection
        changes_text = settings.hexdump or settings.short_form or settings.rewrite_db or settings.verify_binlog_checksum
        filters = settings.database or settings.mariadb.table or self._filter.is_given or selection.selects_events
        if changes_text or filters or selection.thread_id is not None or not SelectedTables(selection).selects_all:
            return False
        if self._events_to_skip or source.start or source.stop is not None or source.name == STANDARD_INPUT:
            return False
        return source.size() >= MIN_BULK_BYTES

    def _dump_in_bulk(self, source: LogSource, printer: LogPrinter) -> None:
        from binspark.dump.mariadb.bulk import BulkPrinter  # loads NumPy and kernels

        decoder = EventDecoder(source.name)

        def handle(frame: Frame) -> Event | None:
            event = self._decoded(decoder, frame)
            if event is not None:
                self._takes_gtids(event, is_active=True)
            self._dump_event(source, frame, event, printer)
            return event

        bulk = BulkPrinter(printer, self._output, self._order, handle)
        bulk.set_form(self._settings.timezone, positions=self._shows_positions, annotations=not self._skips_annotations)
        try:
            with source.open() as file:
                bulk.print(file, source.name)
        except OSError as error:
            raise SourceError(describe_os_error(error), Position(source.name)) from None

    def _dump_events(self, source: LogSource, printer: LogPrinter) -> None:
        decoder = EventDecoder(source.name)
        is_active = True
        held: Event | None = None
        reader = LogReader(source, verifies_checksums=self._settings.verify_binlog_checksum)
        for frame in reader.frames():
            if frame.offset < source.start and not self._shows_base64:
                continue
            event = self._decoded(decoder, frame)
            if event is not None:
                is_active = self._takes_gtids(event, is_active=is_active)
                if held is not None:
                    is_active = self._settings.selection.wants_thread(_thread_of(event))
                    if is_active:
                        self._dump_event(source, held.frame, held, printer)
                    held = None
            if is_active and event is not None and self._waits_for_thread(event):
                held = event
            elif is_active:
                self._dump_event(source, frame, event, printer)

    def _waits_for_thread(self, event: Event) -> bool:
        """Return whether the next event decides if a transaction is dumped, because it names the connection."""
        return self._settings.selection.thread_id is not None and event.type_code == EventCode.MARIADB_GTID

    def _decoded(self, decoder: EventDecoder, frame: Frame) -> Event | None:
        """Return an event; None if it cannot be read, and that is not an error."""
        if frame.type_code == _DESCRIPTION:
            self._is_active_log = bool(frame.header.flags & HeaderFlag.BINLOG_IN_USE)
        try:
            event = decoder.decode(frame)
            check_printable(event)
        except DecodeError as error:
            if not self._settings.force_read:
                raise LogEnds(error) from None
            return None
        return event

    def _dump_event(self, source: LogSource, frame: Frame, event: Event | None, printer: LogPrinter) -> None:
        header, code = frame.header, frame.type_code
        is_skipped = self._events_to_skip > 0 or header.timestamp < self._start_time
        self._events_to_skip = max(self._events_to_skip - 1, 0)
        if code != _DESCRIPTION:
            if is_skipped:
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

    def _takes_gtids(self, event: Event, *, is_active: bool) -> bool:
        """Return whether an event belongs to a transaction that is dumped."""
        code = event.type_code
        if code == EventCode.GTID_LIST and event.header.timestamp:
            body: GtidList = event.body
            if self._order.is_checked and not self._has_seen_gtid_list and body.gtids:
                self._order.begin(body.gtids)
            self._has_seen_gtid_list = True
        if code != EventCode.MARIADB_GTID:
            return is_active
        gtid = event.body.gtid(event.header.server_id)
        selection = self._settings.selection
        is_active = selection.wants_gtid(gtid) and selection.wants_commit(event.header.timestamp * _MICROSECONDS)
        if self._filter.is_given:
            if self._filter.has_finished:
                raise _Stop
            excluded = self._filter.excludes(gtid)
            if self._filter.filters_groups:
                is_active = is_active and not excluded
        if self._order.is_checked and is_active:
            if not self._settings.mariadb.gtid_strict_mode and self._settings.verbose < _MANY:
                self._order.is_checked = False
            else:
                _record(self._order, event, gtid)
        return is_active


def _thread_of(event: Event) -> int | None:
    return event.body.thread_id if isinstance(event.body, Query) else None


def _record(order: GtidOrder, event: Event, gtid: MariadbGtid) -> None:
    try:
        order.record(gtid)
    except DecodeError as error:
        raise error.at(event.position) from None


def _shows_positions(settings: DumpSettings) -> bool:
    given = settings.mariadb.print_row_event_positions
    return given if given is not None else not settings.short_form
