"""The parts of an archiver and a tail by themselves: writing, syncing, lag, bytes that are held."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from binspark.archive.progress import bytes_behind
from binspark.archive.settings import ArchiveSettings
from binspark.archive.writer import Appender, GrowingLog, Syncer
from binspark.client.bulk.follow_pieces import _Holding
from binspark.client.bulk.held_run import HeldRun
from binspark.client.bulk.runs import Run
from binspark.client.facts import ServerLog
from binspark.client.identity import ServerIdentity
from binspark.client.resume import ResumePoint
from binspark.errors import Malformed, OptionError, SourceError
from binspark.testing.builder import BinlogBuilder
from tests.support.archive.stream_script import FORMAT, events_of


class CountedLog(GrowingLog):
    """A log that counts how often it is brought to disk, or fails to be."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(Path("binlog.000001"), -1, 0)
        self.syncs = 0
        self._fails = fails

    def sync(self) -> None:
        if self._fails:
            raise SourceError(os.strerror(5))
        self.syncs += 1


def looked(syncer: Syncer, log: GrowingLog) -> None:
    """Look, and wait for what is begun."""
    syncer.look(log)
    if syncer._running is not None:
        syncer._running.exception()


def test_what_ends_a_transaction_is_synced() -> None:
    syncer, log = Syncer(0, 1 << 30), CountedLog()
    syncer.written(100, ends_transaction=False)
    looked(syncer, log)
    assert log.syncs == 0
    syncer.written(100, ends_transaction=True)
    looked(syncer, log)
    looked(syncer, log)
    assert log.syncs == 1
    syncer.close()


def test_many_bytes_are_synced_at_once() -> None:
    syncer, log = Syncer(3600, 1000), CountedLog()
    syncer.written(999, ends_transaction=True)
    looked(syncer, log)
    assert log.syncs == 0
    syncer.written(1, ends_transaction=False)
    looked(syncer, log)
    assert log.syncs == 1
    syncer.close()


def test_a_disk_that_fails_is_told() -> None:
    syncer, log = Syncer(0, 1 << 30), CountedLog(fails=True)
    syncer.written(1, ends_transaction=True)
    looked(syncer, log)
    with pytest.raises(SourceError, match="Input/output error"):
        syncer.look(log)
    syncer.close()


SIZES = (10, 1 << 20, 7, 1 << 18, 1 << 18)


def begun_log(folder: Path) -> GrowingLog:
    return GrowingLog.create(folder / "binlog.000001", memoryview(events_of(BinlogBuilder().content)[0]))


def test_runs_of_any_size_are_written_one_behind_the_other(tmp_path: Path) -> None:
    log, told = begun_log(tmp_path), []
    start = offset = log.size
    runs = []
    for number, size in enumerate(SIZES):
        runs.append(run_of(log.name, offset, bytes((number,)) * size, offset + size))
        offset += size
    appender = Appender(lambda run, count: told.append((run.offset, count)))
    for run in runs:
        appender.append(log, run)
    appender.settle()
    appender.close()
    assert log.path.read_bytes()[start:] == b"".join(bytes(run.data) for run in runs)
    assert told == [(run.offset, len(run.data)) for run in runs]
    log.close()


def test_what_goes_wrong_in_the_background_is_told(tmp_path: Path) -> None:
    log = begun_log(tmp_path)
    appender = Appender(lambda _run, _count: None)
    appender.append(log, run_of(log.name, log.size + 1, bytes(1 << 20), None))
    with pytest.raises(Malformed, match="the copy ends at"):
        appender.append(log, run_of(log.name, log.size, b"next", None))
    appender.close()
    log.close()


LOGS = (ServerLog("binlog.000009", 100), ServerLog("binlog.000010", 200), ServerLog("binlog.000011", 50))


@pytest.mark.parametrize(
    ("file", "offset", "behind"),
    [
        ("binlog.000009", 30, 320),
        ("binlog.000010", 4, 246),
        ("binlog.000011", 50, 0),
        ("binlog.000011", 70, 0),
        ("binlog.000008", 500, 350),
        ("binlog.000001", 0, 350),
    ],
)
def test_lag_is_counted_over_files(file: str, offset: int, behind: int) -> None:
    assert bytes_behind(LOGS, file, offset) == behind


@pytest.mark.parametrize(
    "wrong", [{"sync_seconds": -1}, {"report_seconds": -1}, {"upload_seconds": 0}, {"start": "0-1-2"}], ids=str
)
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError):
        ArchiveSettings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("memory_bytes", [1 << 20, 100, 0])
def test_bytes_are_held_in_memory_or_in_a_file(memory_bytes: int) -> None:
    held = HeldRun("binlog.000001", 1000, FORMAT, memory_bytes)
    content = bytes(range(256)) * 4
    for start in range(0, len(content), 100):
        held.add(memoryview(content)[start : start + 100], is_odd=start == 900)
    assert (held.end, held.is_odd) == (2024, True)
    first, rest = held.cut(1700, FORMAT)
    del held
    assert bytes(first) == content[:700]
    assert (rest.offset, rest.end, rest.is_odd) == (1700, 2024, True)
    last, nothing = rest.cut(2024, FORMAT)
    assert bytes(last) == content[700:]
    assert (nothing.offset, nothing.end, nothing.is_odd) == (2024, 2024, False)


SERVER = ServerIdentity(FORMAT.family, "server", 1, gtids_enabled=False)


def run_of(file: str, offset: int, data: bytes, whole_end: int | None) -> Run:
    return Run(file, offset, memoryview(data), whole_end, offset, 0, FORMAT)


def test_what_a_crash_cut_short_is_left_out_and_told(caplog: pytest.LogCaptureFixture) -> None:
    holding = _Holding(ResumePoint("binlog.000001", 4), SERVER, 1 << 20)
    with caplog.at_level(logging.WARNING):
        holding.add(run_of("binlog.000001", 4, b"whole|cut", 10))
        holding.add(run_of("binlog.000001", 13, b"", None))
        assert bytes(holding.take().data) == b"whole|"
        holding.add(run_of("binlog.000002", 4, b"next", 8))
        piece = holding.take()
    assert (piece.file, piece.offset, bytes(piece.data)) == ("binlog.000002", 4, b"next")
    assert [record.getMessage() for record in caplog.records] == [
        "binlog.000001:10: a transaction that a crash cut short is left out: it was not committed"
    ]
