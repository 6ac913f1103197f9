"""Any event: for every type code a strategy of the values that its body can have."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from binspark.event import (
    group,
    gtid,
    gtid_tagged,
    heartbeat,
    incident,
    load,
    mariadb,
    payload,
    query,
    rotate,
    rows_query,
    start,
    table_map,
    unknown,
    variables,
    xa,
)
from binspark.event import rows as rows_events
from binspark.event.column_types import ColumnType, type_metadata
from binspark.event.status_vars import AutoIncrement, Charsets, GtidFlags3, Invoker, StatusCode, StatusVariable
from binspark.event.table_metadata import DefaultCharset, MetadataField, MetadataKind
from binspark.frames import ChecksumAlgorithm
from binspark.frames import EventCode as E
from binspark.frames.payload import deflate_block
from binspark.gtid import MariadbGtid
from binspark.testing.builder import MARIADB_10_11, MYSQL_5_5, MYSQL_9_7
from binspark.wire.bitmap import bitmap_length
from binspark.wire.packed import encode_varlen
from tests.support.gtid.gtid_strategies import gtid_sets

Strategy = SearchStrategy[Any]

u8, u16, u32, u64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32, 64))
i32, i64 = (st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (32, 64))
raw = st.binary(max_size=24)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
named = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
no_zero = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
file_names = no_zero.filter(bool)
latin = st.text(st.characters(codec="latin-1", exclude_characters="\0"), max_size=20)
uuids = st.uuids().map(str)
packed_pairs = st.lists(st.tuples(u64, u64), max_size=3).map(tuple)
packed_numbers = st.lists(u64, max_size=4).map(tuple)


def unknown_fields(first_unknown: int) -> Strategy:
    """Fields of kinds that a later version may add."""
    return st.lists(st.tuples(st.integers(first_unknown, 300), raw), max_size=2).map(tuple)


# Statements ----------------------------------------------------------------------------------------------------------

_STATUS_VALUES: dict[int, Strategy] = {
    StatusCode.FLAGS2: u32,
    StatusCode.SQL_MODE: u64,
    StatusCode.CATALOG: text,
    StatusCode.AUTO_INCREMENT: st.builds(AutoIncrement, u16, u16),
    StatusCode.CHARSET: st.builds(Charsets, u16, u16, u16),
    StatusCode.TIME_ZONE: text,
    StatusCode.CATALOG_NZ: text,
    StatusCode.LC_TIME_NAMES: u16,
    StatusCode.CHARSET_DATABASE: u16,
    StatusCode.TABLE_MAP_FOR_UPDATE: u64,
    StatusCode.MASTER_DATA_WRITTEN: u32,
    StatusCode.INVOKER: st.builds(Invoker, text, text),
    StatusCode.UPDATED_DB_NAMES: st.none() | st.lists(no_zero, max_size=3).map(tuple),
    StatusCode.MICROSECONDS: st.integers(0, 999_999),
    StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP: u8,
    StatusCode.DDL_LOGGED_WITH_XID: u64,
    StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4: u16,
    StatusCode.SQL_REQUIRE_PRIMARY_KEY: u8,
    StatusCode.DEFAULT_TABLE_ENCRYPTION: u8,
    StatusCode.ENABLE_CASCADE_TRIGGERS: u8,
    StatusCode.HRNOW: st.integers(0, 999_999),
    StatusCode.XID: u64,
    StatusCode.GTID_FLAGS3: st.just(GtidFlags3(2, None)) | st.builds(GtidFlags3, st.just(4), u64),
    StatusCode.CHARACTER_SET_COLLATIONS: st.lists(st.tuples(u16, u16), max_size=3).map(tuple),
}
status_variable = st.one_of(
    [st.builds(StatusVariable, st.just(int(code)), value) for code, value in _STATUS_VALUES.items()]
)
status_vars = st.builds(
    lambda known, rest: (*known, *rest),
    st.lists(status_variable, max_size=4),
    st.lists(st.builds(StatusVariable, st.integers(200, 255), raw), max_size=1),
)
_query = (u32, u32, u16, text, status_vars, raw)
_query_head: SearchStrategy[tuple[int, int, int, str, tuple[StatusVariable, ...]]]
_query_head = st.tuples(*_query[:-1])


@st.composite
def _execute_load_query(draw: st.DrawFn) -> query.ExecuteLoadQuery:
    statement = draw(st.binary(min_size=4, max_size=30))
    begin, end = draw(st.integers(0, len(statement))), draw(st.integers(0, len(statement)))
    head = draw(_query_head)
    return query.ExecuteLoadQuery(*head, statement, draw(u32), begin, end, draw(u8))


@st.composite
def _query_compressed(draw: st.DrawFn) -> query.QueryCompressed:
    statement = draw(st.binary(max_size=80))
    head = draw(_query_head)
    return query.QueryCompressed(*head, statement, deflate_block(statement))


@st.composite
def _decimal_var(draw: st.DrawFn) -> variables.UserVar:
    scale = draw(st.integers(0, 30))
    precision = draw(st.integers(max(scale, 1), 65))
    unscaled = draw(st.integers(-(10**precision) + 1, 10**precision - 1))
    value = Decimal(unscaled).scaleb(-scale, context=_WIDE)
    return variables.UserVar(draw(text), variables.UserVarType.DECIMAL, draw(u32), value, precision, draw(u8))


_WIDE = Context(prec=80)
_real = st.floats(allow_nan=False)
_user_var = st.one_of(
    st.builds(variables.UserVar, text, st.none(), st.none(), st.none()),
    st.builds(variables.UserVar, text, st.just(0), u32, raw, st.none(), st.none() | u8),
    st.builds(variables.UserVar, text, st.just(1), u32, _real, st.none(), st.none() | u8),
    st.builds(variables.UserVar, text, st.just(2), u32, i64, st.none(), st.sampled_from([None, 0])),
    st.builds(variables.UserVar, text, st.just(2), u32, u64, st.none(), st.just(1)),
    _decimal_var(),
)

# Loads of files ------------------------------------------------------------------------------------------------------

_byte = st.binary(min_size=1, max_size=1)
_old_separators = st.builds(load.Separators, *[_byte] * 5, u8, u8)
_new_separators = st.builds(load.Separators, *[raw] * 5, u8)
_fields = st.lists(text, max_size=3).map(tuple)


def _load(separators: Strategy, file_name: Strategy) -> Strategy:
    return st.builds(load.Load, u32, u32, u32, separators, _fields, text, text, file_name)


# Tables and rows -----------------------------------------------------------------------------------------------------


def _column() -> Strategy:
    """A type code and a number that fits its metadata."""
    plain = [(int(code), type_metadata(code).length) for code in ColumnType if code is not ColumnType.TYPED_ARRAY]
    known = st.sampled_from(plain).flatmap(
        lambda column: st.tuples(st.just(column[0]), st.integers(0, 256 ** column[1] - 1))
    )
    element = st.sampled_from([ColumnType.LONG, ColumnType.LONGLONG]).map(lambda code: (20, int(code)))
    sized_element = u16.map(lambda length: (20, ColumnType.VARCHAR | length << 8))
    return st.one_of(known, element, sized_element)


_bits = st.lists(st.lists(st.booleans(), min_size=8, max_size=8), max_size=2).map(
    lambda rows: tuple(bit for row in rows for bit in row)
)
_members = st.lists(st.lists(raw, max_size=3).map(tuple), max_size=3).map(tuple)
_charset = st.builds(DefaultCharset, u64, packed_pairs)
_METADATA_VALUES: dict[int, Strategy] = {
    MetadataKind.SIGNEDNESS: _bits,
    MetadataKind.DEFAULT_CHARSET: _charset,
    MetadataKind.COLUMN_CHARSET: packed_numbers,
    MetadataKind.COLUMN_NAME: st.lists(text, max_size=3).map(tuple),
    MetadataKind.SET_STR_VALUE: _members,
    MetadataKind.ENUM_STR_VALUE: _members,
    MetadataKind.GEOMETRY_TYPE: packed_numbers,
    MetadataKind.SIMPLE_PRIMARY_KEY: packed_numbers,
    MetadataKind.PRIMARY_KEY_WITH_PREFIX: packed_pairs,
    MetadataKind.ENUM_AND_SET_DEFAULT_CHARSET: _charset,
    MetadataKind.ENUM_AND_SET_COLUMN_CHARSET: packed_numbers,
    MetadataKind.COLUMN_VISIBILITY: _bits,
    MetadataKind.VECTOR_DIMENSIONALITY: packed_numbers,
}
metadata_field = st.one_of(
    st.builds(MetadataField, st.integers(100, 255), raw),
    *[st.builds(MetadataField, st.just(int(kind)), value) for kind, value in _METADATA_VALUES.items()],
)


@st.composite
def _table_map(draw: st.DrawFn) -> table_map.TableMap:
    columns = draw(st.lists(_column(), max_size=20))
    null_bits = draw(st.binary(min_size=bitmap_length(len(columns)), max_size=bitmap_length(len(columns))))
    return table_map.TableMap(
        table_id=draw(st.integers(0, (1 << 48) - 1)),
        flags=draw(u16),
        schema=draw(text),
        table=draw(text),
        column_types=tuple(code for code, _ in columns),
        column_metadata=tuple(value for _, value in columns),
        null_bits=null_bits,
        metadata=tuple(draw(st.lists(metadata_field, max_size=4))),
    )


def _extra_info(kind: rows_events.RowsKind) -> Strategy:
    source = u16 if kind.operation is rows_events.RowOperation.UPDATE else st.none()
    known = st.builds(rows_events.NdbInfo, u8, raw) | st.builds(rows_events.PartitionInfo, u16, source)
    later = st.builds(
        rows_events.UnknownInfo, st.builds(lambda code, rest: bytes((code,)) + rest, st.integers(2, 9), raw)
    )
    return st.builds(lambda infos, rest: (*infos, *rest), st.lists(known, max_size=2), st.lists(later, max_size=1))


@st.composite
def _rows(draw: st.DrawFn, code: int) -> rows_events.Rows:
    kind = rows_events.ROWS_KINDS[code]
    count = draw(st.integers(0, 40))
    bitmap = st.binary(min_size=bitmap_length(count), max_size=bitmap_length(count))
    has_after = kind.operation is rows_events.RowOperation.UPDATE and kind.version > 0
    images = draw(st.binary(max_size=60))
    return rows_events.Rows(
        operation=kind.operation,
        table_id=draw(st.integers(0, (1 << 48) - 1)),
        flags=draw(u16),
        extra_info=draw(_extra_info(kind)) if kind.version == 2 else (),
        column_count=count,
        columns=draw(bitmap),
        columns_after=draw(bitmap) if has_after else None,
        rows=images,
        compressed=deflate_block(images) if kind.compressed else None,
    )


# Identifiers ---------------------------------------------------------------------------------------------------------


@st.composite
def _gtid(draw: st.DrawFn, *, anonymous: bool) -> gtid.GtidEvent:
    """The fields that some server version writes."""
    parts: list[Any] = [draw(u8), draw(uuids), 0 if anonymous else draw(st.integers(1, (1 << 63) - 2))]
    time, version = st.integers(0, (1 << 55) - 1), st.integers(0, (1 << 31) - 1)
    steps: list[list[Strategy]] = [[st.just(2), u64, u64], [time, time], [u64], [version, version], [u64]]
    for step in steps[: draw(st.integers(0, len(steps)))]:
        parts += [draw(part) for part in step]
    return gtid.GtidEvent(*parts)


_later_fields = st.just(b"") | st.builds(lambda code, rest: encode_varlen(code) + rest, st.integers(12, 90), raw)
_gtid_tagged = st.builds(
    gtid_tagged.GtidTagged,
    *[u64, uuids, st.integers(1, (1 << 63) - 2), st.from_regex(r"([a-z_][a-z0-9_]{0,31})?", fullmatch=True), i64, i64],
    *[u64] * 5,
    st.none() | u64,
    st.integers(0, 12),
    _later_fields,
)
_previous_gtids = st.builds(
    lambda executed, tagged: gtid.PreviousGtids(tagged or executed.tagged, executed), gtid_sets, st.booleans()
)
_transaction_context = st.builds(
    lambda executed, uuid, thread, chosen, written, read: group.TransactionContext(
        uuid, thread, chosen, executed, bool(executed is not None and executed.tagged), tuple(written), tuple(read)
    ),
    *[st.none() | gtid_sets, text, u32, st.booleans(), st.lists(raw, max_size=3), st.lists(raw, max_size=3)],
)
_view_change = st.builds(group.ViewChange, latin, u64, st.lists(st.tuples(raw, raw), max_size=3).map(tuple))
_xa_id = st.builds(mariadb.XaId, i32, raw, raw)


@st.composite
def _mariadb_gtid(draw: st.DrawFn) -> mariadb.MariadbGtidEvent:
    """The fields that the flags announce, and no others."""
    flags, more = draw(u8), draw(st.none() | u8)
    announced = 0 if more is None else more
    return mariadb.MariadbGtidEvent(
        draw(u64),
        draw(u32),
        flags,
        commit_id=draw(u64) if flags & 0x02 else None,
        xid=draw(_xa_id) if flags & 0xC0 else None,
        extra_flags=more,
        extra_engines=draw(u8) if announced & 0x01 else None,
        start_alter_sequence=draw(u64) if announced & 0x0C else None,
        thread_id=draw(u32) if announced & 0x10 else None,
        padding=b"" if more is None else draw(raw),
    )


_mariadb_gtids = st.lists(st.builds(MariadbGtid, u32, u32, u64), max_size=4).map(tuple)
_gtid_list = st.builds(mariadb.GtidList, st.integers(0, 15).map(lambda bits: bits << 28), _mariadb_gtids, raw)
_partial_row_data = st.builds(mariadb.PartialRowData, u32, u32, st.just(0), st.none(), raw) | st.builds(
    mariadb.PartialRowData, u32, u32, st.just(1), u64, raw
)

# Everything ----------------------------------------------------------------------------------------------------------

_kinds = st.sampled_from([MYSQL_5_5, MYSQL_9_7, MARIADB_10_11])
_format_description: Strategy = st.builds(
    lambda kind, created: kind.format_description(ChecksumAlgorithm.CRC32, created), _kinds, u32
)
_part = st.binary(max_size=64)

EVENTS: dict[int, Strategy] = {
    E.UNKNOWN: st.builds(unknown.UnknownEvent, st.just(0), raw),
    E.START_V3: st.builds(start.StartV3, u16, latin, u32),
    E.QUERY: st.builds(query.Query, *_query),
    E.STOP: st.just(start.Stop()),
    E.ROTATE: st.builds(rotate.Rotate, u64, named),
    E.INTVAR: st.builds(variables.Intvar, u8, u64),
    E.LOAD: _load(_old_separators, no_zero),
    E.SLAVE: st.builds(rotate.Slave, u64, u16, no_zero, text),
    E.CREATE_FILE: st.builds(load.CreateFile, u32, u32, u32, _new_separators, _fields, text, text, no_zero, u32, raw),
    E.APPEND_BLOCK: st.builds(load.AppendBlock, u32, raw),
    E.EXEC_LOAD: st.builds(load.ExecLoad, u32),
    E.DELETE_FILE: st.builds(load.DeleteFile, u32),
    E.NEW_LOAD: _load(_new_separators, text),
    E.RAND: st.builds(variables.Rand, u64, u64),
    E.USER_VAR: _user_var,
    E.FORMAT_DESCRIPTION: _format_description,
    E.XID: st.builds(xa.Xid, u64),
    E.BEGIN_LOAD_QUERY: st.builds(load.BeginLoadQuery, u32, raw),
    E.EXECUTE_LOAD_QUERY: _execute_load_query(),
    E.TABLE_MAP: _table_map(),
    E.INCIDENT: st.builds(incident.Incident, u16, text),
    E.HEARTBEAT: st.builds(heartbeat.Heartbeat, file_names, st.none() | st.integers(1 << 32, (1 << 56) - 1)),
    E.IGNORABLE: st.builds(incident.Ignorable, raw),
    E.ROWS_QUERY: st.builds(rows_query.RowsQuery, raw, u8),
    E.GTID: _gtid(anonymous=False),
    E.ANONYMOUS_GTID: _gtid(anonymous=True),
    E.PREVIOUS_GTIDS: _previous_gtids,
    E.TRANSACTION_CONTEXT: _transaction_context,
    E.VIEW_CHANGE: _view_change,
    E.XA_PREPARE: st.builds(xa.XaPrepare, st.booleans(), i32, _part, _part),
    E.TRANSACTION_PAYLOAD: st.builds(payload.TransactionPayload, u64, st.none() | u64, raw, unknown_fields(4)),
    E.HEARTBEAT_V2: st.builds(heartbeat.HeartbeatV2, st.none() | text, st.none() | u64, unknown_fields(3)),
    E.GTID_TAGGED: _gtid_tagged,
    E.LARGE_TRANSACTION_HEADER: st.builds(payload.LargeTransactionHeader, u8, u64, u8, raw),
    E.ANNOTATE_ROWS: st.builds(rows_query.AnnotateRows, raw),
    E.BINLOG_CHECKPOINT: st.builds(mariadb.BinlogCheckpoint, text),
    E.MARIADB_GTID: _mariadb_gtid(),
    E.GTID_LIST: _gtid_list,
    E.START_ENCRYPTION: st.builds(mariadb.StartEncryption, u8, u32, st.binary(min_size=12, max_size=12)),
    E.QUERY_COMPRESSED: _query_compressed(),
    E.PARTIAL_ROW_DATA: _partial_row_data,
    **{code: _rows(code) for code in rows_events.ROWS_KINDS},
}
"""For every type code, any body."""
