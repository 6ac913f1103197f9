"""The kernel of a dump prints what the reference prints, wherever memory ends and however little room there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from binspark.cli.main import main
from binspark.dump.mariadb import bulk, dumper
from binspark.kernels.mariadb_binlog.layout import Dump
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert, integer, table
from tests.corpus.cases import corpus_logs, log_id

LOGS = corpus_logs("mariadb", truncated=True)
OPTION_SETS = (
    (),
    ("-v",),
    ("-vv", "--base64-output=decode-rows"),
    ("--print-table-metadata", "--skip-print-row-count", "--skip-annotate-row-events"),
    ("--skip-print-row-event-positions", "--base64-output=never", "--timezone=America/St_Johns"),
)
LITTLE_ROOM = {Dump.OUT: 40_000, Dump.HEAD: 8_000, Dump.BODY: 9_000, Dump.TAIL: 5_000}


def dump(log: Path, folder: Path) -> list[tuple[bytes, str]]:
    """Return what is printed with each set of options, and the messages."""
    printed = []
    for options in OPTION_SETS:
        arguments = ["dump", f"--local-load={folder}", *options, str(log)]
        result = CliRunner().invoke(main, arguments, standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        printed.append((result.stdout_bytes, result.stderr))
        for file in folder.iterdir():
            file.unlink()
    return printed


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_the_kernel_prints_what_the_reference_prints(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = dump(log, tmp_path)
    monkeypatch.setattr(dumper, "MIN_BULK_BYTES", 0)
    assert dump(log, tmp_path) == expected
    monkeypatch.setattr(bulk, "READ_BYTES", 500)
    monkeypatch.setattr(bulk, "REGIONS", LITTLE_ROOM)
    assert dump(log, tmp_path) == expected


def test_the_kernel_leaves_sequence_numbers_of_64_bits_to_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = BinlogBuilder(MARIADB_10_11)
    for sequence in (1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1):
        builder.transaction(insert(table("shop.items", integer("id")), (1,)), gtid=f"0-1-{sequence}")
    builder.stop()
    (log,) = builder.save(tmp_path)
    (tmp_path / "loaded").mkdir()
    expected = dump(log, tmp_path / "loaded")
    assert b"GTID 0-1-18446744073709551615" in expected[0][0]
    monkeypatch.setattr(dumper, "MIN_BULK_BYTES", 0)
    assert dump(log, tmp_path / "loaded") == expected
