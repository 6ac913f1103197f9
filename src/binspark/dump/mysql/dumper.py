"""Writes the logs of MySQL as mysqlbinlog prints them: which events are printed, and what comes between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from binspark.dump.clock import Clock
from binspark.dump.dumper import Warn
from binspark.dump.mysql import control, rows, statements
from binspark.dump.mysql.damaged import TolerantDecoder
from binspark.dump.mysql.frames import inner_frames, log_frames, needs_every_event, pays_in_bulk
from binspark.dump.mysql.load_files import LoadFiles
from binspark.dump.mysql.page import DELIMITER, Page
from binspark.dump.mysql.progress import Progress
from binspark.dump.mysql.rewrite import DatabaseRewriter
from binspark.dump.mysql.row_format import RowFormatCheck
from binspark.dump.mysql.transactions import SelectedTransactions
from binspark.dump.output import BufferedOutput
from binspark.dump.selected import SelectedTables
from binspark.dump.settings import Base64Output, DumpSettings
from binspark.errors import Malformed, Truncated, Unsupported
from binspark.event import Event
from binspark.event.rows import ROWS_KINDS
from binspark.files.sources import LogSource
from binspark.frames import EventCode as E
from binspark.frames import HeaderFlag, type_name

if TYPE_CHECKING:
    from binspark.dump.mysql.bulk import BulkPrinter

_BEGIN = (
    b"# The proper term is pseudo_replica_mode, but we use this compatibility alias\n"
    b"# to make the statement usable on server versions 8.0.24 and older.\n"
    b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n"
)
_CHARSET_BEGIN = (
    b"\n/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;"
    b"\n/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;"
    b"\n/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;"
    b"\n/*!40101 SET NAMES %b */;\n"
)
_CHARSET_END = (
    b"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n"
    b"/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;\n"
    b"/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;\n"
)
_GTIDS = frozenset({E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED})
_VARIABLES = frozenset({E.INTVAR, E.RAND, E.USER_VAR})
_ROWS = frozenset(code for code, kind in ROWS_KINDS.items() if kind.version > 0)
_OF_STATEMENT = _ROWS | {E.TABLE_MAP, E.ROWS_QUERY}
_NEVER_FILTERED = frozenset({E.SLAVE, E.STOP, E.FORMAT_DESCRIPTION, E.ROTATE, E.IGNORABLE, E.INCIDENT})
_PRINTERS: dict[int, Callable[[Event, Page], None]] = {
    E.QUERY: statements.print_query,
    E.INTVAR: statements.print_intvar,
    E.RAND: statements.print_rand,
    E.USER_VAR: statements.print_user_var,
    E.FORMAT_DESCRIPTION: control.print_format_description,
    E.GTID: control.print_gtid,
    E.ANONYMOUS_GTID: control.print_gtid,
    E.GTID_TAGGED: control.print_gtid,
    E.PREVIOUS_GTIDS: control.print_previous_gtids,
    E.XID: control.print_xid,
    E.XA_PREPARE: control.print_xa_prepare,
    E.ROTATE: control.print_rotate,
    E.STOP: control.print_stop,
    E.INCIDENT: control.print_incident,
    E.BEGIN_LOAD_QUERY: control.print_block,
    E.APPEND_BLOCK: control.print_block,
    E.DELETE_FILE: control.print_delete_file,
    E.TRANSACTION_CONTEXT: control.print_transaction_context,
    E.VIEW_CHANGE: control.print_view_change,
    E.TABLE_MAP: rows.print_table_map,
    E.ROWS_QUERY: rows.print_rows_query,
    **dict.fromkeys(_ROWS, rows.print_rows),
}


class MysqlDumper:
    """Writes logs as mysqlbinlog does."""

    def __init__(self, settings: DumpSettings, output: BufferedOutput, warn: Warn) -> None:
        self._settings = settings
        self._page = Page(settings, output, warn, Clock(settings.timezone))
        self._files = LoadFiles(settings.local_load)
        self._tables = SelectedTables(settings.selection)
        self._transactions = SelectedTransactions(settings.selection)
        self._rewriter = DatabaseRewriter(settings.rewrite_db)
        self._warn = warn
        self._row_format = RowFormatCheck() if settings.require_row_format else None
        self._left_to_skip = settings.offset
        self._start_time = settings.selection.start_time
        self._variables: list[tuple[Event, int]] = []
        self._ignored_tables: set[int] = set()
        self._filters_transaction = False
        self._progress = Progress()
        self._is_first_description = True
        self._bulk: BulkPrinter | None = None

    def begin(self) -> None:
        """Write what comes before the first log."""
        settings, write = self._settings, self._page.output.write
        write(_BEGIN)
        if settings.disable_log_bin:
            write(b"/*!32316 SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0*/;\n")
        write(b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n")
        if settings.set_charset is not None:
            write(_CHARSET_BEGIN % settings.set_charset.encode())
        if settings.idempotent:
            write(b"/*!50700 SET @@SESSION.RBR_EXEC_MODE=IDEMPOTENT*/;\n\n")
        if settings.require_row_format:
            write(b"/*!80019 SET @@SESSION.REQUIRE_ROW_FORMAT=1*/;\n\n")
        write(b"DELIMITER /*!*/;\n")

    def end(self) -> None:
        """Write what comes after the last log."""
        settings, write = self._settings, self._page.output.write
        self._warn_about_rest()
        if self._progress.skipped_in_transaction:
            write(b"COMMIT /* added by mysqlbinlog */%b\n" % DELIMITER)
        self._end_log()
        write(b"DELIMITER ;\n# End of log file\n/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n")
        if settings.disable_log_bin:
            write(b"/*!32316 SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN*/;\n")
        if settings.set_charset is not None:
            write(_CHARSET_END)
        write(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n")
        if settings.idempotent:
            write(b"/*!50700 SET @@SESSION.RBR_EXEC_MODE=STRICT*/;\n")

    def dump(self, source: LogSource) -> bool:
        """Write one log; return whether the next one is wanted."""
        decoder = TolerantDecoder(source.name, self._warn)
        is_active = False
        bulk = self._bulk = self._bulk_printer(source)
        try:
            for frame, position in log_frames(source, bulk, verify=self._settings.verify_binlog_checksum):
                if frame.type_code == E.FORMAT_DESCRIPTION:
                    is_active = bool(frame.header.flags & HeaderFlag.BINLOG_IN_USE)
                event = decoder.decode(self._rewriter.rewrite(frame))
                for selected in self._transactions.feed(event):
                    at = position if selected is event else selected.offset
                    if not self._process(selected, at, source.stop):
                        return False
                if bulk is not None:
                    bulk.note(event)
        except Truncated as error:
            if not is_active or (error.position.event is None and not self._is_first_description):
                raise
            self._warn(f"{error}; the log is still being written, or its server crashed")
        return True

    def _bulk_printer(self, source: LogSource) -> BulkPrinter | None:
        """Return what prints the log in bulk, None if it is small or the options need every event in Python."""
        selects_all = (
            self._left_to_skip == 0
            and self._start_time == 0
            and self._tables.selects_all
            and self._transactions.selects_all
        )
        if not selects_all or needs_every_event(self._settings) or not pays_in_bulk(source):
            return None
        from binspark.dump.mysql.bulk import BulkPrinter  # loads NumPy, which small logs do not need

        return BulkPrinter(self._page, self._progress, source.stop, self._settings.selection.stop_time)

    def _process(self, event: Event, position: int, stop: int | None) -> bool:
        """Print an event if it is selected; return False where the dump ends."""
        header, code, page = event.header, event.type_code, self._page
        selection = self._settings.selection
        is_description = code == E.FORMAT_DESCRIPTION
        self._left_to_skip, is_skipped = max(0, self._left_to_skip - 1), self._left_to_skip > 0
        if not is_description:
            if is_skipped or header.timestamp < self._start_time:
                return True
            self._start_time = self._left_to_skip = 0
            if code != E.ROTATE and selection.server_id not in (None, 0, header.server_id):
                return True
        if stop is not None and position >= stop:
            return False
        if selection.stop_time is not None and header.timestamp >= selection.stop_time:
            return False
        if not self._settings.short_form:
            page.head.append(b"# at %d\n" % position)
        page.hexdump_from = position if self._settings.hexdump else None
        if self._row_format is not None:
            self._row_format.check(event)
        if not self._is_filtered(event):
            self._print(event, position)
        return True

    def _is_filtered(self, event: Event) -> bool:
        """Return whether the GTID options leave an event out."""
        code, filters = event.type_code, self._filters_transaction
        if code in _GTIDS:
            self._filters_transaction = not self._settings.selection.wants_gtid(event.body.gtid)
            return self._filters_transaction or self._settings.skip_gtids
        if code == E.PREVIOUS_GTIDS:
            return self._settings.skip_gtids
        if code == E.XID or (code == E.QUERY and statements.ends_group(event.body.query)):
            self._filters_transaction = False
            return filters
        return filters and code not in _NEVER_FILTERED

    def _print(self, event: Event, position: int) -> None:
        code, page = event.type_code, self._page
        if code in _OF_STATEMENT:
            self._print_rows(event)
            return
        if code == E.QUERY:
            if not self._print_query(event, position):
                return
        elif code in _VARIABLES:
            self._variables.append((event, position))
        elif code == E.TRANSACTION_PAYLOAD:
            self._print_payload(event)
        elif code == E.EXECUTE_LOAD_QUERY:
            self._print_load(event)
        else:
            self._note(event)
            self._printer(event)(event, page)
            self._check_closed(event)
            self._keep_block(event)
        page.flush_head()

    def _note(self, event: Event) -> None:
        """Do what belongs to an event besides printing it."""
        code = event.type_code
        if code == E.FORMAT_DESCRIPTION:
            if not event.header.flags & HeaderFlag.RELAY_LOG:
                if event.header.next_position > 0 and not self._is_first_description:
                    self._end_log()
                self._is_first_description = False
            self._page.header_length = event.body.header_length
        elif code in _GTIDS:
            self._progress.seen_gtid = True
            if self._progress.skipped_in_transaction:
                self._page.output.write(b"COMMIT /* added by mysqlbinlog */%b\n" % DELIMITER)
            self._progress.skipped_in_transaction = False
        elif code == E.XID:
            self._progress.end_transaction()
        elif code == E.PREVIOUS_GTIDS and self._settings.database is not None and not self._settings.skip_gtids:
            self._warn(
                "--database may omit parts of transactions, but their GTIDs are written; "
                "--include-gtids and --exclude-gtids select complete transactions"
            )

    def _printer(self, event: Event) -> Callable[[Event, Page], None]:
        if event.type_code in _PRINTERS:
            return _PRINTERS[event.type_code]
        if event.header.flags & HeaderFlag.IGNORABLE:
            return control.print_ignorable
        if not self._settings.force_read:
            message = f"{event.type} event, which mysqlbinlog does not print; use --force-read to continue after it"
            raise Unsupported(message, event.position)
        return control.print_unknown

    def _check_closed(self, event: Event) -> None:
        is_active = event.type_code == E.FORMAT_DESCRIPTION and bool(event.header.flags & HeaderFlag.BINLOG_IN_USE)
        if is_active and not self._settings.force_if_open:
            message = "the log is still being written, or its server crashed; use --force-if-open to read it"
            raise Unsupported(message, event.position)

    def _keep_block(self, event: Event) -> None:
        if event.type_code == E.BEGIN_LOAD_QUERY:
            self._files.begin(event.body)
        elif event.type_code == E.APPEND_BLOCK and not self._files.append(event.body):
            self._warn(f"{event.position}: a block of file {event.body.file_id}, which was not begun, is ignored")

    def _print_query(self, event: Event, position: int) -> bool:
        """Print a statement with the variables before it; return False if its database is not wanted."""
        page, query = self._page, event.body.query
        is_skipped = not statements.is_transaction_keyword(query) and self._skips_statement(event)
        ends, starts = statements.ends_group(query), statements.starts_group(query)
        for variable, at in self._variables:
            page.hexdump_from = at if self._settings.hexdump else None
            if not is_skipped:
                _PRINTERS[variable.type_code](variable, page)
        page.hexdump_from = position if self._settings.hexdump else None
        self._variables.clear()
        if is_skipped:
            if self._progress.seen_gtid and not self._progress.in_transaction and not starts and not ends:
                page.output.write(b"COMMIT /* added by mysqlbinlog */%b\n" % DELIMITER)
                self._progress.end_transaction()
            else:
                self._progress.skipped_in_transaction = True
            return False
        if ends:
            self._progress.end_transaction()
        elif starts:
            self._progress.in_transaction = True
        elif not self._progress.in_transaction:
            self._progress.seen_gtid = False
        statements.print_query(event, page)
        return True

    def _print_load(self, event: Event) -> None:
        file_name = self._files.take(event.body.file_id)
        if self._skips_statement(event):
            self._progress.skipped_in_transaction = True
        elif file_name is None:
            self._warn(f"{event.position}: LOAD DATA of file {event.body.file_id}, which was not begun, is ignored")
        else:
            statements.print_load(event, self._page, file_name)

    def _print_payload(self, event: Event) -> None:
        page = self._page
        control.print_payload_start(event, page)
        page.flush_head()
        decoder = TolerantDecoder(event.file, self._warn)
        position = event.header.next_position
        bulk = self._bulk
        for frame in inner_frames(event) if bulk is None else bulk.inner_frames(event):
            try:
                inner = decoder.decode(self._rewriter.rewrite(frame))
                self._process(inner, position, None)
                if bulk is not None:
                    bulk.note(inner)
            except Malformed as error:  # mysqlbinlog continues, too
                self._warn(str(error))
                page.flush_head()
        if not self._settings.short_form:
            page.head.append(b"# End of compressed events.\n")

    def _print_rows(self, event: Event) -> None:
        code, page, body = event.type_code, self._page, event.body
        if code == E.TABLE_MAP and self._skips_table(event):
            self._progress.skipped_in_transaction = True
            self._ignored_tables.add(body.table_id)
            return
        is_rows = code in _ROWS
        ends = is_rows and body.ends_statement
        is_skipped = is_rows and self._skips_rows(event)
        if ends:
            self._ignored_tables.clear()
        if is_skipped:
            self._progress.skipped_in_transaction = True
            if ends:
                self._progress.unfinished_statement = False
                if page.body:
                    page.body.write(b"'%b\n" % DELIMITER)
                page.flush()
            return
        if is_rows:
            self._check_description(event)
        _PRINTERS[code](event, page)
        self._progress.unfinished_statement = not ends
        if ends:
            page.flush()
        else:
            page.flush_head()

    def _check_description(self, event: Event) -> None:
        """Refuse rows that cannot be written as BINLOG statement."""
        settings = self._settings
        if self._page.printed_description or settings.short_form or self._page.decodes_only:
            return
        name = type_name(event.type_code)
        if settings.base64_output is Base64Output.NEVER:
            raise Malformed(f"--base64-output never, but a {name} event must be written as base64", event.position)
        raise Malformed(f"{name} event without a format description before it", event.position)

    def _skips(self, database: str) -> bool:
        return self._settings.database is not None and database != self._settings.database

    def _skips_statement(self, event: Event) -> bool:
        return self._skips(event.body.schema) or not self._tables.wants_statement(event.body.query, event.body.schema)

    def _skips_table(self, event: Event) -> bool:
        return self._skips(event.body.schema) or not self._tables.wants_table(event.body.schema, event.body.table)

    def _skips_rows(self, event: Event) -> bool:
        return event.body.table_id in self._ignored_tables or not self._tables.wants_operation(event.body.operation)

    def _end_log(self) -> None:
        """End a transaction that the log does not end."""
        write, keeps_gtids = self._page.output.write, not self._settings.skip_gtids
        rollback = b"ROLLBACK /* added by mysqlbinlog */ %b\n" % DELIMITER
        if self._progress.in_transaction:
            write(rollback)
        elif self._progress.seen_gtid and keeps_gtids:
            write(b"BEGIN /*added by mysqlbinlog */ %b\n%b" % (DELIMITER, rollback))
        if keeps_gtids:
            write(b"%bAUTOMATIC' /* added by mysqlbinlog */ %b\n" % (control.SET_GTID, DELIMITER))
        self._progress.seen_gtid = self._progress.in_transaction = False

    def _warn_about_rest(self) -> None:
        if self._variables:
            self._warn("the last variables belong to a statement that is not printed; they are omitted")
        elif self._progress.unfinished_statement:
            self._warn("the last rows belong to a statement that is not complete; they are omitted")
