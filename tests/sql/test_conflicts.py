"""Rows that others have changed after the transactions of an undo: found, refused, skipped, merged, overwritten."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

import binspark
from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, integer, table, update
from binspark.testing.servers import Family, MySQL, Server
from tests.support.servers import database, every_family, shared
from tests.support.sql.round_trips import logs_of, run_script, script_of
from tests.support.sql.undo_model import CREATE, RandomTransactions

__all__ = ["database", "shared"]

ACCOUNTS = (
    "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT, note VARCHAR(20));"
    "INSERT INTO accounts VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, NULL);"
)
MISTAKE = "UPDATE accounts SET balance = 0, note = 'lost'"
LATER = ("UPDATE accounts SET balance = balance + 50 WHERE id = 2", "DELETE FROM accounts WHERE id = 3")


def work(server: Server, name: str, *statements: str) -> list[Path]:
    """Run statements in one session and return their logs."""
    with logs_of(server) as logs:
        server.run_sql(";".join(statements) + ";", f"--database={name}")
    return logs


def gtids_of(logs: list[Path], database: str) -> list[str]:
    """Return the transactions that change rows of a database, in their order."""
    rows = binspark.rows(list(map(str, logs)), tables=f"{database}.*")
    return list(dict.fromkeys(str(change.gtid) for change in rows))


def undo_of(logs: list[Path], gtids: list[str], **options: Any) -> bytes:
    """Return the script that undoes transactions; the warning of conflicts is not of interest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return script_of(logs, undo=True, include_gtids=",".join(gtids), **options)


def failure_of(server: Server, script: bytes, *options: str) -> str:
    """Run a script that must fail; return its error."""
    done = server.programs.run(
        server.family.client, "--no-defaults", f"--socket={server.socket}", "--user=root", *options, stdin=script
    )
    assert done.returncode or "--force" in options
    return str(done.stderr.decode())


@pytest.fixture
def accounts(shared: Server, database: str) -> str:
    """A database with a table of four accounts."""
    shared.run_sql(f"CREATE DATABASE {database}; USE {database}; {ACCOUNTS}")
    return database


@pytest.fixture
def mistake(shared: Server, accounts: str) -> list[Path]:
    """The logs of a mistake, and of what others did later."""
    return work(shared, accounts, MISTAKE, *LATER)


def rows_of(server: Server, database: str) -> list[tuple[Any, ...]]:
    return list(server.query(f"SELECT * FROM {database}.accounts ORDER BY 1, 2"))


@every_family
@pytest.mark.parametrize("in_bulk", [False, True], ids=["by row", "in bulk"])
def test_an_undo_refuses_rows_that_others_have_changed_later(mistake: list[Path], accounts: str, in_bulk: bool) -> None:
    first, second, third = gtids_of(mistake, accounts)
    with pytest.raises(binspark.CannotUndo, match="2 rows were changed later") as caught:
        undo_of(mistake, [first], in_bulk=in_bulk)
    assert f"{accounts}.accounts (id = 2): update by {second}\n" in caught.value.message
    assert f"{accounts}.accounts (id = 3): delete by {third}\n" in caught.value.message
    assert "(id = 1)" not in caught.value.message
    assert "--on-conflict" in caught.value.message


