"""Rows events and their table maps: as BINLOG statements, and as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.dump.mysql.page import DELIMITER, Page
from binspark.dump.mysql.row_comments import RowComments
from binspark.dump.mysql.table_metadata import print_table_metadata
from binspark.event.rows import ROWS_KINDS, RowsFlag
from binspark.event.table_map import TableMapFlag
from binspark.frames import EventCode

if TYPE_CHECKING:
    from binspark.event import Event, Rows, RowsQuery, TableMap

_SINCE_INVISIBLE_KEYS = 80030
_WITH_STATEMENTS = 2
_NAMES = {
    EventCode.WRITE_ROWS_V1: b"Write_rows_v1",
    EventCode.UPDATE_ROWS_V1: b"Update_rows_v1",
    EventCode.DELETE_ROWS_V1: b"Delete_rows_v1",
    EventCode.WRITE_ROWS: b"Write_rows",
    EventCode.UPDATE_ROWS: b"Update_rows",
    EventCode.DELETE_ROWS: b"Delete_rows",
    EventCode.PARTIAL_UPDATE_ROWS: b"Update_rows_partial",
}
_ESCAPES = ((b"\\", rb"\\"), (b"\0", rb"\0"), (b"\b", rb"\b"), (b"\t", rb"\t"), (b"\r", rb"\r"))
_FLAGS = (
    (RowsFlag.STMT_END, b" STMT_END_F"),
    (RowsFlag.NO_FOREIGN_KEY_CHECKS, b" NO_FOREIGN_KEY_CHECKS_F"),
    (RowsFlag.RELAXED_UNIQUE_CHECKS, b" RELAXED_UNIQUE_CHECKS_F"),
    (RowsFlag.COMPLETE_ROWS, b" COMPLETE_ROWS_F"),
    (RowsFlag.USE_SQL_FOREIGN_KEY_ON_DELETE_CASCADE, b" USE_SQL_FOREIGN_KEY_F"),
)


def print_table_map(event: Event, page: Page) -> None:
    """Print the table of a table id."""
    table: TableMap = event.body
    if page.settings.short_form:
        return
    encoding = event.frame.format.encoding
    page.header(event)
    page.head.append(
        b"\tTable_map: `%b`.`%b` mapped to number %d\n"
        % (table.schema.encode(encoding), table.table.encode(encoding), table.table_id)
    )
    if page.server_version is not None and page.server_version >= _SINCE_INVISIBLE_KEYS:
        has_key = bool(table.flags & TableMapFlag.HAS_GENERATED_INVISIBLE_PRIMARY_KEY)
        page.head.append(b"# has_generated_invisible_primary_key=%d\n" % has_key)
    if page.settings.print_table_metadata:
        print_table_metadata(table, page, encoding)
    _print_base64(event, page, has_more=True)
    if page.settings.verbose:
        page.table_maps[table.table_id] = table


def print_rows(event: Event, page: Page) -> None:
    """Print the rows of a table."""
    rows: Rows = event.body
    if page.settings.short_form:
        return
    page.header(event)
    page.head.append(b"\t%b: table id %d%b\n" % (_NAMES[EventCode(event.type_code)], rows.table_id, _flags(rows.flags)))
    _print_base64(event, page, has_more=not rows.ends_statement)
    if page.settings.verbose:
        _print_comments(event, page)


def print_rows_query(event: Event, page: Page) -> None:
    """Print the statement that caused rows, as a comment."""
    statement: RowsQuery = event.body
    if page.settings.short_form or page.settings.verbose < _WITH_STATEMENTS:
        return
    page.header(event)
    page.head.append(b"\tRows_query\n")
    page.head.extend(b"# %b\n" % _escaped(line) for line in statement.query.split(b"\n"))
    _print_base64(event, page, has_more=True)


def _escaped(line: bytes) -> bytes:
    for special, escape in _ESCAPES:
        line = line.replace(special, escape)
    return line


def _print_base64(event: Event, page: Page, *, has_more: bool) -> None:
    if page.decodes_only:
        return
    if not page.body:
        page.body.write(b"\nBINLOG '\n")
    page.body.write(page.base64(event.frame.data))
    if not has_more:
        page.body.write(b"'%b\n" % DELIMITER)


def _print_comments(event: Event, page: Page) -> None:
    rows: Rows = event.body
    table = page.table_maps.get(rows.table_id)
    if table is None:
        page.footer.write(b"### Row event for unknown table #%d" % rows.table_id)
        return
    comments = RowComments(table, event.frame.format.encoding, with_types=page.settings.verbose > 1)
    for text in comments.print(rows, is_partial=ROWS_KINDS[event.type_code].partial):
        page.footer.write(text)


def _flags(flags: int) -> bytes:
    known = b"".join(name for flag, name in _FLAGS if flags & flag)
    unknown = flags & ~sum(flag for flag, _ in _FLAGS)
    text = known + (b" UNKNOWN_FLAG(0x%x)" % unknown if unknown else b"")
    return b" flags:" + text if text else b""
