"""Rows that are in the log although they were rolled back: the mirror does not have them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Timer

import pytest

from binspark.errors import SchemaError
from binspark.mirror import copying
from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.snapshot.positions import wait_for_prepared
from binspark.mirror.source.change_source import ArchiveChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.server.connection import Connection, connect
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from binspark.testing.servers import Server
from tests.mirror.test_versions import assert_current, versions
from tests.support.mirror.live_mirrors import assert_equal, rows_of, run_mirror
from tests.support.servers import config_of, each_family, every_family

pytestmark = pytest.mark.timeout(180)

TABLES = ("prepared", "complete", "part", "kept")
WORK = (
    "XA START 'a'; INSERT INTO prepared VALUES (2); DELETE FROM prepared WHERE id = 1; XA END 'a';"
    "XA PREPARE 'a'; XA ROLLBACK 'a';"
    "XA START 'b'; INSERT INTO kept VALUES (2); XA END 'b'; XA PREPARE 'b'; XA COMMIT 'b';"
    "XA START 'c'; INSERT INTO kept VALUES (3); XA END 'c'; XA COMMIT 'c' ONE PHASE;"
    "BEGIN; UPDATE complete SET id = 7; CREATE TEMPORARY TABLE seen (id INT); INSERT INTO complete VALUES (3);"
    "ROLLBACK;"
    "BEGIN; INSERT INTO kept VALUES (4); SAVEPOINT a; INSERT INTO part VALUES (5); {noted}"
    "ROLLBACK TO a; INSERT INTO kept VALUES (6); COMMIT; INSERT INTO kept VALUES (9)"
)
ORDERS, OTHERS = table("shop.orders", integer("id")), table("shop.others", integer("id"))


def copied_again(caplog: pytest.LogCaptureFixture) -> dict[str, str]:
    """Return the tables that were copied again, and why."""
    messages = (record.getMessage().partition(" is copied again: ") for record in caplog.records)
    return {name.partition(".")[2]: reason for name, _, reason in messages if reason}


@every_family
def test_rows_that_were_rolled_back_are_not_in_the_mirror(
    shared: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    is_mariadb = shared.family.name == "mariadb"
    created = " ".join(f"CREATE TABLE {name} (id INT PRIMARY KEY); INSERT INTO {name} VALUES (1);" for name in TABLES)
    noted = "CREATE TABLE noted (id INT PRIMARY KEY) ENGINE=MyISAM"
    shared.run_sql(f"CREATE DATABASE {database}; USE {database}; {created} {noted}")
    run_mirror(shared, lake, f"{database}.*")
    # MySQL with GTIDs refuses to change a table without transactions there.
    shared.run_sql(f"USE {database}; {WORK.format(noted='INSERT INTO noted VALUES (1);' if is_mariadb else '')}")
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, *(f"{database}.{name}" for name in (*TABLES, "noted")))
    expected = {"prepared": "XA ROLLBACK X'61',X'',1"}
    if is_mariadb:
        expected |= {"complete": "ROLLBACK", "part": "ROLLBACK TO `a`"}
    assert copied_again(caplog) == {
        name: f"the log has rows of it that were rolled back: {statement}" for name, statement in expected.items()
    }


@each_family
def test_versions_of_rows_that_were_rolled_back_have_ended(shared: Server, database: str, lake: Path) -> None:
    orders = f"{database}.orders"
    shared.run_sql(f"CREATE DATABASE {database}; USE {database}; CREATE TABLE orders (id INT PRIMARY KEY, state INT)")
    shared.query(f"INSERT INTO {orders} VALUES (1, 1), (2, 1)")
    run_mirror(shared, lake, f"{database}.*", scd2=True)
    shared.run_sql(
        f"USE {database}; UPDATE orders SET state = 2 WHERE id = 1; XA START 'a'; INSERT INTO orders VALUES (3, 1);"
        "UPDATE orders SET state = 3 WHERE id = 2; XA END 'a'; XA PREPARE 'a'; XA ROLLBACK 'a'"
    )
    run_mirror(shared, lake, f"{database}.*", scd2=True)
    assert_equal(shared, lake, orders)
    assert_current(lake, orders)
    assert {row[:2] for row in versions(lake, orders) if row[-1]} == {(1, 2), (2, 1)}


@contextmanager
def prepared_insert(server: Server, name: str) -> Iterator[Callable[[], object]]:
    """Prepare an XA transaction that inserts a row into a table; return what commits it."""
    xid = f"'{name}'"
    with closing(server.connect()) as session, session.cursor() as cursor:
        for step in (f"XA START {xid}", f"INSERT INTO {name} VALUES (1)", f"XA END {xid}", f"XA PREPARE {xid}"):
            cursor.execute(step)
        yield partial(cursor.execute, f"XA COMMIT {xid}")


@each_family
def test_a_copy_waits_for_transactions_that_were_prepared_before_it(
    shared: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = f"{database}.orders"
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {orders} (id INT PRIMARY KEY)")
    with prepared_insert(shared, orders) as commit:
        timer = Timer(0.5, commit)

        def wait(connection: Connection) -> None:
            timer.start()
            wait_for_prepared(connection)

        monkeypatch.setattr(copying, "wait_for_prepared", wait)
        run_mirror(shared, lake, f"{database}.*")
        timer.join()
    assert_equal(shared, lake, orders)


@pytest.mark.mysql
def test_transactions_that_stay_prepared_are_a_warning(
    mysql: Server, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    orders = f"{database}.orders"
    mysql.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {orders} (id INT PRIMARY KEY)")
    with prepared_insert(mysql, orders) as commit, connect(config_of(mysql.port)) as connection:
        wait_for_prepared(connection, 0.1)
        commit()
    assert "XA transactions are prepared since 0.1 s (XA RECOVER lists them)" in caplog.text


def prepared(builder: BinlogBuilder) -> None:
    builder.transaction(insert(ORDERS, (2,)), xa=b"a")
    builder.transaction(insert(OTHERS, (2,)))
    builder.ddl("XA ROLLBACK X'61',X'',1")


def complete(builder: BinlogBuilder) -> None:
    builder.gtid(None)
    builder.query("BEGIN")
    builder.table_map(ORDERS)
    builder.rows(insert(ORDERS, (2,)))
    builder.query("ROLLBACK")


def to_a_savepoint(builder: BinlogBuilder) -> None:
    builder.transaction(insert(OTHERS, (2,)), "SAVEPOINT a", insert(ORDERS, (2,)), "ROLLBACK TO a")


def prepared_in_a_payload(builder: BinlogBuilder) -> None:
    builder.transaction(insert(ORDERS, (2,)), xa=b"a", compress=True)
    builder.ddl("XA ROLLBACK X'61',X'',1")


@pytest.mark.parametrize("write", [prepared, complete, to_a_savepoint, prepared_in_a_payload])
@pytest.mark.parametrize("mirrored", ["shop.orders", "shop.others"])
def test_of_logs_alone_rows_that_were_rolled_back_are_an_error(
    tmp_path: Path, lake: Path, mirrored: str, write: Callable[[BinlogBuilder], None]
) -> None:
    builder = BinlogBuilder()
    for made in (ORDERS, OTHERS):
        builder.ddl(f"CREATE TABLE {made.schema}.{made.name} (id INT PRIMARY KEY)")
        builder.transaction(insert(made, (1,)))
    write(builder)
    (tmp_path / "logs").mkdir()
    builder.save(tmp_path / "logs")
    patterns = TablePatterns(frozenset({mirrored}))
    source = ArchiveChanges((str(tmp_path / "logs"),), patterns)
    mirror = Mirror(source, parse_target(str(lake), Format.DELTA), patterns, MirrorSettings(once=True))
    if mirrored == "shop.orders" or write is prepared_in_a_payload:
        with pytest.raises(SchemaError, match=rf"{mirrored} has to be copied again: .*rolled back: (XA )?ROLLBACK"):
            mirror.run()
    else:
        mirror.run()
        assert rows_of(lake, mirrored).num_rows == (1 if write is complete else 2)
