"""A mirror of a live server has its rows after each run: copied first, then changed as the log says."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from random import Random

import pytest
from deltalake import DeltaTable
from pymysql.err import IntegrityError

from binspark.mirror import copying
from binspark.mirror.leaves import LeafLimits
from binspark.mirror.targets.parse import Format
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.server.connection import Connection
from binspark.testing.servers import Family, MySQL, Server
from tests.support.mirror.live_mirrors import assert_equal, each_family, rows_of, run_mirror
from tests.support.servers import StartServer, every_family

pytestmark = pytest.mark.timeout(120)

NUMBERS = "WITH RECURSIVE s AS (SELECT 1 i UNION ALL SELECT i + 1 FROM s WHERE i < {count}) SELECT i, 'n', i FROM s"


def create_orders(server: Server, database: str, count: int = 500) -> str:
    """Create a table with rows; return its name."""
    server.query(f"CREATE DATABASE {database}")
    server.query(f"CREATE TABLE {database}.orders (id INT PRIMARY KEY, name VARCHAR(20), amount INT)")
    server.query(f"INSERT INTO {database}.orders {NUMBERS.format(count=count)}")
    return f"{database}.orders"


@every_family
def test_inserts_updates_and_deletes_are_applied(shared: Server, database: str, lake: Path, kind: Format) -> None:
    orders = create_orders(shared, database)
    run_mirror(shared, lake, f"{database}.*", kind)
    assert_equal(shared, lake, orders, kind=kind)
    shared.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")
    shared.query(f"DELETE FROM {orders} WHERE id % 7 = 0")
    shared.query(f"INSERT INTO {orders} VALUES (1001, 'new', NULL)")
    report = run_mirror(shared, lake, f"{database}.*", kind)
    assert_equal(shared, lake, orders, kind=kind)
    assert [table.phase for table in report.tables] == ["current"]


@every_family
def test_an_update_of_the_key_moves_the_row(shared: Server, database: str, lake: Path) -> None:
    orders = create_orders(shared, database)
    run_mirror(shared, lake, f"{database}.*")
    shared.query(f"UPDATE {orders} SET id = id + 1000 WHERE id < 20")
    shared.query(f"UPDATE {orders} SET id = id - 1000, name = 'back' WHERE id BETWEEN 1005 AND 1010")
    shared.query(f"DELETE FROM {orders} WHERE id = 1001")
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, orders)


@every_family
def test_a_table_without_a_key_keeps_equal_rows(shared: Server, database: str, lake: Path, kind: Format) -> None:
    log = f"{database}.log"
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {log} (a INT, b VARCHAR(10))")
    shared.query(f"INSERT INTO {log} VALUES (1, 'x'), (1, 'x'), (1, 'x'), (2, NULL)")
    run_mirror(shared, lake, f"{database}.*", kind)
    shared.query(f"DELETE FROM {log} WHERE a = 1 LIMIT 1")
    shared.query(f"INSERT INTO {log} VALUES (2, NULL), (3, 'y')")
    shared.query(f"UPDATE {log} SET b = 'z' WHERE a = 2 LIMIT 1")
    run_mirror(shared, lake, f"{database}.*", kind)
    assert_equal(shared, lake, log, kind=kind)


@every_family
def test_a_row_without_a_key_is_one_row_after_an_update_that_the_mirror_cannot_tell(
    shared: Server, database: str, lake: Path
) -> None:
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {database}.log (a INT, day DATE)")
    shared.query(f"INSERT INTO {database}.log VALUES (1, NULL), (2, '2024-02-29')")
    run_mirror(shared, lake, f"{database}.*")
    with shared.connect(init_command="SET sql_mode = ''") as connection:
        connection.cursor().execute(f"UPDATE {database}.log SET day = '0000-00-00' WHERE a = 1")
    run_mirror(shared, lake, f"{database}.*")
    assert rows_of(lake, f"{database}.log").sort_by("a").column("day").to_pylist() == [None, date(2024, 2, 29)]


@each_family
@pytest.mark.parametrize("image", ["MINIMAL", "NOBLOB"])
def test_partial_row_images_are_merged_into_the_stored_rows(
    family: Family, image: str, start_server: StartServer, lake: Path
) -> None:
    server = start_server(family, {"binlog-row-image": image, "binlog-row-metadata": "MINIMAL"})
    orders = create_orders(server, "shop")
    server.query("ALTER TABLE shop.orders ADD body TEXT, ADD state VARCHAR(9) NOT NULL DEFAULT 'open'")
    server.query("UPDATE shop.orders SET body = REPEAT('text', 100) WHERE id < 100")
    run_mirror(server, lake, "shop.*")
    server.query("UPDATE shop.orders SET amount = -1 WHERE id < 50")
    server.query("UPDATE shop.orders SET id = id + 1000 WHERE id BETWEEN 30 AND 60")
    server.query("UPDATE shop.orders SET state = 'done' WHERE id BETWEEN 1030 AND 1040")
    server.query("INSERT INTO shop.orders (id, name) VALUES (5000, 'defaults')")
    server.query("UPDATE shop.orders SET id = id + 1 WHERE id = 5000")
    report = run_mirror(server, lake, "shop.*")
    assert_equal(server, lake, orders)
    assert [table.phase for table in report.tables] == ["current"]


MOVES = (
    "UPDATE {t} SET id = {b} WHERE id = {a}",
    "UPDATE {t} SET id = {b}, name = 'moved {b}' WHERE id = {a}",
    "UPDATE {t} SET id = id + 1 WHERE id > {a} ORDER BY id DESC",
    "UPDATE {t} SET id = id - 1 WHERE id > {a} ORDER BY id",
    "UPDATE {t} SET id = -id WHERE id BETWEEN {a} AND {a} + 9 OR id BETWEEN -{b} AND -1",
    "UPDATE {t} SET amount = {b} WHERE id = {a}",
    "UPDATE {t} SET body = 'text {b}' WHERE id BETWEEN {a} AND {b}",
    "DELETE FROM {t} WHERE id = {a}",
    "INSERT INTO {t} (id, name, amount, body, state) VALUES ({a}, 'new', {b}, 'body', 'new')",
    "INSERT INTO {t} (id, name) VALUES ({a}, 'defaults')",
    "REPLACE INTO {t} (id, name, amount, body, state) VALUES ({b}, 'replaced', {a}, 'body', 'new')",
)


def change_at_random(server: Server, table: str, statements: Sequence[str], image: str, random: Random) -> None:
    """Execute some of the statements in a few transactions, with numbers of rows for `a` and `b`."""
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute(f"SET SESSION binlog_row_image = {image}")
        for number in range(60):
            statement = random.choice(statements)
            with suppress(IntegrityError):  # a key that another row has
                cursor.execute(statement.format(t=table, a=random.randint(1, 45), b=random.randint(1, 45)))
            if number % 15 == 0:
                connection.commit()
        connection.commit()


@each_family
@pytest.mark.parametrize("image", ["MINIMAL", "NOBLOB"])
def test_rows_that_move_and_have_few_columns_in_the_log_are_those_of_the_server(
    shared: Server, database: str, lake: Path, image: str
) -> None:
    """Any chains of moves, some in one transaction: up, down, through one another, to the keys of deleted rows."""
    orders = create_orders(shared, database, 40)
    shared.query(f"ALTER TABLE {orders} ADD body TEXT, ADD state VARCHAR(9) NOT NULL DEFAULT 'open'")
    shared.query(f"UPDATE {orders} SET body = CONCAT('body ', id)")
    run_mirror(shared, lake, f"{database}.*")
    random = Random(image)
    for _ in range(3):
        change_at_random(shared, orders, MOVES, image, random)
        run_mirror(shared, lake, f"{database}.*", limits=LeafLimits(memory_bytes=6_000))
        assert_equal(shared, lake, orders)


REPLACEMENTS = (
    "REPLACE INTO {t} (id, a) VALUES ({a}, {b})",
    "REPLACE INTO {t} (id) VALUES ({a})",
    "REPLACE INTO {t} (u, a) VALUES ({a}, {b})",
    "REPLACE INTO {t} (id, u) VALUES ({b}, {a})",
    "REPLACE INTO {t} (id, u, a, body) VALUES ({a}, {a}, 1, 'replaced')",
    "INSERT INTO {t} (id, a) VALUES ({a}, 5) ON DUPLICATE KEY UPDATE u = u + 50, body = 'again'",
    "INSERT INTO {t} (u, a, body) VALUES ({a}, {b}, 'new')",
    "UPDATE {t} SET id = {a}, a = {b} WHERE id = {a}",
    "UPDATE {t} SET a = {b} WHERE id < {a}",
    "UPDATE {t} SET id = {b} WHERE id = {a}",
    "UPDATE {t} SET id = id + 100, u = {b} WHERE id = {a}",
    "DELETE FROM {t} WHERE id = {a}",
)


@each_family
@pytest.mark.parametrize("keys", ["PRIMARY KEY (id)", "PRIMARY KEY (id), UNIQUE (u)", "UNIQUE (u), PRIMARY KEY (id)"])
def test_columns_that_replace_sets_to_their_defaults_are_those_of_the_server(
    shared: Server, database: str, lake: Path, keys: str
) -> None:
    """MariaDB logs an update with the columns of the statement, as for an UPDATE that leaves the others as they are."""
    name = f"{database}.replaced"
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {name} (id INT AUTO_INCREMENT, u INT NULL, a INT DEFAULT 7,"
        f" b INT DEFAULT 8, body TEXT, {keys});"
        + "".join(f"INSERT INTO {name} VALUES ({n}, {n}, {n}, {n}, 'first {n}');" for n in range(1, 41))
    )
    run_mirror(shared, lake, f"{database}.*")
    random = Random(keys)
    for _ in range(3):
        change_at_random(shared, name, REPLACEMENTS, "MINIMAL", random)
        run_mirror(shared, lake, f"{database}.*", limits=LeafLimits(memory_bytes=6_000))
        assert_equal(shared, lake, name)


@pytest.mark.mysql
def test_a_composite_key_of_any_types_identifies_rows(mysql: Server, database: str, lake: Path, kind: Format) -> None:
    name = f"{database}.stock"
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(
        f"CREATE TABLE {name} (place VARCHAR(40), day DATE, part VARBINARY(8), price DECIMAL(10,2), n BIGINT UNSIGNED, "
        "PRIMARY KEY (place, price, day, part))"
    )
    rows = [f"('Zürich{i % 3}', '2024-02-{i % 28 + 1:02}', X'00{i:02x}', {i}.5, {2**64 - 1 - i})" for i in range(200)]
    mysql.query(f"INSERT INTO {name} VALUES {', '.join(rows)}")
    run_mirror(mysql, lake, f"{database}.*", kind, rows_per_chunk=30)
    mysql.query(f"UPDATE {name} SET n = 5 WHERE part < X'0050'")
    mysql.query(f"UPDATE {name} SET place = 'zürich0' WHERE place = 'Zürich0'")
    mysql.query(f"DELETE FROM {name} WHERE price > 150")
    run_mirror(mysql, lake, f"{database}.*", kind)
    assert_equal(mysql, lake, name, kind=kind)


@pytest.mark.mysql
def test_rows_that_change_while_they_are_copied_are_right_in_the_end(mysql: Server, database: str, lake: Path) -> None:
    from tests.support.mirror.live_mirrors import make_mirror

    orders = create_orders(mysql, database, 300)
    steps = iter(range(1000))

    def change(step: str) -> None:
        number = next(steps)
        if step == "chunk":
            mysql.query(f"UPDATE {orders} SET amount = -{number} WHERE id % 10 = {number % 10}")
            mysql.query(f"DELETE FROM {orders} WHERE id = {number * 20 + 5}")
            mysql.query(f"INSERT INTO {orders} VALUES ({1000 + number}, 'late', {number})")

    make_mirror(mysql, lake, f"{database}.*", checkpoint=change, rows_per_chunk=40).run()
    assert_equal(mysql, lake, orders)


def test_a_mirror_needs_a_table(start_server: StartServer, lake: Path) -> None:
    from binspark.errors import OptionError

    server = start_server(MySQL)
    with pytest.raises(OptionError, match=r"must match a table that the server has, .*, got nothing\.\*"):
        run_mirror(server, lake, "nothing.*")


@pytest.mark.mysql
def test_a_table_may_be_altered_while_its_copy_begins(
    mysql: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = create_orders(mysql, database)
    changes = [f"UPDATE {orders} SET amount = 0 WHERE id < 100", f"ALTER TABLE {orders} DROP amount"]

    def end_and_changes(connection: Connection) -> BinlogPosition:
        position = end_of_log(connection)
        while changes:
            mysql.query(changes.pop(0))
        return position

    monkeypatch.setattr(copying, "end_of_log", end_and_changes)
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, orders)


@pytest.mark.mysql
def test_a_table_that_is_renamed_and_altered_while_it_is_copied_has_one_mirror(
    mysql: Server, database: str, lake: Path
) -> None:
    from tests.support.mirror.live_mirrors import make_mirror

    orders = create_orders(mysql, database, 100)
    changes = [
        f"UPDATE {orders} SET amount = 0",
        f"ALTER TABLE {orders} ADD z INT DEFAULT 3, RENAME TO {database}.sales",
    ]

    def change(step: str) -> None:
        while step == "chunk" and changes:
            mysql.query(changes.pop(0))

    report = make_mirror(mysql, lake, f"{database}.*", checkpoint=change).run()
    assert [str(table.name) for table in report.tables] == [f"{database}.sales"]
    assert_equal(mysql, lake, f"{database}.sales")


@pytest.mark.mysql
def test_a_key_may_have_3_kilobytes(mysql: Server, database: str, lake: Path) -> None:
    name = f"{database}.long_keys"
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {name} (k VARBINARY(3000) PRIMARY KEY, n INT) ROW_FORMAT = DYNAMIC")
    rows = (f"(CONCAT(REPEAT('x', 2990), LPAD({number}, 10, '0')), {number})" for number in range(300))
    mysql.query(f"INSERT INTO {name} VALUES {', '.join(rows)}")
    run_mirror(mysql, lake, f"{database}.*", rows_per_chunk=50)
    mysql.query(f"UPDATE {name} SET n = -n WHERE n % 3 = 0")
    mysql.query(f"UPDATE {name} SET k = CONCAT('y', SUBSTRING(k, 2)) WHERE n % 7 = 0")
    mysql.query(f"DELETE FROM {name} WHERE n % 11 = 0")
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, name)


@pytest.mark.mysql
def test_a_server_that_restarts_while_tables_are_copied_is_reached_again(start_server: StartServer, lake: Path) -> None:
    from tests.support.mirror.live_mirrors import make_mirror

    server = start_server(MySQL, {"binlog-row-metadata": "FULL"})
    orders = create_orders(server, "shop", 300)
    restarts = iter([server.kill])

    def restart(step: str) -> None:
        for kill in restarts if step == "chunk" else ():
            kill()
            server.launch()

    make_mirror(server, lake, "shop.*", checkpoint=restart, rows_per_chunk=10, retry_attempts=3).run()
    assert next(restarts, None) is None
    assert_equal(server, lake, orders)


@each_family
@pytest.mark.parametrize("steps", ["RENAME TO {database}.renamed", "DROP COLUMN name"])
def test_a_row_that_cannot_be_completed_any_more_lets_its_table_be_copied_again(
    shared: Server, database: str, lake: Path, steps: str
) -> None:
    orders = create_orders(shared, database, 30)
    run_mirror(shared, lake, f"{database}.*")
    DeltaTable(str(lake / database / "orders")).delete("id = 3")  # so that a change of the row is not enough
    with shared.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION binlog_row_image = MINIMAL")
        cursor.execute(f"UPDATE {orders} SET amount = 77 WHERE id = 3")
        connection.commit()
        cursor.execute(f"ALTER TABLE {orders} {steps.format(database=database)}")
    run_mirror(shared, lake, f"{database}.*", accept_foreign=True)
    assert_equal(shared, lake, f"{database}.renamed" if "RENAME" in steps else orders)
