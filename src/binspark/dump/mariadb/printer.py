"""Prints the events of one log, each type in its own form."""

from __future__ import annotations

from collections.abc import Callable

from binspark.dump.clock import Clock
from binspark.dump.mariadb.caches import StatementCaches
from binspark.dump.mariadb.heading import Headings, base64_lines, identifier
from binspark.dump.mariadb.load_files import LoadFiles
from binspark.dump.mariadb.plain_events import PLAIN, encryption_text, ignorable_text
from binspark.dump.mariadb.rewriting import renamed_database, uncompressed_rows
from binspark.dump.mariadb.rows import TableForm
from binspark.dump.mariadb.session import END, Session, is_transaction_keyword
from binspark.dump.mariadb.table_metadata import table_metadata
from binspark.dump.output import Output
from binspark.dump.selected import SelectedTables
from binspark.dump.settings import Base64Output, DumpSettings
from binspark.errors import Malformed, Unsupported
from binspark.event import (
    AnnotateRows,
    AppendBlock,
    Event,
    ExecuteLoadQuery,
    FormatDescription,
    MariadbGtidEvent,
    Query,
    Rows,
    TableMap,
)
from binspark.event.mariadb import MariadbGtidExtraFlag, MariadbGtidFlag
from binspark.event.query import DuplicateHandling
from binspark.event.rows import ROWS_KINDS, RowOperation
from binspark.event.status_vars import StatusCode
from binspark.event.table_map import TableMapFlag
from binspark.frames import EventCode as E
from binspark.frames import Frame, HeaderFlag

_START_OR_ROLLBACK = MariadbGtidExtraFlag.START_ALTER | MariadbGtidExtraFlag.ROLLBACK_ALTER
_TWO_PHASE = _START_OR_ROLLBACK | MariadbGtidExtraFlag.COMMIT_ALTER
_BINLOG = b"BINLOG '\n"
_ROWS_NAMES = {
    RowOperation.INSERT: b"Write",
    RowOperation.UPDATE: b"Update",
    RowOperation.DELETE: b"Delete",
}


