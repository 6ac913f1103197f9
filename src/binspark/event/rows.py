"""The rows events of every version, compressed or not. `binspark.values` decodes the row images inside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import NamedTuple

from binspark.errors import Malformed
from binspark.event.construct import fast_constructor
from binspark.event.context import Context
from binspark.event.table_map import SHORT_TABLE_ID, TABLE_ID, read_column_count
from binspark.frames import EventCode as E
from binspark.frames.payload import deflate_block, inflate_block
from binspark.position import Position
from binspark.wire import Cursor, Writer
from binspark.wire.bitmap import bitmap_length, low_bits_first
from binspark.wire.meaning import flags, note, quantity

_SHORT_POST_HEADER = 6
_POST_HEADER_V2 = 10


class RowOperation(StrEnum):
    """What was done to the rows. Rows events have the first three; statements truncate."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    TRUNCATE = "truncate"


class RowsFlag(IntFlag):
    """Flags of a rows event."""

    STMT_END = 0x0001
    NO_FOREIGN_KEY_CHECKS = 0x0002
    RELAXED_UNIQUE_CHECKS = 0x0004
    COMPLETE_ROWS = 0x0008
    USE_SQL_FOREIGN_KEY_ON_DELETE_CASCADE = 0x0010
    NO_CHECK_CONSTRAINT_CHECKS = 0x0080


class RowsKind(NamedTuple):
    """What follows from a type code: operation, version (pre-GA is 0), compression, partial updates."""

    operation: RowOperation
    version: int
    compressed: bool = False
    partial: bool = False


ROWS_KINDS: dict[int, RowsKind] = {
    E.PRE_GA_WRITE_ROWS: RowsKind(RowOperation.INSERT, 0),
    E.PRE_GA_UPDATE_ROWS: RowsKind(RowOperation.UPDATE, 0),
    E.PRE_GA_DELETE_ROWS: RowsKind(RowOperation.DELETE, 0),
    E.WRITE_ROWS_V1: RowsKind(RowOperation.INSERT, 1),
    E.UPDATE_ROWS_V1: RowsKind(RowOperation.UPDATE, 1),
    E.DELETE_ROWS_V1: RowsKind(RowOperation.DELETE, 1),
    E.WRITE_ROWS: RowsKind(RowOperation.INSERT, 2),
    E.UPDATE_ROWS: RowsKind(RowOperation.UPDATE, 2),
    E.DELETE_ROWS: RowsKind(RowOperation.DELETE, 2),
    E.PARTIAL_UPDATE_ROWS: RowsKind(RowOperation.UPDATE, 2, partial=True),
    E.WRITE_ROWS_COMPRESSED_V1: RowsKind(RowOperation.INSERT, 1, compressed=True),
    E.UPDATE_ROWS_COMPRESSED_V1: RowsKind(RowOperation.UPDATE, 1, compressed=True),
    E.DELETE_ROWS_COMPRESSED_V1: RowsKind(RowOperation.DELETE, 1, compressed=True),
    E.WRITE_ROWS_COMPRESSED: RowsKind(RowOperation.INSERT, 2, compressed=True),
    E.UPDATE_ROWS_COMPRESSED: RowsKind(RowOperation.UPDATE, 2, compressed=True),
    E.DELETE_ROWS_COMPRESSED: RowsKind(RowOperation.DELETE, 2, compressed=True),
}

_PLAIN_CODES = {
    (kind.operation, kind.version): code
    for code, kind in ROWS_KINDS.items()
    if not kind.compressed and not kind.partial
}
UNCOMPRESSED: dict[int, int] = {
    code: _PLAIN_CODES[kind.operation, kind.version] for code, kind in ROWS_KINDS.items() if kind.compressed
}
"""The type of a compressed rows event, and that which it would have without compression."""


class NdbInfo(NamedTuple):
    """Extra row information of NDB Cluster."""

    format: int
    data: bytes


class PartitionInfo(NamedTuple):
    """The partition of the rows; an update may move them from another partition."""

    partition_id: int
    source_partition_id: int | None


class UnknownInfo(NamedTuple):
    """Extra row information of an unknown type, with all that follows it: its length is not known."""

    data: bytes


ExtraInfo = NdbInfo | PartitionInfo | UnknownInfo


@dataclass(frozen=True, slots=True)
class Rows:
    """A rows event: the table id, the columns of each row image, and the row images as bytes.

    `columns` is the bitmap of the columns in the (first) image of each row, `columns_after` that of the after image of
    an update. `compressed` is the block as it is in the log if rows are compressed (MariaDB).
    """

    operation: RowOperation
    table_id: int
    flags: int
    extra_info: tuple[ExtraInfo, ...]
    column_count: int
    columns: bytes
    columns_after: bytes | None
    rows: bytes
    compressed: bytes | None = None

    @property
    def ends_statement(self) -> bool:
        """Whether these are the last rows of a statement."""
        return bool(self.flags & RowsFlag.STMT_END)

    def present(self, bitmap: bytes) -> tuple[bool, ...]:
        """Return, for each column, whether a bitmap of this event includes it."""
        return low_bits_first(bitmap, self.column_count)


_rows = fast_constructor(Rows)
_FLAGS = flags(RowsFlag)
_EXTRA_LENGTH_ITSELF = 2
_TABLE_ID = note("the table of the last TABLE_MAP with this id")
_EXTRA_LENGTH = quantity("byte", "these two included")
_ROWS = note("consecutive row images")
_NDB, _PARTITION = 0, 1


