"""What scripts contain besides rows, and what stops an undo."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
from binspark.cli.main import exit_code
from binspark.position import Position
from binspark.sql.range_options import OF_FILES, OF_SERVER
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from binspark.testing.servers import MySQL, Server
from tests.corpus.cases import case_logs
from tests.support.servers import database, every_family, shared
from tests.support.sql.round_trips import logs_of, run_script, script_of, tables_of

__all__ = ["database", "shared"]


@pytest.fixture
def orders(shared: Server, database: str) -> str:
    """A database with a table of three orders."""
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE orders (id INT PRIMARY KEY, state VARCHAR(20), note TEXT, total DECIMAL(10,2));"
        "INSERT INTO orders VALUES (1, 'new', 'a', 9.99), (2, 'new', NULL, 10), (3, 'paid', 'b\\\\c', 11.5);"
    )
    return database


def work(server: Server, name: str, *statements: str) -> list[Path]:
    """Run statements in one session and return their logs."""
    with logs_of(server) as logs:
        server.run_sql(";".join(statements) + ";", f"--database={name}")
    return logs


@every_family
def test_ddl_stops_an_undo_with_the_ranges_that_can_be_undone(
    shared: Server, orders: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    logs = work(shared, orders, "DELETE FROM orders WHERE id = 1", "ALTER TABLE orders ADD COLUMN extra INT")
    before = tables_of(shared, orders)
    capfdbinary.readouterr()
    assert exit_code(["sql", "--undo", *map(str, logs), "--tables", f"{orders}.*"]) == 1
    printed = capfdbinary.readouterr()
    assert printed.out == b""
    message = printed.err.decode()
    assert "cannot undo a statement: ALTER TABLE orders ADD COLUMN extra INT" in message
    stop = message.partition("--stop-position ")[2].partition(",")[0]
    run_script(shared, script_of(logs, undo=True, tables=f"{orders}.*", skip_statements=True))
    assert len(tables_of(shared, orders)["orders"]) == len(before["orders"]) + 1
    assert script_of(logs, undo=True, stop_position=stop, tables=f"{orders}.*").count(b"INSERT INTO") == 1


def test_ranges_are_named_by_the_options_of_what_is_read() -> None:
    begin = Position(file="/logs/binlog.000001", offset=158)
    assert OF_FILES.before(begin) == "stop before it with --stop-position binlog.000001:158"
    assert OF_SERVER.before(begin) == "stop before it with --until binlog.000001:158"


@every_family
def test_changes_without_old_values_are_not_undone(shared: Server, orders: str) -> None:
    logs = work(
        shared, orders, "SET SESSION binlog_row_image = MINIMAL", "UPDATE orders SET state = 'lost' WHERE id = 2"
    )
    with pytest.raises(binspark.CannotUndo, match=r"update of row 0 in .*orders: the before image does not") as caught:
        script_of(logs, undo=True, tables=f"{orders}.*")
    assert "column state" in caught.value.message
    assert caught.value.position.offset
    after = tables_of(shared, orders)
    shared.query(f"UPDATE {orders}.orders SET state = 'new' WHERE id = 2")
    run_script(shared, script_of(logs, tables=f"{orders}.*"))
    assert tables_of(shared, orders) == after


@every_family
def test_only_the_rows_that_were_deleted_by_mistake_come_back(shared: Server, orders: str) -> None:
    before = tables_of(shared, orders)
    logs = work(shared, orders, "UPDATE orders SET state = 'sent' WHERE id = 3", "DELETE FROM orders WHERE id < 3")
    undo = script_of(logs, undo=True, tables=f"{orders}.orders", operations="delete", where="total > 9.99")
    assert undo.count(b"INSERT INTO") == 1
    run_script(shared, undo)
    run_script(shared, script_of(logs, undo=True, where="id = 1", tables=f"{orders}.*"))
    run_script(shared, script_of(logs, undo=True, where="before.state = 'paid'", tables=f"{orders}.*"))
    assert tables_of(shared, orders) == before


@every_family
def test_generated_columns_are_left_out_and_automatic_times_kept(shared: Server, database: str) -> None:
    shared.query(f"CREATE DATABASE {database}")
    logs = work(
        shared,
        database,
        "CREATE TABLE t (a INT PRIMARY KEY, b INT AS (a + 1) STORED, c INT AS (a * 2) VIRTUAL,"
        " d TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), e INT)",
        "INSERT INTO t (a) VALUES (1), (2), (3)",
        "UPDATE t SET e = 5, d = d WHERE a = 1",
        "UPDATE t SET a = 7 WHERE a = 2",
        "DELETE FROM t WHERE a = 3",
    )
    after = tables_of(shared, database)
    rows = [log for log in logs if log]
    shared.query(f"DROP TABLE {database}.t")
    run_script(shared, script_of(rows, tables=f"{database}.*"))
    assert tables_of(shared, database) == after
    run_script(shared, script_of(rows, undo=True, tables=f"{database}.*", skip_statements=True))
    assert shared.query(f"SELECT COUNT(*) FROM {database}.t") == [(0,)]


@every_family
def test_statements_run_with_the_session_that_they_had(shared: Server, database: str) -> None:
    shared.query(f"CREATE DATABASE {database}")
    script = """
        SET SESSION binlog_format = STATEMENT, time_zone = '+03:00', timestamp = 1700000000.123456;
        CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(50), b DOUBLE, c DATETIME(6), d BIGINT);
        SET @name = 'x;y', @number = 1.5, @big = 18446744073709551615;
        INSERT INTO t (a, b, c) VALUES (@name, RAND(), NOW(6));
        INSERT INTO t (a, d) VALUES (@number, LAST_INSERT_ID());
        SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT';
        INSERT INTO "t" ("a") VALUES ('a' || 'b;c');
        SET NAMES latin1;
        INSERT INTO "t" ("a") VALUES ('\xe9');
        DELIMITER //
        CREATE PROCEDURE p() BEGIN INSERT INTO t (a) VALUES ('p;'); END //
        DELIMITER ;
    """
    with logs_of(shared) as logs:
        done = shared.programs.run(
            shared.family.client,
            *("--no-defaults", f"--socket={shared.socket}", "--user=root", f"--database={database}"),
            stdin=script.encode("latin-1"),
        )
    assert not done.returncode, done.stderr
    after = tables_of(shared, database)
    assert len(after["t"]) == 5
    shared.run_sql("DROP TABLE t; DROP PROCEDURE p;", f"--database={database}")
    run_script(shared, b"".join(binspark.sql(list(map(str, logs)))), "ANSI_QUOTES")
    assert tables_of(shared, database) == after
    shared.query(f"CALL {database}.p()")
    assert len(tables_of(shared, database)["t"]) == 6


@every_family
def test_cascades_of_foreign_keys_are_undone_as_far_as_they_are_logged(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE parent (id INT PRIMARY KEY);"
        "CREATE TABLE child (id INT PRIMARY KEY, parent INT,"
        " FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE);"
        "INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1, 1), (2, 1), (3, 2);"
    )
    before = tables_of(shared, database)
    logs = work(shared, database, "UPDATE parent SET id = 9 WHERE id = 2", "INSERT INTO child VALUES (4, 9)")
    after = tables_of(shared, database)
    run_script(shared, script_of(logs, undo=True, tables=f"{database}.*"))
    assert tables_of(shared, database) == before
    run_script(shared, script_of(logs, tables=f"{database}.*"))
    assert tables_of(shared, database) == after


@pytest.mark.mysql
def test_kept_gtids_let_a_server_skip_what_it_has(mysql: Server, database: str) -> None:
    mysql.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (a INT);")
    logs = work(mysql, database, "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
    run_script(mysql, script_of(logs, keep_gtids=True, tables=f"{database}.*"))
    assert mysql.query(f"SELECT COUNT(*) FROM {database}.t") == [(2,)]


@every_family
def test_a_script_need_not_be_logged(shared: Server, orders: str) -> None:
    logs = work(shared, orders, "DELETE FROM orders")
    with logs_of(shared) as logged:
        run_script(shared, script_of(logs, undo=True, disable_log_bin=True, tables=f"{orders}.*"))
    assert shared.query(f"SELECT COUNT(*) FROM {orders}.orders") == [(3,)]
    assert not list(binspark.rows(list(map(str, logged)), tables=f"{orders}.*"))


@every_family
def test_xa_transactions_are_prepared_and_committed_again(shared: Server, orders: str) -> None:
    logs = work(
        shared, orders, "XA START 'one'", "DELETE FROM orders WHERE id = 1", "XA END 'one'", "XA PREPARE 'one'",
        "XA COMMIT 'one'",
    )  # fmt: skip
    after = tables_of(shared, orders)
    shared.query(f"INSERT INTO {orders}.orders VALUES (1, 'new', 'a', 9.99)")
    run_script(shared, script_of(logs, tables=f"{orders}.*"))
    assert tables_of(shared, orders) == after


def test_a_log_without_column_names_says_what_to_do(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.full_metadata = False
    builder.transaction(insert(table("shop.orders", integer("id")), (1,)))
    log = tmp_path / "binlog.000001"
    log.write_bytes(builder.content)
    with pytest.raises(binspark.SchemaError, match="--schema-file"):
        script_of([log])


@pytest.mark.parametrize(
    ("statement", "is_lost"), [("TRUNCATE t", True), ("drop  table `t`", True), ("ALTER TABLE t ADD a INT", False)]
)
def test_rows_that_no_log_has_are_to_be_recovered_from_a_backup(tmp_path: Path, statement: str, is_lost: bool) -> None:
    builder = BinlogBuilder()
    builder.ddl(statement, schema="shop")
    log = tmp_path / "binlog.000001"
    log.write_bytes(builder.content)
    with pytest.raises(binspark.CannotUndo, match="cannot undo a statement") as caught:
        script_of([log], undo=True)
    assert ("recover them from a backup with `binspark restore`" in caught.value.message) == is_lost


def test_load_data_as_a_statement_is_left_to_dump() -> None:
    logs = case_logs("mysql/load-data")
    with pytest.raises(binspark.Unsupported, match="`binspark dump --local-load DIR --start-position binlog"):
        script_of(logs)
    assert b"LOAD DATA" not in script_of(logs, skip_statements=True)


def test_a_transaction_that_is_not_complete_is_rolled_back(capfd: pytest.CaptureFixture[str]) -> None:
    log = str(case_logs("mysql/multi-table")[0])
    ends = [event.offset for event in binspark.events(log) if event.type == "XID"]
    assert exit_code(["sql", log, "--stop-position", str(ends[-1])]) == 1
    printed = capfd.readouterr()
    assert "ROLLBACK;" in printed.out.splitlines()[-2:]
    assert "is not complete" in printed.err
    assert exit_code(["sql", log, "--undo", "--skip-statements", "--stop-position", str(ends[-1])]) == 1
    assert "stop before it with --stop-position" in capfd.readouterr().err


def test_an_empty_script_is_not_taken_for_a_complete_one(capfd: pytest.CaptureFixture[str]) -> None:
    log = str(case_logs("mariadb/savepoints")[0])
    assert exit_code(["sql", "--undo", "--include-gtids", "7-7-7", log]) == 0
    assert "the script is empty" in capfd.readouterr().err


@every_family
def test_a_server_is_read_with_the_schemas_that_it_has(
    shared: Server, orders: str, family: object, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    position = "SHOW BINARY LOG STATUS" if family is MySQL else "SHOW MASTER STATUS"
    file, offset = shared.query(position)[0][:2]
    shared.query(f"DELETE FROM {orders}.orders WHERE id = 2")
    capfdbinary.readouterr()
    server = ["--host", "127.0.0.1", "--port", str(shared.port), "--user", "root", "--start", f"{file}:{offset}"]
    assert exit_code(["sql", "--undo", *server, "--tables", f"{orders}.orders", "--where", "id = 2"]) == 0
    script = capfdbinary.readouterr().out
    assert script.count(b"INSERT INTO") == 1
    run_script(shared, script)
    assert shared.query(f"SELECT COUNT(*) FROM {orders}.orders") == [(3,)]
