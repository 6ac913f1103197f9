"""Prints the events of one log, each type in its own form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from binspark.dump.clock import Clock
from binspark.dump.mariadb.caches import StatementCaches
from binspark.dump.mariadb.heading import Headings, base64_lines, identifier
from binspark.dump.mariadb.load_files import LoadFiles
from binspark.dump.mariadb.plain_events import PLAIN, encryption_text, gtid_comment, ignorable_text
from binspark.dump.mariadb.rows_printer import RowsPrinter
from binspark.dump.mariadb.session import END, Session, is_transaction_keyword
from binspark.dump.mariadb.table_metadata import escaped
from binspark.dump.output import Output
from binspark.dump.selected import SelectedTables
from binspark.dump.settings import Base64Output, DumpSettings
from binspark.errors import Malformed, Unsupported
from binspark.event import (
    AppendBlock,
    Event,
    ExecuteLoadQuery,
    FormatDescription,
    Incident,
    MariadbGtidEvent,
    Query,
    XaPrepare,
)
from binspark.event.incident import IncidentKind
from binspark.event.mariadb import MariadbGtidExtraFlag, MariadbGtidFlag
from binspark.event.query import DuplicateHandling
from binspark.event.rows import ROWS_KINDS
from binspark.event.status_vars import StatusCode
from binspark.frames import EventCode as E
from binspark.frames import Frame, HeaderFlag

_START_OR_ROLLBACK = MariadbGtidExtraFlag.START_ALTER | MariadbGtidExtraFlag.ROLLBACK_ALTER
_TWO_PHASE = _START_OR_ROLLBACK | MariadbGtidExtraFlag.COMMIT_ALTER
_MAX_XID_PART = 64
_BINLOG = b"BINLOG '\n"
_PARALLEL = b"100101 SET @@session.skip_parallel_replication"
_DOMAIN, _SERVER = b"100001 SET @@session.gtid_domain_id", b"100001 SET @@session.server_id"


class LogPrinter:
    """Prints the events of one log. Nothing that was printed of an earlier log is in force."""

    def __init__(self, settings: DumpSettings, output: Output, clock: Clock, files: LoadFiles) -> None:
        self._settings = settings
        self._output = output
        self._short = settings.short_form
        self._headings = Headings(clock, hexdump=settings.hexdump)
        self._clock = clock
        self._files = files
        self._session = Session(short_form=settings.short_form)
        self._caches = StatementCaches(output)
        self.rows = RowsPrinter(settings, output, self._headings, self._caches)
        self._rewrites = self.rows.rewrites
        self._selected = SelectedTables(settings.selection)
        self._gtid_settings: dict[bytes, int] = {}
        self.skip_replication = False

    def print(self, event: Event) -> None:
        """Print an event."""
        code = event.type_code
        printer = _PRINTERS.get(code)
        if printer is not None:
            printer(self, event)
            return
        self._print_skip_replication(event.frame)
        if code in PLAIN:
            comment, statements = PLAIN[code](event)
            self._print_plain(event.frame, comment, statements)
        elif code == E.START_ENCRYPTION:
            self._caches.write_alone(encryption_text(event))
        else:
            self._print_plain(event.frame, ignorable_text(event.header.type_code), b"")

    def print_unknown(self, frame: Frame) -> None:
        """Print an event that cannot be decoded."""
        self._print_skip_replication(frame)
        self._print_plain(frame, b"\n# Unknown event\n", b"")

    def _print_plain(self, frame: Frame, comment: bytes, statements: bytes) -> None:
        if self._short:
            if statements:
                self._caches.write_alone(statements)
            return
        self._caches.write_alone(self._headings.text(frame) + comment + statements)

    def _print_skip_replication(self, frame: Frame) -> None:
        skips = bool(frame.header.flags & HeaderFlag.SKIP_REPLICATION)
        if skips != self.skip_replication:
            self.skip_replication = skips
            self._output.write(b"/*!50521 SET skip_replication=%d*/%b" % (skips, END))

    def _print_format(self, event: Event) -> None:
        body: FormatDescription = event.body
        header = event.header
        parts = []
        if not self._short:
            created = self._clock.short(header.timestamp)
            version = body.server_version.encode(errors="surrogateescape")
            parts = [
                self._headings.text(event.frame),
                b"\tStart: binlog v %d, server v %b created %b" % (body.binlog_version, version, created),
                b" at startup\n" if body.create_timestamp else b"\n",
            ]
            if header.flags & HeaderFlag.BINLOG_IN_USE:
                parts.append(b"# Warning: this binlog is either in use or was not closed properly.\n")
        if body.create_timestamp and not header.flags & HeaderFlag.ARTIFICIAL:
            parts.append(b"ROLLBACK" + END)
        if self._settings.base64_output is not Base64Output.NEVER and not self._short:
            if self.rows.shows_base64:
                parts.append(_BINLOG + base64_lines(event.frame.data) + b"'" + END)
            self.rows.has_printed_format = True
        self._caches.write_alone(b"".join(parts))

    def _print_gtid(self, event: Event) -> None:
        body: MariadbGtidEvent = event.body
        flags = body.gtid_flags
        self._session.in_xa = bool(flags & (MariadbGtidFlag.PREPARED_XA | MariadbGtidFlag.COMPLETED_XA))
        self._print_skip_replication(event.frame)
        parts = []
        if not self._short:
            parts = [self._headings.text(event.frame), gtid_comment(event)]
            parts.append(self._gtid_setting(_PARALLEL, int(not flags & MariadbGtidFlag.ALLOW_PARALLEL)))
            parts.append(self._gtid_setting(_DOMAIN, body.domain_id))
            parts.append(self._gtid_setting(_SERVER, event.header.server_id))
            parts.append(b"/*M!100001 SET @@session.gtid_seq_no=%d*/%b" % (body.sequence_number, END))
        if flags & MariadbGtidFlag.PREPARED_XA and body.xid is not None:
            parts.append(b"XA START %b%b" % (body.xid.name.encode(), END))
        elif not flags & MariadbGtidFlag.STANDALONE:
            parts.append(b"START TRANSACTION\n" + END)
        self._caches.write_alone(b"".join(parts))

    def _gtid_setting(self, name: bytes, value: int) -> bytes:
        if self._gtid_settings.get(name) == value:
            return b""
        self._gtid_settings[name] = value
        return b"/*M!%b=%d*/%b" % (name, value, END)

    def _print_query(self, event: Event) -> None:
        body: Query = event.body
        database = body.schema.encode(errors="surrogateescape")
        suppress_use = bool(event.header.flags & HeaderFlag.SUPPRESS_USE)
        if is_transaction_keyword(body.query, in_xa=self._session.in_xa):
            suppress_use = True
        elif self.rows.skips_database(database) or not self._selected.wants_statement(body.query, body.schema):
            return
        self._print_use(database, suppress_use=suppress_use)
        self._print_skip_replication(event.frame)
        name = b"Query_compressed" if event.type_code == E.QUERY_COMPRESSED else b"Query"
        head = self._query_head(event, name, database, suppress_use=suppress_use)
        self._caches.write_alone(head + self._statement(event, body))

    def _statement(self, event: Event, body: Query) -> bytes:
        flags3 = body.status(StatusCode.GTID_FLAGS3)
        if flags3 is None or not flags3.flags & _TWO_PHASE:
            return b"%b\n%b" % (body.query, END)
        parts = []
        if self.rows.encodes:
            commented = bool(flags3.flags & _START_OR_ROLLBACK)
            parts += [b"/*!100600 " if commented else b"", _BINLOG, base64_lines(event.frame.data)]
            parts += [b"' */" if commented else b"'", END]
        if self.rows.verbose:
            parts.append(b"### %b\n" % body.query)
        return b"".join(parts)

    def _query_head(self, event: Event, name: bytes, database: bytes, *, suppress_use: bool) -> bytes:
        body: Query = event.body
        head = b""
        if not self._short:
            numbers = (body.thread_id, body.execution_time, body.error_code, body.status(StatusCode.XID) or 0)
            head = self._headings.text(event.frame) + b"\t%b\tthread_id=%d\texec_time=%d\terror_code=%d\txid=%d\n" % (
                name,
                *numbers,
            )
        return head + self._session.statements(event.frame, body, database, suppress_use=suppress_use)

    def _print_use(self, database: bytes, *, suppress_use: bool) -> None:
        """Print the USE of a database that is rewritten, after which the session's own is not printed."""
        if suppress_use or database == self._session.database or database not in self._rewrites:
            return
        self._output.write(b"use %b%b" % (identifier(self._rewrites[database]), END))
        self._session.database = database

    @property
    def gtid_settings(self) -> tuple[int, int, int]:
        """What was printed last of a GTID: whether replicas skip it in parallel, domain and server; -1 for nothing."""
        parallel, domain, server = (self._gtid_settings.get(name, -1) for name in (_PARALLEL, _DOMAIN, _SERVER))
        return parallel, domain, server

    @property
    def has_waiting(self) -> bool:
        """Whether parts of a statement wait for its end."""
        return bool(self._caches)

    def take_waiting(self, head: bytes, body: bytes, tail: bytes) -> None:
        """Take parts of a statement that were printed elsewhere."""
        self._caches.take(head, body, tail)

    def leave_xa(self) -> None:
        """Note that a GTID was printed elsewhere that is not one of an XA transaction."""
        self._session.in_xa = False

    def _print_block(self, event: Event) -> None:
        body: AppendBlock = event.body
        comment, _ = PLAIN[event.type_code](event)
        self._print_plain(event.frame, comment, b"")
        if event.type_code == E.BEGIN_LOAD_QUERY:
            self._files.begin(body.file_id, body.block)
        else:
            self._files.append(body.file_id, body.block)

    def _print_load_query(self, event: Event) -> None:
        body: ExecuteLoadQuery = event.body
        file_name = self._files.take(body.file_id)
        database = body.schema.encode(errors="surrogateescape")
        if self.rows.skips_database(database):
            return
        suppress_use = bool(event.header.flags & HeaderFlag.SUPPRESS_USE)
        self._print_use(database, suppress_use=suppress_use)
        if file_name is None:
            return
        self._print_skip_replication(event.frame)
        head = self._query_head(event, b"Execute_load_query", database, suppress_use=suppress_use)
        parts = [head, body.query[: body.file_name_start], b" LOCAL INFILE ", b"'%b'" % escaped(file_name)]
        if body.duplicate_handling == DuplicateHandling.REPLACE:
            parts.append(b" REPLACE")
        parts += [b" INTO", body.query[body.file_name_end :], b"\n", END]
        if not self._short:
            parts.append(b"# file_id: %d \n" % body.file_id)
        self._caches.write_alone(b"".join(parts))


