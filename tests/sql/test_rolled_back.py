"""Changes that a log has although they were rolled back: a script rolls them back, too, and an undo leaves them out."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
from binspark.frames import EventCode
from binspark.testing.servers import Server
from binspark.transactions.rollbacks import SavepointAction, savepoint_in
from tests.support.servers import database, every_family, shared
from tests.support.sql.round_trips import checked_script, logs_of, run_script, tables_of

__all__ = ["database", "shared"]

ORDERS = (
    "CREATE TABLE orders (id INT PRIMARY KEY, state VARCHAR(20)); CREATE TABLE other (id INT);"
    "CREATE TABLE noted (id INT) ENGINE=MyISAM;"
    "INSERT INTO orders VALUES (1, 'new'), (2, 'new'), (3, 'paid'), (4, 'paid');"
)


def orders(server: Server, name: str, work: str) -> list[Path]:
    """Create a table of orders, work on it in one session, and return the logs of the work."""
    server.run_sql(f"CREATE DATABASE {name}; USE {name}; {ORDERS}")
    with logs_of(server) as logs:
        server.run_sql(work, f"--database={name}")
    return logs


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (b"SAVEPOINT `Before`", (SavepointAction.SET, "before")),
        (b"ROLLBACK TO `before`", (SavepointAction.ROLLBACK, "before")),
        (b'rollback work to savepoint "a b";', (SavepointAction.ROLLBACK, "a b")),
        (b"RELEASE SAVEPOINT a", (SavepointAction.RELEASE, "a")),
        (b"ROLLBACK", None),
        (b"XA END 'a'", None),
    ],
)
def test_statements_about_savepoints_are_recognized(
    statement: bytes, found: tuple[SavepointAction, str] | None
) -> None:
    assert savepoint_in(statement) == found


@pytest.mark.mariadb
@pytest.mark.parametrize(
    "earlier",
    ["UPDATE orders SET state = 'sent' WHERE id = 1", "INSERT INTO other VALUES (1)"],
    ids=["selected before", "not selected before"],
)
def test_what_was_rolled_back_to_a_savepoint_is_neither_undone_nor_done_again(
    mariadb: Server, database: str, earlier: str
) -> None:
    """MariaDB logs it if the transaction has changed a table without transactions."""
    logs = orders(
        mariadb,
        database,
        f"BEGIN; {earlier}; SAVEPOINT `a b`; INSERT INTO noted VALUES (1); DELETE FROM orders WHERE id = 2;"
        "SAVEPOINT c; UPDATE orders SET state = 'lost' WHERE id = 3; ROLLBACK TO c; DELETE FROM orders WHERE id = 3;"
        "ROLLBACK TO `a b`; UPDATE orders SET state = 'sent' WHERE id = 4; COMMIT;",
    )
    after = tables_of(mariadb, database)
    run_script(mariadb, checked_script(logs, undo=True, tables=f"{database}.orders"))
    states = mariadb.query(f"SELECT state FROM {database}.orders ORDER BY id")
    assert states == [("new",), ("new",), ("paid",), ("paid",)]
    run_script(mariadb, checked_script(logs, tables=f"{database}.orders"))
    assert tables_of(mariadb, database) == after


@every_family
def test_xa_transactions_are_undone_if_they_were_committed(shared: Server, database: str) -> None:
    logs = orders(
        shared,
        database,
        "XA START 'one'; DELETE FROM orders WHERE id = 1; XA END 'one'; XA PREPARE 'one'; XA COMMIT 'one';"
        "XA START 'two'; DELETE FROM orders WHERE id = 2; XA END 'two'; XA PREPARE 'two'; XA ROLLBACK 'two';"
        "XA START 'three'; UPDATE orders SET id = 5 WHERE id = 3; XA END 'three'; XA COMMIT 'three' ONE PHASE;",
    )
    after = tables_of(shared, database)
    script = checked_script(logs, undo=True, tables=f"{database}.*")
    assert b"VALUES (2, " not in script
    run_script(shared, script)
    assert len(tables_of(shared, database)["orders"]) == len(after["orders"]) + 1
    run_script(shared, checked_script(logs, tables=f"{database}.*"))
    assert tables_of(shared, database) == after


@every_family
def test_an_xa_transaction_of_unknown_end_is_not_undone(shared: Server, database: str) -> None:
    logs = orders(
        shared,
        database,
        "XA START 'one'; DELETE FROM orders WHERE id = 1; XA END 'one'; XA PREPARE 'one'; XA COMMIT 'one';"
        "DELETE FROM orders WHERE id = 2;",
    )
    options = {"undo": True, "tables": f"{database}.*"}
    prepared = next(event for event in binspark.events(logs[0]) if event.type_code == EventCode.XA_PREPARE)
    with pytest.raises(binspark.CannotUndo, match="committed or rolled back is not in what was read") as raised:
        checked_script(logs, **options, stop_position=f"{logs[0].name}:{prepared.end_offset}")
    after = str(raised.value).partition("--start-position ")[2]
    assert checked_script(logs, **options, start_position=after).count(b"INSERT") == 1
    assert checked_script(logs, **options).count(b"INSERT") == 2


@pytest.mark.mariadb
def test_a_transaction_that_was_rolled_back_can_be_left_out(mariadb: Server, database: str) -> None:
    logs = orders(
        mariadb,
        database,
        "BEGIN; SAVEPOINT a; INSERT INTO noted VALUES (1); DELETE FROM orders WHERE id = 2; ROLLBACK TO a;"
        "DELETE FROM orders WHERE id = 4; COMMIT;",
    )
    with pytest.raises(binspark.CannotUndo, match="it was rolled back") as raised:
        checked_script(logs, undo=True, tables=f"{database}.*")
    left_out = str(raised.value).partition("--exclude-gtids ")[2]
    script = checked_script(logs, undo=True, tables=f"{database}.*", exclude_gtids=left_out)
    assert (script.count(b"VALUES (4, "), script.count(b"VALUES (2, ")) == (1, 0)
