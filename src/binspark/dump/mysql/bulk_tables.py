"""Tables whose rows a kernel prints: how the values of each column are printed, and what is printed around them."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from binspark.dump.mysql.buffers import address_of, numbers, text_bytes
from binspark.dump.mysql.row_comments import row_headings, table_printers
from binspark.dump.mysql.row_values import ColumnPrinter
from binspark.event.column_types import ColumnType as T
from binspark.kernels.mysqlbinlog.layout import COLUMN_FIELDS, TABLE_FIELDS, ColumnField, Op, TableField

if TYPE_CHECKING:
    from binspark.event import Event, TableMap

_MAX_TABLES = 4096
_FIRST_ROOM = 16
_TABLE_ID = 6
_OPS: dict[int, Op] = {
    T.TINY: Op.TINY,
    T.SHORT: Op.SHORT,
    T.INT24: Op.INT24,
    T.LONG: Op.LONG,
    T.LONGLONG: Op.LONGLONG,
    T.NEWDECIMAL: Op.DECIMAL,
    T.FLOAT: Op.FLOAT,
    T.DOUBLE: Op.DOUBLE,
    T.BIT: Op.BITS,
    T.SET: Op.BITS,
    T.TIMESTAMP2: Op.TIMESTAMP2,
    T.DATETIME2: Op.DATETIME2,
    T.TIME2: Op.TIME2,
    T.DATE: Op.DATE,
    T.NEWDATE: Op.DATE,
    T.YEAR: Op.YEAR,
    T.BLOB: Op.TEXT,
    T.VARCHAR: Op.TEXT,
    T.VAR_STRING: Op.TEXT,
    T.STRING: Op.TEXT,
    T.JSON: Op.JSON,
}


class KnownTables:
    """The tables of a log, as numbers for the kernel. Arrays whose addresses are among them are kept.

    numbers   TABLE_FIELDS numbers for each table
    has_json  whether any table has a column of JSON documents
    """

    def __init__(self, *, with_types: bool) -> None:
        self._with_types = with_types
        self.numbers = numbers([0] * TABLE_FIELDS * _FIRST_ROOM)
        self.has_json = False
        self.maps: list[TableMap] = []
        self._indexes: dict[bytes, int] = {}
        self._kept: list[array[int]] = []

    def add(self, event: Event) -> int:
        """Add the table of a table map; return its index, or -1 if there are too many tables."""
        frame = event.frame
        raw = frame.data[frame.body_start + _TABLE_ID : frame.body_end]
        known = self._indexes.get(raw)
        if known is not None:
            return known
        if len(self.maps) >= _MAX_TABLES:
            return -1
        index = len(self.maps)
        if TABLE_FIELDS * (index + 1) > len(self.numbers):
            self.numbers = numbers([*self.numbers, *[0] * len(self.numbers)])
        self.numbers[TABLE_FIELDS * index : TABLE_FIELDS * (index + 1)] = numbers(self._table(event, raw))
        self.maps.append(event.body)
        self._indexes[raw] = index
        return index

    def _table(self, event: Event, raw: bytes) -> list[int]:
        table: TableMap = event.body
        printers = table_printers(table)
        rows = [self._column(number, printer, table) for number, printer in enumerate(printers)]
        columns = numbers([field for row in rows for field in row] or [0])
        self._kept.append(columns)
        operations = {row[ColumnField.OP] for row in rows}
        self.has_json = self.has_json or Op.JSON in operations
        fields = [0] * TABLE_FIELDS
        fields[TableField.MAP], fields[TableField.MAP_LENGTH] = self._keep(raw)
        fields[TableField.COLUMNS], fields[TableField.COLUMN_COUNT] = address_of(columns), len(printers)
        headings = row_headings(table, event.frame.format.encoding)
        for field, text in zip((TableField.INSERT, TableField.UPDATE, TableField.DELETE), headings, strict=True):
            fields[field], fields[field + 1] = self._keep(text)
        fields[TableField.IS_PRINTABLE] = bool(rows) and Op.REFUSED not in operations
        return fields

    def _column(self, number: int, printer: ColumnPrinter, table: TableMap) -> list[int]:
        fields = [0] * COLUMN_FIELDS
        op, parameter = _operation(printer)
        fields[ColumnField.OP], fields[ColumnField.PARAMETER] = op, parameter
        fields[ColumnField.SIZE], fields[ColumnField.LENGTH_BYTES] = printer.size, printer.length_bytes
        fields[ColumnField.PREFIX], fields[ColumnField.PREFIX_LENGTH] = self._keep(b"###   @%d=" % (number + 1))
        for field, is_null in ((ColumnField.SUFFIX, False), (ColumnField.NULL_SUFFIX, True)):
            comment = printer.comment(nullable=table.nullable[number], is_null=is_null) if self._with_types else b""
            fields[field], fields[ColumnField.SUFFIX_LENGTH] = self._keep(comment + b"\n")
        return fields

    def _keep(self, text: bytes) -> tuple[int, int]:
        kept = text_bytes(text)
        self._kept.append(kept)
        return address_of(kept), len(text)


def _operation(printer: ColumnPrinter) -> tuple[Op, int]:
    """Return how a kernel prints values, and the number that this depends on."""
    kind, metadata = printer.type_code, printer.metadata
    if printer.print is None or (printer.size == 0 and printer.length_bytes == 0):
        return Op.REFUSED, 0
    if kind == T.BIT:
        return Op.BITS, (metadata >> 8) * 8 + (metadata & 0xFF)
    if kind == T.SET:
        return Op.BITS, 8 * (metadata & 0xFF)
    if kind == T.ENUM:
        return (Op.NUMBER_1 if printer.size == 1 else Op.NUMBER_2), 0
    return _OPS.get(kind, Op.REFUSED), metadata
