"""Rows of a result set become the row images that the log has; what is not a row is refused."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.columns.options import ColumnOptions
from binspark.columns.result_forms import result_columns
from binspark.columns.result_rows import ResultRows
from binspark.errors import Malformed, SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.kernels.result_rows import Pack, Packed, pack_row
from binspark.mirror.snapshot.dumps.packets import RowPackets
from binspark.schema.table import TableSchema
from binspark.values.column import BINARY_COLLATION, Column
from binspark.wire.decimals import encode_packed_decimal

COLUMNS = (
    Column(T.LONG, name="i"),
    Column(T.NEWDECIMAL, precision=12, scale=5, name="d"),
    Column(T.DATETIME2, scale=3, name="m"),
    Column(T.TIME2, scale=6, name="t"),
    Column(T.TIMESTAMP2, name="s"),
    Column(T.BIT, length=12, name="b"),
    Column(T.VARCHAR, length=300, collation=BINARY_COLLATION, name="v"),
    Column(T.YEAR, name="y"),
)
TYPES = [T.LONG, T.NEWDECIMAL, T.DATETIME, T.TIME, T.TIMESTAMP, T.BIT, T.VAR_STRING, T.YEAR]
VALUES = (
    struct.pack("<i", -5)
    + b"\x09-12.34000"
    + b"\x0b"
    + struct.pack("<HBBBBBI", 2024, 2, 29, 23, 59, 58, 123000)
    + b"\x0c"
    + struct.pack("<?IBBBI", True, 34, 22, 59, 59, 999999)
    + b"\x07"
    + struct.pack("<HBBBBB", 2024, 2, 29, 1, 2, 3)
    + b"\x02\x0f\xff"
    + b"\xfc\x2c\x01"
    + b"x" * 300
    + struct.pack("<H", 2024)
)
ROW = b"\0\0\0" + VALUES


def table(*columns: Column) -> TableSchema:
    return TableSchema("d", "t", columns or COLUMNS)


def read(*payloads: bytes) -> list[pa.RecordBatch]:
    rows: Iterator[bytes] = iter(payloads)
    return list(ResultRows(table(), ColumnOptions(), TYPES).batches(RowPackets(rows)))


def test_a_row_has_its_values() -> None:
    (batch,) = read(ROW, b"\0\xfc\x03")
    first, second = batch.to_pylist()
    assert first["i"] == -5
    assert first["d"] == Decimal("-12.34000")
    assert str(first["m"]) == "2024-02-29 23:59:58.123000"
    assert first["t"].total_seconds() == -(838 * 3600 + 59 * 60 + 59.999999)
    assert str(first["s"]) == "2024-02-29 01:02:03+00:00"
    assert (first["b"], first["v"], first["y"]) == (0xFFF, b"x" * 300, 2024)
    assert set(second.values()) == {None}


def test_a_row_that_ends_early_or_late_is_refused() -> None:
    for end in range(1, len(ROW)):
        with pytest.raises(Malformed, match="a row that does not have the columns"):
            read(ROW[:end])
    with pytest.raises(Malformed, match="a row that does not have the columns"):
        read(ROW + b"\0")


@given(st.lists(st.tuples(st.integers(1, len(ROW) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_rows_are_rows_or_refused(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(ROW)
    for at, byte in changes:
        damaged[at] = byte
    with suppress(Malformed):
        assert sum(batch.num_rows for batch in read(bytes(damaged))) == 1


@given(st.data())
def test_decimals_are_packed_as_in_the_log(data: st.DataObject) -> None:
    precision = data.draw(st.integers(1, 65))
    scale = data.draw(st.integers(0, min(precision, 30)))
    digits = data.draw(st.integers(0, 10**precision - 1))
    value = Decimal(digits).scaleb(-scale, None) if precision <= 28 else Decimal((0, _digits(digits), -scale))
    value = value.copy_negate() if data.draw(st.booleans()) and digits else value
    text = f"{value:f}".encode()
    column = Column(T.NEWDECIMAL, precision=precision, scale=scale, name="d")
    row = np.frombuffer(b"\0\0" + bytes((len(text),)) + text + bytes(64), dtype=np.uint8)
    target = np.zeros(512, dtype=np.uint8)
    numbers = np.zeros(Pack.WIDTH, dtype=np.int64)
    numbers[Pack.OUT_AT], numbers[Pack.OUT_END] = target.ctypes.data, target.ctypes.data + len(target)
    columns = result_columns(table(column), ColumnOptions(), [T.NEWDECIMAL])
    assert pack_row(numbers, columns, row.ctypes.data, 3 + len(text)) == 0
    packed = target[1 : int(numbers[Pack.OUT_AT]) - target.ctypes.data].tobytes()
    assert packed == encode_packed_decimal(value, precision, scale)


def _digits(number: int) -> tuple[int, ...]:
    return tuple(map(int, str(number)))


def test_a_column_of_another_type_than_expected_is_refused() -> None:
    with pytest.raises(SchemaError, match="column i is sent as LONGLONG, expected LONG: the table was changed"):
        result_columns(table(), ColumnOptions(), [T.LONGLONG, *TYPES[1:]])


def test_a_row_without_room_is_not_packed() -> None:
    row = np.frombuffer(ROW + bytes(64), dtype=np.uint8)
    target = np.zeros(64, dtype=np.uint8)
    numbers = np.zeros(Pack.WIDTH, dtype=np.int64)
    numbers[Pack.OUT_AT], numbers[Pack.OUT_END] = target.ctypes.data, target.ctypes.data + len(target)
    assert pack_row(numbers, result_columns(table(), ColumnOptions(), TYPES), row.ctypes.data, len(ROW)) == Packed.FULL
    assert numbers[Pack.NEEDED] > len(ROW)
    assert not target.any()
