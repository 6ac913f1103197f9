"""`binspark demo` with Spark: run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from binspark.cli.demo import QUICK_START, STEPS


@pytest.mark.slow
def test_the_tour_shows_its_code_and_what_it_found_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "binspark", "demo", "--output", str(tmp_path)]
    environment = os.environ | {"JAVA_TOOL_OPTIONS": QUICK_START, "COLUMNS": "120"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    shown = [line.rstrip() for line in done.stdout.splitlines()]
    for step in STEPS:
        assert any(line.startswith(step.title) for line in shown)
        assert set(step.code.splitlines()) <= set(shown)
    assert "|2026-11-15 09:02:39.955298|4efb89a3-e0d3-11f1-9fc1-02fc00000001:158|150   |54514.85|" in shown
    assert "|0-1-158|2026-11-15 09:02:41|150  |" in shown
    assert "|2026-11-15 09:02:39.832599|insert|60 |open     |NULL   |499.00|" in shown
    assert pq.read_table(tmp_path / "orders").num_rows == 391
    proven = {"shop.orders 1 True", "shop.products 5 True", "shop.order_lines 258 True", "shop.customers 7 True"}
    assert proven <= set(shown)
