"""`binspark export`: the files, that there are all or none, and the output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import binspark
from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.corpus.cases import case_logs

MYSQL = SHOP / "mysql"
LAST = MYSQL / "binlog.000003"
ORDERS = "shop.orders"


def files_in(folder: Path) -> list[str]:
    """List every file below a folder, hidden ones too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def exported(folder: Path, name: str) -> list[dict[str, object]]:
    """Return the rows of an exported table, file by file."""
    return [row for path in sorted((folder / name).iterdir()) for row in pq.ParquetFile(path).read().to_pylist()]


def without_nulls(row: dict[str, object]) -> dict[str, object]:
    """Return a row without NULLs, which it has for columns that were added later."""
    return {
        name: without_nulls(value) if isinstance(value, dict) else value
        for name, value in row.items()
        if value is not None
    }


@pytest.mark.parametrize("name", ["shop.customers", "shop.orders", "shop.order_lines", "shop.products"])
def test_what_is_read_back_equals_the_batches(tmp_path: Path, name: str) -> None:
    assert exit_code(["export", str(MYSQL), "-o", str(tmp_path / "out"), "--before"]) == 0
    items = [item for item in binspark.batches(MYSQL, before=True) if item.table.name == name]
    rows = [row for item in items for row in item.batch.to_pylist()]
    assert [without_nulls(row) for row in exported(tmp_path / "out", name)] == [without_nulls(row) for row in rows]


def test_files_of_a_table_whose_schema_changed_have_one_schema(tmp_path: Path) -> None:
    assert exit_code(["export", str(MYSQL), "-o", str(tmp_path / "out")]) == 0
    assert files_in(tmp_path / "out") == [
        "shop.customers/part-00000.parquet",
        "shop.order_lines/part-00000.parquet",
        "shop.orders/part-00000.parquet",
        "shop.orders/part-00001.parquet",
        "shop.products/part-00000.parquet",
    ]
    old, new = (pq.read_schema(path) for path in sorted((tmp_path / "out" / ORDERS).iterdir()))
    assert old == new
    assert "channel" in old.names


@pytest.mark.parametrize(
    "case", ["mysql/types", "mariadb/types", "mysql/invisible-generated", "mariadb/types-compressed"]
)
def test_every_type_can_be_written_and_read_back(tmp_path: Path, case: str) -> None:
    logs = case_logs(case)
    assert exit_code(["export", *map(str, logs), "-o", str(tmp_path / "out")]) == 0
    expected: dict[str, list[dict[str, object]]] = {}
    for item in binspark.batches(logs):
        expected.setdefault(item.table.name, []).extend(item.batch.to_pylist())
    assert len(expected) > 0
    assert {name: exported(tmp_path / "out", name) for name in expected} == expected


def test_metadata_columns_are_plain_text(tmp_path: Path) -> None:
    assert exit_code(["export", str(LAST), "-o", str(tmp_path / "out")]) == 0
    schema = pq.read_schema(tmp_path / "out" / ORDERS / "part-00000.parquet")
    assert [schema.field(name).type for name in ("_op", "_gtid", "_log_file")] == [pa.string()] * 3


def test_options_choose_rows_and_columns(tmp_path: Path) -> None:
    chosen = ["--tables", ORDERS, "--operations", "delete", "--columns", "id, total"]
    assert exit_code(["export", str(LAST), "-o", str(tmp_path / "out"), *chosen]) == 0
    rows = exported(tmp_path / "out", ORDERS)
    assert [row["id"] for row in rows] == list(range(1, 151))
    assert [name for name in rows[0] if not name.startswith("_")] == ["id", "total"]


def test_a_file_has_a_maximum_number_of_rows(tmp_path: Path) -> None:
    cut = ["--tables", ORDERS, "--rows-per-file", "60"]
    assert exit_code(["export", str(LAST), "-o", str(tmp_path / "out"), *cut]) == 0
    paths = sorted((tmp_path / "out" / ORDERS).iterdir())
    assert [pq.read_metadata(path).num_rows for path in paths] == [60, 60, 31]
    assert [row["id"] for row in exported(tmp_path / "out", ORDERS)] == list(range(1, 152))


def test_the_summary_counts_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["export", str(MYSQL), "-o", str(tmp_path / "out"), "--format", "jsonl"]) == 0
    captured = capsys.readouterr()
    shown = [json.loads(line) for line in captured.out.splitlines()]
    assert [(record["table"], record["rows"], record["files"]) for record in shown] == [
        ("customers", 7, 1),
        ("order_lines", 258, 1),
        ("orders", 391, 2),
        ("products", 263, 1),
    ]
    assert sum(record["bytes"] for record in shown) == sum(
        path.stat().st_size for path in (tmp_path / "out").rglob("*.parquet")
    )
    assert captured.err == ""


