"""Prints table maps, rows events and the statements that caused them."""

from __future__ import annotations

from binspark.dump.mariadb.caches import StatementCaches
from binspark.dump.mariadb.heading import Headings, identifier
from binspark.dump.mariadb.rewriting import renamed_database, uncompressed_rows
from binspark.dump.mariadb.rows import TableForm
from binspark.dump.mariadb.table_metadata import table_metadata
from binspark.dump.output import Output
from binspark.dump.selected import SelectedTables
from binspark.dump.settings import Base64Output, DumpSettings
from binspark.errors import Malformed
from binspark.event import AnnotateRows, Event, RowOperation, Rows, TableMap
from binspark.event.rows import ROWS_KINDS
from binspark.event.table_map import TableMapFlag, TableMaps

_ROWS_NAMES = {
    RowOperation.INSERT: b"Write",
    RowOperation.UPDATE: b"Update",
    RowOperation.DELETE: b"Delete",
}


class RowsPrinter:
    """Prints the rows events of one log. Parts of a statement wait until it ends.

    row_count   how many rows the statement has so far, if it is `in_rows`
    """

    def __init__(self, settings: DumpSettings, output: Output, headings: Headings, caches: StatementCaches) -> None:
        own = settings.mariadb
        self._settings = settings
        self._output = output
        self._headings = headings
        self._caches = caches
        self._short = settings.short_form
        self.verbose = 0 if settings.short_form else settings.verbose
        self.counts = own.print_row_count if own.print_row_count is not None else not settings.short_form
        self.shows_base64 = settings.base64_output in (Base64Output.AUTO, Base64Output.UNSPEC)
        self.encodes = self.shows_base64 and not settings.short_form
        self.rewrites = {old.encode(): new.encode() for old, new in settings.rewrite_db}
        self.has_printed_format = False
        self._database = None if settings.database is None else settings.database.encode()
        self._table = None if own.table is None else own.table.encode()
        self._selected = SelectedTables(settings.selection)
        self._tables: TableMaps[TableForm] = TableMaps()
        self._ignored: set[int] = set()
        self._annotation: Event | None = None
        self.row_count = 0
        self.in_rows = False

    @property
    def has_annotation(self) -> bool:
        """Whether a statement waits for its table map."""
        return self._annotation is not None

    def skips_database(self, database: bytes) -> bool:
        """Return whether changes in a database are not printed."""
        return self._database is not None and database != self._database

    def table_form(self, table_id: int) -> TableForm | None:
        """Return how the rows of a table are printed, None if they are not."""
        return None if table_id in self._ignored else self._tables.get(table_id)

    def map_text(self, body: TableMap) -> bytes:
        """Return what follows the heading of a table map, in its own database."""
        return self._map_text(
            body, body.schema.encode(errors="surrogateescape"), body.table.encode(errors="surrogateescape")
        )

    def keep_annotation(self, event: Event) -> None:
        """Keep the statement that causes rows: it is printed with the next table map."""
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

    def print_map(self, event: Event) -> None:
        """Print a table map, unless its rows are not printed."""
        body: TableMap = event.body
        database = body.schema.encode(errors="surrogateescape")
        table = body.table.encode(errors="surrogateescape")
        is_other = self.skips_database(database) or (self._table is not None and table != self._table)
        if is_other or not self._selected.wants_table(body.schema, body.table):
            self._ignored.add(body.table_id)
            return
        self._print_annotation(event.offset)
        data = event.frame.data
        if database in self.rewrites:
            data = renamed_database(event.frame, database, self.rewrites[database])
            database = self.rewrites[database]
        self._check_format_printed(event)
        caches = self._caches
        if not self._short:
            caches.head.append(self._headings.text(event.frame, data))
        if not self._short or self.counts:
            caches.head.append(self._map_text(body, database, table))
        if self._short and not self.counts:
            return
        if self.encodes:
            caches.add_event(data)
        if self.verbose or self.counts:
            self._tables[body.table_id] = TableForm(body, database, table)
        caches.flush_head()

    def print_rows(self, event: Event) -> None:
        """Print a rows event; with the last one of a statement, all of the statement."""
        body: Rows = event.body
        if not self.in_rows:
            self.in_rows, self.row_count = True, 0
        is_ignored = body.table_id in self._ignored or not self._selected.wants_operation(body.operation)
        ends = body.ends_statement
        if ends:
            self.in_rows = False
            self._ignored.clear()
            self._annotation = None
            if is_ignored:
                self._caches.end_skipped(wrapped=self.encodes and not self._selected.selects_all)
        if is_ignored:
            return
        self._check_format_printed(event)
        self._print_rows_event(event, body)
        if ends:
            self.end_statement()

    def end_statement(self) -> None:
        """Write everything that waits for the end of its statement."""
        self._caches.flush(wrapped=self.encodes)
        if self.counts:
            self._output.write(b"# Number of rows: %d\n" % self.row_count)
        self.row_count = 0

    def _map_text(self, body: TableMap, database: bytes, table: bytes) -> bytes:
        text = b""
        if not self._short:
            triggers = b" (has triggers)" if body.flags & TableMapFlag.HAS_TRIGGERS else b""
            names = b"%b.%b" % (identifier(database), identifier(table))
            text = b"\tTable_map: %b mapped to number %d%b\n" % (names, body.table_id, triggers)
        return text + table_metadata(body) if self._settings.print_table_metadata else text

    def _print_rows_event(self, event: Event, body: Rows) -> None:
        kind = ROWS_KINDS[event.type_code]
        frame, caches = event.frame, self._caches
        data = uncompressed_rows(frame, body) if kind.compressed else frame.data
        if not self._short:
            name = _ROWS_NAMES[body.operation] + (b"_compressed_rows" if kind.compressed else b"_rows")
            ending = b" flags: STMT_END_F" if body.ends_statement else b""
            heading = self._headings.text(frame, data)
            caches.head.append(heading + b"\t%b: table id %d%b\n" % (name, body.table_id, ending))
        if self._short and not self.counts:
            return
        if self.encodes:
            caches.add_event(data)
        table = self._tables.get(body.table_id)
        if table is None:
            if self.verbose:
                caches.tail.write(b"### Row event for unknown table #%d" % body.table_id)
            return
        if not self.verbose:
            if self.counts:
                self.row_count += table.count_rows(body)
            return
        printed = table.print_rows(body, self.verbose, caches.tail)
        self.row_count += printed.count
        if printed.prints_headings:
            caches.give_up()
        if printed.problem:
            raise Malformed(printed.problem, event.position)

    def _check_format_printed(self, event: Event) -> None:
        """Refuse rows where no format was printed, without which a BINLOG statement cannot be executed."""
        if self.encodes and not self.has_printed_format:
            raise Malformed("rows before any format description", event.position)
