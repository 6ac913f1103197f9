"""Executors of Spark make the same tables of a range as this process alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from binspark.errors import SchemaError, SourceError
from binspark.mirror.history import HistoryRecords
from binspark.mirror.leaves import LeafLimits
from binspark.mirror.leaves.begin_versions import BeginVersions
from binspark.mirror.referring_rows import ChangedParents, LoggedRows, StoredRows
from binspark.mirror.run import Mirror
from binspark.mirror.runners import local
from binspark.mirror.runners.runner import TableWork, TaskResult
from binspark.mirror.runners.spark import SparkRunner
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.snapshot.copy import ChunkCopier
from binspark.mirror.source.change_source import ReadTask, ServerChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.server.config import ConnectionConfig, PasswordRules
from binspark.testing.servers import MySQL, Server
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import FORMATS, assert_equal, rows_of, run_mirror
from tests.support.mirror.tables import reached
from tests.support.servers import StartServer

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]
SMALL = LeafLimits(leaf_bytes=4096, row_group_rows=200)


@pytest.fixture
def runner(spark: SparkSession) -> SparkRunner:
    """What runs ranges on Spark."""
    return SparkRunner(spark)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The directory of a target."""
    return tmp_path / "lake"


def run_on_spark(
    runner: SparkRunner,
    server: Server,
    lake: Path,
    tables: str,
    kind: Format = Format.DELTA,
    config: ConnectionConfig | None = None,
    **settings: Any,
) -> None:
    """Bring a mirror up to date, with all ranges and chunks run by Spark and small leaves."""
    patterns = TablePatterns(frozenset({tables}))
    checkpoint = settings.pop("checkpoint", lambda _step: None)
    given = {"retry_attempts": 0, "rows_per_chunk": 100, **settings}
    chosen = MirrorSettings(once=True, local_bytes=0, limits=SMALL, **given)
    source = ServerChanges(config or reached(server), patterns)
    target = parse_target(str(lake), kind)
    Mirror(source, target, patterns, chosen, spark_runner=lambda: runner, checkpoint=checkpoint).run()


