"""The declarative pipeline of the examples: a streaming table that a second run adds nothing to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
import pytest

import binspark
from binspark.cli.demo import QUICK_START

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "src" / "binspark" / "data" / "shop" / "mysql"


def run(storage: Path) -> str:
    command = [sys.executable, str(ROOT / "examples" / "pipeline" / "run.py"), str(LOGS), str(storage)]
    environment = os.environ | {"JAVA_TOOL_OPTIONS": QUICK_START}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def rows(table: Path) -> list[dict[str, object]]:
    files = [str(path) for path in table.glob("part-*.parquet")]
    found: list[dict[str, object]] = ds.dataset(files).to_table().to_pylist()
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_pipeline_reads_every_change_once(tmp_path: Path) -> None:
    assert "Run is COMPLETED" in run(tmp_path)
    changes = list(binspark.rows(LOGS, tables=["shop.orders"]))
    first = rows(tmp_path / "tables" / "order_changes")
    positions = sorted((row["_log_file"], row["_log_pos"], row["_log_row"]) for row in first)
    assert positions == sorted((Path(change.file).name, change.pos, change.row) for change in changes)
    counted = {row["_op"]: row["rows"] for row in rows(tmp_path / "tables" / "orders_by_operation")}
    assert counted == {op: sum(change.op == op for change in changes) for op in {change.op for change in changes}}
    assert "Run is COMPLETED" in run(tmp_path)
    assert len(rows(tmp_path / "tables" / "order_changes")) == len(first)
