"""Statistics of data files in Delta's log: never narrower than the values, and readers skip files by them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.targets.delta.statistics import MAX_COLUMNS, statistics
from binspark.mirror.targets.parse import parse_target
from tests.support.mirror.target_files import ITEMS, put, state_at, write_file

LONG = "ä" * 40
CASES: list[tuple[pa.DataType, list[Any], Any, Any]] = [
    (pa.int8(), [-128, 127], -128, 127),
    (pa.int64(), [-(2**63), 2**63 - 1], -(2**63), 2**63 - 1),
    (pa.float32(), [-1.5, 2.25], -1.5, 2.25),
    (pa.float64(), [5e-324, 1.7976931348623157e308], 5e-324, 1.7976931348623157e308),
    (pa.decimal128(9, 2), [Decimal("-0.01"), Decimal("99.90")], -0.01, 99.9),
    (pa.date32(), [date(1, 1, 1), date(9999, 12, 31)], "0001-01-01", "9999-12-31"),
    (
        pa.timestamp("us"),
        [datetime(2020, 1, 1, 0, 0, 0, 1), datetime(2020, 1, 1, 0, 0, 0, 1001)],
        "2020-01-01T00:00:00.000",
        "2020-01-01T00:00:00.002",
    ),
    (
        pa.timestamp("us", tz="UTC"),
        [datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime(2038, 1, 19, 3, 14, 7, 0, UTC)],
        "1969-12-31T23:59:59.999Z",
        "2038-01-19T03:14:07.000Z",
    ),
    (pa.string(), ["", "é"], "", "é"),
    (pa.string(), [LONG, LONG + "b"], "ä" * 32, "ä" * 32 + "\U0010ffff"),
]


def stats_of(tmp_path: Path, kind: pa.DataType, values: list[Any]) -> dict[str, Any]:
    schema = pa.schema([pa.field("c", kind)])
    file = write_file(TableDirectory(str(tmp_path)), schema, [{"c": value} for value in values])
    found: dict[str, Any] = json.loads(statistics(file, schema))
    return found


@pytest.mark.parametrize(("kind", "values", "low", "high"), CASES)
def test_bounds_are_those_of_the_values(
    tmp_path: Path, kind: pa.DataType, values: list[Any], low: Any, high: Any
) -> None:
    found = stats_of(tmp_path, kind, [*values, None])
    assert found == {
        "numRecords": len(values) + 1,
        "minValues": {"c": low},
        "maxValues": {"c": high},
        "nullCount": {"c": 1},
    }


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.string(), [None, None]),
        (pa.float64(), [float("inf"), 1.0]),
        (pa.timestamp("us"), [datetime(9999, 12, 31, 23, 59, 59, 999999)]),
        (pa.string(), ["x" * 32 + "\U0010ffff"]),
        (pa.binary(), [b"x"]),
    ],
)
def test_what_has_no_bounds_is_left_out(tmp_path: Path, kind: pa.DataType, values: list[Any]) -> None:
    found = stats_of(tmp_path, kind, values)
    assert (found["minValues"], found["maxValues"]) == ({}, {})
    assert found["nullCount"] == {"c": sum(value is None for value in values)}


def test_large_decimals_are_exact(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("c", pa.decimal128(20, 0))])
    file = write_file(TableDirectory(str(tmp_path)), schema, [{"c": Decimal(2**64 - 1)}])
    assert '"maxValues":{"c":18446744073709551615}' in statistics(file, schema)


def test_nested_columns_and_those_after_the_first_ones_have_no_statistics(tmp_path: Path) -> None:
    kind = pa.struct([pa.field("a", pa.int32())])
    fields = [pa.field("s", kind), pa.field("l", pa.list_(pa.int32()))]
    schema = pa.schema([*fields, *(pa.field(f"c{number}", pa.int32()) for number in range(40))])
    row: dict[str, Any] = {"s": {"a": 1}, "l": [1], **{f"c{number}": number for number in range(40)}}
    found = json.loads(statistics(write_file(TableDirectory(str(tmp_path)), schema, [row]), schema))
    assert found["minValues"] == {f"c{number}": number for number in range(MAX_COLUMNS)}


def test_a_file_without_a_footer_has_its_number_of_rows() -> None:
    assert json.loads(statistics(DataFile("x", 1, 7), pa.schema([])))["numRecords"] == 7


def test_names_and_values_are_quoted(tmp_path: Path) -> None:
    schema = pa.schema([pa.field('say "c"', pa.string())])
    file = write_file(TableDirectory(str(tmp_path)), schema, [{'say "c"': 'a "b"\n'}])
    assert json.loads(statistics(file, schema))["minValues"] == {'say "c"': 'a "b"\n'}
    assert json.loads(statistics(replace(file, rows=1), schema))["numRecords"] == 1


@pytest.mark.parametrize(("kind", "values", "_low", "_high"), CASES)
def test_readers_find_every_value_and_skip_other_files(
    tmp_path: Path, kind: pa.DataType, values: list[Any], _low: Any, _high: Any
) -> None:
    table = parse_target(str(tmp_path / "lake")).create(ITEMS, pa.schema([pa.field("c", kind)]), state_at(4))
    for offset, value in enumerate(values, 10):
        put(table, [{"c": value}], offset)
    delta = DeltaTable(table.address)
    for value in values:
        found = pa.table(delta.to_pyarrow_table(filters=[("c", "=", value)]))
        assert found["c"].to_pylist() == [value]
    if pa.types.is_integer(kind):
        assert len(delta.file_uris(file_pruning_predicate=f"c = {values[0]}")) == 1
