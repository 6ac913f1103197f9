"""VARIANT made here, and what Spark makes of it: `parse_json` is the judge."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.sql import Row, SparkSession

from binspark.columns.types import GEOMETRY
from binspark.documents.row_objects import variant_rows
from binspark.documents.variant import variant_documents
from binspark.event.column_types import ColumnType as T
from binspark.values.column import BINARY_COLLATION, Column

EDGES = [
    *(str(sign * (1 << bits) + step) for bits in (7, 15, 31, 63, 64) for sign in (1, -1) for step in (-1, 0, 1)),
    *("9" * digits for digits in (9, 10, 18, 19, 37, 38, 39, 60)),
    *(f"0.{'0' * zeros}{'9' * nines}" for zeros in (0, 8, 20, 37) for nines in (1, 2, 9, 18, 30)),
    *("0", "-0", "0.0", "-0.00", "-0e0", "0e5", "1.10", "100.0", "1e5", "1E+5", "1.5e-7", "123456789e-30"),
    *("5e-324", "2e-324", "1.7976931348623157e308", "1e309", "-1e400", "2.2250738585072011e-308", "1e23"),
    *("9007199254740993e0", "9007199254740993.5e0", "0.1e1"),
    *("true", "false", "null", "[]", "{}", '""', '"\\u0000"', r'"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"', " [ 1 , { } ] "),
    *(json.dumps("x" * length) for length in (63, 64, 300, 70_000)),
    '{"b": 1, "a": {"b": [1, {"a": null}]}, "c": "é€😀"}',
]


def random_document(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(8 if depth < 4 else 6)
    if kind == 6:
        return [random_document(chance, depth + 1) for _ in range(chance.choice([0, 1, 3, 5, 300]) // (depth + 1) ** 4)]
    if kind == 7:
        return {
            "".join(chance.choices("abcé€\uffee", k=chance.randrange(12))): random_document(chance, depth + 1)
            for _ in range(chance.choice([0, 1, 2, 7, 40, 400]) // (depth + 1) ** 3)
        }
    scalars = [
        None,
        chance.random() < 0.5,
        chance.getrandbits(chance.randrange(1, 130)) * chance.choice([1, -1]),
        chance.uniform(-1, 1) * 10 ** chance.randrange(-40, 40),
        round(chance.uniform(-1e6, 1e6), chance.randrange(6)),
        "".join(chance.choices('abc "\\\n\x01é€😀', k=chance.randrange(100))),
    ]
    return scalars[kind]


def texts() -> list[str]:
    chance = random.Random(4)
    return EDGES + [json.dumps(random_document(chance), ensure_ascii=chance.random() < 0.5) for _ in range(400)]


def rows(spark: SparkSession, table: pa.Table, *expressions: str) -> list[Row]:
    return spark.createDataFrame(table).selectExpr(*expressions).collect()


def test_documents_have_the_bytes_that_spark_gives_them(spark: SparkSession) -> None:
    found = texts()
    table = pa.table({"text": found, "ours": variant_documents(pa.array(found))})
    for row in rows(spark, table, "text", "ours", "parse_json(text) as theirs"):
        assert (row.text, row.ours.value, row.ours.metadata) == (row.text, row.theirs.value, row.theirs.metadata)


def test_documents_have_the_types_and_the_text_that_spark_gives_them(spark: SparkSession) -> None:
    found = texts()
    table = pa.table({"text": found, "ours": variant_documents(pa.array(found))})
    expressions = ("schema_of_variant({0})", "to_json({0})", "try_cast({0} as string)")
    ours = rows(spark, table, *(expression.format("ours") for expression in expressions))
    theirs = rows(spark, table, *(expression.format("parse_json(text)") for expression in expressions))
    assert list(map(tuple, ours)) == list(map(tuple, theirs))


def test_null_stays_null(spark: SparkSession) -> None:
    table = pa.table({"document": variant_documents(pa.array([None, "null", "1"]))})
    assert rows(spark, table, "document is null", "is_variant_null(document)") == [
        (True, False),
        (False, True),
        (False, False),
    ]


COLUMNS: dict[Column, pa.Array] = {
    Column(T.LONG, name="id"): pa.array([1, None], pa.int32()),
    Column(T.LONGLONG, unsigned=True, name="big"): pa.array([Decimal(7), Decimal(2**64 - 1)], pa.decimal128(20, 0)),
    Column(T.NEWDECIMAL, precision=10, scale=2, name="price"): pa.array([Decimal("19.99"), None], pa.decimal128(10, 2)),
    Column(T.FLOAT, name="ratio"): pa.array([0.5, None], pa.float32()),
    Column(T.DOUBLE, name="weight"): pa.array([1e300, None], pa.float64()),
    Column(T.DATE, name="day"): pa.array([date(2024, 2, 29), None], pa.date32()),
    Column(T.DATETIME2, name="at"): pa.array([datetime(2024, 2, 29, 1, 2, 3), None], pa.timestamp("us")),
    Column(T.TIMESTAMP2, name="moment"): pa.array([datetime(2024, 2, 29, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
    Column(T.TIME2, scale=3, name="span"): pa.array([-3_723_004_000, None], pa.int64()).cast(pa.duration("us")),
    Column(T.VARCHAR, name="name"): pa.array(["é" * 40, None]),
    Column(T.BLOB, collation=BINARY_COLLATION, name="raw"): pa.array([b"\0\xff", None], pa.binary()),
    Column(T.SET, name="tags"): pa.array([["a", "b"], None], pa.list_(pa.string())),
    Column(T.VECTOR, name="vector"): pa.array([[1.5, -2], None], pa.list_(pa.float32())),
    Column(T.GEOMETRY, name="shape"): pa.array([{"srid": 4326, "wkb": b"\1"}, None], GEOMETRY),
    Column(T.JSON, name="document"): pa.array(['{"id": [1, {"name": "x"}]}', None]),
}


def test_values_of_a_row_are_found_by_their_path_and_type(spark: SparkSession) -> None:
    table = pa.table({"row": variant_rows(list(COLUMNS), list(COLUMNS.values()))})
    wanted = {
        "id": ("int", 1),
        "big": ("bigint", 7),
        "price": ("decimal(10,2)", Decimal("19.99")),
        "ratio": ("float", 0.5),
        "weight": ("double", 1e300),
        "day": ("date", date(2024, 2, 29)),
        "at": ("timestamp_ntz", datetime(2024, 2, 29, 1, 2, 3)),
        "span": ("string", "-01:02:03.004"),
        "name": ("string", "é" * 40),
        "raw": ("binary", bytearray(b"\0\xff")),
        "tags[1]": ("string", "b"),
        "vector[1]": ("float", -2.0),
        "shape.srid": ("int", 4326),
        "document.id[1].name": ("string", "x"),
    }
    expressions = [f"variant_get(row, '$.{path}', '{kind}')" for path, (kind, _) in wanted.items()]
    first, second = rows(spark, table.slice(0, 1), *expressions), rows(spark, table.slice(1), *expressions[2:])
    assert list(first[0]) == [value for _, value in wanted.values()]
    assert set(second[0]) == {None}


def test_a_row_has_the_types_of_its_columns(spark: SparkSession) -> None:
    table = pa.table({"row": variant_rows(list(COLUMNS), list(COLUMNS.values()))})
    schemas = [row[0] for row in rows(spark, table, "schema_of_variant(row)")]
    assert schemas[0] == (
        "OBJECT<at: TIMESTAMP_NTZ, big: BIGINT, day: DATE, document: OBJECT<id: ARRAY<VARIANT>>, id: BIGINT, "
        "moment: TIMESTAMP, name: STRING, price: DECIMAL(4,2), ratio: FLOAT, raw: BINARY, "
        "shape: OBJECT<srid: BIGINT, wkb: BINARY>, span: STRING, tags: ARRAY<STRING>, vector: ARRAY<FLOAT>, "
        "weight: DOUBLE>"
    )
    assert "big: DECIMAL(20,0)" in schemas[1]