class LogPrinter:
    """Prints the events of one log. Nothing that was printed of an earlier log is in force."""

    def __init__(self, settings: DumpSettings, output: Output, clock: Clock, files: LoadFiles) -> None:
        own = settings.mariadb
        self._settings = settings
        self._output = output
        self._short = settings.short_form
        self._headings = Headings(clock, hexdump=settings.hexdump)
        self._clock = clock
        self._files = files
        self._session = Session(short_form=settings.short_form)
        self._caches = StatementCaches(output)
        self._verbose = 0 if settings.short_form else settings.verbose
        self._counts_rows = own.print_row_count if own.print_row_count is not None else not settings.short_form
        self._shows_base64 = settings.base64_output in (Base64Output.AUTO, Base64Output.UNSPEC)
        self._encodes_rows = self._shows_base64 and not settings.short_form
        self._rewrites = {old.encode(): new.encode() for old, new in settings.rewrite_db}
        self._database = None if settings.database is None else settings.database.encode()
        self._table = None if own.table is None else own.table.encode()
        self._selected = SelectedTables(settings.selection)
        self._tables: dict[int, TableForm] = {}
        self._ignored: set[int] = set()
        self._annotation: Event | None = None
        self._skip_replication = False
        self._gtid_settings: dict[bytes, int] = {}
        self._has_printed_format = False
        self._row_count = 0
        self._in_rows = False

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
        if skips != self._skip_replication:
            self._skip_replication = skips
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
            if self._shows_base64:
                parts.append(_BINLOG + base64_lines(event.frame.data) + b"'" + END)
            self._has_printed_format = True
        self._caches.write_alone(b"".join(parts))

    def _print_gtid(self, event: Event) -> None:
        body: MariadbGtidEvent = event.body
        flags = body.gtid_flags
        self._session.in_xa = bool(flags & (MariadbGtidFlag.PREPARED_XA | MariadbGtidFlag.COMPLETED_XA))
        self._print_skip_replication(event.frame)
        parts = []
        if not self._short:
            parts = [self._headings.text(event.frame), _gtid_comment(event)]
            parts.append(self._gtid_setting(b"100101 SET @@session.skip_parallel_replication", not flags & 8))
            parts.append(self._gtid_setting(b"100001 SET @@session.gtid_domain_id", body.domain_id))
            parts.append(self._gtid_setting(b"100001 SET @@session.server_id", event.header.server_id))
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
        elif self._skips_database(database) or not self._selected.wants_statement(body.query, body.schema):
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
        if self._encodes_rows:
            commented = bool(flags3.flags & _START_OR_ROLLBACK)
            parts += [b"/*!100600 " if commented else b"", _BINLOG, base64_lines(event.frame.data)]
            parts += [b"' */" if commented else b"'", END]
        if self._verbose:
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

    def _skips_database(self, database: bytes) -> bool:
        return self._database is not None and database != self._database

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
        if self._skips_database(database):
            return
        suppress_use = bool(event.header.flags & HeaderFlag.SUPPRESS_USE)
        self._print_use(database, suppress_use=suppress_use)
        if file_name is None:
            return
        self._print_skip_replication(event.frame)
        head = self._query_head(event, b"Execute_load_query", database, suppress_use=suppress_use)
        parts = [head, body.query[: body.file_name_start], b" LOCAL INFILE ", b"'%b'" % _escaped(file_name)]
        if body.duplicate_handling == DuplicateHandling.REPLACE:
            parts.append(b" REPLACE")
        parts += [b" INTO", body.query[body.file_name_end :], b"\n", END]
        if not self._short:
            parts.append(b"# file_id: %d \n" % body.file_id)
        self._caches.write_alone(b"".join(parts))

    def _keep_annotation(self, event: Event) -> None:
        if not self._settings.mariadb.skip_annotate_row_events:
            self._annotation = event

    def _print_annotation(self, offset: int) -> None:
        """Print the statement that caused rows. Its bytes are shown with the offset of the table map."""
        event, self._annotation = self._annotation, None
        if event is None:
            return
        body: AnnotateRows = event.body
        head = b"# Annotate_rows:\n"
        if not self._short:
            head = self._headings.text(event.frame, offset=offset) + b"\tAnnotate_rows:\n"
        lines = body.query.replace(b"\r", b"\n").split(b"\n")
        self._caches.head.append(head + b"".join(b"#Q> %b\n" % line for line in lines if line))

    def _print_table_map(self, event: Event) -> None:
        body: TableMap = event.body
        database = body.schema.encode(errors="surrogateescape")
        table = body.table.encode(errors="surrogateescape")
        is_other = self._skips_database(database) or (self._table is not None and table != self._table)
        if is_other or not self._selected.wants_table(body.schema, body.table):
            self._ignored.add(body.table_id)
            return
        self._print_annotation(event.offset)
        data = event.frame.data
        if database in self._rewrites:
            data = renamed_database(event.frame, database, self._rewrites[database])
            database = self._rewrites[database]
        self._check_format_printed(event)
        caches = self._caches
        if not self._short:
            triggers = b" (has triggers)" if body.flags & TableMapFlag.HAS_TRIGGERS else b""
            caches.head.append(
                self._headings.text(event.frame, data)
                + b"\tTable_map: %b.%b mapped to number %d%b\n"
                % (identifier(database), identifier(table), body.table_id, triggers)
            )
        if self._short and not self._counts_rows:
            return
        if self._settings.print_table_metadata:
            caches.head.append(table_metadata(body))
        if self._encodes_rows:
            caches.add_event(data)
        if self._verbose or self._counts_rows:
            self._tables[body.table_id] = TableForm(body, database, table)
        caches.flush_head()

    def _print_rows(self, event: Event) -> None:
        body: Rows = event.body
        if not self._in_rows:
            self._in_rows, self._row_count = True, 0
        is_ignored = body.table_id in self._ignored or not self._selected.wants_operation(body.operation)
        ends = body.ends_statement
        if ends:
            self._in_rows = False
            self._ignored.clear()
            self._annotation = None
            if is_ignored:
                self._caches.end_skipped(wrapped=self._encodes_rows and not self._selected.selects_all)
        if is_ignored:
            return
        self._check_format_printed(event)
        self._print_rows_event(event, body)
        if ends:
            self._caches.flush(wrapped=self._encodes_rows)
            if self._counts_rows:
                self._output.write(b"# Number of rows: %d\n" % self._row_count)
            self._row_count = 0

    def _print_rows_event(self, event: Event, body: Rows) -> None:
        kind = ROWS_KINDS[event.type_code]
        frame, caches = event.frame, self._caches
        data = uncompressed_rows(frame, body) if kind.compressed else frame.data
        if not self._short:
            name = _ROWS_NAMES[body.operation] + (b"_compressed_rows" if kind.compressed else b"_rows")
            ending = b" flags: STMT_END_F" if body.ends_statement else b""
            heading = self._headings.text(frame, data)
            caches.head.append(heading + b"\t%b: table id %d%b\n" % (name, body.table_id, ending))
        if self._short and not self._counts_rows:
            return
        if self._encodes_rows:
            caches.add_event(data)
        table = self._tables.get(body.table_id)
        if table is None:
            if self._verbose:
                caches.tail.write(b"### Row event for unknown table #%d" % body.table_id)
            return
        if not self._verbose:
            if self._counts_rows:
                self._row_count += table.count_rows(body)
            return
        printed = table.print_rows(body, self._verbose)
        caches.tail.write(printed.text)
        self._row_count += printed.count
        if printed.problem:
            raise Malformed(printed.problem, event.position)

    def _check_format_printed(self, event: Event) -> None:
        """Refuse rows where no format was printed, without which a BINLOG statement cannot be executed."""
        if self._encodes_rows and not self._has_printed_format:
            raise Malformed("rows before any format description", event.position)


