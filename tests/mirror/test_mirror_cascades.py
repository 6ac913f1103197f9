"""Rows that foreign keys change: servers that do not log them have them all the same, and so does the mirror."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from binspark.mirror import referring_rows
from binspark.mirror.cascades import Cascades
from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.source.change_source import ArchiveChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.testing.servers import MariaDB, MySQL, Server
from tests.mirror.test_versions import assert_current
from tests.support.mirror.live_mirrors import assert_equal, make_mirror, rows_of, run_mirror
from tests.support.mirror.tables import reached
from tests.support.servers import StartServer

pytestmark = [pytest.mark.mariadb, pytest.mark.timeout(300)]

SHOP = """
CREATE DATABASE {db}; USE {db};
CREATE TABLE customers (id INT PRIMARY KEY, code VARCHAR(20) UNIQUE, name VARCHAR(20));
CREATE TABLE orders (
    id INT PRIMARY KEY, customer INT, code VARCHAR(20), note VARCHAR(20),
    CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT by_code FOREIGN KEY (code) REFERENCES customers (code) ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE TABLE items (
    `order` INT, line INT, amount INT, PRIMARY KEY (`order`, line),
    FOREIGN KEY (`order`) REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE notes (
    id INT PRIMARY KEY, `order` INT, line INT,
    FOREIGN KEY (`order`, line) REFERENCES items (`order`, line) ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE TABLE people (
    id INT PRIMARY KEY, boss INT, FOREIGN KEY (boss) REFERENCES people (id) ON DELETE CASCADE
);
CREATE TABLE plain (id INT, customer INT, FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE CASCADE
    ON UPDATE CASCADE);
"""
TABLES = ("customers", "orders", "items", "notes", "people", "plain")


def create_shop(server: Server, database: str, customers: int = 20) -> list[str]:
    """Create tables that refer to each other, with rows; return their names."""
    server.run_sql(SHOP.format(db=database))
    ids = range(1, customers + 1)
    lines = [(10 * n + m, line) for n in ids for m in range(3) for line in range(2)]
    rows = {
        "customers": [f"({n}, 'Code {n}', 'x')" for n in ids],
        "orders": [f"({10 * n + m}, {n}, 'code {n}', 'x')" for n in ids for m in range(3)],
        "items": [f"({order}, {line}, {line})" for order, line in lines],
        "notes": [f"({10 * order + line}, {order}, {line})" for order, line in lines],
        "people": ["(1, NULL)", *(f"({n}, {n // 2})" for n in range(2, 4 * customers))],
        "plain": [f"({n % 3}, {n})" for n in ids for _ in range(2)],
    }
    server.run_sql("; ".join(f"INSERT INTO {database}.{name} VALUES {', '.join(each)}" for name, each in rows.items()))
    return [f"{database}.{name}" for name in TABLES]


def copies(caplog: pytest.LogCaptureFixture) -> set[str]:
    """Return the tables that were copied again."""
    found = (record.getMessage().partition(" is copied again: ") for record in caplog.records)
    return {name.partition(".")[2] for name, _, reason in found if reason}


def test_children_and_their_children_are_read_again(
    mariadb: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = [name for name in create_shop(mariadb, database) if not name.endswith("plain")]
    mariadb.query(f"DROP TABLE {database}.plain")
    run_mirror(mariadb, lake, f"{database}.*")
    shown = f"of_customer of {database}.orders to {database}.customers (ON DELETE CASCADE ON UPDATE CASCADE)"
    assert "this server does not log the rows that foreign keys change" in caplog.text
    assert shown in caplog.text
    mariadb.query(f"DELETE FROM {database}.customers WHERE id IN (3, 4)")
    mariadb.query(f"DELETE FROM {database}.people WHERE id = 3")
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, *names)
    assert not copies(caplog)


def test_a_parent_that_is_not_mirrored_changes_its_children(mariadb: Server, database: str, lake: Path) -> None:
    create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.orders")
    mariadb.query(f"DELETE FROM {database}.customers WHERE id = 5")
    mariadb.query(f"UPDATE {database}.customers SET id = 99, code = 'other' WHERE id = 6")
    run_mirror(mariadb, lake, f"{database}.orders")
    assert_equal(mariadb, lake, f"{database}.orders")


def test_a_child_between_that_is_not_mirrored_lets_the_table_be_copied_again(
    mariadb: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.items")
    mariadb.query(f"DELETE FROM {database}.customers WHERE id = 5")
    run_mirror(mariadb, lake, f"{database}.items")
    assert_equal(mariadb, lake, f"{database}.items")
    assert copies(caplog) == {"items"}


def test_replace_deletes_children(mariadb: Server, database: str, lake: Path) -> None:
    names = create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.query(f"REPLACE INTO {database}.customers VALUES (7, 'Code 7', 'replaced'), (8, 'Code 9', 'two')")
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, *names)


def test_changes_that_no_foreign_key_looks_at_cost_nothing(
    mariadb: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.query(f"INSERT INTO {database}.customers VALUES (1001, 'new', 'x'), (1002, NULL, 'x')")
    mariadb.query(f"UPDATE {database}.customers SET name = 'y', id = id WHERE id < 10")
    mariadb.query(f"DELETE FROM {database}.notes WHERE id < 200")
    monkeypatch.delattr(referring_rows.Referring, "to")  # what a search begins with
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, *names)


def test_a_foreign_key_that_is_added_later_is_followed(mariadb: Server, database: str, lake: Path) -> None:
    mariadb.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE p (id INT PRIMARY KEY);"
        "CREATE TABLE c (id INT PRIMARY KEY, p INT); INSERT INTO p VALUES (1), (2), (3);"
        "INSERT INTO c VALUES (1, 1), (2, 2), (3, 3)"
    )
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.run_sql(
        f"USE {database}; ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE;"
        "DELETE FROM p WHERE id = 1; CREATE TABLE d (id INT PRIMARY KEY REFERENCES c (id) ON DELETE CASCADE);"
        "INSERT INTO d VALUES (2), (3); DELETE FROM p WHERE id = 2"
    )
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, *(f"{database}.{name}" for name in "pcd"))


def test_a_foreign_key_that_was_dropped_while_the_mirror_lagged_is_not_forgotten(
    mariadb: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mariadb.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE p (id INT PRIMARY KEY);"
        "CREATE TABLE c (id INT PRIMARY KEY, p INT, CONSTRAINT k FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE);"
        "INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 1), (2, 2)"
    )
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.run_sql(f"USE {database}; DELETE FROM p WHERE id = 1; ALTER TABLE c DROP FOREIGN KEY k, ADD b INT")
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, f"{database}.p", f"{database}.c")
    assert copies(caplog) == {"c"}


def test_a_parent_that_was_renamed_while_the_mirror_lagged_is_not_forgotten(
    mariadb: Server, database: str, lake: Path
) -> None:
    names = create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.run_sql(f"USE {database}; DELETE FROM customers WHERE id = 1; RENAME TABLE customers TO clients")
    mariadb.query(f"DELETE FROM {database}.clients WHERE id = 2")
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, f"{database}.clients", *names[1:])


def test_a_child_that_was_renamed_while_the_mirror_lagged_is_not_forgotten(
    mariadb: Server, database: str, lake: Path
) -> None:
    names = create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.run_sql(f"USE {database}; DELETE FROM customers WHERE id = 1; RENAME TABLE orders TO sales")
    mariadb.query(f"DELETE FROM {database}.customers WHERE id = 2")
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, f"{database}.sales", *(name for name in names if not name.endswith("orders")))


def test_a_column_that_is_renamed_in_a_parent_leads_to_no_copies(
    mariadb: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = create_shop(mariadb, database)[:2]
    mariadb.query(f"DROP TABLE {database}.plain")
    run_mirror(mariadb, lake, f"{database}.*")
    left = [
        f"DELETE FROM {database}.customers WHERE number = 4",
        f"DELETE FROM {database}.customers WHERE number = 3",
        f"ALTER TABLE {database}.customers RENAME COLUMN id TO number",
    ]

    def change(step: str) -> None:
        if step == "after the cut":
            mariadb.query(left.pop()) if left else mirror.stop()

    mirror = make_mirror(mariadb, lake, f"{database}.*", checkpoint=change, once=False, apply_seconds=0.01)
    mariadb.query(f"INSERT INTO {database}.customers VALUES (777, 'x', 'x')")
    mirror.run()
    assert not copies(caplog)
    assert_equal(mariadb, lake, *names)


def test_a_logged_statement_about_a_parent_copies_its_children(mariadb: Server, database: str, lake: Path) -> None:
    names = create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.run_sql(f"SET binlog_format = STATEMENT; DELETE FROM {database}.customers WHERE id < 4")
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, *names)


def test_versions_of_rows_end_with_what_a_foreign_key_deletes(mariadb: Server, database: str, lake: Path) -> None:
    names = [name for name in create_shop(mariadb, database) if not name.endswith("plain")]
    run_mirror(mariadb, lake, f"{database}.*", scd2=True)
    mariadb.query(f"DELETE FROM {database}.customers WHERE id < 4")
    run_mirror(mariadb, lake, f"{database}.*", scd2=True)
    assert_equal(mariadb, lake, *names)
    assert_current(lake, f"{database}.customers")
    assert_current(lake, f"{database}.orders")


def test_a_run_that_was_killed_between_the_tables_finds_the_rows_again(
    mariadb: Server, database: str, lake: Path
) -> None:
    names = create_shop(mariadb, database)
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.query(f"DELETE FROM {database}.customers WHERE id < 4")

    class Crash(Exception):
        """A crash that this test wants."""

    def crash(step: str) -> None:
        if step == "table":  # one of them is committed
            raise Crash

    for _ in range(2):
        with pytest.raises(Crash):
            make_mirror(mariadb, lake, f"{database}.*", checkpoint=crash).run()
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, *names)


def test_logs_without_a_server_warn_of_what_they_do_not_contain(
    start_server: StartServer, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = start_server(MariaDB)
    create_shop(server, "shop")
    patterns = TablePatterns(frozenset({"shop.*"}))
    source = ArchiveChanges(tuple(map(str, server.log_files())), patterns)
    Mirror(source, parse_target(str(lake)), patterns, MirrorSettings(once=True)).run()
    warned = {name for name in TABLES if f"shop.{name} has a foreign key that changes its rows" in caplog.text}
    assert warned == {"orders", "items", "notes", "people", "plain"}


def random_changes(chance: random.Random) -> Iterator[str]:
    """Yield statements that delete, update, replace and insert rows of parents and children."""
    for number in range(60):
        n = chance.randrange(1, 40)
        yield chance.choice(
            [
                f"DELETE FROM customers WHERE id = {n}",
                f"DELETE FROM orders WHERE id % 40 = {n}",
                f"DELETE FROM items WHERE `order` = {10 * n} AND line = 0",
                f"DELETE FROM people WHERE id = {n}",
                f"UPDATE IGNORE customers SET id = id + 500 WHERE id = {n}",
                f"UPDATE IGNORE customers SET code = 'Changed {number}' WHERE id = {n}",
                f"UPDATE IGNORE orders SET id = id + 1000 WHERE id = {10 * n}",
                f"REPLACE INTO customers VALUES ({n}, 'code {chance.randrange(1, 40)}', 'replaced')",
                f"INSERT IGNORE INTO customers VALUES ({n}, 'CODE {n}', 'again')",
                f"INSERT IGNORE INTO orders VALUES ({2000 + number}, {n}, 'cOdE {n}', 'late')",
                f"INSERT IGNORE INTO items VALUES ({10 * n + 1}, {number}, 1), ({2000 + number}, 1, 1)",
                f"INSERT IGNORE INTO notes VALUES ({9000 + number}, {10 * n + 1}, 1)",
                f"INSERT IGNORE INTO people VALUES ({500 + number}, {n})",
                f"INSERT IGNORE INTO plain VALUES (1, {n})",
                f"UPDATE orders SET note = 'y' WHERE customer = {n}",
            ]
        )


@pytest.mark.parametrize("image", ["FULL", pytest.param("MINIMAL", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [Format.DELTA, Format.ICEBERG])
def test_random_changes_of_parents_leave_a_mirror_equal(
    mariadb: Server, database: str, lake: Path, kind: Format, image: str
) -> None:
    names = create_shop(mariadb, database, customers=40)
    run_mirror(mariadb, lake, f"{database}.*", kind)
    chance = random.Random(f"{kind} {image}")
    for _ in range(4):
        changes = "; ".join(random_changes(chance))
        mariadb.run_sql(f"SET binlog_row_image = {image}; USE {database}; {changes}")
        run_mirror(mariadb, lake, f"{database}.*", kind, apply_bytes=3000)
        assert_equal(mariadb, lake, *names, kind=kind)


VALUES = {
    "INT UNSIGNED": ("4000000000", "7"),
    "BIGINT UNSIGNED": ("18446744073709551615", "7"),
    "DECIMAL(10,2)": ("1.50", "-2.25"),
    "DATE": ("'2024-02-29'", "'2025-01-01'"),
    "DATETIME(3)": ("'2024-02-29 01:02:03.456'", "'2025-01-01'"),
    "TIMESTAMP(3) NULL": ("'2024-02-28 01:02:03.456'", "'2025-01-01'"),
    "TIME": ("'-100:00:01'", "'12:00:00'"),
    "YEAR": ("2024", "2025"),
    "CHAR(36)": ("'6ccd780c-baba-1026-9564-5b8c656024db'", "'x'"),
    "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci": ("'Abc'", "'é'"),
    "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_lithuanian_ci": ("'Yes'", "'no'"),
    "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin": ("'Yes'", "'yes'"),
    "BINARY(16)": ("X'00FF00'", "X'01'"),
    "VARBINARY(16)": ("X'00FF00'", "X'01'"),
    "ENUM('a', 'b')": ("'a'", "'b'"),
    "BIT(12)": ("b'101'", "b'1'"),
    "UUID": ("'6ccd780c-baba-1026-9564-5b8c656024db'", "'00000000-0000-0000-0000-000000000001'"),
    "INET6": ("'2001:db8::ff00:42:8329'", "'::1'"),
}


@pytest.mark.parametrize("mirrored", ["*", "c*"])
def test_rows_are_found_by_columns_of_every_type(start_server: StartServer, lake: Path, mirrored: str) -> None:
    server = start_server(MariaDB, {"binlog-row-metadata": "NO_LOG"})
    server.query("CREATE DATABASE shop")
    for number, (kind, (first, second)) in enumerate(VALUES.items()):
        server.run_sql(
            f"USE shop; CREATE TABLE p{number} (extra INT, v {kind} UNIQUE);"
            f"CREATE TABLE c{number} (id INT PRIMARY KEY, v {kind},"
            f" FOREIGN KEY (v) REFERENCES p{number} (v) ON DELETE CASCADE ON UPDATE CASCADE);"
            f"INSERT INTO p{number} VALUES (1, {first}), (2, {second});"
            f"INSERT INTO c{number} VALUES (1, {first}), (2, {second}), (3, NULL)"
        )
    run_mirror(server, lake, f"shop.{mirrored}")
    server.run_sql("; ".join(f"DELETE FROM shop.p{number} WHERE extra = 1" for number in range(len(VALUES))))
    run_mirror(server, lake, f"shop.{mirrored}")
    rows = {kind: rows_of(lake, f"shop.c{number}").num_rows for number, kind in enumerate(VALUES)}
    assert rows == dict.fromkeys(VALUES, 2)
    patterns = TablePatterns(frozenset({f"shop.{mirrored}"}))
    report = check(reached(server), parse_target(str(lake)), patterns, CheckSettings(wait_seconds=0))
    assert report.is_equal, "\n".join(report.lines())


def test_text_is_found_however_it_is_written(mariadb: Server, database: str, lake: Path) -> None:
    mariadb.run_sql(
        f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci; USE {database};"
        "CREATE TABLE p (v VARCHAR(20) PRIMARY KEY); CREATE TABLE c (id INT PRIMARY KEY, v VARCHAR(20),"
        " FOREIGN KEY (v) REFERENCES p (v) ON DELETE CASCADE); INSERT INTO p VALUES ('resume'), ('other');"
        "INSERT INTO c VALUES (1, 'RESUME'), (2, 'résumé'), (3, 'Resume  '), (4, 'other')"
    )
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.query(f"DELETE FROM {database}.p WHERE v = 'resume'")
    run_mirror(mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, f"{database}.c")
    assert rows_of(lake, f"{database}.c").num_rows == 1


@pytest.mark.slow
@pytest.mark.mysql
def test_a_mysql_server_whose_engine_follows_foreign_keys_is_mirrored(start_server: StartServer, lake: Path) -> None:
    server = start_server(MySQL, {"innodb-native-foreign-keys": "ON"})
    names = create_shop(server, "shop", customers=40)
    run_mirror(server, lake, "shop.*")
    server.run_sql("USE shop; " + "; ".join(random_changes(random.Random(7))))
    run_mirror(server, lake, "shop.*", apply_bytes=3000)
    assert_equal(server, lake, *names)


@pytest.mark.mysql
def test_a_server_that_logs_what_foreign_keys_do_is_asked_for_nothing(
    mysql: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = create_shop(mysql, database)
    monkeypatch.delattr(Cascades, "_concerning")
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"DELETE FROM {database}.customers WHERE id < 4")
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, *names)
    assert "foreign keys" not in caplog.text
    assert rows_of(lake, f"{database}.orders").num_rows == 51