def decode_rows(body: Cursor, context: Context) -> Rows:
    """Decode a rows event up to its rows.

    offset  bytes    field
    0       6        table id (4 bytes in pre-releases of 5.1, whose post-header has 6 bytes)
    6       2        flags
    8       2        length of the extra row information, these two bytes included   (version 2)
    10      e-2      extra row information                                          (version 2)
            packed   number of columns c
            (c+7)/8  columns in the row image
            (c+7)/8  columns in the after image                (updates, but not pre-GA)
            rest     row images; or a compressed block of them (MariaDB)
    """
    kind = ROWS_KINDS[context.type_code]
    id_length = SHORT_TABLE_ID if context.post_header_length == _SHORT_POST_HEADER else TABLE_ID
    table_id = body.uint("table_id", id_length, _TABLE_ID)
    rows_flags = body.u16("flags", _FLAGS)
    extra_info = _read_extra_info(body, kind) if context.post_header_length == _POST_HEADER_V2 else ()
    count = read_column_count(body)
    columns = body.raw("columns", bitmap_length(count), lambda bits: _columns_meaning(bits, count))
    columns_after = None
    if kind.operation is RowOperation.UPDATE and kind.version > 0:
        columns_after = body.raw("columns_after", bitmap_length(count), lambda bits: _columns_meaning(bits, count))
    start = body.offset
    if kind.compressed:
        rows = inflate_block(body, "rows", context.limits)
        compressed = body.data[start : body.offset]
    else:
        rows, compressed = body.rest("rows", _ROWS), None
    return _rows(kind.operation, table_id, rows_flags, extra_info, count, columns, columns_after, rows, compressed)


def encode_rows(event: Rows, writer: Writer, context: Context) -> None:
    """Encode a rows event of any version: the inverse of `decode_rows`."""
    short = context.post_header_length == _SHORT_POST_HEADER
    writer.uint(event.table_id, SHORT_TABLE_ID if short else TABLE_ID)
    writer.u16(event.flags)
    if context.post_header_length == _POST_HEADER_V2:
        _write_extra_info(event.extra_info, writer)
    writer.packed(event.column_count)
    writer.raw(event.columns)
    writer.raw(event.columns_after or b"")
    if ROWS_KINDS[context.type_code].compressed:
        writer.raw(event.compressed or deflate_block(event.rows))
    else:
        writer.raw(event.rows)


def unknown_table_id(rows: Rows, position: Position) -> Malformed:
    """Return the error for a rows event without a TABLE_MAP before it."""
    return Malformed(f"rows event for unknown table id {rows.table_id} (no TABLE_MAP before it)", position)


def _read_extra_info(body: Cursor, kind: RowsKind) -> tuple[ExtraInfo, ...]:
    length = body.u16("extra_length", _EXTRA_LENGTH)
    if length < _EXTRA_LENGTH_ITSELF:
        raise body.malformed(f"extra_length is {length}, expected at least {_EXTRA_LENGTH_ITSELF}")
    if length == _EXTRA_LENGTH_ITSELF:
        return ()
    block = body.sub("extra_info", length - _EXTRA_LENGTH_ITSELF)
    infos: list[ExtraInfo] = []
    while block.remaining:
        block.enter("extra_info", len(infos))
        infos.append(_read_one_info(block, kind))
        block.leave()
    return tuple(infos)


def _read_one_info(block: Cursor, kind: RowsKind) -> ExtraInfo:
    start = block.offset
    match block.u8("type", _info_meaning):
        case 0:
            length = block.u8("length")
            if length < _EXTRA_LENGTH_ITSELF:
                raise block.malformed(
                    f"length of NDB information is {length}, expected at least {_EXTRA_LENGTH_ITSELF}"
                )
            return NdbInfo(block.u8("format"), block.raw("data", length - _EXTRA_LENGTH_ITSELF))
        case 1:
            partition = block.u16("partition_id")
            source = block.u16("source_partition_id") if kind.operation is RowOperation.UPDATE else None
            return PartitionInfo(partition, source)
    block.rest("unknown")  # only known types have a known length: nothing after an unknown one can be read
    return UnknownInfo(block.data[start : block.offset])


def _write_extra_info(infos: tuple[ExtraInfo, ...], writer: Writer) -> None:
    block = Writer()
    for info in infos:
        match info:
            case NdbInfo():
                block.u8(_NDB)
                block.u8(len(info.data) + _EXTRA_LENGTH_ITSELF)
                block.u8(info.format)
                block.raw(info.data)
            case PartitionInfo():
                block.u8(_PARTITION)
                block.u16(info.partition_id)
                if info.source_partition_id is not None:
                    block.u16(info.source_partition_id)
            case UnknownInfo():
                block.raw(info.data)
    writer.u16(len(block) + _EXTRA_LENGTH_ITSELF)
    writer.raw(block.take())


def _info_meaning(kind: int) -> str:
    return {_NDB: "NDB Cluster", _PARTITION: "partition"}.get(kind, "unknown")


def _columns_meaning(bitmap: bytes, count: int) -> str:
    present = low_bits_first(bitmap, count)
    if all(present):
        return f"all {count} columns"
    return f"columns {', '.join(str(index + 1) for index, bit in enumerate(present) if bit)}"
