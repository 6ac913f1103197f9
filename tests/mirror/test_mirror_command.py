"""`binspark mirror`: its plan, its progress and its errors, as users see them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

from binspark.testing.servers import Server
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]


def words(server: Server, database: str, lake: Path, *more: str) -> list[str]:
    """Return the command line of a mirror."""
    server_words = ["--no-defaults", "--host", f"127.0.0.1:{server.port}", "--user", "root"]
    tables = ["--tables", f"{database}.*", "--target", str(lake)]
    return [sys.executable, "-m", "binspark", "mirror", *server_words, *tables, *more]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_the_plan_shows_what_will_be_done_and_does_nothing(mysql: Server, database: str, tmp_path: Path) -> None:
    create_orders(mysql, database)
    mysql.query(f"CREATE TABLE {database}.plain (a INT)")
    done = run(*words(mysql, database, tmp_path / "lake", "--dry-run"))
    assert done.returncode == 0, done.stderr
    assert f"{database}.orders: copy, about 500 rows, key id" in done.stdout
    assert "no key: it is locked for milliseconds" in done.stdout
    assert not (tmp_path / "lake").exists()


def test_a_table_that_the_server_does_not_have_is_reported(mysql: Server, database: str, tmp_path: Path) -> None:
    create_orders(mysql, database)
    command = words(mysql, database, tmp_path / "lake", "--once", "--progress", "lines")
    typo = f"no table that the user sees matches {database}.ordres; did you mean {database}.orders?"
    for more in (("--dry-run",), ()):
        done = run(*command, "--tables", f"{database}.ordres", *more)
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines().count(f"binspark: {typo}") == 1
    none = [f"{database}.x" if word == f"{database}.*" else word for word in command]
    for options in (["--dry-run"], ["--target", str(tmp_path / "other")]):
        done = run(*none, *options)
        assert done.returncode == 2
        assert f"(GRANT SELECT), got {database}.x" in done.stderr


def test_progress_is_json_lines_for_programs(mysql: Server, database: str, tmp_path: Path) -> None:
    orders = create_orders(mysql, database)
    done = run(*words(mysql, database, tmp_path / "lake", "--once", "--progress", "jsonl"))
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stderr.splitlines()[-1])
    assert [(table["table"], table["phase"]) for table in last["tables"]] == [(orders, "current")]
    assert (last["lag_bytes"], last["error"]) == (0, None)
    assert_equal(mysql, tmp_path / "lake", orders)


def test_an_interrupt_ends_a_mirror_in_order(mysql: Server, database: str, tmp_path: Path) -> None:
    orders = create_orders(mysql, database)
    command = words(mysql, database, tmp_path / "lake", "--apply-every", "200ms", "--progress", "jsonl")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        reports = (json.loads(line) for line in process.stderr if line.startswith('{"command"'))
        next(report for report in reports if report["lag_bytes"] == 0 and report["tables"][0]["phase"] == "current")
        mysql.query(f"DELETE FROM {orders} WHERE id > 100")
        file, offset, *_ = mysql.query("SHOW BINARY LOG STATUS")[0]
        next(report for report in reports if report["position"] == f"{file}:{offset}")
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    assert process.returncode == 0
    assert_equal(mysql, tmp_path / "lake", orders)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--apply-every", "soon"), "--apply-every must be a time span such as 30s, 5m, 1h or 7d, got 'soon'"),
        (("--resnapshot", "shop.*"), "--resnapshot must be the name of one table"),
        (("--catalog", "glue"), "--catalog is only valid with Iceberg"),
    ],
)
def test_wrong_options_are_named_as_they_were_typed(
    mysql: Server, database: str, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    done = run(*words(mysql, database, tmp_path / "lake", *options))
    assert done.returncode == 2
    assert message in done.stderr


def test_a_mirror_that_cannot_go_on_says_what_to_do(mysql: Server, database: str, tmp_path: Path) -> None:
    from deltalake import DeltaTable

    orders = create_orders(mysql, database)
    run(*words(mysql, database, tmp_path / "lake", "--once"))
    DeltaTable(str(tmp_path / "lake" / database / "orders")).delete("id < 10")
    done = run(*words(mysql, database, tmp_path / "lake", "--once"))
    assert done.returncode == 1
    assert f"--resnapshot {orders} copies it again" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_table_without_a_key_is_repaired_by_copying_it_again(mysql: Server, database: str, tmp_path: Path) -> None:
    orders, lake = create_orders(mysql, database), tmp_path / "lake"
    mysql.query(f"CREATE TABLE {database}.log (a INT, b VARCHAR(10))")
    mysql.query(f"INSERT INTO {database}.log VALUES (1, 'x'), (1, 'x'), (2, 'y')")
    assert run(*words(mysql, database, lake, "--once", "--progress", "none")).returncode == 0
    DeltaTable(str(lake / database / "log")).delete("a = 2")
    refused = run(*words(mysql, database, lake, "--check", "--repair", "--check-seconds", "0", "--accept-foreign"))
    assert refused.returncode == 1
    assert f"--repair --once or --resnapshot {database}.log" in refused.stdout
    mysql.query(f"DELETE FROM {orders} WHERE id < 9")
    mysql.query(f"INSERT INTO {database}.log VALUES (3, 'z')")
    done = run(*words(mysql, database, lake, "--check", "--repair", "--once", "--accept-foreign"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{database}.log: equal, 4 rows in 1 range; repaired: 1 row" in done.stdout
    assert_equal(mysql, lake, orders, f"{database}.log")


def _over_a_rotation(server: Server, database: str, lake: Path, environment: dict[str, str], *more: str) -> str:
    """Mirror a table, and a range of the log that is in two files; return what the command wrote."""
    orders = create_orders(server, database)
    command = words(server, database, lake, "--once", "--progress", "lines", *more)
    assert subprocess.run(command, capture_output=True, check=False, timeout=100, env=environment).returncode == 0
    server.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id < 50")
    server.query("FLUSH BINARY LOGS")
    server.query(f"DELETE FROM {orders} WHERE id > 100")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, env=environment)
    assert done.returncode == 0, done.stderr
    assert_equal(server, lake, orders)
    return done.stderr


@pytest.mark.parametrize("local_bytes", ["64m", "1"])
def test_a_range_over_a_rotation_needs_no_java(mysql: Server, database: str, tmp_path: Path, local_bytes: str) -> None:
    without_java = {**os.environ, "JAVA_HOME": str(tmp_path)}
    _over_a_rotation(mysql, database, tmp_path / "lake", without_java, "--local-bytes", local_bytes)


def test_a_small_range_over_a_rotation_does_not_start_the_spark_that_is_given(
    mysql: Server, database: str, tmp_path: Path
) -> None:
    without_java = {**os.environ, "JAVA_HOME": str(tmp_path)}
    _over_a_rotation(mysql, database, tmp_path / "lake", without_java, "--master", "local[1]")


def test_a_spark_that_is_given_and_cannot_start_is_an_error(mysql: Server, database: str, tmp_path: Path) -> None:
    create_orders(mysql, database)
    command = words(mysql, database, tmp_path / "lake", "--once", "--master", "local[1]", "--local-bytes", "1")
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, env=environment)
    assert done.returncode == 2
    assert "Spark needs Java 17 or later, but none was found" in done.stderr


def test_a_format_that_needs_spark_asks_for_it(mysql: Server, database: str, tmp_path: Path) -> None:
    create_orders(mysql, database)
    done = run(*words(mysql, database, tmp_path / "lake", "--once", "--format", "delta-merge"))
    assert done.returncode == 2
    assert "--format needs a Spark session (on the command line: --master 'local[*]')" in done.stderr
