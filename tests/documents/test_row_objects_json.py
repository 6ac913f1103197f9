"""Rows as JSON text in bulk: what the reference writes, for every recorded row and for random tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.columns.options import ZeroDates
from binspark.documents.row_objects import PresentColumns, json_rows
from binspark.errors import Malformed, OptionError
from binspark.event.column_types import ColumnType as T
from binspark.values.as_json import row_json
from binspark.values.column import Column
from binspark.wire.floats import shortest_float
from tests.corpus.cases import corpus_logs, log_id
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.documents.row_objects import Images, images_of_log, sliced
from tests.support.examples import examples

patiently = settings(deadline=None, max_examples=examples(60), suppress_health_check=list(HealthCheck))
REFUSED_IN_BULK = "mysql/json-partial-minimal"
LOGS = [log for log in corpus_logs() if REFUSED_IN_BULK not in log_id(log)]


def expected(images: Images) -> list[str | None]:
    return [None if row is None else row_json(row, images.table.columns) for row in images.rows]


def written(images: Images) -> list[str | None]:
    array = json_rows(images.table.columns, images.arrays, valid=images.valid, present=images.present_columns)
    array.validate(full=True)
    texts: list[str | None] = array.to_pylist()
    return texts


def one_column(column: Column, array: pa.Array) -> list[str]:
    return [text[len('{"c": ') : -1] for text in json_rows([column], [array]).to_pylist()]


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_recorded_rows_are_written_as_the_reference_writes_them(log: Path) -> None:
    for images in images_of_log(log.read_bytes(), ZeroDates.STRING):
        assert written(images) == expected(images)


@patiently
@given(logs(damage=False))
def test_random_rows_are_written_as_the_reference_writes_them(log: RandomLog) -> None:
    for images in images_of_log(log.content, ZeroDates.STRING, log.history(), log.history()):
        assert written(images) == expected(images)


@patiently
@given(logs(damage=False), st.integers(0, 4))
def test_slices_of_arrays_are_rows_too(log: RandomLog, first: int) -> None:
    for images in images_of_log(log.content, ZeroDates.STRING, log.history(), log.history()):
        complete = json_rows(images.table.columns, images.arrays).to_pylist()
        assert json_rows(images.table.columns, sliced(images.arrays, first)).to_pylist() == complete[first:]


@patiently
@given(st.lists(st.floats(width=32)))
def test_floats_are_the_shortest_numbers_that_read_back(floats: list[float]) -> None:
    assert floats_as_json(np.array(floats, dtype=np.float32)) == [float_json(number) for number in floats]


def float_json(number: float) -> str:
    return row_json((number,), [Column(T.FLOAT, name="c")])[len('{"c": ') : -1]


def floats_as_json(floats: np.ndarray) -> list[str]:
    return one_column(Column(T.FLOAT, name="c"), pa.array(floats, pa.float32()))


FLOAT_BITS: dict[str, npt.NDArray[Any]] = {
    "powers of two": np.arange(0, 255 << 23, 1 << 23),
    "above powers of two": np.arange(0, 255 << 23, 1 << 23) + 1,
    "below powers of two": np.arange(1, 255) * (1 << 23) - 1,
    "the smallest": np.arange(2000),
    "any": np.random.default_rng(32).integers(0, 255 << 23, 20_000),
    "with few digits": (np.arange(20_000, dtype=np.float32) / np.float32(100)).view(np.uint32),
}


@pytest.mark.parametrize("kind", FLOAT_BITS)
def test_many_floats_are_the_shortest_numbers_that_read_back(kind: str) -> None:
    floats = FLOAT_BITS[kind].astype(np.uint32).view(np.float32)
    assert floats_as_json(floats) == [repr(shortest_float(number)) for number in floats.tolist()]


@patiently
@given(st.lists(st.floats()))
def test_doubles_are_written_as_python_writes_them(doubles: list[float]) -> None:
    column = Column(T.DOUBLE, name="c")
    found = one_column(column, pa.array(doubles, pa.float64()))
    assert found == [row_json((number,), [column])[len('{"c": ') : -1] for number in doubles]


def test_many_doubles_are_written_as_python_writes_them() -> None:
    doubles = np.random.default_rng(64).integers(0, 2047 << 52, 20_000).view(np.float64)
    assert one_column(Column(T.DOUBLE, name="c"), pa.array(doubles)) == [repr(double) for double in doubles.tolist()]


@pytest.mark.parametrize("scale", range(31))
def test_decimals_of_every_scale_are_exact(scale: int) -> None:
    chance = np.random.default_rng(scale)
    digits = [int.from_bytes(chance.bytes(size), "little", signed=True) % 10**38 for size in range(1, 17)]
    numbers = pa.array([str(sign * number) for number in [*digits, 0, 10**38 - 1] for sign in (1, -1)])
    values = numbers.cast(pa.decimal128(38, 0)).view(pa.decimal128(38, scale))
    found = one_column(Column(T.NEWDECIMAL, precision=38, scale=scale, name="c"), values)
    assert found == [f'"{value:f}"' for value in values.to_pylist()]


def test_dates_that_are_no_text_yet_are_written_alike() -> None:
    days = np.array([-719_162, -1, 0, 11_016, 2_932_896], dtype=np.int32)
    moments = days.astype(np.int64) * 86_400_000_000 + 3_723_000_045
    dates = pa.array(days).cast(pa.date32())
    text = [date.isoformat() for date in dates.to_pylist()]
    assert one_column(Column(T.DATE, name="c"), dates) == [f'"{date}"' for date in text]
    for kind, zone in ((pa.timestamp("us"), ""), (pa.timestamp("us", tz="UTC"), "+00:00")):
        found = one_column(Column(T.DATETIME2, scale=4, name="c"), pa.array(moments).cast(kind))
        assert found == [f'"{date} 01:02:03.0000{zone}"' for date in text]


def test_columns_without_a_name_are_numbered_and_names_are_escaped() -> None:
    columns = [Column(T.LONG), Column(T.LONG, name='a"\n'), Column(T.LONG, name="é")]
    arrays = [pa.array([number], pa.int32()) for number in range(3)]
    assert json_rows(columns, arrays).to_pylist() == ['{"@1": 0, "a\\"\\n": 1, "é": 2}']


def test_columns_that_are_not_in_a_row_are_not_in_its_object() -> None:
    columns = [Column(T.LONG, name="a"), Column(T.LONG, name="b")]
    arrays = [pa.array([1, 2, 3, 4], pa.int32()), pa.array([None, 6, 7, 8], pa.int32())]
    images = PresentColumns(
        np.array([0, 1, 2, 3], dtype=np.int32), np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    )
    found = json_rows(columns, arrays, present=images).to_pylist()
    assert found == ['{"a": 1, "b": null}', '{"a": 2}', '{"b": 7}', "{}"]


def test_text_that_is_not_utf8_is_refused() -> None:
    text = pa.array([b"a", b"\xff"]).view(pa.string())
    with pytest.raises(Malformed, match="text in row 1 of a batch is not UTF-8"):
        json_rows([Column(T.VARCHAR, name="a")], [text])


NUMBERS = pa.array([1, 2], pa.int32())


@pytest.mark.parametrize(
    ("arrays", "options"),
    [
        ([NUMBERS, NUMBERS.slice(1)], {}),
        ([NUMBERS, NUMBERS], {"valid": np.array([True])}),
        ([NUMBERS, NUMBERS], {"present": PresentColumns(np.zeros(1, dtype=np.int32), np.ones((1, 2), dtype=bool))}),
        ([NUMBERS, NUMBERS], {"present": PresentColumns(np.zeros(2, dtype=np.int32), np.ones((1, 1), dtype=bool))}),
    ],
    ids=["arrays", "valid", "images", "columns"],
)
def test_what_does_not_fit_together_is_refused(arrays: list[pa.Array], options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        json_rows([Column(T.LONG, name="a"), Column(T.LONG, name="b")], arrays, **options)


@pytest.mark.parametrize("number", [-1, 1])
def test_an_image_that_is_not_known_is_refused(number: int) -> None:
    with pytest.raises(OptionError, match="the columns of 1 images are known"):
        PresentColumns(np.array([number], dtype=np.int32), np.ones((1, 2), dtype=bool))