@pytest.mark.parametrize("kind", [Format.DELTA, pytest.param(Format.ICEBERG, marks=pytest.mark.slow)])
def test_chunks_of_a_table_are_copied_by_executors(
    runner: SparkRunner, mysql: Server, database: str, lake: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = create_orders(mysql, database, 1000)
    monkeypatch.delattr(ChunkCopier, "copy")  # in this process: the workers of Spark have their own
    steps: list[str] = []

    class Crash(Exception):
        """A crash that this test wants."""

    def crash(step: str) -> None:
        steps.append(step)
        if steps.count("chunk") == 2:
            raise Crash

    with pytest.raises(Crash):
        run_on_spark(runner, mysql, lake, f"{database}.*", kind, checkpoint=crash)
    before = steps.copy()
    run_on_spark(runner, mysql, lake, f"{database}.*", kind, checkpoint=steps.append)
    assert "copied" not in before
    assert "copied" in steps
    assert_equal(mysql, lake, orders, kind=kind)


SUBMIT = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[1]"]


@pytest.mark.slow
@pytest.mark.parametrize(("begin", "more"), [(SUBMIT, []), ([sys.executable], ["--master", "local[1]"])])
def test_the_command_uses_the_spark_that_it_is_given(
    mysql: Server, database: str, tmp_path: Path, begin: list[str], more: list[str]
) -> None:
    orders = create_orders(mysql, database, 1000)
    program, events = tmp_path / "program.py", tmp_path / "events"
    program.write_text("from binspark.cli.main import run\n\nrun()\n")
    events.mkdir()
    settings = {"eventLog.enabled": "true", "eventLog.compress": "false", "eventLog.dir": events.as_uri()}
    lines = [f"spark.{name} {value}" for name, value in settings.items()]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines))
    words = ["mirror", "--no-defaults", "--host", f"127.0.0.1:{mysql.port}", "--user", "root", "--tables", orders]
    words += ["--target", str(tmp_path / "lake"), "--once", "--local-bytes", "1", *more]
    environment = {**os.environ, "SPARK_CONF_DIR": str(tmp_path), "PYSPARK_DRIVER_PYTHON": sys.executable}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([*begin, str(program), *words], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    logged = "".join(path.read_text() for path in events.rglob("*") if path.is_file())
    assert f"binspark mirror: copy a chunk of {orders}" in logged
    assert_equal(mysql, tmp_path / "lake", orders)


def test_a_table_that_is_altered_while_executors_copy_it_is_copied_again(
    runner: SparkRunner, mysql: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    orders = create_orders(mysql, database, 1000)
    altered: list[str] = []

    def alter(step: str) -> None:
        if step == "chunk" and not altered:
            altered.append(step)
            mysql.query(f"ALTER TABLE {orders} DROP COLUMN name")

    run_on_spark(runner, mysql, lake, f"{database}.*", checkpoint=alter)
    assert altered
    assert "is copied again from the beginning" in caplog.text
    assert_equal(mysql, lake, orders)


def test_no_plan_of_spark_has_the_password(
    runner: SparkRunner, spark: SparkSession, mysql: Server, database: str, lake: Path
) -> None:
    orders = create_orders(mysql, database, 200)
    mysql.query(f"CREATE USER {database}@'%' IDENTIFIED BY 'secret-word'")
    mysql.query(f"GRANT ALL ON *.* TO {database}@'%'")
    try:
        rules = PasswordRules(get_server_public_key=True)
        config = replace(reached(mysql), user=database, password="secret-word", password_rules=rules)
        run_on_spark(runner, mysql, lake, f"{database}.*", config=config)
        mysql.query(f"UPDATE {orders} SET amount = 1")
        run_on_spark(runner, mysql, lake, f"{database}.*", config=config)
    finally:
        mysql.query(f"DROP USER {database}@'%'")
    listed = spark._jsparkSession.sharedState().statusStore().executionsList()
    executions = [listed.apply(number) for number in range(listed.size())]
    shown = "".join(f"{one.description()}{one.physicalPlanDescription()}{one.details()}" for one in executions)
    assert f"copy a chunk of {orders}" in shown
    assert "secret-word" not in shown


@pytest.mark.parametrize("kind", FORMATS)
def test_changes_of_several_tables_are_applied_by_executors(
    runner: SparkRunner, mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    orders = create_orders(mysql, database, 1000)
    mysql.query(f"CREATE TABLE {database}.log (a INT, b VARCHAR(9))")
    run_mirror(mysql, lake, f"{database}.*", kind, limits=SMALL)
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")
    mysql.query(f"UPDATE {orders} SET id = id + 10000 WHERE id % 100 = 0")
    mysql.query(f"INSERT INTO {database}.log SELECT id % 5, name FROM {orders}")
    mysql.query(f"DELETE FROM {orders} WHERE id BETWEEN 700 AND 900")
    run_on_spark(runner, mysql, lake, f"{database}.*", kind)
    assert_equal(mysql, lake, orders, f"{database}.log", kind=kind)


def test_executors_keep_the_versions_of_rows(runner: SparkRunner, mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database, 300)
    run_mirror(mysql, lake, orders, limits=SMALL, scd2=True)
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id <= 100")
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id <= 50")
    mysql.query(f"DELETE FROM {orders} WHERE id > 290")
    run_on_spark(runner, mysql, lake, orders, scd2=True)
    versions = rows_of(lake, f"{orders}__scd2")
    assert versions.num_rows == 300 + 100 + 50
    current = versions.filter(versions["_is_current"])
    assert set(current["id"].to_pylist()) == set(range(1, 291))
    assert_equal(mysql, lake, orders)


def test_executors_let_versions_begin_and_begin_again(
    runner: SparkRunner, mysql: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(BeginVersions, "__call__")  # in this process: the workers of Spark have their own
    orders = create_orders(mysql, database, 300)
    run_on_spark(runner, mysql, lake, orders, scd2=True)
    versions = rows_of(lake, f"{orders}__scd2")
    assert versions.num_rows == 300
    assert all(versions["_is_current"].to_pylist())
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id <= 100")
    mysql.query(f"DELETE FROM {orders} WHERE id > 290")
    run_on_spark(runner, mysql, lake, orders, scd2=True, resnapshot=(orders,))
    versions = rows_of(lake, f"{orders}__scd2")
    assert versions.num_rows == 300 + 100
    assert set(versions.filter(versions["_is_current"])["id"].to_pylist()) == set(range(1, 291))
    assert_equal(mysql, lake, orders)


@pytest.mark.parametrize("kind", [Format.DELTA, pytest.param(Format.ICEBERG, marks=pytest.mark.slow)])
def test_executors_write_the_history(
    runner: SparkRunner, mysql: Server, database: str, lake: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = create_orders(mysql, database, 300)
    run_mirror(mysql, lake, orders, kind, history=True)
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id <= 100")
    monkeypatch.delattr(HistoryRecords, "records")  # in this process: the workers of Spark have their own
    run_on_spark(runner, mysql, lake, orders, kind, history=True)
    mysql.query(f"DELETE FROM {orders} WHERE id > 290")
    run_on_spark(runner, mysql, lake, orders, kind, history=True)
    changes = rows_of(lake, "binspark_history.changes", kind).sort_by("_seq")
    assert changes["_op"].to_pylist() == ["update"] * 100 + ["delete"] * 10
    assert_equal(mysql, lake, orders, kind=kind)


class Interrupted(SparkRunner):
    """Lets a worker of Spark be killed before the first range is run."""

    def __init__(self, spark: SparkSession, marker: Path) -> None:
        super().__init__(spark)
        self.lost: list[SourceError] = []
        self._kill = partial(exec, _KILL_ONCE.format(marker=str(marker)), {})

    def run(self, parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> list[TaskResult]:
        try:
            self.each([self._kill], "be killed once")
        except SourceError as error:
            self.lost.append(error)
            raise
        return super().run(parts, tables)


_KILL_ONCE = """
import os, pathlib, signal
marker = pathlib.Path({marker!r})
if not marker.exists():
    marker.touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_mirror_goes_on_after_a_worker_was_killed(
    spark: SparkSession, mysql: Server, database: str, lake: Path
) -> None:
    orders = create_orders(mysql, database, 300)
    run_mirror(mysql, lake, orders, limits=SMALL)
    mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id <= 100")
    runner = Interrupted(spark, lake / "killed")
    run_on_spark(runner, mysql, lake, orders, retry_attempts=1)
    [error] = runner.lost
    assert "Spark lost a process that worked for it" in error.message
    assert_equal(mysql, lake, orders)


def test_partial_rows_that_moved_are_completed_by_an_executor(
    runner: SparkRunner, start_server: StartServer, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_server(MySQL, {"binlog-row-image": "MINIMAL"})
    orders = create_orders(server, "shop", 1000)
    run_mirror(server, lake, "shop.*", limits=SMALL)
    server.query(f"UPDATE {orders} SET id = id + 5000 WHERE id < 100")
    server.query(f"UPDATE {orders} SET amount = -1 WHERE id > 5050")
    monkeypatch.delattr(local, "read_moves")  # in this process: the workers of Spark have their own
    run_on_spark(runner, server, lake, "shop.*")
    assert_equal(server, lake, orders)


@pytest.mark.mariadb
def test_rows_that_foreign_keys_change_are_found_by_executors(
    runner: SparkRunner, mariadb: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mariadb.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE c (id INT "
        "PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE); INSERT INTO p VALUES (1), (2);"
        "INSERT INTO c VALUES (1, 1), (2, 2)"
    )
    run_mirror(mariadb, lake, f"{database}.*")
    mariadb.run_sql(f"INSERT INTO {database}.c VALUES (3, 1), (4, 2); DELETE FROM {database}.p WHERE id = 1")
    for job in (ChangedParents, StoredRows, LoggedRows):
        monkeypatch.delattr(job, "__call__")  # in this process: the workers of Spark have their own
    run_on_spark(runner, mariadb, lake, f"{database}.*")
    assert_equal(mariadb, lake, f"{database}.p", f"{database}.c")


def test_an_error_of_an_executor_is_the_error_of_the_mirror(
    runner: SparkRunner, mysql: Server, database: str, lake: Path
) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query("SET GLOBAL sql_mode = ''")
    mysql.query(f"CREATE TABLE {database}.days (day DATE PRIMARY KEY)")
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"INSERT INTO {database}.days VALUES ('0000-00-00')")
    with pytest.raises(SchemaError, match=r"column day of the key is NULL.*--zero-dates string"):
        run_on_spark(runner, mysql, lake, f"{database}.*")
