"""Recorded logs of all kinds, cut in several ways: valid logs with exactly the rows that `rows` selects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.changes.selection_options import make_selection
from binspark.cut import CutOptions, cut_logs
from binspark.files import find_logs
from binspark.files.positions import part_between
from binspark.verify import verify_logs
from binspark.verify.findings import Severity
from tests.corpus.cases import case_of, corpus_logs

LOGS: dict[str, list[Path]] = {}
for _log in corpus_logs():
    if not _log.name.startswith("relay"):
        LOGS.setdefault(f"{case_of(_log)}/{_log.stem}", []).append(_log)
CUTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "tables": {"tables": "shop.*"},
    "without tables": {"exclude_tables": "shop.orders,shop.t"},
    "updates": {"operations": "update"},
}
LOADS = ("load-data", "load-data-failed")


def cut(logs: list[Path], target: Path, **options: Any) -> Path:
    selection = make_selection(dict(options))
    cut_logs(part_between(find_logs(logs), selection), target, CutOptions(selection))
    return target


def rows(logs: Any, **options: Any) -> list[tuple[object, ...]]:
    changes = binspark.rows(logs, **options)
    return [
        (change.op, change.schema, change.table, change.before, change.after, change.gtid)
        for change in changes
        if change.op != "truncate"
    ]


def problems(log: Path) -> list[tuple[str, str]]:
    findings = [finding for file in verify_logs(log).files for finding in file.findings]
    return [(finding.code, finding.message) for finding in findings if finding.severity is not Severity.INFO]


@pytest.mark.parametrize("logs", LOGS)
def test_a_log_that_is_cut_is_valid_and_has_the_rows_that_are_selected(logs: str, tmp_path: Path) -> None:
    for number, (name, options) in enumerate(CUTS.items(), 1):
        if options and logs.split("/")[1] in LOADS:
            with pytest.raises(binspark.Unsupported, match="LOAD DATA as statements cannot be cut by table"):
                cut(LOGS[logs], tmp_path / "refused", **options)
            continue
        target = cut(LOGS[logs], tmp_path / f"binlog.{number:06}", **options)
        assert [code for code, _ in problems(target)] == (["incident"] if "/incident/" in logs else []), name
        assert rows(target) == rows(LOGS[logs], **options), name


CONDITIONS = [name for name in LOGS if "format-row" in name or "compress" in name or name.endswith("types/binlog")]


@pytest.mark.parametrize("logs", CONDITIONS)
def test_rows_are_cut_by_a_condition(logs: str, tmp_path: Path) -> None:
    target = cut(LOGS[logs], tmp_path / "binlog.000001", where="id > 1")
    assert problems(target) == []
    assert rows(target) == rows(LOGS[logs], where="id > 1")


def test_conditions_are_tested_on_payloads_and_compressed_rows() -> None:
    assert any("compress" in name for name in CONDITIONS)
