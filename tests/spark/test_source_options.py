"""The options of the data source: each is read once, and what is wrong with one is said by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.datasource import CaseInsensitiveDict

from binspark.columns.selection import Operations
from binspark.errors import OptionError
from binspark.files.splits import DEFAULT_SPLIT_BYTES
from binspark.gtid import GtidSet, MariadbPosition
from binspark.spark.options import (
    STREAM_OPTIONS,
    JsonAs,
    LogPosition,
    Mode,
    RowsAs,
    SourceOptions,
    View,
    read_options,
)
from binspark.spark.source import BinlogDataSource

UUID = "3cee9212-e0d2-11f1-9b8b-02fc00000001"
NOT_ONE = "is not one table; it is written as schema.table, and tables takes patterns"


def test_without_options_there_are_defaults() -> None:
    assert read_options({}) == SourceOptions()
    assert SourceOptions().max_split_bytes == DEFAULT_SPLIT_BYTES
    assert SourceOptions().file_storage is None


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("path", "logs/", "paths", ("logs/",)),
        ("path", "[ab]*.000001", "paths", ("[ab]*.000001",)),
        ("paths", '["a", "b c"]', "paths", ("a", "b c")),
        ("view", "Events", "view", View.EVENTS),
        ("table", "shop.orders", "table", "shop.orders"),
        ("mode", "permissive", "mode", Mode.PERMISSIVE),
        ("rows", "json", "rows", RowsAs.JSON),
        ("json", "variant", "json", JsonAs.VARIANT),
        ("geometry", "4326", "geometry", 4326),
        ("schemaFile", "dump.sql", "schema_file", "dump.sql"),
        ("startPosition", "4", "start_position", LogPosition(None, 4)),
        ("stopPosition", "s3://b/binlog.000002:120", "stop_position", LogPosition("s3://b/binlog.000002", 120)),
        ("maxSplitBytes", "1000", "max_split_bytes", 1000),
        ("maxSplitBytes", "64 KB", "max_split_bytes", 64 << 10),
        ("maxSplitBytes", "2MiB", "max_split_bytes", 2 << 20),
        ("maxSplitBytes", "1g", "max_split_bytes", 1 << 30),
        ("expandPayloads", "FALSE", "expand_payloads", False),
        ("fs.endpoint_override", "http://h:1", "storage", {"endpoint_override": "http://h:1"}),
        ("FS.Access_Key", "Secret", "storage", {"access_key": "Secret"}),
        ("host", "db.example.org", "server", {"host": "db.example.org"}),
        ("port", "3307", "server", {"port": "3307"}),
    ],
)
def test_an_option_is_read(name: str, value: str, field: str, expected: object) -> None:
    assert getattr(read_options({name.lower(): value}), field) == expected
    assert getattr(read_options({name: value}), field) == expected


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("tables", "shop.*, crm.people", "tables", frozenset({"shop.*", "crm.people"})),
        ("excludeTables", "shop.log", "excluded", frozenset({"shop.log"})),
        ("operations", "insert,delete", "operations", Operations.INSERT | Operations.DELETE),
        ("startTime", "2026-11-15 09:30:00.5", "committed_from", 1_794_735_000_500_000),
        ("stopTime", "2026-11-15T10:30:00+01:00", "committed_before", 1_794_735_000_000_000),
        ("serverId", "7", "server_id", 7),
        ("includeGtids", f"{UUID}:1-5", "include_gtids", GtidSet(f"{UUID}:1-5")),
        ("excludeGtids", "0-1-10,1-1-5", "exclude_gtids", MariadbPosition("0-1-10,1-1-5")),
        ("before", "true", "before", True),
        ("txRows", "true", "tx_rows", True),
        ("maxRowsPerBatch", "100", "max_rows", 100),
    ],
)
def test_an_option_chooses_rows(name: str, value: str, field: str, expected: object) -> None:
    assert getattr(read_options({name: value}).selection, field) == expected


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("paths", "a,b", "paths: 'a,b' is not a JSON array of paths; path takes one"),
        ("paths", "[1]", "paths: '[1]' is not a JSON array of paths; path takes one"),
        ("view", "rows", "view: 'rows' is none of changes, events, transactions, chunks, tables, _corrupt"),
        (
            "table",
            "orders",
            "table: 'orders' is not one table; it is written as schema.table, and tables takes patterns",
        ),
        (
            "table",
            "shop.*",
            "table: 'shop.*' is not one table; it is written as schema.table, and tables takes patterns",
        ),
        ("mode", "DROPMALFORMED", "mode: 'DROPMALFORMED' is none of FAILFAST, PERMISSIVE"),
        ("rows", "text", "rows: 'text' is none of variant, json"),
        ("json", "text", "json: 'text' is none of string, variant"),
        ("geometry", "wgs84", "geometry: 'wgs84' is not a number"),
        ("ddl", "skip", "ddl: 'skip' is none of read, ignore"),
        ("missingColumns", "drop", "missingColumns: 'drop' is none of error, null"),
        ("startPosition", "binlog.000001", "startPosition: 'binlog.000001' is not a number"),
        ("startPosition", "binlog.000001:-4", "startPosition: 'binlog.000001:-4' lies before the log"),
        ("stopPosition", "a:b", "stopPosition: 'b' is not a number"),
        ("maxSplitBytes", "0", "maxSplitBytes: '0' is not positive"),
        ("maxSplitBytes", "many", "maxSplitBytes: 'many' is not a number"),
        ("expandPayloads", "yes", "expandPayloads: 'yes' is neither true nor false"),
        ("tables", "orders", "tables: 'orders' names no schema; tables are written as schema.table"),
        ("excludeTables", "orders", "excludeTables: 'orders' names no schema; tables are written as schema.table"),
        ("operations", "upsert", "operations: no operation is called 'upsert'; there are insert, update, delete"),
        ("startTime", "yesterday", "startTime: 'yesterday' is not a time such as 2026-11-15 09:30:00"),
        ("stopTime", "13", "stopTime: '13' is not a time such as 2026-11-15 09:30:00"),
        ("serverId", "one", "serverId: 'one' is not a number"),
        ("undecodable", "drop", "undecodable: 'drop' is none of error, replace, binary"),
        ("zeroDates", "nil", "zeroDates: 'nil' is none of null, error, string"),
        ("before", "1", "before: '1' is neither true nor false"),
        ("maxRowsPerBatch", "0", "maxRowsPerBatch: 0 is not positive"),
        ("port", "mysql", "port: 'mysql' is not a number"),
    ],
)
def test_a_value_that_is_wrong_is_said_by_the_name_of_its_option(name: str, value: str, message: str) -> None:
    with pytest.raises(OptionError) as error:
        read_options({name.lower(): value})
    assert error.value.message == message


@pytest.mark.parametrize("name", ["includeGtids", "excludeGtids"])
def test_a_wrong_gtid_set_is_said_by_the_name_of_its_option(name: str) -> None:
    with pytest.raises(OptionError, match=f"^{name}: "):
        read_options({name: "not a set"})


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("tabel", "table"),
        ("opertions", "operations"),
        ("maxsplitbyte", "maxSplitBytes"),
        ("schemafil", "schemaFile"),
        ("startingPosition", "startPosition"),
        ("passwort", "password"),
        ("sslca1", "sslCa"),
    ],
)
def test_a_misspelt_option_is_named_with_the_right_one(given: str, meant: str) -> None:
    with pytest.raises(OptionError) as error:
        read_options({given: "x"})
    assert error.value.message == f"the data source binlog has no option {given}; did you mean {meant}?"


def test_an_option_like_no_other_is_named() -> None:
    with pytest.raises(OptionError, match=r"^the data source binlog has no option qqq$"):
        read_options({"qqq": "x"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "shop.a", "tables": "shop.*"}, "either table or tables, not both"),
        ({"table": "shop.a", "view": "events"}, "table: the view events has columns of its own"),
        ({"path": "a", "paths": '["b"]'}, "either path or paths, not both"),
        (
            {"excludeTables": "shop.a", "view": "events"},
            "excludeTables: the view events holds events of every kind; the view changes knows tables",
        ),
        (
            {"operations": "insert", "view": "events"},
            "operations: the view events holds events of every kind; the view changes knows tables",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError) as error:
        read_options(options)
    assert error.value.message == message


def test_no_secret_is_shown() -> None:
    options = read_options({"fs.secret_key": "tell-nobody", "password": "tell-nobody", "path": "logs"})
    assert "tell-nobody" not in repr(options)
    assert options.file_storage is not None
    assert "tell-nobody" not in repr(options.file_storage)


@pytest.mark.parametrize("name", STREAM_OPTIONS)
def test_a_batch_read_refuses_what_only_a_stream_takes(name: str, tmp_path: Path) -> None:
    value = {"schemaEvolution": "fail", "failOnDataLoss": "true"}.get(name, "5")
    source = BinlogDataSource(CaseInsensitiveDict({"path": str(tmp_path), "view": "events", name.lower(): value}))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=f"^{name}: only a stream"):
        source.reader(source.schema())
