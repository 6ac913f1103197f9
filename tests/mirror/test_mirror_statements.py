"""Changes that were logged as statements: the log does not contain their rows, and the mirror does not lose them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from binspark.errors import SchemaError, Server
from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.source.change_source import ArchiveChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from binspark.testing.servers import MariaDB
from binspark.testing.servers import Server as RunningServer
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal, rows_of, run_mirror
from tests.support.servers import StartServer, each_family, every_family

pytestmark = pytest.mark.timeout(180)

AS_STATEMENT = "SET SESSION binlog_format = STATEMENT; "


@every_family
def test_a_table_that_a_statement_changed_is_copied_again(
    shared: RunningServer, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    orders, other = create_orders(shared, database), f"{database}.other"
    shared.query(f"CREATE TABLE {other} (id INT PRIMARY KEY)")
    run_mirror(shared, lake, f"{database}.*")
    shared.run_sql(
        f"INSERT INTO {other} VALUES (1); {AS_STATEMENT} USE {database};"
        f"/* from the application */ UPDATE orders SET amount = amount + 1 WHERE id < 9;"
        f"BEGIN; DELETE FROM /* all */ {orders} WHERE id > 490; COMMIT;"
        f"SET SESSION binlog_format = ROW; INSERT INTO {orders} VALUES (600, 'last', 1); INSERT INTO {other} VALUES (2)"
    )
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, orders, other)
    copied = [record.getMessage() for record in caplog.records if "copied again" in record.getMessage()]
    assert {line.split()[0] for line in copied} == {orders}
    assert "logged without the rows that it changes (binlog_format)" in copied[0]


REACHED = {
    "loaded": "LOAD DATA LOCAL INFILE '{file}' INTO TABLE loaded",
    "joined": "UPDATE source s, joined AS x SET x.v = s.v + 1000 WHERE s.id = x.id",
    "nested": "DELETE nested FROM (source JOIN nested USING (id))",
    "quoted": "INSERT INTO`quoted`VALUES(500,1)",
    "commented": "/*!50000 UPDATE */ commented SET v = 41",
    "ansi": "SET sql_mode = 'ANSI_QUOTES'; UPDATE \"ansi\" SET v = 8",
    "elsewhere": "USE mysql; REPLACE `{database}` . `elsewhere` VALUES (1, 77)",
    "late": "DELETE x FROM (SELECT '{long}' AS z) y, late x",
    "viewed": "UPDATE a_view SET v = 9",
    "triggered": "INSERT INTO triggering VALUES (1)",
    "called": "DO a_function(8)",
}
"""Statements, each by the table that it changes."""

CREATED = (
    "CREATE TABLE source (id INT PRIMARY KEY, v INT); CREATE TABLE kept LIKE source; CREATE TABLE triggering (id INT);"
    "INSERT INTO source VALUES (1, 10); CREATE VIEW a_view AS SELECT * FROM viewed;"
    "CREATE TRIGGER a_trigger AFTER INSERT ON triggering FOR EACH ROW UPDATE triggered SET v = v + 50;"
)


@each_family
def test_all_tables_that_a_statement_reaches_are_copied_again(
    shared: RunningServer, database: str, lake: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    (tmp_path / "rows").write_text("700\t1\n")
    shared.query("SET GLOBAL local_infile = 1, GLOBAL log_bin_trust_function_creators = 1")
    created = "".join(
        f"CREATE TABLE {name} (id INT PRIMARY KEY, v INT); INSERT INTO {name} VALUES (1, 1);" for name in REACHED
    )
    shared.run_sql(f"CREATE DATABASE {database}; USE {database}; {created} {CREATED}")
    body = f"BEGIN UPDATE {database}.called SET v = v + x; RETURN x; END"
    shared.query(f"CREATE FUNCTION {database}.a_function(x INT) RETURNS INT DETERMINISTIC MODIFIES SQL DATA {body}")
    run_mirror(shared, lake, f"{database}.*")
    for statement in (*REACHED.values(), "CREATE TEMPORARY TABLE own (id INT); INSERT INTO own VALUES (1)"):
        sql = statement.format(file=tmp_path / "rows", database=database, long="x" * 9000)
        shared.run_sql(f"{AS_STATEMENT} USE {database}; {sql}", "--local-infile=1")
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, *(f"{database}.{name}" for name in (*REACHED, "source", "kept", "triggering")))
    copied = {line.split()[0] for line in caplog.messages if "is copied again" in line}
    assert copied == {f"{database}.{name}" for name in (*REACHED, "source", "triggering")}


@pytest.mark.mariadb
def test_a_server_that_logs_statements_is_refused(start_server: StartServer, lake: Path) -> None:
    server = start_server(MariaDB, {"binlog-format": "MIXED"})
    create_orders(server, "shop", 5)
    with pytest.raises(Server, match=r"binlog_format is MIXED, expected ROW: .*SET GLOBAL binlog_format = ROW"):
        run_mirror(server, lake, "shop.*")
    server.query("SET GLOBAL binlog_format = ROW")
    run_mirror(server, lake, "shop.*")
    assert_equal(server, lake, "shop.orders")


@pytest.mark.parametrize("statement", ["UPDATE shop.orders SET id = 7", "DELETE FROM crm.contacts"])
def test_of_logs_alone_a_statement_about_a_mirrored_table_is_an_error(
    tmp_path: Path, lake: Path, statement: str
) -> None:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.orders (id INT PRIMARY KEY)")
    builder.transaction(insert(table("shop.orders", integer("id")), (1,)))
    builder.transaction(statement)
    (tmp_path / "logs").mkdir()
    builder.save(tmp_path / "logs")
    patterns = TablePatterns(frozenset({"shop.*"}))
    source = ArchiveChanges((str(tmp_path / "logs"),), patterns)
    mirror = Mirror(source, parse_target(str(lake), Format.DELTA), patterns, MirrorSettings(once=True))
    if "shop" in statement:
        with pytest.raises(SchemaError, match=r"shop\.orders has to be copied again"):
            mirror.run()
    else:
        mirror.run()


def test_statements_about_other_databases_do_not_end_ranges(tmp_path: Path, lake: Path) -> None:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.orders (id INT PRIMARY KEY)")
    for number in range(5):
        builder.transaction("UPDATE crm.contacts SET id = 7")
        builder.transaction(insert(table("shop.orders", integer("id")), (number,)))
    (tmp_path / "logs").mkdir()
    builder.save(tmp_path / "logs")
    patterns = TablePatterns(frozenset({"shop.orders"}))
    source = ArchiveChanges((str(tmp_path / "logs"),), patterns)
    steps: list[str] = []
    target = parse_target(str(lake), Format.DELTA)
    Mirror(source, target, patterns, MirrorSettings(once=True), checkpoint=steps.append).run()
    assert steps.count("after the cut") == 2
    assert rows_of(lake, "shop.orders").num_rows == 5
