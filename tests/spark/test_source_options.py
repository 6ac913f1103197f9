"""The options of the data source: each is parsed once, and an error names its option."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from pyspark.sql.datasource import CaseInsensitiveDict

from binspark.columns.selection import Operations
from binspark.errors import OptionError
from binspark.files.splits import DEFAULT_SPLIT_BYTES
from binspark.gtid import GtidSet, MariadbRanges
from binspark.options.values import FilePosition
from binspark.spark.options import (
    STREAM_ONLY,
    JsonFormat,
    ParseMode,
    RowFormat,
    SourceOptions,
    View,
    read_options,
)
from binspark.spark.source import BinlogDataSource

UUID = "3cee9212-e0d2-11f1-9b8b-02fc00000001"


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
        ("mode", "permissive", "mode", ParseMode.PERMISSIVE),
        ("rows", "json", "rows", RowFormat.JSON),
        ("json", "variant", "json", JsonFormat.VARIANT),
        ("geometry", "4326", "geometry", 4326),
        ("schemaFile", "dump.sql", "schema_file", "dump.sql"),
        ("maxSplitBytes", "1000", "max_split_bytes", 1000),
        ("maxSplitBytes", "64 KB", "max_split_bytes", 64 << 10),
        ("maxSplitBytes", "2MiB", "max_split_bytes", 2 << 20),
        ("maxSplitBytes", "1g", "max_split_bytes", 1 << 30),
        ("expandPayloads", "FALSE", "expand_payloads", False),
        ("fs.endpoint_override", "http://h:1", "storage", {"endpoint_override": "http://h:1"}),
        ("FS.Access_Key", "Secret", "storage", {"access_key": "Secret"}),
        ("host", "db.example.org", "server", {"host": "db.example.org"}),
        ("port", "3307", "server", {"port": 3307}),
        ("sslCa", "/ca.pem", "server", {"ssl_ca": "/ca.pem"}),
        ("getServerPublicKey", "true", "server", {"get_server_public_key": True}),
        ("serverPublicKeyPath", "/key.pem", "server", {"server_public_key_path": "/key.pem"}),
        ("enableCleartextPlugin", "false", "server", {"enable_cleartext_plugin": False}),
        ("connectTimeout", "2.5", "server", {"connect_timeout": 2.5}),
        ("startingOffsets", "earliest", "starting_offsets", "earliest"),
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
        ("operations", "INSERT , Update", "operations", Operations.INSERT | Operations.UPDATE),
        ("tables", "`shop`.`orders`, crm.*", "tables", frozenset({"shop.orders", "crm.*"})),
        ("committedFrom", "2026-11-15 09:30:00.5", "committed_from", 1_794_735_000_500_000),
        ("committedBefore", "2026-11-15T10:30:00+01:00", "committed_before", 1_794_735_000_000_000),
        ("serverId", "7", "server_id", 7),
        ("includeGtids", f"{UUID}:1-5", "include_gtids", GtidSet(f"{UUID}:1-5")),
        ("excludeGtids", "0-1-10,..1-1-5", "exclude_gtids", MariadbRanges("0-1-10,..1-1-5")),
        ("startPosition", "4", "start_position", FilePosition("", 4)),
        ("stopPosition", "s3://b/binlog.000002:120", "stop_position", FilePosition("s3://b/binlog.000002", 120)),
        ("threadId", "12", "thread_id", 12),
        ("before", "true", "before", True),
        ("txRows", "true", "tx_rows", True),
        ("maxRowsPerBatch", "100", "max_rows", 100),
    ],
)
def test_an_option_selects_rows(name: str, value: str, field: str, expected: object) -> None:
    assert getattr(read_options({name: value}).selection, field) == expected


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("paths", "a,b", "paths must be a JSON array of paths, got 'a,b'"),
        ("paths", "[1]", "paths must be a JSON array of paths, got '[1]'"),
        ("view", "rows", "view must be changes, events, transactions, chunks, tables or _corrupt, got 'rows'"),
        ("table", "orders", "table must be the name of one table, schema.table, got 'orders'"),
        ("table", "shop.*", "table must be the name of one table, schema.table, got 'shop.*': use tables for patterns"),
        ("mode", "DROPMALFORMED", "mode must be FAILFAST or PERMISSIVE, got 'DROPMALFORMED'"),
        ("rows", "text", "rows must be variant or json, got 'text'"),
        ("json", "text", "json must be string or variant, got 'text'"),
        ("geometry", "wgs84", "geometry must be an integer, got 'wgs84'"),
        ("ddl", "skip", "ddl must be read or ignore, got 'skip'"),
        ("missingColumns", "drop", "missingColumns must be error or null, got 'drop'"),
        ("startPosition", "binlog.000001", "startPosition must be an offset, or FILE:OFFSET, got 'binlog.000001'"),
        ("startPosition", "binlog.1:-4", "startPosition must be an offset, or FILE:OFFSET, got 'binlog.1:-4'"),
        ("stopPosition", "a:b", "stopPosition must be an offset, or FILE:OFFSET, got 'a:b'"),
        ("maxSplitBytes", "0", "maxSplitBytes must be positive, got '0'"),
        ("maxSplitBytes", "many", "maxSplitBytes must be a size such as 500000, 64m or 2 GB, got 'many'"),
        ("expandPayloads", "yes", "expandPayloads must be true or false, got 'yes'"),
        ("tables", "orders", "tables must be schema.table, or a pattern such as 'shop.*', got 'orders'"),
        ("excludeTables", "orders", "excludeTables must be schema.table, or a pattern such as 'shop.*', got 'orders'"),
        ("operations", "upsert", "operations must be insert, update, delete or truncate, got 'upsert'"),
        ("committedFrom", "yesterday", "committedFrom must be a time such as 2026-11-15 09:30:00, got 'yesterday'"),
        ("committedBefore", "13", "committedBefore must be a time such as 2026-11-15 09:30:00, got '13'"),
        ("serverId", "one", "serverId must be an integer, got 'one'"),
        ("undecodable", "drop", "undecodable must be error, replace or binary, got 'drop'"),
        ("zeroDates", "nil", "zeroDates must be null, error or string, got 'nil'"),
        ("before", "1", "before must be true or false, got '1'"),
        ("maxRowsPerBatch", "0", "maxRowsPerBatch must be 1 or more, got '0'"),
        ("port", "mysql", "port must be an integer, got 'mysql'"),
        ("sslMode", "on", "sslMode must be disabled, preferred, required, verify_ca or verify_identity, got 'on'"),
        ("maxTransactionsPerTrigger", "0", "maxTransactionsPerTrigger must be 1 or more, got '0'"),
    ],
)
def test_an_error_about_a_value_names_its_option(name: str, value: str, message: str) -> None:
    with pytest.raises(OptionError) as error:
        read_options({name.lower(): value})
    assert error.value.message == message


@pytest.mark.parametrize("name", ["includeGtids", "excludeGtids"])
def test_an_error_about_a_gtid_set_names_its_option(name: str) -> None:
    with pytest.raises(OptionError, match=f"^{name} must be a GTID set of MySQL, or GTIDs of MariaDB such as 0-1-42"):
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
        ({"table": "shop.a", "tables": "shop.*"}, "table and tables cannot be combined"),
        (
            {"table": "shop.a", "view": "events"},
            "table cannot be combined with the view events, which has columns of its own",
        ),
        ({"path": "a", "paths": '["b"]'}, "path and paths cannot be combined"),
        (
            {"excludeTables": "shop.a", "view": "events"},
            "excludeTables does not apply to the view events; use the view changes",
        ),
        (
            {"operations": "insert", "view": "events"},
            "operations does not apply to the view events; use the view changes",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError) as error:
        read_options(options)
    assert error.value.message == message


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [("startTime", "committedFrom", "committed_from"), ("stopTime", "committedBefore", "committed_before")],
)
def test_an_old_name_means_the_same_and_is_logged(
    old: str, new: str, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    value = "2026-11-15 09:30:00"
    assert getattr(read_options({old: value}).selection, field) == 1_794_735_000_000_000
    assert [(record.name, record.getMessage()) for record in caplog.records] == [
        ("binspark.spark", f"{old} is deprecated; use {new}")
    ]
    assert read_options({old: value}) == read_options({new: value})


def test_options_can_be_pickled_with_their_selection() -> None:
    options = read_options({"path": "logs", "includeGtids": f"{UUID}:1-5", "tables": "shop.*", "zeroDates": "error"})
    assert pickle.loads(pickle.dumps(options)) == options


def test_no_secret_is_shown() -> None:
    options = read_options({"fs.secret_key": "secret-word", "password": "secret-word", "path": "logs"})
    assert "secret-word" not in repr(options)
    assert options.file_storage is not None
    assert "secret-word" not in repr(options.file_storage)


@pytest.mark.parametrize("name", STREAM_ONLY)
def test_a_batch_read_refuses_what_only_a_stream_takes(name: str, tmp_path: Path) -> None:
    value = {"schemaEvolution": "fail", "failOnDataLoss": "true"}.get(name, "5")
    source = BinlogDataSource(CaseInsensitiveDict({"path": str(tmp_path), "view": "events", name.lower(): value}))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=f"^{name} is only valid for a stream$"):
        source.reader(source.schema())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "logs", "startingOffsets": "earliest"}, "startingOffsets needs a host; for logs use startPosition"),
        ({"path": "logs", "endingOffsets": "latest"}, "endingOffsets needs a host; for logs use startPosition"),
        ({"host": "db1", "startPosition": "4"}, "startPosition is for logs; for a server use startingOffsets"),
        ({"host": "db1", "stopPosition": "4"}, "stopPosition is for logs; for a server use startingOffsets"),
        ({"host": "db1", "view": "_corrupt"}, "view _corrupt is not available for a server"),
    ],
)
def test_a_batch_read_refuses_offsets_of_servers_for_logs_and_positions_for_servers(
    options: dict[str, str], message: str
) -> None:
    source = BinlogDataSource({"view": "events", **options})
    with pytest.raises(OptionError, match=f"^{message}"):
        source.reader(source.schema())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"host": "db1", "endingOffsets": "latest"}, "endingOffsets is not valid for a stream; use the trigger"),
        ({"view": "events"}, "host is missing: a stream needs a host to follow, or the path of an archive"),
        ({"path": "logs", "view": "tables"}, "view tables is not available for a stream"),
    ],
)
def test_a_stream_raises_its_error_when_it_is_used_not_when_its_reader_is_made(
    options: dict[str, str], message: str
) -> None:
    source = BinlogDataSource(options)
    reader = source.streamReader(source.schema())
    reader.stop()
    with pytest.raises(OptionError, match=f"^{message}"):
        reader.initialOffset()
