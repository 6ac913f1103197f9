"""Tables and row changes for a builder: `insert`, `update` and `delete` of rows with values."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from binspark.event.column_types import ColumnType
from binspark.event.rows import RowOperation, Rows, RowsFlag
from binspark.event.table_map import TableMap, TableMapFlag
from binspark.event.table_metadata import DefaultCharset, MetadataField, MetadataKind
from binspark.frames import EventCode as E
from binspark.wire import Writer
from binspark.wire.bitmap import encode_high_bits_first, encode_low_bits_first, high_bits_first
from binspark.wire.decimals import encode_packed_decimal

UTF8MB4 = 255
Row = Sequence[Any]


@dataclass(frozen=True)
class Column:
    """A column: its fields in a TABLE_MAP, and the function that encodes one value.

    Functions such as `integer` and `varchar` return the usual ones; other types can be declared with this class.
    """

    name: str
    type_code: int
    metadata: int
    store: Callable[[Any], bytes]
    unsigned: bool | None = None
    is_text: bool = False


_INTEGER_BYTES = {
    ColumnType.TINY: 1,
    ColumnType.SHORT: 2,
    ColumnType.INT24: 3,
    ColumnType.LONG: 4,
    ColumnType.LONGLONG: 8,
}


def integer(name: str, type_code: ColumnType = ColumnType.LONG, *, unsigned: bool = False) -> Column:
    """Declare an INT, or with `type_code` a TINYINT, SMALLINT, MEDIUMINT or BIGINT."""
    length = _INTEGER_BYTES[type_code]
    return Column(name, type_code, 0, lambda value: value.to_bytes(length, "little", signed=not unsigned), unsigned)


def double(name: str) -> Column:
    """Declare a DOUBLE."""
    return Column(name, ColumnType.DOUBLE, 8, lambda value: struct.pack("<d", value), unsigned=False)


def decimal(name: str, precision: int, scale: int) -> Column:
    """Declare a DECIMAL(precision, scale)."""
    store: Callable[[Any], bytes] = lambda value: encode_packed_decimal(Decimal(value), precision, scale)  # noqa: E731
    return Column(name, ColumnType.NEWDECIMAL, precision | scale << 8, store, unsigned=False)


def varchar(name: str, max_bytes: int) -> Column:
    """Declare a VARCHAR of at most `max_bytes` bytes."""
    length_bytes = 1 if max_bytes < 256 else 2
    return Column(name, ColumnType.VARCHAR, max_bytes, lambda value: _counted(value, length_bytes), is_text=True)


def blob(name: str, length_bytes: int = 2) -> Column:
    """Declare a BLOB; `length_bytes` is 1 for TINYBLOB up to 4 for LONGBLOB."""
    return Column(name, ColumnType.BLOB, length_bytes, lambda value: _counted(value, length_bytes), is_text=True)


@dataclass(frozen=True)
class Table:
    """A table. `table` is the usual way to declare one."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def all_columns(self) -> bytes:
        """The bitmap of a row image with every column."""
        return encode_low_bits_first([True] * len(self.columns))

    def table_map(self, table_id: int, *, full_metadata: bool = True) -> TableMap:
        """Return the TABLE_MAP of the table."""
        return TableMap(
            table_id=table_id,
            flags=TableMapFlag.BIT_LENGTHS_EXACT,
            schema=self.schema,
            table=self.name,
            column_types=tuple(column.type_code for column in self.columns),
            column_metadata=tuple(column.metadata for column in self.columns),
            null_bits=self.all_columns,
            metadata=self._metadata() if full_metadata else (),
        )

    def image(self, row: Row) -> bytes:
        """Encode one row image: the bitmap of NULL values, then the other values."""
        stored = [column.store(value) for column, value in zip(self.columns, row, strict=True) if value is not None]
        return encode_low_bits_first([value is None for value in row]) + b"".join(stored)

    def _metadata(self) -> tuple[MetadataField, ...]:
        signs = [column.unsigned for column in self.columns if column.unsigned is not None]
        names = MetadataField(MetadataKind.COLUMN_NAME, tuple(column.name for column in self.columns))
        fields = [MetadataField(MetadataKind.SIGNEDNESS, _padded(signs))] if signs else []
        if any(column.is_text for column in self.columns):
            fields.append(MetadataField(MetadataKind.DEFAULT_CHARSET, DefaultCharset(UTF8MB4, ())))
        if self.key:
            indexes = tuple([column.name for column in self.columns].index(name) for name in self.key)
            return (*fields, names, MetadataField(MetadataKind.SIMPLE_PRIMARY_KEY, indexes))
        return (*fields, names)


def table(name: str, *columns: Column, key: tuple[str, ...] = ()) -> Table:
    """Declare a table; `key` has the names of the columns of its primary key.

    >>> orders = table("shop.orders", integer("id"), varchar("note", 40))
    >>> [column.name for column in orders.columns]
    ['id', 'note']
    """
    schema, _, table_name = name.partition(".")
    return Table(schema, table_name, columns, key)


def _padded(bits: Sequence[bool]) -> tuple[bool, ...]:
    packed = encode_high_bits_first(bits)
    return high_bits_first(packed, 8 * len(packed))


def _counted(value: str | bytes, length_bytes: int) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    writer = Writer()
    writer.uint(len(raw), length_bytes)
    writer.raw(raw)
    return writer.take()


@dataclass(frozen=True)
class Change:
    """Rows of one table that one statement changed; the images of an update are before and after in turn."""

    operation: RowOperation
    table: Table
    images: bytes

    def rows(self, table_id: int) -> Rows:
        """Return the rows event."""
        columns = self.table.all_columns
        after = columns if self.operation is RowOperation.UPDATE else None
        count = len(self.table.columns)
        return Rows(self.operation, table_id, RowsFlag.STMT_END, (), count, columns, after, self.images)


def insert(table: Table, *rows: Row) -> Change:
    """Return an insert of rows: `insert(orders, (1, "first"), (2, None))`."""
    return Change(RowOperation.INSERT, table, b"".join(map(table.image, rows)))


def delete(table: Table, *rows: Row) -> Change:
    """Return a delete of rows: `delete(orders, (1, "first"))`."""
    return Change(RowOperation.DELETE, table, b"".join(map(table.image, rows)))


def update(table: Table, *pairs: tuple[Row, Row]) -> Change:
    """Return an update of rows, each a pair of before and after: `update(orders, ((1, "old"), (1, "new")))`."""
    images = b"".join(table.image(row) for pair in pairs for row in pair)
    return Change(RowOperation.UPDATE, table, images)


class RowsCodes(NamedTuple):
    """The type codes of one version of rows events."""

    insert: int
    update: int
    delete: int

    def of(self, operation: RowOperation) -> int:
        """Return the type code for an operation."""
        code: int = getattr(self, operation.value)
        return code


PRE_GA = RowsCodes(E.PRE_GA_WRITE_ROWS, E.PRE_GA_UPDATE_ROWS, E.PRE_GA_DELETE_ROWS)
V1 = RowsCodes(E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1)
V2 = RowsCodes(E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS)
PARTIAL = RowsCodes(E.WRITE_ROWS, E.PARTIAL_UPDATE_ROWS, E.DELETE_ROWS)
COMPRESSED_V1 = RowsCodes(E.WRITE_ROWS_COMPRESSED_V1, E.UPDATE_ROWS_COMPRESSED_V1, E.DELETE_ROWS_COMPRESSED_V1)
COMPRESSED_V2 = RowsCodes(E.WRITE_ROWS_COMPRESSED, E.UPDATE_ROWS_COMPRESSED, E.DELETE_ROWS_COMPRESSED)
