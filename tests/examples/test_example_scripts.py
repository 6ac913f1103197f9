"""The scripts in `examples/`: each runs as its docstring says, finds what happened in the shop, and is quiet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from binspark.cli.demo import QUICK_START

EXAMPLES = Path(__file__).parents[2] / "examples"
MARIADB = Path(__file__).parents[2] / "src" / "binspark" / "data" / "shop" / "mariadb"

pytestmark = pytest.mark.slow


def run_example(name: str, folder: Path, *arguments: str) -> list[str]:
    """Run a script in an empty folder; return its lines. It may say nothing on standard error."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    environment = os.environ | {"JAVA_TOOL_OPTIONS": QUICK_START}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_the_tour_counts_the_deleted_orders_and_shows_the_last_transaction(tmp_path: Path) -> None:
    shown = run_example("tour.py", tmp_path)
    assert "|  shop|     orders|        151|         90|        150|26686|" in shown
    assert "|2026-11-15 09:02:39.955298|4efb89a3-e0d3-11f1-9fc1-02fc00000001:158|150  |" in shown
    assert any('{"order_id":151,"product_id":4,"quantity":3}' in line for line in shown)
    assert list(tmp_path.iterdir()) == []


def test_who_deleted_names_transaction_connection_and_statement(tmp_path: Path) -> None:
    shown = run_example("who_deleted.py", tmp_path)
    statement = "DELETE FROM orders WHERE status = 'cancelled' OR id > 0 /* ticket 4711: remove order 42 */"
    assert shown[1:] == [
        " committed | 2026-11-15 09:02:39.955298",
        " gtid      | 4efb89a3-e0d3-11f1-9fc1-02fc00000001:158",
        " server_id | 1",
        " thread_id | 10",
        " file      | binlog.000003",
        " pos       | 629",
        " rows      | 150",
        f" statement | {statement}",
        "",
    ]


def test_who_deleted_reads_other_logs_too(tmp_path: Path) -> None:
    shown = run_example("who_deleted.py", tmp_path, str(MARIADB), "shop.orders")
    assert " gtid      | 0-1-158" in shown
    assert any("ticket 4711" in line for line in shown)


def test_sql_alone_describes_counts_and_selects(tmp_path: Path) -> None:
    shown = run_example("sql_view.py", tmp_path)
    assert any(line.startswith("|       total|") and "decimal(10,2)" in line for line in shown)
    assert "|   shop|     orders|delete| 150|           1|" in shown
    assert sum("09:02:39.955298|orders|" in line for line in shown) == 3


def test_every_table_becomes_a_folder_of_parquet(tmp_path: Path) -> None:
    shown = run_example("to_parquet.py", tmp_path, str(MARIADB), "changes")
    assert "|shop.orders|delete|150  |" in shown
    rows = {folder.name: pq.read_table(folder).num_rows for folder in (tmp_path / "changes").iterdir()}
    assert rows == {"shop.customers": 7, "shop.order_lines": 258, "shop.orders": 391, "shop.products": 263}
