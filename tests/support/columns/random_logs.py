"""Random tables, random rows of them, and logs of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from binspark.event import Rows, TableMap
from binspark.event.column_types import ColumnType as T
from binspark.event.rows import ROWS_KINDS, RowOperation
from binspark.frames import EventCode as E
from binspark.frames.format import ChecksumAlgorithm
from binspark.frames.payload import PayloadCompression
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.testing.builder import MARIADB_12_3, MYSQL_9_7, BinlogBuilder, EventSpec, ServerKind
from binspark.values.charsets import CODECS, Layout
from binspark.values.charsets.collations import COLLATIONS
from binspark.values.column import BINARY_COLLATION, Column
from binspark.wire.bitmap import encode_low_bits_first
from tests.support.columns.stored_values import stored_value
from tests.support.values.value_columns import COUNTED_TYPES, PLAIN_TYPES

FIRST_TIME, LAST_TIME = 1_700_000_000, 1_700_000_005
_INTEGERS = (T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG)
_NEW_TEMPORALS = (T.TIME2, T.DATETIME2, T.TIMESTAMP2)
_OLD_TEMPORALS = (T.TIME, T.DATETIME, T.TIMESTAMP)
_BLOBS = (T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB)
_ROWS_CODES = (E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS, E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1)
_COMPRESSED_CODES = (E.WRITE_ROWS_COMPRESSED, E.UPDATE_ROWS_COMPRESSED_V1, E.DELETE_ROWS_COMPRESSED)


def _first_collations(*layouts: Layout) -> tuple[int, ...]:
    return tuple(
        ranges[0][0]
        for charset, ranges in COLLATIONS.items()
        if charset in CODECS and CODECS[charset].layout in layouts
    )


_collations = st.one_of(
    st.sampled_from((None, BINARY_COLLATION)),
    st.sampled_from(_first_collations(Layout.UTF8)),
    st.sampled_from(_first_collations(Layout.SINGLE_BYTE)),
    st.sampled_from(_first_collations(Layout.MULTI_BYTE, Layout.FIXED)),
)
_member = st.text(st.characters(codec="utf-8", exclude_characters=","), max_size=5)


@st.composite
def _choices(draw: st.DrawFn, kind: T) -> Column:
    most = draw(st.sampled_from((0, 1, 5, 8, 9, 64) if kind == T.SET else (0, 1, 5, 300)))
    members = draw(st.none() | st.lists(_member, min_size=most, max_size=most).map(tuple))
    lengths = (1, 2, 3, 4, 8) if kind == T.SET else (1, 2)
    return Column(kind, length=draw(st.sampled_from(lengths)), members=members)


@st.composite
def _decimals(draw: st.DrawFn) -> Column:
    precision = draw(st.integers(1, 38) | st.integers(1, 65))
    return Column(T.NEWDECIMAL, precision=precision, scale=draw(st.integers(0, min(precision, 30))))


kernel_columns: st.SearchStrategy[Column] = st.one_of(
    st.builds(Column, st.sampled_from(_INTEGERS), unsigned=st.sampled_from((None, False, True))),
    st.builds(Column, st.sampled_from(_NEW_TEMPORALS), scale=st.integers(0, 6)),
    st.builds(Column, st.sampled_from((*_OLD_TEMPORALS, *PLAIN_TYPES))),
    st.integers(1, 38).map(
        lambda digits: Column(T.NEWDECIMAL, precision=digits, scale=digits * 7 % (min(digits, 30) + 1))
    ),
    st.sampled_from((Column(T.FLOAT, length=4), Column(T.DOUBLE, length=8))),
    st.builds(Column, st.just(T.BIT), length=st.integers(1, 64)),
    st.builds(Column, st.just(T.STRING), length=st.integers(0, 60) | st.integers(250, 1020), collation=_collations),
    st.sampled_from((("inet4", 4), ("inet6", 16), ("uuid", 16))).map(
        lambda kind: Column(T.STRING, length=kind[1], collation=BINARY_COLLATION, notation=kind[0])
    ),
    st.builds(Column, st.sampled_from((T.VARCHAR, T.VAR_STRING)), length=st.integers(0, 500), collation=_collations),
    st.builds(Column, st.sampled_from(_BLOBS), length=st.integers(1, 4), collation=_collations),
    st.builds(Column, st.sampled_from(COUNTED_TYPES), length=st.integers(1, 4)),
    _choices(T.ENUM),
    _choices(T.SET),
)
"""Columns that kernels decode, nearly all."""

reference_columns: st.SearchStrategy[Column] = st.one_of(
    st.builds(Column, st.sampled_from(_OLD_TEMPORALS), scale=st.integers(1, 6)),
    _decimals(),
    st.builds(Column, st.just(T.DECIMAL), length=st.integers(1, 5)),
    st.just(Column(T.NULL)),
    st.builds(Column, st.just(T.VARCHAR_COMPRESSED), length=st.integers(0, 500), collation=_collations),
    st.builds(Column, st.just(T.BLOB_COMPRESSED), length=st.integers(1, 4), collation=_collations),
)
"""Columns that make the reference decode all rows of a table."""


@st.composite
def tables(draw: st.DrawFn, name: str = "t", most: int = 9) -> TableSchema:
    """A table of some columns, all of which have names."""
    columns = draw(st.lists(kernel_columns, min_size=1, max_size=most))
    columns += draw(st.one_of(st.just([]), st.just([]), st.just([]), st.lists(reference_columns, max_size=1)))
    named = [replace(column, name=f"c{index}") for index, column in enumerate(columns)]
    return TableSchema("shop", name, tuple(named))


@st.composite
def _image(draw: st.DrawFn, table: TableSchema, present: bytes) -> bytes:
    included = [column for index, column in enumerate(table.columns) if present[index >> 3] >> (index & 7) & 1]
    nulls = [draw(st.integers(0, 3)) == 0 for _ in included]
    values = [draw(stored_value(column)) for column, is_null in zip(included, nulls, strict=True) if not is_null]
    return encode_low_bits_first(nulls) + b"".join(values)


@st.composite
def _presence(draw: st.DrawFn, table: TableSchema) -> bytes:
    """A bitmap of columns; most often all of them. Bits after the last column mean nothing."""
    count = len(table.columns)
    every = encode_low_bits_first([True] * count)
    bitmap: bytes = draw(st.one_of(*[st.just(every)] * 3, st.binary(min_size=len(every), max_size=len(every))))
    return bitmap


def _mutated(draw: st.DrawFn, raw: bytes) -> bytes:
    """Change a byte, drop some, or put some in."""
    at = draw(st.integers(0, len(raw)))
    how = draw(st.integers(0, 3))
    if how == 0:
        return raw[:at] + draw(st.binary(min_size=1, max_size=1)) + raw[at + 1 :]
    if how == 1:
        return raw[:at]
    if how == 2:
        return raw[:at] + draw(st.binary(max_size=4)) + raw[at:]
    return draw(st.binary(max_size=80))


@dataclass(frozen=True)
class LoggedRows:
    """A rows event to be: of which table, of which kind, and its bytes."""

    table: TableSchema
    type_code: int
    columns: bytes
    columns_after: bytes | None
    rows: bytes

    def body(self, table_id: int, count: int) -> Rows:
        operation = ROWS_KINDS[self.type_code].operation
        return Rows(operation, table_id, 1, (), count, self.columns, self.columns_after, self.rows)


@st.composite
def rows_of_table(
    draw: st.DrawFn, table: TableSchema, codes: tuple[int, ...] = _ROWS_CODES, *, damage: bool
) -> LoggedRows:
    """A rows event of a table: right rows, or, with damage, at times wrong ones."""
    type_code = draw(st.sampled_from(codes))
    first = draw(_presence(table))
    is_update = ROWS_KINDS[type_code].operation is RowOperation.UPDATE
    second = draw(_presence(table)) if is_update else None
    images = (first, second) if second is not None else (first,)
    rows = b"".join(draw(_image(table, present)) for _ in range(draw(st.integers(0, 4))) for present in images)
    if damage and draw(st.integers(0, 2)) == 0:
        rows = _mutated(draw, rows)
    return LoggedRows(table, type_code, first, second, rows)


class KnownTables(SchemaHistory):
    """A history that knows its tables, whatever the table maps of the log say."""

    def __init__(self, *schemas: TableSchema) -> None:
        super().__init__()
        self._schemas = {schema.table: schema for schema in schemas}

    def table_schema(self, table_map: TableMap, position: Position | None = None) -> TableSchema:
        return self._schemas[table_map.table]


@dataclass(frozen=True)
class RandomLog:
    """A log, and the schemas of its tables."""

    content: bytes
    schemas: tuple[TableSchema, ...]

    def history(self) -> KnownTables:
        return KnownTables(*self.schemas)


def table_map(schema: TableSchema, table_id: int) -> TableMap:
    """A TABLE_MAP of as many columns; their types are in the history."""
    count = len(schema.columns)
    every = encode_low_bits_first([True] * count)
    return TableMap(table_id, 1, schema.schema, schema.table, (T.LONG,) * count, (0,) * count, every, ())


def write_transaction(log: BinlogBuilder, changes: list[LoggedRows], compress: PayloadCompression | None) -> None:
    """Write changes as a transaction, in a payload if it is to be compressed."""
    ids = {change.table: 106 + index for index, change in enumerate(changes)}
    parts = [log.query_spec("BEGIN")]
    for change in changes:
        parts.append(EventSpec(E.TABLE_MAP, table_map(change.table, ids[change.table])))
        parts.append(EventSpec(change.type_code, change.body(ids[change.table], len(change.table.columns))))
    if compress is None:
        log.write(parts)
    else:
        log.transaction_payload(parts, compress)
    log.xid(7)


@st.composite
def logs(draw: st.DrawFn, *, damage: bool, payloads: bool = True) -> RandomLog:
    """A log of a few transactions on two tables."""
    schemas = (draw(tables("a")), draw(tables("b", most=3)))
    mariadb = draw(st.booleans())
    server: ServerKind = MARIADB_12_3 if mariadb else MYSQL_9_7
    log = BinlogBuilder(server, checksum=draw(st.sampled_from((ChecksumAlgorithm.NONE, ChecksumAlgorithm.CRC32))))
    codes = (*_ROWS_CODES, *_COMPRESSED_CODES) if mariadb else _ROWS_CODES
    for number in range(1, draw(st.integers(1, 4)) + 1):
        log.timestamp = draw(st.integers(FIRST_TIME, LAST_TIME))
        log.server_id = draw(st.integers(1, 2))
        changes = draw(
            st.lists(st.sampled_from(schemas).flatmap(lambda t: rows_of_table(t, codes, damage=damage)), max_size=4)
        )
        if mariadb:
            log.mariadb_gtid(f"0-{log.server_id}-{number}")
        else:
            log.gtid(draw(st.sampled_from((None, f"{UUID}:{number}", f"{UUID}:tag:{number}"))))
        choices = (None, None, PayloadCompression.ZSTD, PayloadCompression.NONE)
        write_transaction(log, changes, draw(st.sampled_from(choices)) if payloads and not mariadb else None)
    log.stop()
    return RandomLog(log.content, schemas)


UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
