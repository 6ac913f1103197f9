"""Rows that the reference decoded, as Arrow arrays: for tables and events that kernels do not decode."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.options import ZeroDates
from binspark.columns.plan import TablePlan
from binspark.errors import BinlogError, Malformed
from binspark.kernels.layout import Table as T
from binspark.position import Position
from binspark.values.as_json import diffs_json
from binspark.values.rows import RowChange
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import ABSENT, BinaryDiffs, Geometry, JsonDiffs, Row

_KINDS = {
    T.META_EVENT: np.int64,
    T.META_ROW: np.int32,
    T.META_TRANSACTION: np.int32,
    T.META_OP: np.int8,
    T.META_SERVER: np.int64,
    T.META_TX_ROW: np.int64,
    T.META_IMAGE: np.int32,
    T.META_TIME: np.uint32,
    T.META_THREAD: np.uint32,
    T.META_STATEMENT: np.int32,
}


class ReferenceBuilder:
    """Collects rows as Python values; a batch is made of it as of a `TableBuilder`."""

    def __init__(self, plan: TablePlan) -> None:
        self.plan = plan
        self.begin()

    def begin(self) -> None:
        """Start an empty batch."""
        self._after: list[tuple[Any, ...]] = []
        self._before: list[tuple[Any, ...]] = []
        self._meta: dict[T, list[int]] = {meta: [] for meta in _KINDS}
        self.diffs: dict[tuple[int, int], JsonDiffs] = {}

        self.is_partial = False
        """Whether some row image does not have all columns."""

    @property
    def rows(self) -> int:
        """How many rows were collected."""
        return len(self._after)

    def add(self, change: RowChange, meta: dict[T, int], position: Position) -> None:
        """Take a row. Of a delete it is the deleted row, as in kernels; one without images is all NULL."""
        row = change.before if change.after is None else change.after
        self.is_partial |= row is not None and any(value is ABSENT for value in row)
        try:
            before = self._converted(change.before if change.after is not None else None, before=True)
            after = self._converted(row)
        except BinlogError as error:
            raise error.at(position) from None
        for column, value in enumerate(change.after or ()):
            if isinstance(value, JsonDiffs):
                self.diffs[len(self._after), column] = value
        self._after.append(after)
        self._before.append(before)
        for kind, value in meta.items():
            self._meta[kind].append(value)

    def _converted(self, row: Row | None, *, before: bool = False) -> tuple[Any, ...]:
        """Return the values of the columns as Arrow takes them, None for those that are not decoded."""
        policy = self.plan.options.zero_dates
        if row is None:
            return (None,) * len(self.plan.columns)
        return tuple(
            _plain(value, planned.form.type, policy)
            if (planned.old if before else planned.wanted) and value is not None and value is not ABSENT
            else None
            for value, planned in zip(row, self.plan.columns, strict=True)
        )

    def numbers(self, meta: T, kind: Any) -> npt.NDArray[Any]:
        """Return one of the metadata columns."""
        return np.array(self._meta[meta], dtype=kind)

    def arrays(self, *, before: bool = False) -> list[pa.Array | None]:
        """Return the columns of the table, None for those that are not decoded."""
        rows = self._before if before else self._after
        return [
            _array(planned.form.type, [row[index] for row in rows])
            if (planned.old if before else planned.wanted)
            else None
            for index, planned in enumerate(self.plan.columns)
        ]


def _array(kind: pa.DataType, values: list[Any]) -> pa.Array:
    if pa.types.is_date(kind):
        return pa.array(values, pa.int32()).cast(kind)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)


def _plain(value: Any, kind: pa.DataType, zero_dates: ZeroDates) -> Any:
    converter = _CONVERTERS.get(type(value))
    if converter is not None:
        return converter(value, kind, zero_dates)
    if pa.types.is_decimal(kind) and not isinstance(value, Decimal):
        return Decimal(value)
    if pa.types.is_binary(kind) and isinstance(value, str):
        return value.encode()
    return value


def _moment(number: int | None, text: str, kind: pa.DataType, zero_dates: ZeroDates) -> int | str | None:
    if pa.types.is_string(kind):
        return text
    if number is None and zero_dates is ZeroDates.ERROR:
        raise Malformed(f"{text} is not a date in the calendar")
    return number


def _decimal(value: Decimal, kind: pa.DataType, _zero_dates: ZeroDates) -> Decimal | str:
    return f"{value:f}" if pa.types.is_string(kind) else value


def _int32(number: int) -> int:
    """Return the signed number with the same 32 bits: SRIDs are unsigned, but neither Arrow's nor Spark's are."""
    return number - (1 << 32) if number >> 31 else number


_CONVERTERS: dict[type, Callable[[Any, pa.DataType, ZeroDates], Any]] = {
    Decimal: _decimal,
    Date: lambda value, kind, policy: _moment(value.days, value.text(), kind, policy),
    DateTime: lambda value, kind, policy: _moment(value.microseconds, value.text(), kind, policy),
    Timestamp: lambda value, kind, policy: _moment(value.microseconds, value.text(), kind, policy),
    Time: lambda value, kind, _policy: value.text() if pa.types.is_string(kind) else value.microseconds,
    JsonDiffs: lambda value, _kind, _policy: diffs_json(value),
    BinaryDiffs: lambda _value, _kind, _policy: None,  # what is exact has no document that is not in the log
    Geometry: lambda value, _kind, _policy: {"srid": _int32(value.srid), "wkb": value.wkb},
}
