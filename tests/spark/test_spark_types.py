"""Typed tables: every type of column, as the table of types says, with the values that `binspark.batches` reads."""

from __future__ import annotations

import pytest
from pyspark.sql.types import StructType

from tests.corpus.cases import case_logs
from tests.support.spark.spark_reading import ReadLogs, batch_records, column_types, records

DAYS = "interval hour to second"
SHAPE = "struct<srid:int,wkb:binary>"
MOMENTS = ", ".join(
    [
        "id int, d date",
        *(f"t{digits} {DAYS}" for digits in range(7)),
        *(f"dt{digits} timestamp_ntz" for digits in range(7)),
        *(f"ts{digits} timestamp" for digits in range(7)),
    ]
)
SHAPES = f"id int, g {SHAPE}, p {SHAPE}, l {SHAPE}, y {SHAPE}, mp {SHAPE}, ml {SHAPE}, my {SHAPE}, gc {SHAPE}"
TEXTS = "c1 c20 c255 v0 v50 v300 v2000 tt tx mt lt u16 u32 ucs sj gb c1251 l2 asc7 u3 bin"
OF_BOTH = {
    "binaries": "id int, b4 binary, b255 binary, vb binary, vb600 binary, tb binary, bb binary, mb binary, lb binary",
    "bits": "id int, b1 bigint, b7 bigint, b8 bigint, b9 bigint, b33 bigint, b63 bigint, b64 decimal(20,0)",
    "choices": "id int, e string, s array<string>, e2 string, s1 array<string>",
    "decimals": "id int, d1 decimal(1,0), d52 decimal(5,2), d109 decimal(10,9), d99 decimal(9,9), d1810 decimal(18,10),"
    " du decimal(10,2), d3830 decimal(38,30), d650 string, d6530 string",
    "floats": "id int, f float, d double, f72 float, fu float, du double",
    "integers": "id int, t tinyint, tu smallint, s smallint, su int, m int, mu int, i int, iu bigint, b bigint,"
    " bu decimal(20,0), y smallint, flag tinyint",
    "moments": MOMENTS,
    "shapes": SHAPES,
    "strings": ", ".join(["id int", *(f"{name} string" for name in TEXTS.split())]),
}
TABLES = {
    "mysql": {
        **OF_BOTH,
        "documents": "id int, j string",
        "embeddings": "id int, v array<float>, w array<float>",
        "opaque": "id int, j string",
        "places": f"id int, p {SHAPE}, q {SHAPE}, g {SHAPE}",
    },
    "mariadb": {
        **OF_BOTH,
        "addresses": "id int, a4 string, a6 string, u string, j string",
        "squeezed": "id int, v string, vs string, t string, vb binary, b binary, tt string, lb binary",
    },
}


@pytest.mark.parametrize(
    ("family", "table"), [(family, table) for family, tables in TABLES.items() for table in tables]
)
def test_every_type_has_its_spark_type_and_keeps_its_values(family: str, table: str, read: ReadLogs) -> None:
    logs = case_logs(f"{family}/types")
    frame = read(logs, table=f"shop.{table}")
    assert column_types(frame) == TABLES[family][table]
    rows = records(frame)
    assert rows == batch_records(logs, f"shop.{table}")
    assert len(rows) > 1


@pytest.mark.parametrize("case", ["mysql/types-compressed", "mariadb/types-compressed", "mysql/types-minimal"])
def test_types_that_are_not_in_the_log_come_from_its_ddl(case: str, read: ReadLogs) -> None:
    logs = case_logs(case)
    frame = read(logs, table="shop.choices")
    assert column_types(frame) == OF_BOTH["choices"]
    assert records(frame) == batch_records(logs, "shop.choices")


def test_a_column_of_unknown_type_stays_a_number(read: ReadLogs) -> None:
    frame = read(case_logs("mysql/types-minimal"), table="shop.choices", ddl="ignore")
    assert column_types(frame) == "@1 int, @2 smallint, @3 decimal(20,0), @4 smallint, @5 decimal(20,0)"
    assert {row["@2"] for row in frame.collect()} == {0, 1, 3, 5, 6, None}


def test_every_column_may_be_null(read: ReadLogs) -> None:
    frame = read(case_logs("mysql/types"), table="shop.integers", before=True)
    assert all(field.nullable for field in frame.schema)
    before = frame.schema["_before"].dataType
    assert isinstance(before, StructType)
    assert before.names == [name for name in frame.columns if not name.startswith("_")]
