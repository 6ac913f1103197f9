"""What each type of column becomes: an Arrow type, and the opcode that fills it. One row for each type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from binspark.columns.options import ColumnOptions, TimeFormat, ZeroDates
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import column_type_name
from binspark.kernels.layout import Op
from binspark.values.charsets import codec_of
from binspark.values.charsets.codec import Layout
from binspark.values.column import BINARY_COLLATION, Column, check_column
from binspark.values.exact import exact_columns
from binspark.values.options import Undecodable
from binspark.wire.decimals import packed_decimal_length

_MAX_DIGITS = 38
_UNLIMITED = 0xFFFFFFFF
_WORD_BITS = 64
_MAX_BYTE = 255
DATETIME = pa.timestamp("us")
TIMESTAMP = pa.timestamp("us", tz="UTC")
GEOMETRY = pa.struct([pa.field("srid", pa.int32()), pa.field("wkb", pa.binary())])
BIGINT_UNSIGNED = pa.decimal128(20, 0)


class Form(NamedTuple):
    """How the values of a column are laid out in the log and filled into Arrow.

    kernel  whether a kernel fills it; if not, the reference decodes all values of the table
    finish  what the batch does with the bytes a kernel copied: "charset" and "notation" are text there
    """

    type: pa.DataType
    op: Op
    length_bytes: int = 0
    fixed_size: int = 0
    p1: int = 0
    p2: int = 0
    max_length: int = _UNLIMITED
    kernel: bool = True
    finish: str = ""

    @property
    def keeps_bytes(self) -> bool:
        """Whether the column is bytes in the batch, too."""
        return self.op is Op.BINARY and not self.finish


def form_of(column: Column, options: ColumnOptions) -> Form:
    """Return what a column becomes."""
    check_column(column)
    if options.exact:
        column = exact_columns((column,))[0]
        if column.type is T.SET:
            return _NUMBERS[column.length](replace(column, unsigned=True), options)
        if column.is_document:
            column = replace(column, type=T.BLOB)
    maker = _FORMS.get(column.type)
    if maker is None:
        raise SchemaError(f"columns of type {column_type_name(column.type)} are not supported")
    return maker(column, options)


def stored_size(column: Column) -> tuple[int, int] | None:
    """Return how large a value is in a row: the bytes of its length field, or its size; None if that is not known.

    Neither a character set nor the members of an ENUM change that.
    """
    if column.type in _SIZED_BY_LENGTH:
        return column.length, 0
    if column.type == T.VARCHAR_COMPRESSED:
        return 1 if column.length <= _MAX_BYTE else 2, 0
    if column.type == T.DECIMAL or column.type not in _FORMS:
        return None
    form = form_of(replace(column, collation=BINARY_COLLATION, members=None), ColumnOptions())
    return form.length_bytes, form.fixed_size


_SIZED_BY_LENGTH = (T.BLOB_COMPRESSED,)


def _integer(bytes_: int, signed: tuple[pa.DataType, Op], unsigned: tuple[pa.DataType, Op]) -> Callable[..., Form]:
    def make(column: Column, _options: ColumnOptions) -> Form:
        kind, op = unsigned if column.unsigned else signed
        return Form(kind, op, fixed_size=bytes_)

    return make


def _fixed(kind: pa.DataType, op: Op, size: int) -> Callable[..., Form]:
    return lambda _column, _options: Form(kind, op, fixed_size=size)


def _decimal(column: Column, _options: ColumnOptions) -> Form:
    size = packed_decimal_length(column.precision, column.scale)
    if column.precision > _MAX_DIGITS:
        return Form(pa.string(), Op.SKIP, fixed_size=size, kernel=False)
    kind = pa.decimal128(column.precision, column.scale)
    return Form(kind, Op.DECIMAL, fixed_size=size, p1=column.precision - column.scale, p2=column.scale)


def _bit(column: Column, _options: ColumnOptions) -> Form:
    size = (column.length + 7) // 8
    if column.length == _WORD_BITS:
        return Form(BIGINT_UNSIGNED, Op.BIT64, fixed_size=size, p1=column.length)
    return Form(pa.int64(), Op.BIT, fixed_size=size, p1=column.length)


def _temporal(kind: pa.DataType, op: Op, base: int, *, old: bool) -> Callable[..., Form]:
    def make(column: Column, options: ColumnOptions) -> Form:
        as_text = options.time is TimeFormat.STRING if op is Op.TIME else options.zero_dates is ZeroDates.STRING
        chosen, code = (pa.string(), Op.TEMPORAL_TEXT) if as_text else (kind, op)
        if op is Op.TIME and options.time is TimeFormat.MICROSECONDS:
            chosen = pa.int64()
        size = base if old else base + (column.scale + 1) // 2
        kernel = not (old and column.scale)
        return Form(chosen, code, fixed_size=size, p1=column.scale, p2=int(old), kernel=kernel)

    return make


def _text(column: Column, options: ColumnOptions, length_bytes: int, max_length: int) -> Form:
    """Return what text in its character set becomes; where that is not known, the bytes must be UTF-8."""
    if column.collation == BINARY_COLLATION:
        return Form(pa.binary(), Op.BINARY, length_bytes, max_length=max_length)
    if options.undecodable is not Undecodable.ERROR:
        kind = pa.binary() if options.undecodable is Undecodable.BINARY else pa.string()
        return Form(kind, Op.SKIP, length_bytes, kernel=False)
    layout, widest = Layout.UTF8, 4
    if column.collation is not None:
        codec = codec_of(column.collation)
        layout, widest = codec.layout, codec.max_bytes
    if layout is Layout.UTF8:
        return Form(pa.string(), Op.TEXT_UTF8, length_bytes, p2=widest, max_length=max_length)
    if layout is Layout.SINGLE_BYTE:
        return Form(pa.string(), Op.TEXT_TABLE, length_bytes, max_length=max_length)
    return Form(pa.string(), Op.BINARY, length_bytes, max_length=max_length, finish="charset")


def _limited(column: Column, options: ColumnOptions) -> Form:
    return _text(column, options, 1 if column.length <= _MAX_BYTE else 2, column.length)


def _string(column: Column, options: ColumnOptions) -> Form:
    form = _limited(column, options)
    if not form.keeps_bytes:
        return form
    padded = form._replace(op=Op.FIXED_BINARY, p1=column.length)
    return padded if column.notation is None else padded._replace(type=pa.string(), finish="notation")


def _blob(column: Column, options: ColumnOptions) -> Form:
    """Return what TEXT or BLOB becomes: where it is not known which, the bytes are kept."""
    if column.collation is None:
        return Form(pa.binary(), Op.BINARY, column.length)
    return _text(column, options, column.length, _UNLIMITED)


def _enum(column: Column, _options: ColumnOptions) -> Form:
    if column.members is None:
        op = Op.UINT8 if column.length == 1 else Op.UINT16
        return Form(pa.int16() if column.length == 1 else pa.int32(), op, fixed_size=column.length)
    return Form(pa.string(), Op.ENUM, fixed_size=column.length, p1=len(column.members))


def _set(column: Column, _options: ColumnOptions) -> Form:
    if column.members is None:
        return Form(BIGINT_UNSIGNED, Op.SKIP, fixed_size=column.length, kernel=False)
    return Form(pa.list_(pa.string()), Op.SET, fixed_size=column.length, p1=len(column.members))


def _counted(kind: pa.DataType, op: Op) -> Callable[..., Form]:
    return lambda column, _options: Form(kind, op, length_bytes=column.length)


def _by_reference(column: Column, options: ColumnOptions) -> Form:
    """Return what a column becomes that only the reference decodes."""
    binary = column.collation == BINARY_COLLATION or options.undecodable is Undecodable.BINARY
    return Form(pa.binary() if binary else pa.string(), Op.SKIP, kernel=False)


_FORMS: dict[int, Callable[[Column, ColumnOptions], Form]] = {
    T.TINY: _integer(1, (pa.int8(), Op.INT8), (pa.int16(), Op.UINT8)),
    T.SHORT: _integer(2, (pa.int16(), Op.INT16), (pa.int32(), Op.UINT16)),
    T.INT24: _integer(3, (pa.int32(), Op.INT24), (pa.int32(), Op.UINT24)),
    T.LONG: _integer(4, (pa.int32(), Op.INT32), (pa.int64(), Op.UINT32)),
    T.LONGLONG: _integer(8, (pa.int64(), Op.INT64), (BIGINT_UNSIGNED, Op.UINT64)),
    T.FLOAT: _fixed(pa.float32(), Op.INT32, 4),
    T.DOUBLE: _fixed(pa.float64(), Op.INT64, 8),
    T.DECIMAL: lambda _column, _options: Form(pa.string(), Op.SKIP, kernel=False),
    T.NEWDECIMAL: _decimal,
    T.NULL: lambda _column, _options: Form(pa.null(), Op.SKIP, kernel=False),
    T.YEAR: _fixed(pa.int16(), Op.YEAR, 1),
    T.DATE: _temporal(pa.date32(), Op.DATE, 3, old=True),
    T.NEWDATE: _temporal(pa.date32(), Op.DATE, 3, old=True),
    T.TIME: _temporal(pa.duration("us"), Op.TIME, 3, old=True),
    T.DATETIME: _temporal(DATETIME, Op.DATETIME, 8, old=True),
    T.TIMESTAMP: _temporal(TIMESTAMP, Op.TIMESTAMP, 4, old=True),
    T.TIME2: _temporal(pa.duration("us"), Op.TIME, 3, old=False),
    T.DATETIME2: _temporal(DATETIME, Op.DATETIME, 5, old=False),
    T.TIMESTAMP2: _temporal(TIMESTAMP, Op.TIMESTAMP, 4, old=False),
    T.BIT: _bit,
    T.ENUM: _enum,
    T.SET: _set,
    T.STRING: _string,
    T.VARCHAR: _limited,
    T.VAR_STRING: _limited,
    T.TINY_BLOB: _blob,
    T.BLOB: _blob,
    T.MEDIUM_BLOB: _blob,
    T.LONG_BLOB: _blob,
    T.JSON: _counted(pa.string(), Op.JSON),
    T.TYPED_ARRAY: _counted(pa.string(), Op.JSON),
    T.GEOMETRY: _counted(GEOMETRY, Op.GEOMETRY),
    T.VECTOR: _counted(pa.list_(pa.float32()), Op.VECTOR),
    T.BLOB_COMPRESSED: _by_reference,
    T.VARCHAR_COMPRESSED: _by_reference,
}

_NUMBERS = {1: _FORMS[T.TINY], 2: _FORMS[T.SHORT], 3: _FORMS[T.INT24], 4: _FORMS[T.LONG], 8: _FORMS[T.LONGLONG]}
"""Integers by their bytes, as which a SET is stored."""
