"""The view `changes`: the rows of every table, as the JSON lines of `binspark rows` have them."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

import binspark
from binspark.changes import change_json
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.spark.spark_reading import Paths, ReadLogs, Record, parsed

FEW_CASES = (
    "mysql/format-row",
    "mysql/types",
    "mysql/types-compressed",
    "mysql/keys",
    "mysql/multi-table",
    "mysql/json-partial",
    "mysql/metadata-minimal",
    "mysql/replica",
    "mariadb/format-row",
    "mariadb/types",
    "mariadb/compressed",
    "mariadb/system-versioning",
)
TRAILING_ZEROS = re.compile(r"(?<=\d)\.0*$|(?<=\.\d)0+$|(?<=\.\d\d)0+$")
COLUMNS = (
    "_schema _table _op _seq _key _gtid _commit_time _log_file _log_pos _log_row _tx_row _server_id _before _after"
)


def lines(logs: Paths, **options: Any) -> list[Record]:
    """Return the JSON lines of logs, parsed."""
    return [parsed(change_json(change)) for change in binspark.rows(logs, **options)]


def as_lines(frame: DataFrame) -> list[Record]:
    """Return changes with JSON text as the same records, in the order of the log."""
    found = [
        {
            "file": row._log_file,
            "pos": row._log_pos,
            "row": row._log_row,
            "gtid": row._gtid,
            "schema": row._schema,
            "table": row._table,
            "op": row._op,
            "before": parsed(row._before),
            "after": parsed(row._after),
            "key": parsed(row._key),
        }
        for row in frame.collect()
    ]
    return sorted(found, key=in_log_order)


def in_log_order(record: Record) -> tuple[str, int, int]:
    return record["file"], record["pos"], record["row"]


ONLY_IN_LINES = {"timestamp", "server_id", "thread_id", "statement"}


def comparable_lines(records: list[Record]) -> list[Record]:
    """Return lines without the keys that JSON in Spark lacks; rows there have the time of the commit."""
    kept = [{name: value for name, value in record.items() if name not in ONLY_IN_LINES} for record in records]
    return sorted(kept, key=in_log_order)


@pytest.mark.parametrize("case", FEW_CASES)
def test_changes_as_json_are_those_of_the_command(case: str, read: ReadLogs) -> None:
    logs = case_logs(case)
    found = as_lines(read(logs, rows="json"))
    assert found == comparable_lines(lines(logs))
    assert len(found) > 1


@pytest.mark.slow
@pytest.mark.parametrize("log", [log for log in corpus_logs() if "json-partial-minimal" not in log_id(log)], ids=log_id)
def test_changes_of_every_log_are_those_of_the_command(log: Path, read: ReadLogs) -> None:
    assert as_lines(read(log, rows="json")) == comparable_lines(lines(log))


def test_the_view_has_these_columns(read: ReadLogs) -> None:
    frame = read(case_logs("mysql/format-row"))
    assert frame.columns == COLUMNS.split()
    assert [frame.schema[name].dataType.simpleString() for name in ("_key", "_before", "_after")] == ["variant"] * 3
    text = read(case_logs("mysql/format-row"), rows="json")
    assert [text.schema[name].dataType.simpleString() for name in ("_key", "_before", "_after")] == ["string"] * 3


@pytest.mark.parametrize("case", ["mysql/format-row", "mysql/json-partial", "mysql/keys", "mariadb/format-row"])
def test_variants_have_the_same_values_as_json(case: str, read: ReadLogs) -> None:
    """Where all values are numbers, texts and documents, the two are the same."""
    logs = case_logs(case)
    images = [f"to_json({name}) AS {name}" for name in ("_key", "_before", "_after")]
    others = ["_log_file", "_log_pos", "_log_row", "_gtid", "_schema", "_table", "_op"]
    found = as_lines(read(logs).selectExpr(*others, *images))
    assert [comparable(record) for record in found] == [comparable(record) for record in comparable_lines(lines(logs))]


def comparable(value: Any) -> Any:
    """Return fractions without trailing zeros, and bytes as the text to which Spark converts them."""
    if isinstance(value, dict):
        return {name: comparable(item) for name, item in value.items()}
    if isinstance(value, str) and value.startswith("0x"):
        return b64encode(bytes.fromhex(value[2:])).decode()
    return [comparable(item) for item in value] if isinstance(value, list) else TRAILING_ZEROS.sub("", str(value))


def test_values_of_variants_keep_their_types(read: ReadLogs) -> None:
    logs = case_logs("mysql/types")
    rows = read(logs, tables="shop.integers", operations="insert").selectExpr(
        "variant_get(_after, '$.id', 'int') AS id",
        "variant_get(_after, '$.bu', 'decimal(20,0)') AS bu",
        "schema_of_variant(variant_get(_after, '$.b')) AS kind",
        "variant_get(_key, '$.id', 'int') AS key",
    )
    found = {row.id: row for row in rows.collect()}
    assert (int(found[2].bu), found[2].kind, found[2].key) == (2**64 - 1, "BIGINT", 2)
    moments = read(logs, tables="shop.moments", operations="insert").selectExpr(
        "variant_get(_after, '$.id', 'int') AS id",
        "variant_get(_after, '$.d', 'date') AS d",
        "schema_of_variant(variant_get(_after, '$.dt6')) AS datetime",
        "schema_of_variant(variant_get(_after, '$.ts6')) AS timestamp",
        "variant_get(_after, '$.t0', 'string') AS t0",
    )
    first = moments.where("id = 1").collect()[0]
    assert (str(first.d), first.datetime, first.timestamp) == ("9999-12-31", "TIMESTAMP_NTZ", "TIMESTAMP")
    assert first.t0 == "838:59:59"


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_columns_that_are_not_in_a_minimal_image_are_omitted(family: str, read: ReadLogs) -> None:
    logs = case_logs(f"{family}/image-minimal")
    found = read(logs, operations="update").selectExpr("to_json(_before) AS old", "to_json(_after) AS new").collect()
    pairs = [(set(json.loads(row.old)), set(json.loads(row.new))) for row in found]
    expected = [
        (set(change.before or ()), set(change.after or ())) for change in binspark.rows(logs, operations=["update"])
    ]
    assert sorted(map(str, pairs)) == sorted(map(str, expected))
    assert all(old != new for old, new in pairs)


def test_the_key_is_the_primary_key_from_before_the_change(read: ReadLogs) -> None:
    logs = case_logs("mysql/keys")
    found = {(row._table, row._op, row._key) for row in read(logs, rows="json").collect()}
    expected = {
        (change.table, change.op.value, None if change.key is None else json.dumps(change.key))
        for change in binspark.rows(logs)
    }
    assert {(table, op, None if key is None else json.dumps(json.loads(key))) for table, op, key in found} == expected
    assert any(key is None for _, _, key in found)


def test_zero_dates_are_kept_in_json_and_null_in_variants(read: ReadLogs) -> None:
    logs = case_logs("mysql/types")
    text = read(logs, tables="shop.moments", operations="insert", rows="json").collect()
    assert "0000-00-00" in {json.loads(row._after)["d"] for row in text}
    variant = read(logs, tables="shop.moments", operations="insert").selectExpr("to_json(_after) AS row").collect()
    assert None in {json.loads(row.row)["d"] for row in variant}
