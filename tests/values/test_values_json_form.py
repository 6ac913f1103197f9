"""Values as JSON."""

from __future__ import annotations

from decimal import Decimal

import pytest

from binspark.event.column_types import ColumnType as T
from binspark.values import ABSENT, Column, Date, DateTime, Geometry, Time, Timestamp, Value, row_json, value_json
from tests.corpus.cases import case_logs
from tests.support.values.value_logs import rows_in

FORMS: list[tuple[Column, Value, str]] = [
    (Column(T.LONG), None, "null"),
    (Column(T.LONGLONG), 18446744073709551615, "18446744073709551615"),
    (Column(T.NEWDECIMAL), Decimal("-1.50"), '"-1.50"'),
    (Column(T.NEWDECIMAL), Decimal("1E+5"), '"100000"'),
    (Column(T.NEWDECIMAL), Decimal("0.000000000000000000000000000001"), '"0.000000000000000000000000000001"'),
    (Column(T.DATE), Date(0, 0, 0), '"0000-00-00"'),
    (Column(T.TIME2), Time(-3020399_000_000, 6), '"-838:59:59.000000"'),
    (Column(T.DATETIME2), DateTime(Date(2024, 1, 2), 3, 4, 5), '"2024-01-02 03:04:05"'),
    (Column(T.TIMESTAMP2), Timestamp(1, 500_000, 1), '"1970-01-01 00:00:01.5+00:00"'),
    (Column(T.FLOAT), 0.10000000149011612, "0.1"),
    (Column(T.FLOAT), 16777216.0, "16777216.0"),
    (Column(T.FLOAT), 3.4028234663852886e38, "3.4028235e+38"),
    (Column(T.FLOAT), 1.401298464324817e-45, "1e-45"),
    (Column(T.DOUBLE), 0.10000000149011612, "0.10000000149011612"),
    (Column(T.DOUBLE), -0.0, "-0.0"),
    (Column(T.DOUBLE), float("nan"), '"NaN"'),
    (Column(T.DOUBLE), float("-inf"), '"-Infinity"'),
    (Column(T.VARCHAR), 'ä"\n', '"ä\\"\\n"'),
    (Column(T.BLOB), b"\0\xff", '"0x00ff"'),
    (Column(T.BLOB), b"", '"0x"'),
    (Column(T.BIT), 5, "5"),
    (Column(T.ENUM), "small", '"small"'),
    (Column(T.ENUM), 3, "3"),
    (Column(T.SET), ("a", "b"), '["a", "b"]'),
    (Column(T.SET), (), "[]"),
    (Column(T.SET), 5, "5"),
    (
        Column(T.JSON),
        '{"price": 1.10, "n": 123456789012345678901234567890.5}',
        '{"price": 1.10, "n": 123456789012345678901234567890.5}',
    ),
    (Column(T.GEOMETRY), Geometry(4326, b"\1\2"), '{"srid": 4326, "wkb": "0x0102"}'),
    (Column(T.VECTOR), (1.0, 0.10000000149011612), "[1.0, 0.1]"),
]


@pytest.mark.parametrize(("column", "value", "form"), FORMS)
def test_a_value_is_written_like_this(column: Column, value: Value, form: str) -> None:
    assert value_json(value, column) == form


def test_columns_without_a_name_are_numbered_and_absent_ones_omitted() -> None:
    columns = (Column(T.LONG, name="id"), Column(T.LONG), Column(T.LONG, name="gone"))
    assert row_json((1, None, ABSENT), columns) == '{"id": 1, "@2": null}'


def test_a_recorded_row_is_written_completely() -> None:
    [log] = case_logs("mysql/types")
    rows = next(rows for rows in rows_in(log, mariadb=False) if rows.schema.table == "choices")
    assert row_json(rows.images[0], rows.schema.columns) == (
        '{"id": 1, "e": "small", "s": ["a"], "e2": "ä", "s1": ["only"]}'
    )
