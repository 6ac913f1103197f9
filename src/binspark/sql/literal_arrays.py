"""Columns of exact values as literals, as `literals` writes them one at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.event.column_types import ColumnType as T
from binspark.schema.collations import known_charset
from binspark.sql.literals import ColumnSql, Literal
from binspark.values.column import BINARY_COLLATION, Column

_ASCII_BASED_UNSAFE = r"[^ -\[\]-}]"
_UTF8_UNSAFE = r"[\x00-\x1f\x7f\\]"
_UTF8 = ("utf8mb4", "utf8mb3")
_NOT_ASCII_BASED = ("", "swe7", "ucs2", "utf16", "utf16le", "utf32")
_TEXTS = frozenset(
    {T.STRING, T.VARCHAR, T.VAR_STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB}
    | {T.VARCHAR_COMPRESSED, T.BLOB_COMPRESSED}
)
_INTEGERS = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.BIT, T.YEAR})
_MOMENTS = frozenset({T.DATE, T.NEWDATE, T.TIME, T.TIME2, T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2})
_MAX_MEMBERS = 1 << 16
_ZONE = r"\+00:00$"


def literal_array(column: Column, writer: ColumnSql, values: pa.Array) -> pa.Array:
    """Return the literals of values; NULL stays NULL."""
    if column.type in _INTEGERS:
        return values.cast(pa.string())
    if column.type in (T.FLOAT, T.DOUBLE):
        return _floats(values, writer.literal)
    if column.type is T.NEWDECIMAL:
        return _decimals(values)
    if column.type in _MOMENTS:
        return _in_quotes(_without_zone(values) if column.type in (T.TIMESTAMP, T.TIMESTAMP2) else values)
    if column.type is T.ENUM and column.members is not None:
        return _members(values, writer.literal, len(column.members))
    if column.type in _TEXTS and column.notation is None and column.collation not in (None, BINARY_COLLATION):
        return _texts(values, known_charset(column.collation), writer.literal)
    return _one_by_one(values, writer.literal)


def compared_array(column: Column, writer: ColumnSql, values: pa.Array, literals: pa.Array) -> pa.Array:
    """Return the conditions that only these values meet."""
    if writer.compared is not writer.literal:
        charset = known_charset(column.collation)
        literals = _texts(values, charset, writer.compared)
    return pc.coalesce(
        pc.binary_join_element_wise(f"{writer.comparable} <=> ", literals, ""), pa.scalar(f"{writer.name} IS NULL")
    )


def key_array(writer: ColumnSql, literals: pa.Array) -> pa.Array:
    """Return the conditions for values of a key."""
    found = pc.binary_join_element_wise(f"{writer.name} = ", literals, "")
    return pc.coalesce(found, pa.scalar(f"{writer.name} IS NULL")) if literals.null_count else found


def or_null(literals: pa.Array) -> pa.Array:
    """Return literals with NULL as text."""
    return pc.fill_null(literals, "NULL") if literals.null_count else literals


def _one_by_one(values: pa.Array, literal: Literal) -> pa.Array:
    return pa.array([None if value is None else literal(value) for value in values.to_pylist()], pa.string())


def _where(values: pa.Array, literals: pa.Array, chosen: pa.Array, literal: Literal) -> pa.Array:
    """Return literals, with those of chosen values written one at a time."""
    rows = np.flatnonzero(pc.fill_null(chosen, False).to_numpy(zero_copy_only=False))
    if not len(rows):
        return literals
    mask = np.zeros(len(values), dtype=np.bool_)
    mask[rows] = True
    return pc.replace_with_mask(literals, pa.array(mask), _one_by_one(values.take(pa.array(rows)), literal))


def _texts(values: pa.Array, charset: str, literal: Literal) -> pa.Array:
    if charset in _NOT_ASCII_BASED:
        return _one_by_one(values, literal)
    unsafe = pc.match_substring_regex(values, _UTF8_UNSAFE if charset in _UTF8 else _ASCII_BASED_UNSAFE)
    try:
        texts = pc.if_else(unsafe, pa.scalar(b"", values.type), values).cast(pa.string())
    except pa.ArrowInvalid:
        return _one_by_one(values, literal)
    return _where(values, _in_quotes(pc.replace_substring(texts, "'", "''")), unsafe, literal)


def _in_quotes(texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise("'", texts, "'", "")


def _without_zone(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, _ZONE, "")


def _floats(values: pa.Array, literal: Literal) -> pa.Array:
    doubles = values.cast(pa.float64())
    texts = doubles.cast(pa.string())
    unusual = pc.or_kleene(pc.match_substring(texts, "e"), pc.invert(pc.is_finite(doubles)))
    return _where(doubles, pc.binary_join_element_wise(texts, "E0", ""), unusual, literal)


def _decimals(values: pa.Array) -> pa.Array:
    texts = values.cast(pa.string())
    return _where(values, texts, pc.match_substring(texts, "E"), lambda value: f"{value:f}")


def _members(values: pa.Array, literal: Callable[[int], str], count: int) -> pa.Array:
    if count >= _MAX_MEMBERS:
        return _one_by_one(values, literal)
    known = pa.array([literal(number) for number in range(count + 1)], pa.string())
    return known.take(values)
