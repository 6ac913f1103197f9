"""Servers and mirrors write the same canonical text for every value of every type, and so the same hashes."""

from __future__ import annotations

from math import isfinite
from random import Random
from struct import unpack

import pyarrow as pa
import pytest

from binspark.columns.options import ColumnOptions, TimeFormat, ZeroDates
from binspark.event.column_types import ColumnType
from binspark.mirror.check.arrow_text import real_text, reals
from binspark.mirror.check.row_text import buckets, column_texts, row_text
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS
from binspark.testing.servers import MySQL, Server
from binspark.values.column import Column
from tests.support.mirror.random_tables import create_tables, logged_table
from tests.support.servers import every_family

_DOUBLE = Column(ColumnType.DOUBLE)
_SESSION = "SET sql_mode = '', time_zone = '+00:00'"


@every_family
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(MIRROR_OPTIONS, id="mirror"),
        pytest.param(ColumnOptions(zero_dates=ZeroDates.STRING, time=TimeFormat.MICROSECONDS), id="text"),
    ],
)
def test_both_sides_write_the_same_text_for_every_type(shared: Server, database: str, options: ColumnOptions) -> None:
    for table in create_tables(shared, database, seed=7, rows=60):
        mirrored, rows = logged_table(shared, database, table, options)
        text = row_text(mirrored, mariadb=shared.family is not MySQL)
        with shared.connect(init_command=_SESSION) as connection:
            cursor = connection.cursor()
            for column in text.columns:
                cursor.execute(f"SELECT id, CONCAT({column.sql}, '') FROM {database}.{table} ORDER BY id")
                expected = {key: _bytes(value) for key, value in cursor.fetchall()}
                found = column_texts(column, rows.column(column.name).combine_chunks())
                assert dict(zip(rows.column("id").to_pylist(), found, strict=True)) == expected, column.sql
            cursor.execute(f"SELECT id, {text.row_sql}, {text.bucket_sql(64)} FROM {database}.{table} ORDER BY id")
            expected_hashes = {key: (value, bucket) for key, value, bucket in cursor.fetchall()}
        (batch,) = rows.combine_chunks().to_batches()
        hashes = zip(text.hashes(batch).tolist(), buckets(text.keys(batch), 64).tolist(), strict=True)
        assert dict(zip(rows.column("id").to_pylist(), hashes, strict=True)) == expected_hashes


def test_doubles_read_back_and_are_as_short_as_they_can_be() -> None:
    rng = Random(3)
    values = [unpack("<d", rng.randbytes(8))[0] for _ in range(2000)] + [10.0**power for power in range(-30, 30)]
    finite = [value for value in values if isfinite(value)]
    texts = [text.decode() for text in reals(pa.array(finite), _DOUBLE).to_pylist()]
    assert texts == [real_text(value) for value in finite]
    assert [float(text) for text in texts] == finite


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "-0"),
        (1e15, "1e15"),
        (999999999999999.0, "999999999999999"),
        (-4061241793150054.5, "-4061241793150054.5"),
        (4061241793150054.0, "4.061241793150054e15"),
        (1e-14, "0.00000000000001"),
        (1e-16, "1e-16"),
    ],
)
def test_doubles_have_an_exponent_where_servers_write_one(value: float, text: str) -> None:
    assert reals(pa.array([value]), _DOUBLE).to_pylist() == [text.encode()]


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
