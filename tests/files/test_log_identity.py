"""The identity of a log changes when another log takes its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from binspark.errors import SourceError
from binspark.files import LogSource
from binspark.files.storage.filesystems import System

IN_USE = 4 + 17


@pytest.fixture
def path(tmp_path: Path, log: bytes) -> Path:
    file = tmp_path / "binlog.000001"
    file.write_bytes(log)
    return file


def later(log: bytes) -> bytes:
    """Return the same log as if it had been written a second later."""
    return log[:4] + bytes([log[4] ^ 1]) + log[5:]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_identity_stays_when_a_log_grows(path: Path, scheme: str) -> None:
    source = LogSource(f"{scheme}{path}")
    before = source.identity()
    with path.open("ab") as file:
        file.write(b"more")
    os.utime(path, (0, 0))
    assert source.identity() == before


def test_identity_stays_when_a_log_is_closed(path: Path, log: bytes) -> None:
    before = LogSource(str(path)).identity()
    with path.open("r+b") as file:
        file.seek(IN_USE)
        file.write(bytes([log[IN_USE] ^ 1]))
    assert LogSource(str(path)).identity() == before


def test_identity_changes_with_another_file_of_the_same_name(path: Path, log: bytes) -> None:
    before = LogSource(str(path)).identity()
    other = path.with_name("other")
    other.write_bytes(log)
    other.rename(path)
    assert LogSource(str(path)).identity() != before


def test_identity_changes_with_another_log_in_the_same_inode(path: Path, log: bytes) -> None:
    before = LogSource(str(path)).identity()
    path.write_bytes(later(log))
    assert LogSource(str(path)).identity() != before


def test_identity_is_the_time_where_the_store_reports_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow.fs import LocalFileSystem

    system = System(LocalFileSystem(), str(path.parent))
    monkeypatch.setattr("binspark.files.storage.remote.open_system", lambda *_: system)
    source = LogSource("hdfs://host/binlog.000001")
    before = source.identity()
    assert source.identity() == before
    os.utime(path, (0, 0))
    assert source.identity() != before


def test_a_missing_log_has_no_identity(path: Path) -> None:
    path.unlink()
    with pytest.raises(SourceError, match=r"binlog\.000001: No such file"):
        LogSource(str(path)).identity()
