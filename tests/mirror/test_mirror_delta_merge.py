"""Delta's own jar merges the changes of a mirror: its tables equal the source, and a killed mirror continues."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from binspark.errors import SourceError
from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.tables.open_table import ForeignChanges
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import OtherMirror
from binspark.schema.table import TableName
from binspark.testing.servers import Family, MySQL, Server
from tests.mirror.test_mirror_crashes import Killed, change
from tests.mirror.test_mirror_kills import Writer
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.disks import fill, remount, small_disk
from tests.support.mirror.every_type import every_type
from tests.support.mirror.live_mirrors import assert_equal, each_family, make_mirror, run_mirror
from tests.support.mirror.tables import reached
from tests.support.servers import StartServer
from tools.delta_spark import DeltaSpark, environment_with_binspark
from tools.delta_spark.session import MergeSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
KIND = Format.DELTA_MERGE
KILLS = int(os.environ.get("BINSPARK_MIRROR_KILLS", "1"))
"""How many kills a run of the test has."""


@pytest.fixture
def spark(delta_spark: DeltaSpark) -> MergeSession:
    return MergeSession(delta_spark)


def opened(lake: Path, name: str) -> DeltaTable:
    return DeltaTable(lake.joinpath(*name.split(".")))


def merges(lake: Path, name: str) -> int:
    """Return how many commits of a table are those of `MERGE`."""
    return sum(commit["operation"] == "MERGE" for commit in opened(lake, name).history())


def changes_left(lake: Path) -> list[Path]:
    return list(lake.rglob("_binspark_changes/*"))


@each_family
def test_changes_are_merged_by_the_jar(shared: Server, database: str, lake: Path, spark: MergeSession) -> None:
    orders, log, zeros = create_orders(shared, database), f"{database}.log", f"{database}.zeros"
    shared.query(f"CREATE TABLE {log} (a INT, b VARCHAR(10))")
    shared.query(f"INSERT INTO {log} VALUES (1, 'x'), (1, 'x'), (2, NULL)")
    shared.query(f"CREATE TABLE {zeros} (id DOUBLE PRIMARY KEY)")
    shared.query(f"INSERT INTO {zeros} VALUES (0), (1.5)")
    run_mirror(shared, lake, f"{database}.*", KIND, spark=spark)
    shared.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")
    shared.query(f"UPDATE {orders} SET id = id + 1000 WHERE id < 20")
    shared.query(f"UPDATE {orders} SET id = id - 1000, name = 'back' WHERE id BETWEEN 1005 AND 1010")
    shared.query(f"DELETE FROM {orders} WHERE id % 7 = 0")
    shared.query(f"INSERT INTO {orders} VALUES (5001, 'new', NULL)")
    shared.query(f"DELETE FROM {log} WHERE a = 1 LIMIT 1")
    shared.query(f"UPDATE {zeros} SET id = -id")
    report = run_mirror(shared, lake, f"{database}.*", KIND, spark=spark)
    assert_equal(shared, lake, orders, log, zeros)
    assert {table.phase for table in report.tables} == {"current"}
    assert merges(lake, orders) == 1
    assert not changes_left(lake)
    assert not merges(lake, log)
    assert not merges(lake, zeros)
    before = opened(lake, orders).version()
    run_mirror(shared, lake, f"{database}.*", KIND, spark=spark)
    assert opened(lake, orders).version() == before


@each_family
def test_every_type_is_merged(shared: Server, family: Family, database: str, lake: Path, spark: MergeSession) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; USE {database}; {every_type(family, 60, seed=3)}")
    name = f"{database}.every_type"
    run_mirror(shared, lake, name, KIND, spark=spark)
    shared.run_sql(f"UPDATE {name} SET ti = 1 WHERE id % 3 = 0; DELETE FROM {name} WHERE id % 7 = 0")
    run_mirror(shared, lake, name, KIND, spark=spark)
    assert merges(lake, name) == 1
    by_leaves = lake.with_name("by leaves")
    run_mirror(shared, by_leaves, name)
    assert rows_by_id(lake, name) == rows_by_id(by_leaves, name)


def rows_by_id(lake: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = opened(lake, name).to_pyarrow_table().sort_by("id").to_pylist()
    return rows


@pytest.mark.mysql
def test_partial_row_images_are_completed_before_they_are_merged(
    start_server: StartServer, lake: Path, spark: MergeSession
) -> None:
    server = start_server(MySQL, {"binlog-row-image": "MINIMAL", "binlog-row-metadata": "MINIMAL"})
    orders = create_orders(server, "shop")
    server.query("ALTER TABLE shop.orders ADD state VARCHAR(9) NOT NULL DEFAULT 'open'")
    run_mirror(server, lake, "shop.*", KIND, spark=spark)
    server.query("UPDATE shop.orders SET amount = -1 WHERE id < 50")
    server.query("UPDATE shop.orders SET id = id + 1000 WHERE id BETWEEN 30 AND 60")
    server.query("UPDATE shop.orders SET state = 'done' WHERE id BETWEEN 1030 AND 1040")
    server.query("INSERT INTO shop.orders (id, name) VALUES (5000, 'defaults'), (5002, 'gone')")
    server.query("UPDATE shop.orders SET id = id + 1 WHERE id = 5000")
    run_mirror(server, lake, "shop.*", KIND, spark=spark)
    assert_equal(server, lake, orders)
    assert merges(lake, orders)
    server.query("UPDATE shop.orders SET amount = 7 WHERE id < 100")
    run_mirror(server, lake, "shop.*", KIND, spark=spark)
    assert_equal(server, lake, orders)


@pytest.mark.mysql
def test_a_run_that_is_killed_at_any_step_is_continued(
    mysql: Server, database: str, lake: Path, spark: MergeSession, delta_spark: DeltaSpark
) -> None:
    orders, tables = create_orders(mysql, database, 200), f"{database}.*"
    for definition in ("log (a INT)", "spare (id INT PRIMARY KEY)", "other (id INT PRIMARY KEY, n INT)"):
        mysql.query(f"CREATE TABLE {database}.{definition}")
    mysql.query(f"INSERT INTO {database}.spare VALUES (1), (2)")
    mysql.query(f"INSERT INTO {database}.other VALUES (1, 1), (2, 2)")
    run_mirror(mysql, lake, tables, KIND, spark=spark)
    change(mysql, database, orders)
    for before in (killed_before_the_merge, lambda statement: killed_after_the_merge(delta_spark, statement)):
        spark.before = before
        with pytest.raises(Killed):
            run_mirror(mysql, lake, tables, KIND, spark=spark)
    spark.before = lambda _statement: None
    for step in ("rows", "table", "statement", "before the cut"):
        with pytest.raises(Killed):
            make_mirror(mysql, lake, tables, KIND, killed_at(step), spark=spark).run()
    run_mirror(mysql, lake, tables, KIND, spark=spark)
    assert_equal(mysql, lake, *(f"{database}.{name}" for name in ("orders", "log", "spare", "third", "made")))
    assert merges(lake, orders)
    assert merges(lake, f"{database}.spare")
    assert changes_left(lake)
    mysql.query(f"INSERT INTO {database}.log VALUES (9)")
    run_mirror(mysql, lake, tables, KIND, spark=spark, clean_up_seconds=1e-9)
    assert not changes_left(lake)


def killed_before_the_merge(statement: str) -> None:
    if statement.startswith("MERGE"):
        raise Killed


def killed_after_the_merge(spark: DeltaSpark, statement: str) -> None:
    if statement.startswith("MERGE"):
        spark.sql(statement)
        raise Killed


def killed_at(name: str) -> Callable[[str], None]:
    """Return what kills a mirror at its next step of a name."""

    def checkpoint(step: str) -> None:
        if step == name:
            raise Killed

    return checkpoint


@pytest.mark.mysql
def test_a_commit_of_another_program_right_before_the_merge_loses_nothing(
    mysql: Server, database: str, lake: Path, spark: MergeSession, delta_spark: DeltaSpark
) -> None:
    orders = create_orders(mysql, database)
    address = lake.joinpath(*orders.split("."))
    run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark, rows_per_chunk=100)
    vectors = f"ALTER TABLE delta.`{address}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    others: list[Callable[[], object]] = [
        lambda: opened(lake, orders).optimize.compact(),
        lambda: opened(lake, orders).alter.set_table_properties({"delta.checkpointInterval": "7"}),
        lambda: delta_spark.sql(vectors),
    ]
    for number, other in enumerate(others):
        files = len(opened(lake, orders).file_uris())
        mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = {number}")
        spark.before = right_before_the_merge(other)
        run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
        spark.before = lambda _statement: None
        assert_proven(mysql, lake, orders)
        found = parse_target(str(lake), Format.DELTA).table(TableName(*orders.split(".")))
        assert found is not None
        assert found.read().foreign == ()
        assert number > 0 or len(opened(lake, orders).file_uris()) < files
    assert opened(lake, orders).metadata().configuration["delta.enableDeletionVectors"] == "true"
    mysql.query(f"DELETE FROM {orders} WHERE id = 2")
    run_mirror(mysql, lake, f"{database}.*", spark=spark)  # by leaves: the tables are the same
    assert_proven(mysql, lake, orders)


def assert_proven(server: Server, lake: Path, name: str) -> None:
    """Check a table, also one with a feature that the readers of delta-rs do not support, though nothing uses it."""
    patterns = TablePatterns(frozenset({name}))
    report = check(reached(server), parse_target(str(lake), Format.DELTA), patterns, CheckSettings(wait_seconds=0))
    assert report.is_equal, "\n".join(report.lines())
    assert sum(table.rows for table in report.tables) > 0


def right_before_the_merge(other: Callable[[], object]) -> Callable[[str], None]:
    """Return what does something before a statement that is a `MERGE`."""
    return lambda statement: void(other()) if statement.startswith("MERGE") else None


def void(_value: object) -> None:
    """Return nothing."""


@pytest.mark.mysql
def test_a_target_that_is_full_or_read_only_while_changes_are_merged_gets_them_later(
    mysql: Server, database: str, tmp_path: Path, spark: MergeSession
) -> None:
    orders = create_orders(mysql, database)
    with small_disk(tmp_path / "disk", "8m") as disk:
        lake = disk / "lake"
        run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
        mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")
        spark.before = right_before_the_merge(lambda: remount(disk, "ro"))
        with pytest.raises(SourceError, match="Read-only file system"):
            run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
        remount(disk, "rw")
        spark.before = right_before_the_merge(lambda: fill(disk))
        with pytest.raises(SourceError, match="No space left on device"):
            run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
        (disk / "filler").unlink()
        spark.before = lambda _statement: None
        run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
        assert_equal(mysql, lake, orders)
        assert merges(lake, orders) == 1


@pytest.mark.mysql
def test_rows_that_another_program_deletes_right_before_the_merge_are_reported(
    mysql: Server, database: str, lake: Path, spark: MergeSession
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")

    def delete(statement: str) -> None:
        if statement.startswith("MERGE"):
            opened(lake, orders).delete("id = 5")

    spark.before = delete
    with pytest.raises(ForeignChanges, match="DELETE"):
        run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
    spark.before = lambda _statement: None
    with pytest.raises(ForeignChanges, match="DELETE"):
        run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)


@pytest.mark.mysql
def test_another_process_of_the_mirror_that_is_faster_is_noticed(
    mysql: Server, database: str, lake: Path, spark: MergeSession
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")

    def overtake(statement: str) -> None:
        if statement.startswith("MERGE"):
            mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")
            run_mirror(mysql, lake, f"{database}.*")

    spark.before = overtake
    with pytest.raises(OtherMirror, match="stop one of them"):
        run_mirror(mysql, lake, f"{database}.*", KIND, spark=spark)
    assert_equal(mysql, lake, orders)


@pytest.mark.mysql
@pytest.mark.usefixtures("delta_spark")  # which skips the test where Spark with the jar cannot be had
def test_a_mirror_with_the_jar_that_is_killed_equals_its_source(start_server: StartServer, lake: Path) -> None:
    variables = environment_with_binspark()
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.orders (id INT PRIMARY KEY, name VARCHAR(20), amount INT)")
    server.query("CREATE TABLE shop.log (a INT, b VARCHAR(5))")
    words = [sys.executable, "-m", "binspark", "mirror", "--no-defaults", "--host", f"127.0.0.1:{server.port}"]
    words += ["--user", "root", "--tables", "shop.*", "--target", str(lake), "--format", KIND, "--progress", "none"]
    words += ["--master", "local[*]"]
    chance = random.Random(5)
    with Writer(server, 13, seconds=0.4) as writer:  # each statement that changes tables takes a merge of its own
        for _ in range(KILLS):
            process = subprocess.Popen([*words, "--apply-every", "0"], env=variables, stderr=subprocess.PIPE)
            known = merges_so_far(lake)
            while merges_so_far(lake) <= known:
                assert process.poll() is None, process.communicate()[1].decode()
                time.sleep(0.2)
            time.sleep(chance.uniform(0, 3))
            process.kill()
            process.communicate()
    assert not writer.failures
    by_executors = [*words, "--once", "--local-bytes", "1"]
    last = subprocess.run(by_executors, env=variables, capture_output=True, text=True, check=False)
    assert last.returncode == 0, last.stderr
    assert_equal(server, lake, "shop.orders", "shop.log")


def merges_so_far(lake: Path) -> int:
    return merges(lake, "shop.orders") if DeltaTable.is_deltatable(str(lake / "shop" / "orders")) else 0