_ROWS_CODES = [code for code, kind in ROWS_KINDS.items() if kind.version and not kind.partial]
_PRINTERS: dict[int, Callable[[LogPrinter, Event], None]] = {
    E.FORMAT_DESCRIPTION: LogPrinter._print_format,
    E.MARIADB_GTID: LogPrinter._print_gtid,
    E.QUERY: LogPrinter._print_query,
    E.QUERY_COMPRESSED: LogPrinter._print_query,
    E.APPEND_BLOCK: LogPrinter._print_block,
    E.BEGIN_LOAD_QUERY: LogPrinter._print_block,
    E.EXECUTE_LOAD_QUERY: LogPrinter._print_load_query,
    E.ANNOTATE_ROWS: lambda printer, event: printer.rows.keep_annotation(event),
    E.TABLE_MAP: lambda printer, event: printer.rows.print_map(event),
    **dict.fromkeys(_ROWS_CODES, lambda printer, event: printer.rows.print_rows(event)),
}


def _is_valid_incident(body: Incident) -> bool:
    return body.incident == IncidentKind.LOST_EVENTS


def _is_valid_xa(body: XaPrepare) -> bool:
    return len(body.gtrid) > 0


def _is_valid_gtid(body: MariadbGtidEvent) -> bool:
    return body.xid is None or max(len(body.xid.gtrid), len(body.xid.bqual)) <= _MAX_XID_PART


_IS_VALID: dict[int, Callable[[Any], bool]] = {
    E.INCIDENT: _is_valid_incident,
    E.XA_PREPARE: _is_valid_xa,
    E.MARIADB_GTID: _is_valid_gtid,
}
"""What the tool checks besides the lengths of fields."""


def check_printable(event: Event) -> None:
    """Refuse an event that is not valid, or of a type that the tool does not know, unless readers may ignore it."""
    code = event.type_code
    if code in _IS_VALID and not _IS_VALID[code](event.body):
        message = f"mariadb-binlog does not accept these values: {event.body}; --force-read skips the event"
        raise Malformed(message, event.position)
    if code in _PRINTERS or code in PLAIN or code == E.START_ENCRYPTION:
        return
    if not event.header.flags & HeaderFlag.IGNORABLE:
        message = f"events of type {event.header.type_code} cannot be dumped; --force-read skips them"
        raise Unsupported(message, event.position)