def test_a_person_gets_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["export", str(LAST), "-o", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["table", "rows", "files", "MB"]
    assert lines[-1].split()[:4] == ["total", "155", "3", "0.018"]


def test_a_folder_that_is_not_empty_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert exit_code(["export", str(LAST), "-o", str(tmp_path)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert files_in(tmp_path) == ["mine.txt"]


def test_overwriting_replaces_the_tables_of_an_earlier_export_and_nothing_else(tmp_path: Path) -> None:
    assert exit_code(["export", str(MYSQL), "-o", str(tmp_path)]) == 0
    (tmp_path / "mine.txt").write_text("mine")
    foreign = tmp_path / ORDERS / "part-00000-of-others.parquet"
    foreign.write_text("theirs")
    assert exit_code(["export", str(LAST), "-o", str(tmp_path), "--tables", ORDERS, "--overwrite"]) == 0
    assert files_in(tmp_path) == ["mine.txt", f"{ORDERS}/part-00000-of-others.parquet", f"{ORDERS}/part-00000.parquet"]
    assert pq.read_metadata(tmp_path / ORDERS / "part-00000.parquet").num_rows == 151


def test_damage_leaves_nothing_and_a_rerun_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut, out = tmp_path / "binlog.000001", tmp_path / "out"
    cut.write_bytes(LAST.read_bytes()[:7000])
    assert exit_code(["export", str(LAST), str(cut), "-o", str(out)]) == 1
    assert f"binspark: {cut}:" in capsys.readouterr().err
    assert not out.exists()
    assert exit_code(["export", str(LAST), "-o", str(out)]) == 0


def test_damage_keeps_an_earlier_export(tmp_path: Path) -> None:
    cut, out = tmp_path / "binlog.000001", tmp_path / "out"
    cut.write_bytes(LAST.read_bytes()[:7000])
    assert exit_code(["export", str(MYSQL), "-o", str(out)]) == 0
    before = {name: (out / name).read_bytes() for name in files_in(out)}
    assert exit_code(["export", str(cut), "-o", str(out), "--overwrite"]) == 1
    assert {name: (out / name).read_bytes() for name in files_in(out)} == before


def test_damage_can_be_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut, out = tmp_path / "binlog.000001", tmp_path / "out"
    cut.write_bytes(LAST.read_bytes()[:7000])
    assert exit_code(["export", str(cut), str(LAST), "-o", str(out), "--skip-damaged"]) == 1
    assert f"binspark: {cut}: skipped " in capsys.readouterr().err
    rows = exported(out, ORDERS)
    assert [sum(row["_log_file"] == name for row in rows) for name in ("binlog.000001", "binlog.000003")] == [151, 151]


def test_a_failure_while_writing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full_disk(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    out = tmp_path / "out"
    assert exit_code(["export", str(MYSQL), "-o", str(out)]) == 1
    assert capsys.readouterr().err == f"binspark: {out}: No space left on device\n"
    assert not out.exists()


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_file: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    assert exit_code(["export", str(MYSQL), "-o", str(tmp_path / "out")]) == 130
    assert not (tmp_path / "out").exists()


def test_a_killed_export_leaves_no_file_under_its_name_and_a_rerun_works(tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = (
        "import os, signal\n"
        "from binspark.cli.main import exit_code\n"
        "from binspark.kernels import cache\n"
        "cache.enable()\n"
        "os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"exit_code(['export', {str(MYSQL)!r}, '-o', {str(out)!r}])\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], env=os.environ, check=False)
    assert killed.returncode == -signal.SIGKILL
    left = files_in(out)
    assert len(left) > 0
    assert [name for name in left if not name.endswith(".partial")] == []
    assert exit_code(["export", str(LAST), "-o", str(out), "--tables", ORDERS]) == 0
    assert files_in(out) == [f"{ORDERS}/part-00000.parquet"]
    assert [path.name for path in out.iterdir()] == [ORDERS]


def test_many_tables_share_few_open_files(tmp_path: Path) -> None:
    from binspark.changes.selection_options import make_selection
    from binspark.export import Export, ExportOptions
    from binspark.files import find_logs
    from binspark.files.inputs import FileInput
    from binspark.schema import SchemaHistory

    tables = [table(f"shop.t{number}", integer("id")) for number in range(6)]
    log = BinlogBuilder()
    for _ in range(2):
        log.transaction(*(insert(each, (1,), (2,)) for each in tables))
        log.rotate()
    log.save(tmp_path)
    export = Export(make_selection({}), SchemaHistory(), ExportOptions(max_open_files=2))
    written = export.run([FileInput(source) for source in find_logs(tmp_path)], tmp_path / "out")
    assert [(each.rows, each.files) for each in written] == [(4, 2)] * 6
    assert len(exported(tmp_path / "out", "shop.t3")) == 4


def test_a_table_that_does_not_exist_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["export", str(LAST), "-o", str(tmp_path / "out"), "--tables", "shop.ordres"]) == 0
    assert "shop.ordres" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "-o"),
        (["-o", "out", "--columns", "id,nmae"], "nmae"),
        (["-o", "out", "--zero-dates", "zero"], "null"),
        (["-o", str(LAST)], "--output must be a directory, got the file"),
    ],
)
def test_wrong_use_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(["export", str(LAST), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert files_in(tmp_path) == []


def test_a_log_from_standard_input_is_exported(tmp_path: Path) -> None:
    command = f'{sys.executable} -m binspark export - -o "{tmp_path / "out"}" < "{LAST}"'
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "shop.orders" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_rows_of_minimal_images_keep_their_key(tmp_path: Path, family: str) -> None:
    logs = case_logs(f"{family}/image-minimal")
    assert exit_code(["export", *map(str, logs), "-o", str(tmp_path / "out")]) == 0
    changes = list(binspark.rows(logs))
    names = {f"{change.schema}.{change.table}" for change in changes if change.key is not None}
    assert names
    for name in names:
        logged = [change.key for change in changes if f"{change.schema}.{change.table}" == name]
        rows = exported(tmp_path / "out", name)
        assert len(rows) == len(logged) > 0
        for row, key in zip(rows, logged, strict=True):
            assert key is not None
            assert all(row[column] is not None for column in key)
            assert all(dict(row["_key"])[column] is not None for column in key)  # type: ignore[call-overload]
