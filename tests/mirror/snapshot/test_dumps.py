"""A dump is a start of a mirror: its rows are those of the server, and it knows its position."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from binspark.errors import Malformed, OptionError, SchemaError
from binspark.gtid import GtidSet, MariadbPosition
from binspark.mirror.schema.mirrored_table import MirroredTable, mirrored_table
from binspark.mirror.snapshot.chunk import COMPLETE
from binspark.mirror.snapshot.dumps.dump import Dump, open_dump
from binspark.mirror.snapshot.read import read_chunk
from binspark.replication.find import end_of_log
from binspark.schema.table import TableName
from binspark.server.connection import connect
from binspark.testing.servers import Server
from tests.support.mirror.dumps import dump_with
from tests.support.mirror.every_type import every_type
from tests.support.mirror.tables import reached, table_of
from tests.support.servers import every_family


def dumped_tables(dump: Dump) -> dict[TableName, MirroredTable]:
    return {
        name: mirrored_table(definition.table_schema(*name), lambda kind: kind)
        for name, definition in dump.catalog.tables.items()
        if definition is not None
    }


def rows_in(dump: Dump, tables: dict[TableName, MirroredTable]) -> dict[TableName, pa.Table]:
    return {
        name: pa.Table.from_batches(list(batches), schema=tables[name].schema) for name, batches in dump.rows(tables)
    }


@every_family
@pytest.mark.parametrize("options", [(), ("--hex-blob",), ("--skip-extended-insert", "--complete-insert")])
def test_rows_of_every_type_are_those_of_the_server(
    shared: Server, database: str, tmp_path: Path, options: tuple[str, ...]
) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};\n{every_type(shared.family, 80, seed=11)}\n"
        "ALTER TABLE every_type DROP COLUMN f, DROP COLUMN f2;"  # FLOAT has six digits in a dump
        "CREATE TABLE another (a INT, b TEXT); INSERT INTO another VALUES (1, 'x;\\n'), (1, '(),')",
        "--default-character-set=utf8mb4",
    )
    dump = open_dump(str(dump_with(shared, tmp_path / "dump.sql", *options, "--databases", database)))
    found = rows_in(dump, dumped_tables(dump))
    for name in (TableName(database, "every_type"), TableName(database, "another")):
        table = table_of(shared, str(name))
        expected = pa.Table.from_batches(read_chunk(reached(shared), table, COMPLETE), schema=table.schema)
        assert found[name].schema == expected.schema
        for column in expected.column_names:
            ours, theirs = found[name][column].to_pylist(), expected[column].to_pylist()
            assert (column, list(map(repr, ours))) == (column, list(map(repr, theirs)))


@every_family
def test_the_position_is_that_of_the_server(shared: Server, database: str, tmp_path: Path) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    with connect(reached(shared)) as connection:
        end = end_of_log(connection)
    dump = open_dump(str(dump_with(shared, tmp_path / "dump.sql", "--databases", database)))
    assert (dump.position.file, dump.position.offset) == (end.file, end.offset)
    assert dump.position.gtids == end.gtids
    assert list(dump.rows(dumped_tables(dump))) == []


@every_family
def test_compressed_dumps_are_read(shared: Server, database: str, tmp_path: Path) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT); INSERT INTO {database}.t VALUES (5)"
    )
    plain = dump_with(shared, tmp_path / "dump.sql", "--databases", database).read_bytes()
    (tmp_path / "dump.sql.gz").write_bytes(gzip.compress(plain))
    (tmp_path / "dump.sql.zst").write_bytes(zstandard.compress(plain))
    for name in ("dump.sql.gz", "dump.sql.zst"):
        dump = open_dump(str(tmp_path / name))
        assert rows_in(dump, dumped_tables(dump))[TableName(database, "t")].to_pylist() == [{"id": 5}]


@every_family
def test_text_that_was_not_converted_is_read_in_the_character_set_of_its_column(
    shared: Server, database: str, tmp_path: Path
) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (a TEXT CHARACTER SET latin1);"
        "INSERT INTO t VALUES ('grüße')",
        "--default-character-set=utf8mb4",
    )
    path = dump_with(shared, tmp_path / "dump.sql", "--default-character-set=binary", "--databases", database)
    assert "grüße".encode("latin1") in path.read_bytes()
    dump = open_dump(str(path))
    assert rows_in(dump, dumped_tables(dump))[TableName(database, "t")].to_pylist() == [{"a": "grüße"}]


@every_family
def test_generated_columns_that_a_dump_does_not_have_are_refused(shared: Server, database: str, tmp_path: Path) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (id INT PRIMARY KEY, v INT AS (id + 1) STORED);"
        "INSERT INTO t (id) VALUES (1)"
    )
    dump = open_dump(str(dump_with(shared, tmp_path / "dump.sql", "--databases", database)))
    if shared.family.name == "mariadb":  # which dumps them
        assert rows_in(dump, dumped_tables(dump))[TableName(database, "t")].to_pylist() == [{"id": 1, "v": 2}]
    else:
        with pytest.raises(SchemaError, match="no values of column v, which is generated"):
            rows_in(dump, dumped_tables(dump))


HEAD = (
    "-- MySQL dump 10.13  Distrib 9.7.4\n-- Server version\t9.7.4\n/*!50503 SET NAMES utf8mb4 */;\n"
    "-- CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='binlog.000007', SOURCE_LOG_POS=1234;\n"
    "CREATE DATABASE `d`;\nUSE `d`;\nCREATE TABLE `t` (`id` int, `ts` timestamp NULL);\n"
)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (HEAD, Malformed, "the dump is not complete"),
        (HEAD + "INSERT INTO `t` VALUES (1,", Malformed, "ends inside an INSERT statement"),
        ("CREATE TABLE t (a INT);\n", OptionError, "has no position in the log: dump again with"),
        (HEAD.replace("utf8mb4", "latin1") + "-- Dump completed\n", OptionError, "is in latin1: dump again"),
    ],
)
def test_a_dump_that_is_no_start_says_why(tmp_path: Path, text: str, error: type[Exception], message: str) -> None:
    (tmp_path / "dump.sql").write_text(text)
    with pytest.raises(error, match=message):
        open_dump(str(tmp_path / "dump.sql"))


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ("(1,NULL)", SchemaError, "TIMESTAMP columns of d.t are in an unknown time zone"),
        ("(x,NULL)", Malformed, "not a value of an INSERT statement: 'x,NULL"),
        ("(1)", Malformed, "a row of an INSERT statement has 1 values, expected 2"),
        ("('one',NULL)", Malformed, "'one' is not a value of column id"),
    ],
)
def test_rows_that_cannot_be_read_are_errors(tmp_path: Path, values: str, error: type[Exception], message: str) -> None:
    zone = "" if "zone" in message else "/*!40103 SET TIME_ZONE='+00:00' */;\n"
    (tmp_path / "dump.sql").write_text(f"{HEAD}{zone}INSERT INTO `t` VALUES {values};\n-- Dump completed\n")
    dump = open_dump(str(tmp_path / "dump.sql"))
    assert dump.position.describe() == "binlog.000007:1234"
    with pytest.raises(error, match=message):
        rows_in(dump, dumped_tables(dump))


METADATA = {
    "old": "Started dump at: 2011-05-05 13:57:17\n"
    "SHOW MASTER STATUS:\n\tLog: bin.000001\n\tPos: 106\n\tGTID:{gtids}\n\n"
    "SHOW SLAVE STATUS:\n\tLog: other.000009\n\tPos: 9\nFinished dump at: 2011-05-05 13:57:17\n",
    "new": "# Started dump at: 2023-06-09 11:47:18\n"
    "[config]\nquote-character = BACKTICK\n[source]\n# Channel_Name = ''\n"
    'File = "bin.000001"\nPosition = 106\nExecuted_Gtid_Set = "{gtids}"\n\n[`d`.`t`]\nRows = 2\nPosition = 7\n',
    "middle": "# Started dump at: 2023-06-09 11:47:18\n[master]\nFile = bin.000001\nPosition = 106\n"
    "Executed_Gtid_Set = {gtids}\n\n[`d`.`t`]\nRows = 2\n",
}
GTIDS = "7b166a41-65a2-11ed-9de3-0800275ff74d:1-147115,7b166a41-65a2-11ed-9de3-0800275ff74e:1-61558"


@pytest.mark.parametrize("form", METADATA)
@pytest.mark.parametrize("gtids", [GTIDS, "0-1-5", ""])
def test_directories_of_mydumper_are_read(tmp_path: Path, form: str, gtids: str) -> None:
    (tmp_path / "metadata").write_text(METADATA[form].format(gtids=gtids))
    (tmp_path / "d-schema-create.sql").write_text("CREATE DATABASE `d`;\n")
    (tmp_path / "d.t-schema.sql").write_text("CREATE TABLE `t` (`id` int, `a` varchar(9) CHARACTER SET latin1);\n")
    start = b"/*!40101 SET NAMES binary*/;\n/*!40103 SET TIME_ZONE='+00:00' */;\n"
    (tmp_path / "d.t.00000.sql").write_bytes(
        start + b'INSERT INTO `t` VALUES(1,"a")'.replace(b'"', b"'") + b"\n,(2,'\xfc')\n;\n"
    )
    (tmp_path / "d.t.00001.sql.gz").write_bytes(gzip.compress(start + b"INSERT INTO `t` VALUES\n(3,NULL);\n"))
    dump = open_dump(str(tmp_path))
    assert (dump.position.file, dump.position.offset) == ("bin.000001", 106)
    assert dump.position.gtids == {"": None, "0-1-5": MariadbPosition("0-1-5"), GTIDS: GtidSet(GTIDS)}[gtids]
    found = rows_in(dump, dumped_tables(dump))[TableName("d", "t")]
    assert found.to_pylist() == [{"id": 1, "a": "a"}, {"id": 2, "a": "ü"}, {"id": 3, "a": None}]


def test_a_dump_of_mydumper_that_was_not_finished_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metadata.partial").write_text("")
    with pytest.raises(OptionError, match="has no file metadata: it was not finished"):
        open_dump(str(tmp_path))


def test_values_longer_than_a_packet_are_read(tmp_path: Path) -> None:
    head = HEAD.replace("`ts` timestamp NULL", "`b` longblob")
    text = f"{head}INSERT INTO `t` VALUES (1,'{'x' * 17_000_000}'),(2,'');\n"
    (tmp_path / "dump.sql").write_text(f"{text}INSERT INTO `t` VALUES (3,0x{'00ff' * 9_000_000});\n-- Dump completed\n")
    dump = open_dump(str(tmp_path / "dump.sql"))
    found = rows_in(dump, dumped_tables(dump))[TableName("d", "t")].to_pylist()
    assert [(row["id"], len(row["b"])) for row in found] == [(1, 17_000_000), (2, 0), (3, 18_000_000)]
