"""The values of Arrow columns as Python objects: those that the reference decodes, made column by column."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import fields
from decimal import Context, Decimal
from functools import lru_cache
from itertools import pairwise, repeat
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arrow import raw_numbers, validity
from binspark.event.column_types import ColumnType as T
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import Geometry

Numbers = npt.NDArray[np.int64]
Made = TypeVar("Made")

_WORD_DIGITS = 18
_EXACT = Context(prec=80)  # more digits than any DECIMAL has, so that nothing is rounded
_DAY_SECONDS = 86_400
_CLOCK_LENGTH = len("2026-11-15 09:00:00")
_MAX_LENGTH = _CLOCK_LENGTH + len(".123456")


def values_of(array: pa.Array, column: Column) -> list[Any]:
    """Return the values of a column as the reference decodes them. DATE, DATETIME and TIMESTAMP are text there."""
    return _with_nulls(array, _CONVERTERS.get(array.type.id, _numbers)(array, column))


def _with_nulls(array: pa.Array, values: list[Any]) -> list[Any]:
    """Set those to None that are NULL in the array."""
    if array.null_count:
        for index in np.flatnonzero(~validity(array)).tolist():
            values[index] = None
    return values


def _numbers(array: pa.Array, _column: Column) -> list[Any]:
    numbers: list[Any] = raw_numbers(array, array.type.to_pandas_dtype()).tolist()
    return numbers


def _decimals(array: pa.Array, column: Column) -> list[Any]:
    """Return DECIMAL, and what Arrow has no integers for: BIGINT UNSIGNED, BIT(64), SET without known members."""
    words = raw_numbers(array, np.int64, per_value=2)
    if column.type != T.NEWDECIMAL:
        return list(words[::2].view(np.uint64).tolist())
    integers = words[::2].tolist()
    if column.precision > _WORD_DIGITS:
        low = words[::2].view(np.uint64).tolist()
        integers = [(high << 64) + part for high, part in zip(words[1::2].tolist(), low, strict=True)]
    return list(map(_EXACT.scaleb, integers, repeat(Decimal(-column.scale))))


def _durations(array: pa.Array, column: Column) -> list[Any]:
    return _objects(Time, len(array), raw_numbers(array, np.int64).tolist(), repeat(column.scale))


def _strings(array: pa.Array, column: Column) -> list[Any]:
    convert = _FROM_TEXT.get(column.type)
    return array.to_pylist() if convert is None else convert(array, column)


def _decimals_of_text(array: pa.Array, _column: Column) -> list[Any]:
    return [None if text is None else Decimal(text) for text in array.to_pylist()]


def _binaries(array: pa.Array, column: Column) -> list[Any]:
    values: list[Any] = array.to_pylist()
    if column.collation == BINARY_COLLATION:
        return values
    return [None if value is None else _text_or_bytes(value) for value in values]


def _text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _lists(array: pa.Array, _column: Column) -> list[Any]:
    offsets = raw_numbers(array, np.int32).tolist()
    offsets.append(int(np.frombuffer(array.buffers()[1], np.int32)[array.offset + len(array)]))
    items = array.values.slice(offsets[0], offsets[-1] - offsets[0]).to_pylist()
    return [tuple(items[start - offsets[0] : stop - offsets[0]]) for start, stop in pairwise(offsets)]


def _geometries(array: pa.Array, _column: Column) -> list[Any]:
    srids, values = (child.to_pylist() for child in array.flatten())
    return [None if wkb is None else Geometry(srid & 0xFFFFFFFF, wkb) for srid, wkb in zip(srids, values, strict=True)]


def _nothing(array: pa.Array, _column: Column) -> list[Any]:
    return [None] * len(array)


def _dates(array: pa.Array, _column: Column) -> list[Any]:
    return _dates_in(_Texts(array))


def _datetimes(array: pa.Array, column: Column) -> list[Any]:
    texts = _Texts(array)
    clock = (texts.number(start, start + 2).tolist() for start in (11, 14, 17))
    fraction = texts.microseconds(column.scale).tolist()
    return _objects(DateTime, len(array), _dates_in(texts), *clock, fraction, repeat(column.scale))


def _timestamps(array: pa.Array, column: Column) -> list[Any]:
    texts = _Texts(array)
    year, month, day = texts.number(0, 4), texts.number(5, 7), texts.number(8, 10)
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64) + day - 1
    clock = (texts.number(11, 13) * 60 + texts.number(14, 16)) * 60 + texts.number(17, 19)
    seconds = np.where(year == 0, 0, days * _DAY_SECONDS + clock).tolist()
    fraction = texts.microseconds(column.scale).tolist()
    return _objects(Timestamp, len(array), seconds, fraction, repeat(column.scale))


class _Texts:
    """Dates and times as text, each field at the same position of each text. NULL is a text of zeros."""

    def __init__(self, array: pa.Array) -> None:
        _, offset_buffer, data = array.buffers()
        offsets = np.frombuffer(offset_buffer, np.int32, len(array) + 1, array.offset * 4)
        raw, lengths = np.frombuffer(data, np.uint8), np.diff(offsets)
        if 0 < lengths[0] == lengths.min() == lengths.max():
            self._characters = raw[offsets[0] : offsets[-1]].reshape(len(array), -1)
        else:
            self._characters = np.full((len(array), _MAX_LENGTH), ord("0"), dtype=np.uint8)
            filled = np.flatnonzero(lengths)
            positions = offsets[filled, np.newaxis] + np.arange(_MAX_LENGTH)
            self._characters[filled] = raw[np.minimum(positions, len(raw) - 1)]

    def number(self, start: int, stop: int) -> Numbers:
        """Return the number that the digits between two positions of each text are."""
        value = np.zeros(len(self._characters), dtype=np.int64)
        for index in range(start, stop):
            value *= 10
            value += self._characters[:, index] & 15
        return value

    def microseconds(self, digits: int) -> Numbers:
        """Return the fractional seconds, which have this number of digits."""
        start = _CLOCK_LENGTH + 1
        return self.number(start, start + digits) * np.int64(10 ** (6 - digits))


def _dates_in(texts: _Texts) -> list[Date]:
    keys = (texts.number(0, 4) * 100 + texts.number(5, 7)) * 100 + texts.number(8, 10)
    return list(map(_date, keys.tolist()))


@lru_cache(maxsize=1 << 14)
def _date(key: int) -> Date:
    return Date(key // 10_000, key // 100 % 100, key % 100)


def _objects(kind: type[Made], count: int, *columns: Iterable[Any]) -> list[Made]:
    """Make objects of a class out of the columns of its fields.

    This sets the slots by their descriptors, one field of all objects at a time: calling the class takes twice as long,
    because each assignment to a frozen object is a call in Python.
    """
    made = list(map(object.__new__, repeat(kind, count)))
    for set_field, values in zip(_FIELD_SETTERS[kind], columns, strict=True):
        deque(map(set_field, made, values), maxlen=0)
    return made


_FIELD_SETTERS: dict[type, list[Callable[[Any, Any], None]]] = {
    kind: [vars(kind)[field.name].__set__ for field in fields(kind)] for kind in (Time, DateTime, Timestamp)
}


_CONVERTERS: dict[int, Callable[[pa.Array, Column], list[Any]]] = {
    pa.null().id: _nothing,
    pa.decimal128(1).id: _decimals,
    pa.duration("us").id: _durations,
    pa.string().id: _strings,
    pa.binary().id: _binaries,
    pa.list_(pa.string()).id: _lists,
    pa.struct([]).id: _geometries,
}

_FROM_TEXT: dict[int, Callable[[pa.Array, Column], list[Any]]] = {
    T.NEWDECIMAL: _decimals_of_text,
    T.DECIMAL: _decimals_of_text,
    T.DATE: _dates,
    T.NEWDATE: _dates,
    T.DATETIME: _datetimes,
    T.DATETIME2: _datetimes,
    T.TIMESTAMP: _timestamps,
    T.TIMESTAMP2: _timestamps,
}
