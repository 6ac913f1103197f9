"""Rows as VARIANT: PySpark reads out of them what the reference decodes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.columns.options import ZeroDates
from binspark.documents.row_objects import PresentColumns, variant_rows
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import ABSENT, Geometry, Row
from tests.corpus.cases import corpus_logs, log_id
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.documents.row_objects import Images, images_of_log, sliced
from tests.support.documents.variant import comparable, document_of, variant_objects, variant_values
from tests.support.examples import examples

patiently = settings(deadline=None, max_examples=examples(60), suppress_health_check=list(HealthCheck))
REFUSED_IN_BULK = "mysql/json-partial-minimal"
LOGS = [log for log in corpus_logs() if REFUSED_IN_BULK not in log_id(log)]
_EPOCH = datetime(1970, 1, 1)
_MAX_DIGITS = 38


def moment(microseconds: int | None, zone: Any = None) -> datetime | None:
    if microseconds is None:
        return None
    return (_EPOCH + timedelta(microseconds=microseconds)).replace(tzinfo=zone)


def text_or_bytes(value: str, column: Column) -> Any:
    """Text as itself, JSON as what it says."""
    if column.type == T.JSON:
        return document_of(value)
    is_binary = column.collation == BINARY_COLLATION and column.notation is None
    return value.encode() if is_binary else value


def exact(value: Decimal, column: Column) -> Decimal | str:
    return f"{value:f}" if column.type == T.DECIMAL or column.precision > _MAX_DIGITS else value


EXPECTED: dict[type, Callable[[Any, Column], Any]] = {
    int: lambda value, _column: value if value < 1 << 63 else Decimal(value),
    str: text_or_bytes,
    Decimal: exact,
    Date: lambda value, _column: None if value.days is None else date(1970, 1, 1) + timedelta(value.days),
    DateTime: lambda value, _column: moment(value.microseconds),
    Timestamp: lambda value, _column: moment(value.microseconds, UTC),
    Time: lambda value, _column: value.text(),
    Geometry: lambda value, _column: {"srid": value.srid, "wkb": value.wkb},
    tuple: lambda value, _column: list(value),
}


def expected_value(value: Any, column: Column) -> Any:
    converter = EXPECTED.get(type(value))
    return comparable(value if converter is None else converter(value, column))


def expected_row(row: Row | None, columns: tuple[Column, ...]) -> Any:
    if row is None:
        return None
    return {
        column.name or f"@{number}": expected_value(value, column)
        for number, (value, column) in enumerate(zip(row, columns, strict=True), 1)
        if value is not ABSENT
    }


def expected(images: Images) -> list[Any]:
    return [expected_row(row, images.table.columns) for row in images.rows]


def written(images: Images) -> list[Any]:
    array = variant_rows(images.table.columns, images.arrays, valid=images.valid, present=images.present_columns)
    return variant_objects(array)


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_recorded_rows_are_what_the_reference_decodes(log: Path) -> None:
    for images in images_of_log(log.read_bytes(), ZeroDates.NULL):
        assert written(images) == expected(images)


@patiently
@given(logs(damage=False))
def test_random_rows_are_what_the_reference_decodes(log: RandomLog) -> None:
    for images in images_of_log(log.content, ZeroDates.NULL, log.history(), log.history()):
        assert written(images) == expected(images)


@patiently
@given(logs(damage=False), st.integers(0, 4))
def test_slices_of_arrays_are_rows_too(log: RandomLog, first: int) -> None:
    for images in images_of_log(log.content, ZeroDates.NULL, log.history(), log.history()):
        whole_array = variant_rows(images.table.columns, images.arrays).to_pylist()
        assert variant_rows(images.table.columns, sliced(images.arrays, first)).to_pylist() == whole_array[first:]


def test_dates_that_came_as_text_stay_text() -> None:
    array = variant_rows([Column(T.DATE, name="d")], [pa.array(["0000-00-00"])])
    assert variant_objects(array) == [{"d": ("str", "0000-00-00")}]


@pytest.mark.parametrize(
    ("column", "array", "header"),
    [
        (Column(T.LONGLONG), pa.array([100], pa.int64()), 3),
        (Column(T.LONGLONG, unsigned=True), pa.array([Decimal(100)], pa.decimal128(20, 0)), 3),
        (Column(T.LONGLONG, unsigned=True), pa.array([Decimal((1 << 64) - 1)], pa.decimal128(20, 0)), 10),
        (Column(T.NEWDECIMAL, precision=20), pa.array([Decimal(100)], pa.decimal128(20, 0)), 8),
        (Column(T.NEWDECIMAL, precision=30, scale=20), pa.array([Decimal(1)], pa.decimal128(30, 20)), 10),
        (Column(T.NEWDECIMAL, precision=18, scale=9), pa.array([Decimal(1)], pa.decimal128(18, 9)), 9),
        (Column(T.FLOAT), pa.array([1], pa.float32()), 14),
        (Column(T.DOUBLE), pa.array([1], pa.float64()), 7),
        (Column(T.DATE), pa.array([1], pa.int32()).cast(pa.date32()), 11),
        (Column(T.TIMESTAMP2), pa.array([1], pa.int64()).cast(pa.timestamp("us", tz="UTC")), 12),
        (Column(T.DATETIME2), pa.array([1], pa.int64()).cast(pa.timestamp("us")), 13),
        (Column(T.BLOB, collation=BINARY_COLLATION), pa.array([b"1"], pa.binary()), 15),
        (Column(T.VARCHAR), pa.array(["x" * 64]), 16),
    ],
    ids=lambda value: value.type.name if isinstance(value, Column) else "",
)
def test_a_column_has_a_type_in_the_object(column: Column, array: pa.Array, header: int) -> None:
    [value] = variant_values(variant_rows([column], [array]))
    assert value is not None
    assert value.value[5] >> 2 == header


def test_documents_of_several_columns_share_the_dictionary_of_the_row() -> None:
    columns = [Column(T.JSON, name="b"), Column(T.LONG, name="a"), Column(T.JSON, name="c")]
    arrays = [
        pa.array(['{"a": 1, "x": 2}', "1"]),
        pa.array([7, 8], pa.int32()),
        pa.array(['[{"x": {"c": null}}]', None]),
    ]
    array = variant_rows(columns, arrays)
    assert [value and value.metadata for value in variant_values(array)] == [
        b"\x01\x04\x00\x01\x02\x03\x04abcx",
        b"\x01\x03\x00\x01\x02\x03abc",
    ]
    assert [value and value.toPython() for value in variant_values(array)] == [
        {"a": 7, "b": {"a": 1, "x": 2}, "c": [{"x": {"c": None}}]},
        {"a": 8, "b": 1, "c": None},
    ]


def test_a_geometry_uses_the_names_of_columns_where_it_can() -> None:
    kind = pa.struct([pa.field("srid", pa.int32()), pa.field("wkb", pa.binary())])
    columns = [Column(T.GEOMETRY, name="wkb"), Column(T.LONG, name="z")]
    geometries = pa.array([{"srid": -2, "wkb": b"\x01"}, None, {"srid": 4326, "wkb": b"x" * 300}], kind)
    values = variant_values(variant_rows(columns, [geometries, pa.array([1, 2, 3], pa.int32())]))
    assert [value and value.toPython()["wkb"] for value in values] == [
        {"srid": (1 << 32) - 2, "wkb": b"\x01"},
        None,
        {"srid": 4326, "wkb": b"x" * 300},
    ]
    assert {value.metadata for value in values if value} == {b"\x01\x03\x00\x03\x04\x08wkbzsrid"}


@pytest.mark.parametrize("count", [1, 255, 256, 300, 4096])
def test_rows_may_have_many_columns(count: int) -> None:
    columns = [Column(T.LONG, name=f"c{number}") for number in range(count)]
    arrays = [pa.array([number, -number], pa.int32()) for number in range(count)]
    array = variant_rows(
        columns, arrays, present=PresentColumns(np.array([0, 1]), np.array([[1], [0]]) > [[0] * count])
    )
    found = [value and value.toPython() for value in variant_values(array)]
    assert found == [{f"c{number}": number for number in range(count)}, {}]
    assert list(found[0] or ()) == sorted(f"c{number}" for number in range(count))


def test_rows_that_are_not_there_are_null() -> None:
    array = variant_rows([Column(T.LONG, name="a")], [pa.array([1, 2, 3], pa.int32())], valid=np.array([1, 0, 1]) > 0)
    assert array.to_pylist()[1] is None
    assert array.field(1).to_pylist() == [b"\x01\x01\x00\x01a", b"", b"\x01\x01\x00\x01a"]


def test_two_columns_of_the_same_name_are_refused() -> None:
    with pytest.raises(SchemaError, match="two columns are named '@2'"):
        variant_rows([Column(T.LONG, name="@2"), Column(T.LONG)], [pa.array([1], pa.int32())] * 2)


def test_an_arrow_type_that_no_batch_has_is_refused() -> None:
    with pytest.raises(SchemaError, match="columns of Arrow's type bool cannot be part of"):
        variant_rows([Column(T.LONG, name="a")], [pa.array([True])])
