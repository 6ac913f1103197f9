"""Values at the edge of their types, through Spark and Parquet; and the policies for what fits no type."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from binspark import Malformed, OptionError
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar
from tests.corpus.cases import case_logs
from tests.support.spark.spark_reading import ReadLogs, batch_records, column_types, failure, read_logs, records, values

LONGEST = timedelta(hours=838, minutes=59, seconds=59)
MYSQL, MARIADB = case_logs("mysql/types"), case_logs("mariadb/types")
BROKEN_TEXT = b"caf\xe9"


@pytest.mark.parametrize("logs", [MYSQL, MARIADB], ids=["mysql", "mariadb"])
def test_extremes_survive_collect(logs: list[Path], read: ReadLogs) -> None:
    moments = {row.id: row for row in read(logs, table="shop.moments", operations="insert").collect()}
    assert (moments[1].t0, moments[2].t0) == (LONGEST, -LONGEST)
    assert (moments[6].t6, moments[1].d, moments[2].d) == (timedelta(microseconds=-1), date.max, date(1000, 1, 1))
    assert (moments[1].dt6, moments[2].dt6) == (datetime.max, datetime(1000, 1, 1))
    integers = {row.id: row for row in read(logs, table="shop.integers", operations="insert").collect()}
    assert (integers[1].b, integers[2].b, integers[2].bu) == (-(2**63), 2**63 - 1, Decimal(2**64 - 1))
    assert (integers[1].y, integers[2].y, integers[3].y) == (1901, 2155, 0)


ROUND_TRIPS: Mapping[str, Mapping[str, str]] = {
    "bits": {},
    "choices": {},
    "decimals": {},
    "documents": {},
    "embeddings": {},
    "floats": {},
    "integers": {},
    "moments": {},
    "shapes": {},
    "strings": {},
}


@pytest.mark.parametrize("table_name", ROUND_TRIPS)
def test_what_is_written_to_parquet_is_read_again(
    table_name: str, read: ReadLogs, spark: SparkSession, tmp_path: Path
) -> None:
    frame = read(MYSQL, table=f"shop.{table_name}", before=True, **ROUND_TRIPS[table_name])
    frame.write.parquet(str(tmp_path / "rows"))
    again = spark.read.parquet(str(tmp_path / "rows"))
    assert again.schema == frame.schema
    assert records(again) == records(frame)


def test_intervals_can_be_used_in_sql(read: ReadLogs) -> None:
    (row,) = (
        read(MYSQL, table="shop.moments")
        .selectExpr("string(min(t0)) AS shortest", "string(max(t0)) AS longest")
        .collect()
    )
    assert row.longest == "INTERVAL '838:59:59' HOUR TO SECOND"
    assert row.shortest == "INTERVAL '-838:59:59' HOUR TO SECOND"


def test_times_are_the_same_wherever_the_session_is(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = read_logs(session, MYSQL, table="shop.moments").where("id = 3 AND _op = 'insert'")
    (row,) = frame.selectExpr("unix_micros(ts6) AS instant", "string(ts0) AS shown", "string(dt6) AS clock").collect()
    assert row.instant == 1_772_323_198_987_654
    assert (row.shown, row.clock) == ("2026-03-01 08:59:59", "2026-02-28 23:59:58.987654")
    assert "2026-11-15" in {str(row._commit_time.date()) for row in frame.select("_commit_time").collect()}


def test_json_becomes_variant_on_request(read: ReadLogs, spark: SparkSession, tmp_path: Path) -> None:
    frame = read(MYSQL, table="shop.documents", json="variant", before=True)
    assert column_types(frame) == "id int, j variant"
    frame.write.parquet(str(tmp_path / "rows"))
    both = "to_json(j) AS found", "to_json(_before.j) AS before", "id", "_log_pos", "_log_row"
    again = spark.read.parquet(str(tmp_path / "rows")).selectExpr(*both)
    text = read(MYSQL, table="shop.documents", before=True)
    expected = text.selectExpr(
        "to_json(parse_json(j)) AS found", "to_json(parse_json(_before.j)) AS before", "id", "_log_pos", "_log_row"
    )
    assert records(again) == records(frame.selectExpr(*both)) == records(expected)


def test_geometry_is_a_type_of_its_own_when_all_share_one_srid(read: ReadLogs) -> None:
    frame = read(MYSQL, "id int, p geometry(4326)", table="shop.places", geometry=4326)
    assert frame.schema["p"].dataType.simpleString() == "geometry(4326)"
    found = frame.selectExpr("id", "st_srid(p) AS srid", "st_asbinary(p) AS wkb").collect()
    expected = batch_records(MYSQL, "shop.places")
    assert [(row.srid, bytes(row.wkb)) for row in found] == [(4326, row["p"]["wkb"]) for row in expected]


def test_geometries_of_one_srid_are_written_to_parquet(read: ReadLogs, spark: SparkSession, tmp_path: Path) -> None:
    frame = read(MYSQL, table="shop.shapes", geometry=0, before=True)
    frame.write.parquet(str(tmp_path / "rows"))
    again = spark.read.parquet(str(tmp_path / "rows"))
    assert again.schema == frame.schema
    assert again.schema["g"].dataType.simpleString() == "geometry(0)"
    bytes_of = ["id", *(f"st_asbinary({name}) AS {name}" for name in frame.columns if len(name) < 3 and name != "id")]
    expected = [
        {name: value and value["wkb"] if name != "id" else value for name, value in row.items()}
        for row in values(batch_records(MYSQL, "shop.shapes"))
    ]
    assert records(again.selectExpr(*bytes_of)) == expected


def test_a_geometry_of_another_srid_is_an_error_with_its_position(read: ReadLogs) -> None:
    error = failure(read(MYSQL, table="shop.places", geometry=4326).collect)
    assert isinstance(error, Malformed)
    assert "has the SRID 0, expected 4326" in error.message
    assert error.position.file is not None
    assert error.position.file.endswith("binlog.000001")
    assert error.position.offset == batch_records(MYSQL, "shop.places")[0]["_log_pos"]


def test_dates_that_no_calendar_has_are_null_or_text(read: ReadLogs) -> None:
    as_text = read(MYSQL, table="shop.moments", zeroDates="string")
    assert column_types(as_text).startswith("id int, d string, t0 interval hour to second")
    assert values(records(as_text)) == values(batch_records(MYSQL, "shop.moments", zero_dates="string"))
    zero = [row.d for row in as_text.where("id = 5 AND _op = 'insert'").collect()]
    assert zero == ["0000-00-00"]
    assert [row.d for row in read(MYSQL, table="shop.moments").where("id = 5 AND _op = 'insert'").collect()] == [None]


def test_dates_that_no_calendar_has_may_be_an_error(read: ReadLogs) -> None:
    error = failure(read(MYSQL, table="shop.moments", zeroDates="error").collect)
    assert "0000-00-00" in error.message
    assert error.position.offset is not None


@pytest.fixture
def broken_text(tmp_path: Path) -> Path:
    log = BinlogBuilder()
    log.transaction(insert(table("shop.words", integer("id"), varchar("word", 40)), (1, BROKEN_TEXT), (2, "good")))
    return log.save(tmp_path)[0]


@pytest.mark.parametrize(
    ("policy", "kind", "expected"),
    [("replace", "string", ["caf\N{REPLACEMENT CHARACTER}", "good"]), ("binary", "binary", [BROKEN_TEXT, b"good"])],
)
def test_invalid_text_follows_the_policy(
    policy: str, kind: str, expected: list[str | bytes], broken_text: Path, read: ReadLogs
) -> None:
    frame = read(broken_text, table="shop.words", undecodable=policy)
    assert column_types(frame) == f"id int, word {kind}"
    assert [row["word"] for row in records(frame)] == expected


def test_invalid_text_is_an_error_with_its_position(broken_text: Path, read: ReadLogs) -> None:
    error = failure(read(broken_text, table="shop.words").collect)
    assert isinstance(error, Malformed)
    assert (error.position.file, error.position.event) == (str(broken_text), "WRITE_ROWS")


def test_a_policy_that_does_not_exist_is_named(read: ReadLogs) -> None:
    error = failure(lambda: read(MYSQL, table="shop.moments", zeroDates="nil"))
    assert isinstance(error, OptionError)
    assert error.message == "zeroDates must be null, error or string, got 'nil'"
