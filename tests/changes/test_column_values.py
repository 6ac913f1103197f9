"""Values of Arrow columns as Python objects: what the reference decodes, also in slices and beside NULL."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from binspark.changes.column_values import values_of
from binspark.event.column_types import ColumnType as T
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import Geometry

GEOMETRY = pa.struct([pa.field("srid", pa.int32()), pa.field("wkb", pa.binary())])
DAY = Date(2026, 11, 15)
COLUMNS: dict[str, tuple[Column, pa.Array, list[Any]]] = {
    "integers": (Column(T.TINY), pa.array([1, None, -3, 127], pa.int8()), [1, None, -3, 127]),
    "floats": (Column(T.FLOAT), pa.array([0.5, None, -1.25], pa.float32()), [0.5, None, -1.25]),
    "no integers": (Column(T.NULL), pa.nulls(3), [None, None, None]),
    "unsigned": (
        Column(T.LONGLONG, unsigned=True),
        pa.array([2**64 - 1, None, 0], pa.decimal128(20, 0)),
        [2**64 - 1, None, 0],
    ),
    "decimals": (
        Column(T.NEWDECIMAL, precision=12, scale=2),
        pa.array([Decimal("-0.05"), None, Decimal("1234567890.10"), Decimal(0)], pa.decimal128(12, 2)),
        ["-0.05", None, "1234567890.10", "0.00"],
    ),
    "long decimals": (
        Column(T.NEWDECIMAL, precision=38, scale=10),
        pa.array([Decimal("-" + "9" * 28 + ".0123456789"), None, Decimal("1e-10")], pa.decimal128(38, 10)),
        ["-" + "9" * 28 + ".0123456789", None, "1E-10"],
    ),
    "decimals that Arrow has no digits for": (
        Column(T.NEWDECIMAL, precision=65, scale=1),
        pa.array(["9" * 64 + ".5", None]),
        ["9" * 64 + ".5", None],
    ),
    "times": (
        Column(T.TIME2, scale=3),
        pa.array([-1500, None, 838 * 3_600_000_000], pa.duration("us")),
        [Time(-1500, 3), None, Time(838 * 3_600_000_000, 3)],
    ),
    "dates": (
        Column(T.DATE),
        pa.array(["2026-11-15", None, "0000-00-00", "2024-00-31"]),
        [DAY, None, Date(0, 0, 0), Date(2024, 0, 31)],
    ),
    "dates without NULL": (Column(T.DATE), pa.array(["2026-11-15", "9999-12-31"]), [DAY, Date(9999, 12, 31)]),
    "only NULL": (Column(T.DATETIME2, scale=6), pa.array([None, None], pa.string()), [None, None]),
    "datetimes": (
        Column(T.DATETIME2, scale=3),
        pa.array(["2026-11-15 09:08:07.120", None, "0000-00-00 00:00:00.000"]),
        [DateTime(DAY, 9, 8, 7, 120_000, 3), None, DateTime(Date(0, 0, 0), digits=3)],
    ),
    "timestamps": (
        Column(T.TIMESTAMP2, scale=6),
        pa.array(
            [
                "1970-01-01 00:00:01.000002+00:00",
                "0000-00-00 00:00:00.000000",
                None,
                "2038-01-19 03:14:07.999999+00:00",
                "2024-02-29 23:59:59.000000+00:00",
            ]
        ),
        [
            Timestamp(1, 2, 6),
            Timestamp(0, 0, 6),
            None,
            Timestamp(2**31 - 1, 999_999, 6),
            Timestamp(1_709_251_199, 0, 6),
        ],
    ),
    "seconds": (Column(T.TIMESTAMP2), pa.array(["2106-02-07 06:28:15+00:00"]), [Timestamp(2**32 - 1)]),
    "texts": (Column(T.VARCHAR), pa.array(["ä", None, ""]), ["ä", None, ""]),
    "bytes": (Column(T.BLOB, collation=BINARY_COLLATION), pa.array([b"a", None, b"\xff"]), [b"a", None, b"\xff"]),
    "text or bytes": (Column(T.BLOB), pa.array([b"a", None, b"\xff"]), ["a", None, b"\xff"]),
    "members": (
        Column(T.SET),
        pa.array([["a", "b"], None, [], ["c"]], pa.list_(pa.string())),
        [("a", "b"), None, (), ("c",)],
    ),
    "geometries": (
        Column(T.GEOMETRY),
        pa.array([{"srid": -1, "wkb": b"1"}, None, {"srid": 4326, "wkb": b"2"}], GEOMETRY),
        [Geometry(0xFFFFFFFF, b"1"), None, Geometry(4326, b"2")],
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_are_those_of_the_reference(name: str) -> None:
    column, array, expected = COLUMNS[name]
    assert shown(values_of(array, column)) == expected


@pytest.mark.parametrize("name", COLUMNS)
def test_a_slice_has_the_values_of_its_rows(name: str) -> None:
    column, array, _ = COLUMNS[name]
    every = values_of(array, column)
    for start in range(len(array)):
        for stop in range(start + 1, len(array) + 1):
            assert values_of(array.slice(start, stop - start), column) == every[start:stop]


def shown(values: list[Any]) -> list[Any]:
    """Return decimals as text, which shows all of their digits."""
    return [str(value) if isinstance(value, Decimal) else value for value in values]