@every_family
def test_the_command_prints_no_script_if_it_refuses(
    mistake: list[Path], accounts: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    first = gtids_of(mistake, accounts)[0]
    arguments = ["sql", "--undo", *map(str, mistake), "--include-gtids", first]
    capfdbinary.readouterr()
    assert exit_code(arguments) == 1
    printed = capfdbinary.readouterr()
    assert printed.out == b""
    assert b"(id = 3): delete by" in printed.err
    assert exit_code([*arguments, "--on-conflict", "skip"]) == 0
    printed = capfdbinary.readouterr()
    assert printed.out.count(b"\nUPDATE `") == 2
    assert b"2 rows were changed later" in printed.err


@every_family
@pytest.mark.parametrize("in_bulk", [False, True], ids=["by row", "in bulk"])
@pytest.mark.parametrize(
    ("on_conflict", "expected"),
    [
        ("skip", [(1, 10, "a"), (2, 50, "lost"), (4, 40, None)]),
        ("merge", [(1, 10, "a"), (2, 50, "b"), (4, 40, None)]),
        ("overwrite", [(1, 10, "a"), (2, 20, "b"), (3, 30, "c"), (4, 40, None)]),
    ],
)
def test_conflicts_are_resolved_as_documented(
    shared: Server, mistake: list[Path], accounts: str, in_bulk: bool, on_conflict: str, expected: list[Any]
) -> None:
    first = gtids_of(mistake, accounts)[0]
    with pytest.warns(UserWarning, match="2 rows were changed later"):
        script = script_of(mistake, in_bulk=in_bulk, undo=True, include_gtids=first, on_conflict=on_conflict)
    run_script(shared, script)
    assert rows_of(shared, accounts) == expected


@every_family
def test_later_transactions_that_are_undone_as_well_are_no_conflict(
    shared: Server, mistake: list[Path], accounts: str
) -> None:
    run_script(shared, script_of(mistake, undo=True, include_gtids=",".join(gtids_of(mistake, accounts))))
    assert rows_of(shared, accounts) == [(1, 10, "a"), (2, 20, "b"), (3, 30, "c"), (4, 40, None)]


@every_family
def test_a_transaction_that_meets_other_rows_is_rolled_back_with_its_name(shared: Server, accounts: str) -> None:
    logs = work(shared, accounts, MISTAKE, "INSERT INTO accounts VALUES (9, 90, 'nine')")
    script = script_of(logs, undo=True, tables=f"{accounts}.*")
    shared.query(f"UPDATE {accounts}.accounts SET note = 'Lost' WHERE id = 2")
    shared.query(f"DELETE FROM {accounts}.accounts WHERE id = 1")
    left = rows_of(shared, accounts)[:-1]
    first = gtids_of(logs, accounts)[0]
    assert f"rolled back: the undo of {first} finds rows that are not as it left them: 2" in failure_of(shared, script)
    assert rows_of(shared, accounts) == left  # the later transaction was undone before


@every_family
def test_a_client_that_continues_after_errors_undoes_nothing_more(shared: Server, accounts: str) -> None:
    logs = work(shared, accounts, MISTAKE, "INSERT INTO accounts VALUES (9, 90, 'nine')")
    script = script_of(logs, undo=True, tables=f"{accounts}.*")
    shared.query(f"UPDATE {accounts}.accounts SET note = 'nine ' WHERE id = 9")
    left = rows_of(shared, accounts)
    assert failure_of(shared, script, "--force").count("rolled back: the undo of") >= 2
    assert rows_of(shared, accounts) == left


@every_family
def test_values_that_are_only_equal_for_the_server_are_not_what_was_left(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE accounts (id VARCHAR(9) PRIMARY KEY, f FLOAT, j JSON, b BIT(9), t TEXT, n INT);"
    )
    insert = "INSERT INTO accounts VALUES ('k', 0.1, '{\"a\": [1, 2.5]}', b'101', 'x', NULL)"
    for change in ("id = 'K'", "f = f + 1e-8", "j = '{\"a\": [1, 2.6]}'", "b = b'111'", "t = 'x '", "n = 0"):
        logs = work(shared, database, insert)
        shared.query(f"UPDATE {database}.accounts SET {change}")
        assert "rolled back" in failure_of(shared, script_of(logs, undo=True, tables=f"{database}.*"))
        shared.query(f"DELETE FROM {database}.accounts")
    logs = work(shared, database, insert)
    run_script(shared, script_of(logs, undo=True, tables=f"{database}.*"))
    assert rows_of(shared, database) == []


@every_family
@pytest.mark.parametrize(
    ("mistake", "later", "found"),
    [
        ("INSERT INTO accounts VALUES (5, 50, 'e')", "UPDATE accounts SET note = 'f' WHERE id = 5", "id = 5"),
        ("INSERT INTO accounts VALUES (5, 50, 'e')", "DELETE FROM accounts WHERE id = 5", "id = 5"),
        ("DELETE FROM accounts WHERE id = 1", "INSERT INTO accounts VALUES (1, 0, 'new')", "id = 1"),
        ("UPDATE accounts SET id = 7 WHERE id = 1", "INSERT INTO accounts VALUES (1, 0, 'new')", "id = 7"),
        ("UPDATE accounts SET id = 7 WHERE id = 1", "UPDATE accounts SET id = 8 WHERE id = 7", "id = 7"),
        ("DELETE FROM accounts WHERE id = 1", "UPDATE accounts SET id = 1 WHERE id = 2", "id = 1"),
        (MISTAKE, "TRUNCATE accounts", "truncate by"),
    ],
)
def test_what_is_later_done_with_the_key_of_a_row_is_found(
    shared: Server, accounts: str, mistake: str, later: str, found: str
) -> None:
    logs = work(shared, accounts, mistake, later)
    first = gtids_of(logs, accounts)[0]
    with pytest.raises(binspark.CannotUndo, match="changed later") as caught:
        undo_of(logs, [first])
    assert found in caught.value.message
    left = rows_of(shared, accounts)
    run_script(shared, undo_of(logs, [first], on_conflict="skip"))
    assert rows_of(shared, accounts) == left


@every_family
def test_other_rows_and_other_tables_are_no_conflict(shared: Server, accounts: str) -> None:
    shared.run_sql(f"CREATE TABLE {accounts}.others (id INT PRIMARY KEY, note TEXT)")
    logs = work(
        shared, accounts, "UPDATE accounts SET balance = 0 WHERE id = 1", "INSERT INTO others VALUES (1, 'a')",
        "UPDATE accounts SET balance = 1 WHERE id = 2", "INSERT INTO accounts VALUES (11, 1, 'a')",
    )  # fmt: skip
    run_script(shared, script_of(logs, undo=True, include_gtids=gtids_of(logs, accounts)[0]))
    assert rows_of(shared, accounts)[0] == (1, 10, "a")


@every_family
def test_operations_and_conditions_leave_later_changes_to_be_found(shared: Server, accounts: str) -> None:
    logs = work(shared, accounts, *LATER, "INSERT INTO accounts VALUES (3, 0, 'new')")
    for where in (None, "balance = 30"):
        with pytest.raises(binspark.CannotUndo, match=r"accounts \(id = 3\): insert by"):
            script_of(logs, undo=True, tables=f"{accounts}.*", operations="delete", where=where)


@every_family
@pytest.mark.parametrize("in_next_log", [False, True], ids=["in the same log", "in the next log"])
def test_changes_after_the_position_to_stop_at_are_found(shared: Server, accounts: str, in_next_log: bool) -> None:
    rotation = ["FLUSH BINARY LOGS"] * in_next_log
    logs = work(shared, accounts, MISTAKE, *rotation, *LATER)
    ends = [event.end_offset for event in binspark.events(str(logs[0])) if event.type == "XID"]
    with pytest.raises(binspark.CannotUndo, match="2 rows were changed later"):
        script_of(logs, undo=True, stop_position=f"{logs[0].name}:{ends[0]}", tables=f"{accounts}.*")


@every_family
def test_damage_after_the_position_to_stop_at_is_said(shared: Server, accounts: str, tmp_path: Path) -> None:
    logs = work(shared, accounts, MISTAKE, LATER[0], "INSERT INTO accounts VALUES (9, 9, 'i')")
    ends = [event.end_offset for event in binspark.events(str(logs[0])) if event.type == "XID"]
    damaged = tmp_path / logs[0].name
    damaged.write_bytes(logs[0].read_bytes()[: ends[1] + 40])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        script = script_of([damaged], undo=True, stop_position=ends[0], tables=f"{accounts}.*", on_conflict="skip")
    assert any("is not known from there on" in str(warning.message) for warning in caught)
    run_script(shared, script)
    assert rows_of(shared, accounts) == [
        (1, 10, "a"), (2, 50, "lost"), (3, 30, "c"), (4, 40, None), (9, 9, "i"),
    ]  # fmt: skip


@every_family
def test_a_log_from_standard_input_is_compared(mistake: list[Path], accounts: str) -> None:
    command = [
        sys.executable,
        "-m",
        "binspark",
        "sql",
        "--undo",
        "--include-gtids",
        gtids_of(mistake, accounts)[0],
        "-",
    ]
    done = subprocess.run(command, input=mistake[0].read_bytes(), capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"2 rows were changed later" in done.stderr


@every_family
def test_rows_without_a_key_are_known_by_all_of_their_values(shared: Server, accounts: str) -> None:
    shared.query(f"ALTER TABLE {accounts}.accounts DROP PRIMARY KEY")
    logs = work(
        shared, accounts, MISTAKE, "UPDATE accounts SET balance = 50 WHERE id = 2",
        "INSERT INTO accounts VALUES (1, 0, 'lost')",
    )  # fmt: skip
    first = gtids_of(logs, accounts)[0]
    with pytest.raises(binspark.CannotUndo, match="1 row was changed later"):
        undo_of(logs, [first])
    with pytest.raises(binspark.CannotUndo, match="the log has no key by which it could be found"):
        undo_of(logs, [first], on_conflict="overwrite")
    run_script(shared, undo_of(logs, [first], on_conflict="merge"))
    assert rows_of(shared, accounts) == [
        (1, 0, "lost"), (1, 10, "a"), (2, 50, "lost"), (3, 30, "c"), (4, 40, None),
    ]  # fmt: skip


@pytest.mark.mysql
def test_compressed_transactions_and_minimal_images_are_compared(mysql: Server, database: str) -> None:
    mysql.run_sql(f"CREATE DATABASE {database}; USE {database}; {ACCOUNTS}")
    logs = work(
        mysql, database, "SET binlog_transaction_compression = 1", MISTAKE, "SET binlog_row_image = MINIMAL", *LATER
    )
    first, second, third = gtids_of(logs, database)
    with pytest.raises(binspark.CannotUndo, match=f"update by {second}") as caught:
        undo_of(logs, [first], in_bulk=True)
    assert f"delete by {third}" in caught.value.message
    run_script(mysql, undo_of(logs, [first], on_conflict="merge", in_bulk=True))
    assert rows_of(mysql, database) == [(1, 10, "a"), (2, 50, "b"), (4, 40, None)]


@every_family
def test_xa_transactions_are_compared(shared: Server, accounts: str) -> None:
    later = ("XA START 'x'", LATER[0], "XA END 'x'", "XA PREPARE 'x'", "XA COMMIT 'x'")
    logs = work(shared, accounts, MISTAKE, *later)
    with pytest.raises(binspark.CannotUndo, match=r"accounts \(id = 2\): update by"):
        undo_of(logs, gtids_of(logs, accounts)[:1])


@every_family
def test_many_conflicts_are_counted_and_some_of_them_listed(shared: Server, accounts: str) -> None:
    values = ", ".join(f"({number}, 1, 'x')" for number in range(100, 150))
    logs = work(shared, accounts, f"INSERT INTO accounts VALUES {values}", "UPDATE accounts SET note = 'later'")
    with pytest.raises(binspark.CannotUndo, match="50 rows were changed later") as caught:
        undo_of(logs, gtids_of(logs, accounts)[:1])
    assert caught.value.message.count("update by") == 20
    assert "and 30 more" in caught.value.message


def server_arguments(server: Server, family: Family) -> list[str]:
    """Return the options of a server from where its log ends now."""
    position = "SHOW BINARY LOG STATUS" if family is MySQL else "SHOW MASTER STATUS"
    file, offset = server.query(position)[0][:2]
    address = ["--host", "127.0.0.1", "--port", str(server.port), "--user", "root"]
    return ["sql", "--undo", *address, "--start", f"{file}:{offset}"]


@every_family
def test_a_server_is_compared_in_its_log_and_in_its_rows(
    shared: Server, accounts: str, family: Family, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    arguments = [*server_arguments(shared, family), "--tables", f"{accounts}.*"]
    shared.query(f"UPDATE {accounts}.accounts SET balance = 0, note = 'lost'")
    shared.run_sql(f"SET sql_log_bin = 0; USE {accounts}; {';'.join(LATER)};")
    capfdbinary.readouterr()
    assert exit_code(arguments) == 1
    printed = capfdbinary.readouterr()
    assert printed.out == b""
    assert b"accounts (id = 2): changed by a change that is not in the log that was read" in printed.err
    assert b"accounts (id = 3): replaced or deleted by" in printed.err
    assert b"(id = 1)" not in printed.err
    assert exit_code([*arguments, "--on-conflict", "merge"]) == 0
    run_script(shared, capfdbinary.readouterr().out)
    assert rows_of(shared, accounts) == [(1, 10, "a"), (2, 50, "b"), (4, 40, None)]


@every_family
def test_what_a_server_logs_after_the_end_of_the_undo_is_a_conflict(
    shared: Server, accounts: str, family: Family, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    shared.query(f"DELETE FROM {accounts}.accounts WHERE id = 4")
    arguments = [*server_arguments(shared, family), "--tables", f"{accounts}.*"]
    shared.run_sql(f"USE {accounts}; {MISTAKE}; INSERT INTO accounts VALUES (4, 4, 'four');")
    until = server_arguments(shared, family)[-1]
    shared.run_sql(f"USE {accounts}; {LATER[0]}; DELETE FROM accounts WHERE id = 4;")
    capfdbinary.readouterr()
    assert exit_code([*arguments, "--until", until]) == 1
    printed = capfdbinary.readouterr().err
    assert b"2 rows were changed later" in printed
    assert exit_code([*arguments, "--operations", "insert"]) == 1
    assert b"(id = 4): delete by" in capfdbinary.readouterr().err
    assert exit_code([*arguments, "--until", until, "--on-conflict", "skip"]) == 0
    run_script(shared, capfdbinary.readouterr().out)
    assert rows_of(shared, accounts) == [(1, 10, "a"), (2, 50, "lost"), (3, 30, "c")]


@every_family
def test_rows_of_a_server_without_a_key_are_compared_as_the_last_change_left_them(
    shared: Server, accounts: str, family: Family, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    shared.query(f"ALTER TABLE {accounts}.accounts DROP PRIMARY KEY")
    before = rows_of(shared, accounts)
    arguments = [*server_arguments(shared, family), "--tables", f"{accounts}.*"]
    shared.run_sql(
        f"USE {accounts}; {MISTAKE}; UPDATE accounts SET balance = 1; DELETE FROM accounts WHERE id = 3;"
        "INSERT INTO accounts VALUES (8, 8, 'eight'); DELETE FROM accounts WHERE id = 8;"
    )
    capfdbinary.readouterr()
    assert exit_code(arguments) == 0
    script = capfdbinary.readouterr().out
    shared.run_sql(f"SET sql_log_bin = 0; UPDATE {accounts}.accounts SET balance = 2 WHERE id = 1;")
    assert exit_code(arguments) == 1
    assert b"1 row was changed later" in capfdbinary.readouterr().err
    shared.run_sql(f"SET sql_log_bin = 0; UPDATE {accounts}.accounts SET balance = 1 WHERE id = 1;")
    run_script(shared, script)
    assert rows_of(shared, accounts) == before


def test_a_conflict_can_only_be_resolved_in_an_undo(capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["sql", "--on-conflict", "skip", "tests/corpus/mysql/xa/binlog.000001"]) == 2
    assert "on-conflict" in capfd.readouterr().err


POLICIES = ("skip", "merge", "overwrite")


def undo_some(server: Server, database: str, seed: int) -> None:
    """Undo some of random transactions; the table must be what the model says."""
    rng = Random(seed)
    work_done = RandomTransactions(rng)
    work_done.run(3)
    server.run_sql(f"DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database}; USE {database}; {CREATE};")
    first = [f"{change.statement};" for transaction in work_done.transactions for change in transaction]
    server.run_sql("".join(first), f"--database={database}")
    work_done.transactions.clear()
    work_done.run(rng.randint(2, 14))
    statements = [
        text
        for transaction in work_done.transactions
        for text in ("BEGIN", *(change.statement for change in transaction), "COMMIT")
    ]
    logs = work(server, database, *statements)
    gtids = gtids_of(logs, database)
    assert len(gtids) == len(work_done.transactions)
    chosen = {number for number in range(len(gtids)) if rng.random() < 0.5} or {0}
    on_conflict = rng.choice(POLICIES)
    script = undo_of(
        logs, [gtids[number] for number in sorted(chosen)], on_conflict=on_conflict, in_bulk=rng.random() < 0.5
    )
    run_script(server, script)
    rows = {
        row[0]: dict(zip(("id", "a", "b", "c"), row, strict=True))
        for row in server.query(f"SELECT * FROM {database}.t")
    }
    assert rows == work_done.undone(chosen, on_conflict), f"seed {seed}, {on_conflict} {sorted(chosen)}"


@every_family
def test_an_undo_of_some_random_transactions_leaves_what_the_model_says(shared: Server, database: str) -> None:
    for seed in range(6):
        undo_some(shared, database, seed)


@pytest.mark.slow
@every_family
def test_undos_of_many_random_transactions_leave_what_the_model_says(shared: Server, database: str) -> None:
    for seed in range(1000, 1200):
        undo_some(shared, database, seed)


def test_rows_without_names_are_refused_before_their_conflicts(tmp_path: Path) -> None:
    items = table("shop.items", integer("id"), integer("count"), key=("id",))
    log = BinlogBuilder()
    log.full_metadata = False
    log.transaction(update(items, ((1, 1), (1, 2))))
    log.transaction(update(items, ((1, 2), (1, 3))))
    [path] = log.save(tmp_path)
    with pytest.raises(binspark.SchemaError, match="does not have the names of the columns"):
        undo_of([path], [f"{log.server_uuid}:1"])
