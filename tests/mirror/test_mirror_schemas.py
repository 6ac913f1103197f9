"""Statements that change, create, empty, rename or drop tables reach the mirror at the right transaction."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from deltalake import DeltaTable

from binspark.mirror.check.run import check
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.settings import DropMode
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.schema.table import TableName
from binspark.testing.servers import MariaDB, Server
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal, each_family, each_format, rows_of, run_mirror
from tests.support.mirror.tables import reached
from tests.support.schema.lower_case_servers import lower_case_server

pytestmark = pytest.mark.timeout(120)

KEPT = [
    "ADD COLUMN note VARCHAR(10)",
    "ADD COLUMN state VARCHAR(10) NOT NULL DEFAULT 'open' AFTER id",
    "ADD COLUMN price DECIMAL(8,2) NOT NULL, ADD day DATETIME DEFAULT '2024-02-29 12:30:00'",
    "ADD COLUMN kind ENUM('a','b') NOT NULL DEFAULT 'b' FIRST, ADD n INT DEFAULT -7",
    "DROP COLUMN amount",
    "RENAME COLUMN amount TO total",
    "RENAME COLUMN amount TO name, RENAME COLUMN name TO amount",
    "RENAME COLUMN name TO amount, RENAME COLUMN amount TO total",
    "CHANGE name title VARCHAR(60), DROP amount, ADD amount BIGINT",
    "MODIFY amount BIGINT",
    "MODIFY name VARCHAR(200) CHARACTER SET latin1 FIRST",
    "MODIFY id BIGINT",
    "DROP PRIMARY KEY, ADD PRIMARY KEY (name, id)",
    "DROP PRIMARY KEY",
    "ADD INDEX (name), COMMENT = 'new'",
]
COPIED_AGAIN = [
    "ADD COLUMN twice INT AS (amount * 2) STORED",
    "MODIFY amount VARCHAR(20)",
    "MODIFY name CHAR(20)",
    "ADD COLUMN made TIMESTAMP DEFAULT CURRENT_TIMESTAMP",
]


def alter(server: Server, lake: Path, database: str, steps: str, kind: Format = Format.DELTA) -> str:
    """Let a table of a mirror be altered, with changes before and after that; return its name."""
    orders = create_orders(server, database, 100)
    run_mirror(server, lake, f"{database}.*", kind)
    server.query(f"UPDATE {orders} SET name = 'before' WHERE id < 10")
    server.query(f"ALTER TABLE {orders} {steps}")
    server.query(f"INSERT IGNORE INTO {orders} (id) SELECT MAX(id) + 1 FROM {orders}")
    server.query(f"DELETE FROM {orders} WHERE id BETWEEN 5 AND 15")
    run_mirror(server, lake, f"{database}.*", kind)
    return orders


@each_family
@pytest.mark.parametrize("steps", KEPT)
def test_a_table_is_altered_without_being_copied_again(
    shared: Server, database: str, lake: Path, steps: str, caplog: pytest.LogCaptureFixture
) -> None:
    shared.query("SET GLOBAL sql_mode = 'STRICT_TRANS_TABLES'")
    if "PRIMARY KEY (name" in steps or steps.endswith("DROP PRIMARY KEY"):
        steps = f"MODIFY name VARCHAR(20) NOT NULL DEFAULT 'n', {steps}"
    orders = alter(shared, lake, database, steps)
    assert_equal(shared, lake, orders)
    assert not [record for record in caplog.records if "copied again" in record.getMessage()]


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.parametrize("steps", KEPT[1:10])
def test_an_iceberg_table_is_altered(mysql: Server, database: str, lake: Path, steps: str) -> None:
    orders = alter(mysql, lake, database, steps, Format.ICEBERG)
    assert_equal(mysql, lake, orders, kind=Format.ICEBERG)


@each_family
@pytest.mark.parametrize("steps", COPIED_AGAIN)
def test_a_table_is_copied_again_if_the_log_lacks_its_values(
    shared: Server, database: str, lake: Path, steps: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    orders = alter(shared, lake, database, steps)
    columns = [name for name in rows_of(lake, orders).column_names if name != "made"]
    found = sorted(tuple(map(str, row.values())) for row in rows_of(lake, orders).select(columns).to_pylist())
    expected = shared.query(f"SELECT {', '.join(columns)} FROM {orders}")
    assert found == sorted(tuple(map(str, row)) for row in expected)
    assert f"{orders} is copied again" in caplog.text


@each_family
@pytest.mark.parametrize("is_strict", [True, False])
@pytest.mark.parametrize(("charset", "loses"), [("latin1", True), ("utf8mb3", True), ("utf16", False)])
def test_text_that_its_new_character_set_cannot_hold_becomes_what_the_server_has(
    shared: Server, database: str, lake: Path, charset: str, loses: bool, is_strict: bool
) -> None:
    words = f"{database}.words"
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {words} (id INT PRIMARY KEY, word VARCHAR(20)) CHARACTER SET utf8mb4")
    shared.query(f"INSERT INTO {words} VALUES (1, 'ö'), (2, '日本 😀')")
    run_mirror(shared, lake, words)
    with shared.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SET SESSION sql_mode = '{'STRICT_TRANS_TABLES' if is_strict else ''}'")
        if is_strict and loses:
            with pytest.raises(Exception, match="Incorrect string value"):
                cursor.execute(f"ALTER TABLE {words} CONVERT TO CHARACTER SET {charset}")
        else:
            cursor.execute(f"ALTER TABLE {words} CONVERT TO CHARACTER SET {charset}")
        cursor.execute(f"INSERT INTO {words} VALUES (3, 'ä')")
        connection.commit()
    run_mirror(shared, lake, words)
    assert_equal(shared, lake, words)
    assert (sum("?" in row["word"] for row in rows_of(lake, words).to_pylist()) == 1) == (loses and not is_strict)


@each_family
@pytest.mark.parametrize("charset", ["latin1", "utf16", "utf32"])
def test_members_are_what_the_server_makes_of_them_in_another_character_set(
    shared: Server, database: str, lake: Path, charset: str
) -> None:
    """MySQL leaves the bytes of members as they are: `ö` becomes `Ã¶`, and three bytes are not text in UTF-16."""
    choices = f"{database}.choices"
    shared.query(f"CREATE DATABASE {database}")
    shared.query(
        f"CREATE TABLE {choices} (e ENUM('qqa','ö','wxyz'), s SET('x','ö'), v VARCHAR(9)) CHARACTER SET utf8mb4"
    )
    shared.query(f"INSERT INTO {choices} VALUES (1, 1, 'a'), (2, 2, 'ö'), (3, 3, 'ö'), (2, NULL, 'ä')")
    run_mirror(shared, lake, choices)
    for step in (charset, "utf8mb4"):
        with shared.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION sql_mode = ''")  # in a strict mode MariaDB refuses members that it cannot keep
            cursor.execute(f"ALTER TABLE {choices} CONVERT TO CHARACTER SET {step}")
        shared.query(f"UPDATE {choices} SET v = CONCAT(v, 'z') WHERE e = 2")
        shared.query(f"DELETE FROM {choices} WHERE e = 3")
        shared.query(f"INSERT IGNORE INTO {choices} VALUES (3, 2, 'u')")
        run_mirror(shared, lake, choices)
        report = check(reached(shared), parse_target(str(lake), Format.DELTA), TablePatterns(frozenset({choices})))
        assert report.is_equal, "\n".join(report.lines())


@pytest.mark.mysql
def test_members_of_a_set_that_are_no_text_are_named_and_compared_by_their_number(
    mysql: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """MySQL joins bytes that are not text in UTF-16 with a comma that is: `a,b` becomes two other characters."""
    flags = f"{database}.flags"
    mysql.run_sql(
        f"CREATE DATABASE {database};"
        f"CREATE TABLE {flags} (id INT PRIMARY KEY, s SET('a','b','c'), t SET('ab','cd')) CHARACTER SET latin1;"
        f"INSERT INTO {flags} VALUES (1, 'a,b', 'ab'), (2, 'c', 'ab,cd'), (3, '', NULL), (4, NULL, '')"
    )
    run_mirror(mysql, lake, flags)
    mysql.run_sql(f"ALTER TABLE {flags} CONVERT TO CHARACTER SET utf16; INSERT INTO {flags} VALUES (5, 7, 3)")
    with caplog.at_level(logging.WARNING, "binspark.mirror"):
        run_mirror(mysql, lake, flags)
    assert f"{flags}: members of s are not text in utf16, since the server has not converted them" in caplog.text
    assert "members of t" not in caplog.text
    found = {row["id"]: row["s"] for row in rows_of(lake, flags).to_pylist()}
    assert found == {1: ["", ""], 2: [""], 3: [], 4: None, 5: ["", "", ""]}
    report = check(reached(mysql), parse_target(str(lake)), TablePatterns(frozenset({flags})))
    assert report.is_equal, "\n".join(report.lines())
    mysql.run_sql(f"SET sql_log_bin = 0; UPDATE {flags} SET s = 3 WHERE id = 2")
    report = check(reached(mysql), parse_target(str(lake)), TablePatterns(frozenset({flags})))
    assert [each.describe() for each in report.tables[0].differences] == ["different id=2; s: source '2', mirror '1'"]
    mysql.run_sql(f"ALTER TABLE {flags} CONVERT TO CHARACTER SET latin1")
    run_mirror(mysql, lake, flags)
    assert rows_of(lake, flags).sort_by("id")["s"].to_pylist()[0] == ["a", "b"]


@each_family
@each_format
def test_rows_without_a_key_are_found_after_a_column_was_added(
    shared: Server, database: str, lake: Path, kind: Format
) -> None:
    log = f"{database}.log"
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {log} (a INT, b VARCHAR(10))")
    shared.query(f"INSERT INTO {log} VALUES {', '.join(f'({i % 300}, {i % 7})' for i in range(900))}")
    limits = LeafLimits(leaf_bytes=1000, row_group_rows=100)
    run_mirror(shared, lake, f"{database}.*", kind, limits=limits)
    shared.query(f"UPDATE {log} SET b = 'z' WHERE a = 2")
    shared.query(f"ALTER TABLE {log} ADD c FLOAT FIRST")
    shared.query(f"DELETE FROM {log} WHERE a <> 2 LIMIT 20")
    shared.query(f"UPDATE {log} SET c = 7 WHERE a > 200")
    run_mirror(shared, lake, f"{database}.*", kind, limits=limits)
    assert_equal(shared, lake, log, kind=kind)


@each_family
@each_format
def test_truncate_empties_a_table(shared: Server, database: str, lake: Path, kind: Format) -> None:
    orders = create_orders(shared, database)
    run_mirror(shared, lake, f"{database}.*", kind)
    shared.query(f"INSERT INTO {orders} VALUES (2000, 'gone', 1)")
    shared.query(f"TRUNCATE TABLE {orders}")
    shared.query(f"INSERT INTO {orders} VALUES (3000, 'stays', 1)")
    run_mirror(shared, lake, f"{database}.*", kind)
    assert rows_of(lake, orders, kind).column("id").to_pylist() == [3000]


@each_family
@each_format
def test_a_table_that_is_created_is_mirrored_from_its_first_row(
    shared: Server, database: str, lake: Path, kind: Format
) -> None:
    create_orders(shared, database)
    mirrored = f"{database}.*"
    run_mirror(shared, lake, mirrored, kind)
    shared.query(f"CREATE TABLE {database}.parts (id BIGINT UNSIGNED PRIMARY KEY, body JSON)")
    shared.query(f"INSERT INTO {database}.parts VALUES (18446744073709551615, '[1, 2]')")
    shared.query(f"CREATE TABLE {database}.copied AS SELECT * FROM {database}.orders WHERE id < 50")
    shared.query(f"CREATE TABLE {database}.alike LIKE {database}.orders")
    shared.query(f"INSERT INTO {database}.alike SELECT * FROM {database}.orders WHERE id > 450")
    run_mirror(shared, lake, mirrored, kind)
    assert_equal(shared, lake, *(f"{database}.{name}" for name in ("parts", "copied", "alike", "orders")), kind=kind)


@each_family
def test_the_log_alone_creates_tables(shared: Server, database: str, lake: Path) -> None:
    from binspark.mirror.settings import SnapshotMode

    shared.query("FLUSH BINARY LOGS")
    start = f"{shared.query('SHOW BINARY LOGS')[-1][0]}:4"
    orders = create_orders(shared, database)
    shared.query(f"CREATE TABLE {database}.copied AS SELECT * FROM {orders} WHERE id < 50")
    shared.query(f"UPDATE {database}.copied SET amount = 0 WHERE id = 3")
    run_mirror(shared, lake, f"{database}.*", snapshot=SnapshotMode.NEVER, start=start)
    assert_equal(shared, lake, orders, f"{database}.copied")


@each_family
@each_format
def test_tables_that_swap_their_names_swap_their_rows(shared: Server, database: str, lake: Path, kind: Format) -> None:
    orders = create_orders(shared, database)
    other, third = f"{database}.other", f"{database}.third"
    shared.query(f"CREATE TABLE {other} (id INT PRIMARY KEY, word VARCHAR(9))")
    shared.query(f"INSERT INTO {other} VALUES (1, 'one')")
    run_mirror(shared, lake, f"{database}.*", kind)
    shared.query(f"UPDATE {other} SET word = 'two'")
    shared.query(f"RENAME TABLE {orders} TO {third}, {other} TO {orders}, {third} TO {other}")
    shared.query(f"INSERT INTO {orders} VALUES (2, 'after')")
    shared.query(f"DELETE FROM {other} WHERE id > 300")
    run_mirror(shared, lake, f"{database}.*", kind)
    assert_equal(shared, lake, orders, other, kind=kind)
    shared.query(f"ALTER TABLE {other} RENAME TO {third}, ADD z INT DEFAULT 3")
    shared.query(f"UPDATE {third} SET z = 4 WHERE id = 7")
    run_mirror(shared, lake, f"{database}.*", kind)
    assert_equal(shared, lake, orders, third, kind=kind)


@pytest.mark.mysql
def test_tables_that_swap_their_names_are_not_copied_again(mysql: Server, database: str, lake: Path) -> None:
    orders, other = create_orders(mysql, database), f"{database}.other"
    mysql.query(f"CREATE TABLE {other} (id INT PRIMARY KEY, word VARCHAR(9))")
    mysql.query(f"INSERT INTO {other} VALUES (1, 'one')")
    run_mirror(mysql, lake, f"{database}.*")
    before = {name: table_id(lake, name) for name in (orders, other)}
    mysql.query(f"RENAME TABLE {orders} TO {database}.third, {other} TO {orders}, {database}.third TO {other}")
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, orders, other)
    assert {orders: table_id(lake, other), other: table_id(lake, orders)} == before


def table_id(lake: Path, name: str) -> str:
    """Return the id that a Delta table has from its creation on, also under another name."""
    return str(DeltaTable(lake.joinpath(*name.split("."))).metadata().id)


@each_family
@pytest.mark.parametrize("mode", DropMode)
def test_a_dropped_table_is_kept_or_dropped_and_may_be_created_anew(
    shared: Server, database: str, lake: Path, mode: DropMode
) -> None:
    orders = create_orders(shared, database)
    run_mirror(shared, lake, f"{database}.*", on_drop=mode)
    shared.query(f"DROP TABLE {orders}")
    shared.query(f"CREATE TABLE {database}.rest (id INT PRIMARY KEY)")
    report = run_mirror(shared, lake, f"{database}.*", on_drop=mode)
    phases = {table.name.table: table.phase for table in report.tables}
    assert phases.get("orders") == ("dropped" if mode is DropMode.KEEP else None)
    assert (parse_target(str(lake)).table(TableName(database, "orders")) is None) == (mode is DropMode.DROP)
    shared.query(f"CREATE TABLE {orders} (other VARCHAR(5) PRIMARY KEY)")
    shared.query(f"INSERT INTO {orders} VALUES ('x')")
    run_mirror(shared, lake, f"{database}.*", on_drop=mode)
    assert_equal(shared, lake, orders, f"{database}.rest")


@each_family
def test_statements_in_one_run_take_effect_one_after_the_other(shared: Server, database: str, lake: Path) -> None:
    orders = create_orders(shared, database)
    run_mirror(shared, lake, f"{database}.*")
    for number in range(4):
        shared.query(f"ALTER TABLE {orders} ADD c{number} INT DEFAULT {number}")
        shared.query(f"UPDATE {orders} SET c{number} = -1 WHERE id % 5 = {number}")
    shared.query(f"ALTER TABLE {orders} DROP c1, RENAME COLUMN c2 TO c1")
    shared.query(f"UPDATE {orders} SET c1 = 77 WHERE id = 100")
    shared.query(f"DROP TABLE {orders}")
    create_again = f"CREATE TABLE {orders} (id INT PRIMARY KEY, again INT)"
    shared.query(create_again)
    shared.query(f"INSERT INTO {orders} VALUES (1, 2)")
    shared.query(f"ALTER TABLE {orders} ADD third INT NOT NULL DEFAULT 3")
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, orders)


@pytest.mark.mariadb
def test_names_in_any_case_mean_the_tables_that_the_server_stores(lake: Path) -> None:
    with lower_case_server(MariaDB) as server:
        orders = create_orders(server, "Shop")
        run_mirror(server, lake, "shop.*")
        server.query("ALTER TABLE SHOP.Orders ADD Note VARCHAR(9) DEFAULT 'n'")
        server.query("CREATE TABLE Shop.Parts (Id INT PRIMARY KEY)")
        server.query("INSERT INTO SHOP.PARTS VALUES (1), (2)")
        server.query("RENAME TABLE Shop.PARTS TO Shop.Pieces")
        server.query(f"DELETE FROM {orders} WHERE id > 9")
        run_mirror(server, lake, "shop.*")
        assert_equal(server, lake, "shop.orders", "shop.pieces")


@pytest.mark.mysql
@pytest.mark.parametrize("mode", DropMode)
def test_a_table_that_would_be_copied_again_may_have_another_name_by_then(
    mysql: Server, database: str, lake: Path, mode: DropMode
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", on_drop=mode)
    mysql.query(f"ALTER TABLE {orders} MODIFY amount VARCHAR(20)")
    mysql.query(f"UPDATE {orders} SET amount = CONCAT(amount, ' EUR') WHERE id < 9")
    mysql.query(f"RENAME TABLE {orders} TO {database}.sales")
    mysql.query(f"DELETE FROM {database}.sales WHERE id < 5")
    report = run_mirror(mysql, lake, f"{database}.*", on_drop=mode)
    assert_equal(mysql, lake, f"{database}.sales")
    phases = {table.name.table: table.phase for table in report.tables}
    assert phases.get("orders") == ("dropped" if mode is DropMode.KEEP else None)


@pytest.mark.mysql
@pytest.mark.parametrize("goes", [True, False])
def test_a_table_like_one_that_is_copied_again_has_the_columns_of_its_time(
    mysql: Server, database: str, lake: Path, *, goes: bool
) -> None:
    orders, alike = create_orders(mysql, database), f"{database}.alike"
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"ALTER TABLE {orders} ADD twice INT AS (amount * 2) STORED")
    mysql.query(f"CREATE TABLE {alike} LIKE {orders}")
    mysql.query(f"INSERT INTO {alike} (id, amount) VALUES (1, 2)")
    mysql.query(f"ALTER TABLE {orders} DROP name")
    if goes:
        mysql.query(f"DROP TABLE {orders}")
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, alike, *([] if goes else [orders]))


@pytest.mark.mysql
def test_a_table_like_one_that_is_not_mirrored_has_the_columns_of_its_time(
    mysql: Server, database: str, lake: Path
) -> None:
    create_orders(mysql, database)
    mysql.query(f"CREATE TABLE {database}.model (id INT PRIMARY KEY, name VARCHAR(9))")
    run_mirror(mysql, lake, f"{database}.[ao]*")
    mysql.query(f"CREATE TABLE {database}.alike LIKE {database}.model")
    mysql.query(f"CREATE TABLE {database}.alike_too LIKE {database}.alike")
    mysql.query(f"INSERT INTO {database}.alike_too VALUES (1, 'one')")
    mysql.query(f"ALTER TABLE {database}.model ADD COLUMN extra INT FIRST")
    mysql.query(f"DROP TABLE {database}.alike")
    run_mirror(mysql, lake, f"{database}.[ao]*")
    assert_equal(mysql, lake, f"{database}.alike_too")


@pytest.mark.mysql
def test_a_table_like_one_that_is_gone_before_it_is_copied_again_has_the_columns_of_its_time(
    mysql: Server, database: str, lake: Path
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"ALTER TABLE {orders} ADD twice INT AS (amount * 2) STORED")
    mysql.query(f"CREATE TABLE {database}.other (id INT PRIMARY KEY)")
    mysql.query(f"CREATE TABLE {database}.alike LIKE {orders}")
    mysql.query(f"INSERT INTO {database}.alike (id, amount) VALUES (1, 2)")
    mysql.query(f"DROP TABLE {orders}")
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, f"{database}.alike", f"{database}.other")