def _gtid_comment(event: Event) -> bytes:
    body: MariadbGtidEvent = event.body
    flags, extra = body.gtid_flags, body.extra_flags or 0
    parts = [b"\tGTID %d-%d-%d" % (body.domain_id, event.header.server_id, body.sequence_number)]
    if flags & MariadbGtidFlag.GROUP_COMMIT_ID:
        parts.append(b" cid=%d" % (body.commit_id or 0))
    if flags & MariadbGtidFlag.DDL:
        parts.append(b" ddl")
    if flags & MariadbGtidFlag.TRANSACTIONAL:
        parts.append(b" trans")
    if flags & MariadbGtidFlag.WAITED:
        parts.append(b" waited")
    if extra & MariadbGtidExtraFlag.START_ALTER:
        parts.append(b" START ALTER")
    if extra & MariadbGtidExtraFlag.COMMIT_ALTER:
        parts.append(b" COMMIT ALTER id= %d" % (body.start_alter_sequence or 0))
    if extra & MariadbGtidExtraFlag.ROLLBACK_ALTER:
        parts.append(b" ROLLBACK ALTER id= %d" % (body.start_alter_sequence or 0))
    return b"".join([*parts, b"\n"])


_ESCAPES = {
    ord("\n"): b"\\n", ord("\r"): b"\\r", ord("\\"): b"\\\\", ord("\b"): b"\\b", ord("\t"): b"\\t", ord("'"): b"\\'",
    0: b"\\0",
}  # fmt: skip


def _escaped(text: bytes) -> bytes:
    return b"".join(_ESCAPES.get(byte) or bytes((byte,)) for byte in text)


_ROWS_CODES = [code for code, kind in ROWS_KINDS.items() if kind.version and not kind.partial]
_PRINTERS: dict[int, Callable[[LogPrinter, Event], None]] = {
    E.FORMAT_DESCRIPTION: LogPrinter._print_format,
    E.MARIADB_GTID: LogPrinter._print_gtid,
    E.QUERY: LogPrinter._print_query,
    E.QUERY_COMPRESSED: LogPrinter._print_query,
    E.APPEND_BLOCK: LogPrinter._print_block,
    E.BEGIN_LOAD_QUERY: LogPrinter._print_block,
    E.EXECUTE_LOAD_QUERY: LogPrinter._print_load_query,
    E.ANNOTATE_ROWS: LogPrinter._keep_annotation,
    E.TABLE_MAP: LogPrinter._print_table_map,
    **dict.fromkeys(_ROWS_CODES, LogPrinter._print_rows),
}


def check_printable(event: Event) -> None:
    """Refuse an event of a type that the tool does not know, unless readers may ignore it."""
    code = event.type_code
    if code in _PRINTERS or code in PLAIN or code == E.START_ENCRYPTION:
        return
    if not event.header.flags & HeaderFlag.IGNORABLE:
        message = f"events of type {event.header.type_code} cannot be dumped; --force-read skips them"
        raise Unsupported(message, event.position)
