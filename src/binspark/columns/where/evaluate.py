"""Which rows of a batch a condition selects: evaluated on columns, in SQL's logic of true, false and unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.image_table import BatchImages
from binspark.columns.where import literals
from binspark.columns.where.condition import (
    And,
    ColumnName,
    Comparator,
    Comparison,
    Condition,
    Image,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
)
from binspark.errors import OptionError
from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import column_type_name
from binspark.kernels.layout import Operation
from binspark.schema.table import TableSchema
from binspark.values.column import Column

Flags = npt.NDArray[np.bool_]
_COMPARE: dict[Comparator, Callable[..., pa.Array]] = {
    Comparator.EQUAL: pc.equal,
    Comparator.NOT_EQUAL: pc.not_equal,
    Comparator.LESS: pc.less,
    Comparator.AT_MOST: pc.less_equal,
    Comparator.GREATER: pc.greater,
    Comparator.AT_LEAST: pc.greater_equal,
}
_DATES = (T.DATE, T.NEWDATE)
_TIMESTAMPS = (T.TIMESTAMP, T.TIMESTAMP2)
_MOMENTS = (*_DATES, *_TIMESTAMPS, T.DATETIME, T.DATETIME2)
_INT64 = range(-(1 << 63), 1 << 63)
_MAX_DIGITS = 38
_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False, slots=True)
class BatchColumns:
    """The rows of a batch.

    indexes      the index in the table of each column of the batch
    new          the new row of inserts and updates, the deleted row of deletes
    old          the old row of updates
    """

    table: TableSchema
    indexes: Sequence[int]
    new: Sequence[pa.Array]
    old: Sequence[pa.Array]
    operations: npt.NDArray[np.int8]
    images: BatchImages


def selected_rows(condition: Condition, batch: BatchColumns) -> Flags:
    """Return which rows a condition selects. Where it is neither true nor false, a row is not selected."""
    found: Flags = _Evaluation(batch).of(condition).fill_null(False).to_numpy(zero_copy_only=False)
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _Operand:
    """The values of a column, and which of them the log has; None for all."""

    column: Column
    values: pa.Array
    known: pa.Array | None


class _Evaluation:
    """Evaluates a condition on one batch. A table that lacks a column knows nothing of its value."""

    def __init__(self, batch: BatchColumns) -> None:
        self._batch = batch
        self._names = [batch.table.column_names[index].lower() for index in batch.indexes]
        self._unknown = pa.nulls(len(batch.operations), pa.bool_())

    def of(self, condition: Condition) -> pa.Array:
        match condition:
            case And(conditions):
                return self._joined(pc.and_kleene, conditions)
            case Or(conditions):
                return self._joined(pc.or_kleene, conditions)
            case Not(part):
                return pc.invert(self.of(part))
            case IsNull(name):
                operand = self._operand(name)
                return self._unknown if operand is None else self._if_known(operand, pc.is_null(operand.values))
            case Like(name, pattern):
                operand = self._operand(name)
                return self._unknown if operand is None else self._like(operand, name, pattern)
        return self._compared(condition)

    def _joined(self, join: Callable[[pa.Array, pa.Array], pa.Array], conditions: Sequence[Condition]) -> pa.Array:
        result = self.of(conditions[0])
        for condition in conditions[1:]:
            result = join(result, self.of(condition))
        return result

    def _compared(self, comparison: Comparison) -> pa.Array:
        left = self._operand(comparison.column)
        if left is None:
            return self._unknown
        if isinstance(comparison.value, ColumnName):
            right = self._operand(comparison.value)
            return self._unknown if right is None else self._compared_columns(comparison, left, right)
        try:
            compared = compare(left.values, left.column, comparison.comparator, comparison.value)
        except literals.Mismatch as error:
            raise self._mismatch(comparison.column, left, str(error), comparison.value) from None
        return self._if_known(left, compared)

    def _compared_columns(self, comparison: Comparison, left: _Operand, right: _Operand) -> pa.Array:
        if left.values.type != right.values.type or pa.types.is_nested(left.values.type):
            raise self._mismatch(comparison.column, left, "a column of the same simple type", str(comparison.value))
        return self._if_known(right, self._if_known(left, _COMPARE[comparison.comparator](left.values, right.values)))

    def _like(self, operand: _Operand, name: ColumnName, pattern: str) -> pa.Array:
        values = _as_text(operand.values)
        if values is None:
            raise self._mismatch(name, operand, "no pattern", pattern)
        return self._if_known(operand, pc.match_like(values, pattern))

    def _if_known(self, operand: _Operand, result: pa.Array) -> pa.Array:
        return result if operand.known is None else pc.if_else(operand.known, result, pa.scalar(None, pa.bool_()))

    def _operand(self, name: ColumnName) -> _Operand | None:
        batch = self._batch
        if name.name.lower() not in self._names:
            return None
        index = self._names.index(name.name.lower())
        column = batch.table.columns[batch.indexes[index]]
        updates = batch.operations == Operation.UPDATE
        in_old = batch.images.before[batch.images.numbers, index]
        in_new = batch.images.after[batch.images.numbers, index]
        match name.image:
            case Image.BEFORE:
                known, from_old = in_old & (batch.operations != Operation.INSERT), updates
            case Image.AFTER:
                known, from_old = in_new & (batch.operations != Operation.DELETE), np.zeros_like(updates)
            case _:
                from_old = updates & ~in_new
                known = np.where(from_old, in_old, in_new)
        values = batch.new[index]
        if from_old.any():
            values = pc.if_else(pa.array(from_old), batch.old[index], values)
        return _Operand(column, values, None if known.all() else pa.array(known))

    def _mismatch(self, name: ColumnName, operand: _Operand, expected: str, found: Literal) -> OptionError:
        kind = column_type_name(operand.column.type)
        shown = f"0x{found.hex()}" if isinstance(found, bytes) else found if isinstance(found, str) else str(found)
        column = f"column {name.name!r} of {self._batch.table.name} ({kind})"
        return OptionError(f"compares {column} with {shown!r}, expected {expected}", option="where")


def compare(values: pa.Array, column: Column, comparator: Comparator, literal: Literal) -> pa.Array:
    """Compare the values of a column with a literal; raise `Mismatch` if it is none of its type."""
    kind = values.type
    if column.type in _MOMENTS:
        return _compare_moments(values, column, comparator, literal)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return _compare_scaled(values, comparator, literals.number(literal))
    if column.type in (T.NEWDECIMAL, T.DECIMAL):
        return _compare_wide_decimals(values, comparator, literals.number(literal))
    if pa.types.is_null(kind):
        return pa.nulls(len(values), pa.bool_())
    return _COMPARE[comparator](*_simple(values, literal))


def _simple(values: pa.Array, literal: Literal) -> tuple[pa.Array, pa.Scalar]:
    """Return values and a literal in a type in which Arrow compares them."""
    kind = values.type
    if pa.types.is_floating(kind):
        return values, pa.scalar(float(literals.number(literal)), pa.float64()).cast(kind, safe=False)
    if pa.types.is_duration(kind):
        return values.cast(pa.int64()), pa.scalar(literals.span(literal), pa.int64())
    if pa.types.is_binary(kind):
        return values, pa.scalar(literals.binary(literal), pa.binary())
    text = _as_text(values)
    if text is None:
        raise literals.Mismatch("only IS NULL or IS NOT NULL")
    return text, pa.scalar(literals.string(literal), pa.string())


def _compare_scaled(values: pa.Array, comparator: Comparator, number: Fraction) -> pa.Array:
    """Compare exact numbers with a number that may have more digits after the point than they can have."""
    is_decimal = pa.types.is_decimal(values.type)
    scale = values.type.scale if is_decimal else 0
    scaled = number * 10**scale
    floor = scaled.numerator // scaled.denominator
    if scaled.denominator != 1:
        if comparator in (Comparator.EQUAL, Comparator.NOT_EQUAL):
            return _constant(values, is_true=comparator is Comparator.NOT_EQUAL)
        is_upper = comparator in (Comparator.LESS, Comparator.AT_MOST)
        comparator, floor = (Comparator.AT_MOST, floor) if is_upper else (Comparator.AT_LEAST, floor + 1)
    fits = abs(floor) < 10**_MAX_DIGITS if is_decimal else floor in _INT64
    if not fits:
        below = (Comparator.LESS, Comparator.AT_MOST) if floor > 0 else (Comparator.GREATER, Comparator.AT_LEAST)
        return _constant(values, is_true=comparator in (*below, Comparator.NOT_EQUAL))
    if not is_decimal:
        return _COMPARE[comparator](values.cast(pa.int64()), pa.scalar(floor, pa.int64()))
    digits = tuple(int(digit) for digit in str(abs(floor)))
    widest = pa.decimal128(_MAX_DIGITS, scale)
    return _COMPARE[comparator](values.cast(widest), pa.scalar(Decimal((floor < 0, digits, -scale)), widest))


def _compare_wide_decimals(values: pa.Array, comparator: Comparator, number: Fraction) -> pa.Array:
    """Compare decimals of more digits than Arrow has, one at a time."""
    signs = [None if text is None else _sign(Fraction(text) - number) for text in values.to_pylist()]
    return _COMPARE[comparator](pa.array(signs, pa.int8()), pa.scalar(0, pa.int8()))


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def _compare_moments(values: pa.Array, column: Column, comparator: Comparator, literal: Literal) -> pa.Array:
    in_utc, kind = column.type in _TIMESTAMPS, values.type
    if pa.types.is_string(kind):
        with_time = column.type not in _DATES
        text = literals.moment_text(literal, with_time=with_time, in_utc=in_utc, digits=column.scale)
        return _COMPARE[comparator](values, pa.scalar(text, pa.string()))
    moment = literals.moment_microseconds(literal, in_utc=in_utc)
    numbers = values.cast(pa.int32()).cast(pa.int64()) if pa.types.is_date(kind) else values.cast(pa.int64())
    return _COMPARE[comparator](pc.multiply(numbers, _DAY) if pa.types.is_date(kind) else numbers, moment)


def _as_text(values: pa.Array) -> pa.Array | None:
    """Return values as text, those of a SET with commas between them; None if they are not text."""
    kind = values.type
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
        return pc.binary_join(values, ",")
    return values if pa.types.is_string(kind) or pa.types.is_binary(kind) else None


def _constant(values: pa.Array, *, is_true: bool) -> pa.Array:
    return pc.if_else(values.is_valid(), pa.scalar(is_true), pa.scalar(None, pa.bool_()))
