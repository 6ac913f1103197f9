"""How the columns of a table are queried and sent, so that their values become the row images of the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from binspark.columns.options import ColumnOptions
from binspark.columns.types import form_of
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import column_type_name
from binspark.kernels.result_rows import Kind, ResultColumn
from binspark.schema.table import TableSchema
from binspark.values.column import Column

_UTF8MB4 = 45
_LATIN1 = 8
_MAX_OLD_DECIMAL = 255
_ANY_LENGTH = 4  # bytes of a length field that takes every value
_WIDTHS = {T.TINY: 1, T.SHORT: 2, T.INT24: 4, T.LONG: 4, T.LONGLONG: 8, T.FLOAT: 4, T.DOUBLE: 8}
_INTEGERS = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG})
_TEXTS = frozenset(
    {
        *(T.VARCHAR, T.VAR_STRING, T.STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB),
        *(T.JSON, T.GEOMETRY, T.VECTOR),
    }
)


class Cast(StrEnum):
    """What a column is cast to in a query, where its own form is not exact."""

    NONE = ""
    UNSIGNED = "UNSIGNED"  # ENUM and SET: the number, which the log has, too
    BINARY = "BINARY"  # UUID and INET of MariaDB: the bytes


@dataclass(frozen=True, slots=True)
class ResultForm:
    """How a column is queried and sent.

    stored  the column whose values in a log are made of it: of the same type in Arrow
    kind    how it is sent
    sent    the types that the server may name for it
    cast    what it is cast to in a query
    """

    stored: Column
    kind: Kind
    sent: frozenset[int]
    cast: Cast = Cast.NONE


def result_form(column: Column) -> ResultForm:
    """Return how a column is queried and sent."""
    maker = _FORMS.get(column.type)
    if maker is None:
        raise SchemaError(f"columns of type {column_type_name(column.type)} are not supported")
    return maker(column)


def result_columns(
    table: TableSchema, options: ColumnOptions, sent: Sequence[int] | None = None
) -> npt.NDArray[np.int64]:
    """Return the numbers of the columns of a table. `sent` has the types that the server names for them."""
    numbers = np.zeros((len(table.columns), ResultColumn.LENGTH), dtype=np.int64)
    for index, column in enumerate(table.columns):
        form = result_form(column)
        if sent is not None and sent[index] not in form.sent:
            expected = " or ".join(sorted(map(column_type_name, form.sent)))
            message = f"column {column.name} is sent as {column_type_name(sent[index])}, expected {expected}"
            raise SchemaError(f"{message}: the table was changed")
        stored = form_of(form.stored, options)
        numbers[index, ResultColumn.KIND] = form.kind
        numbers[index, ResultColumn.SIZE] = stored.length_bytes or stored.fixed_size
        if form.kind is Kind.INTEGER:
            numbers[index, ResultColumn.WIDTH] = _WIDTHS[T(sent[index] if sent else form.stored.type)]
        elif form.kind is Kind.DECIMAL:
            numbers[index, ResultColumn.P1] = column.precision - column.scale
            numbers[index, ResultColumn.P2] = column.scale
        else:
            numbers[index, ResultColumn.P1] = column.scale
    return numbers


def stored_schema(table: TableSchema) -> TableSchema:
    """Return the schema of the table whose log is made of a result set."""
    return replace(table, columns=tuple(result_form(column).stored for column in table.columns))


Maker = Callable[[Column], ResultForm]


def _same(kind: Kind, *sent: T) -> Maker:
    return lambda column: ResultForm(column, kind, frozenset(sent))


def _temporal(kind: Kind, stored: T, sent: T) -> Maker:
    """Return what a date or time is: the log of old tables has another form, but the same values."""
    return lambda column: ResultForm(replace(column, type=stored), kind, frozenset({sent}))


def _number(column: Column) -> ResultForm:
    return ResultForm(column, Kind.INTEGER, _INTEGERS, Cast.UNSIGNED)


def _text(column: Column) -> ResultForm:
    return ResultForm(column, Kind.BYTES, _TEXTS)


def _string(column: Column) -> ResultForm:
    return _text(column) if column.notation is None else ResultForm(column, Kind.BYTES, _TEXTS, Cast.BINARY)


def _json(column: Column) -> ResultForm:
    """Return what a document is: servers send the text that the log's binary form is printed as."""
    return _text(replace(column, type=T.LONG_BLOB, length=_ANY_LENGTH, collation=_UTF8MB4))


def _compressed(column: Column) -> ResultForm:
    return _text(replace(column, type=T.LONG_BLOB, length=_ANY_LENGTH))


def _old_decimal(column: Column) -> ResultForm:
    stored = replace(column, type=T.VARCHAR, length=_MAX_OLD_DECIMAL, collation=_LATIN1)
    return ResultForm(stored, Kind.BYTES, frozenset({T.DECIMAL, T.NEWDECIMAL}))


_FORMS: dict[T, Maker] = {
    **{kind: _same(Kind.INTEGER, kind) for kind in _WIDTHS},
    T.YEAR: _same(Kind.YEAR, T.YEAR),
    T.NEWDECIMAL: _same(Kind.DECIMAL, T.NEWDECIMAL),
    T.DECIMAL: _old_decimal,
    T.DATE: _temporal(Kind.DATE, T.DATE, T.DATE),
    T.NEWDATE: _temporal(Kind.DATE, T.DATE, T.DATE),
    T.TIME: _temporal(Kind.TIME, T.TIME2, T.TIME),
    T.TIME2: _temporal(Kind.TIME, T.TIME2, T.TIME),
    T.DATETIME: _temporal(Kind.DATETIME, T.DATETIME2, T.DATETIME),
    T.DATETIME2: _temporal(Kind.DATETIME, T.DATETIME2, T.DATETIME),
    T.TIMESTAMP: _temporal(Kind.TIMESTAMP, T.TIMESTAMP2, T.TIMESTAMP),
    T.TIMESTAMP2: _temporal(Kind.TIMESTAMP, T.TIMESTAMP2, T.TIMESTAMP),
    T.BIT: _same(Kind.BITS, T.BIT),
    T.ENUM: _number,
    T.SET: _number,
    T.STRING: _string,
    T.VARCHAR: _text,
    T.VAR_STRING: _text,
    T.TINY_BLOB: _text,
    T.BLOB: _text,
    T.MEDIUM_BLOB: _text,
    T.LONG_BLOB: _text,
    T.JSON: _json,
    T.GEOMETRY: _text,
    T.VECTOR: _text,
    T.BLOB_COMPRESSED: _compressed,
    T.VARCHAR_COMPRESSED: _compressed,
}
