"""The parts of an archiver by themselves: writing, syncing, lag, settings."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from binspark.archive.settings import ArchiveSettings
from binspark.archive.writer import ActiveLog, Appender, Syncer
from binspark.errors import Malformed, OptionError, SourceError
from binspark.replication.chunk import LogChunk
from binspark.server.info import ServerLog, bytes_after
from binspark.testing.builder import BinlogBuilder
from tests.support.replication.scripted_channel import FORMAT
from tests.support.replication.scripted_server import events_of


class CountedLog(ActiveLog):
    """A log that counts how often it is synced, or fails to be."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(Path("binlog.000001"), -1, 0)
        self.syncs = 0
        self._fails = fails

    def sync(self) -> None:
        if self._fails:
            raise SourceError(os.strerror(5))
        self.syncs += 1


def attend(syncer: Syncer, log: ActiveLog) -> None:
    """Attend to a log, and wait for what is begun."""
    syncer.attend(log)
    while syncer.is_running:
        time.sleep(0.001)


def test_what_ends_a_transaction_is_synced() -> None:
    syncer, log = Syncer(0, 1 << 30), CountedLog()
    syncer.written(100, ends_transaction=False)
    attend(syncer, log)
    assert log.syncs == 0
    syncer.written(100, ends_transaction=True)
    attend(syncer, log)
    attend(syncer, log)
    assert log.syncs == 1
    syncer.close()


def test_many_bytes_are_synced_at_once() -> None:
    syncer, log = Syncer(3600, 1000), CountedLog()
    syncer.written(999, ends_transaction=True)
    attend(syncer, log)
    assert log.syncs == 0
    syncer.written(1, ends_transaction=False)
    attend(syncer, log)
    assert log.syncs == 1
    syncer.close()


def test_a_disk_that_fails_is_reported() -> None:
    syncer, log = Syncer(0, 1 << 30), CountedLog(fails=True)
    syncer.written(1, ends_transaction=True)
    attend(syncer, log)
    with pytest.raises(SourceError, match="Input/output error"):
        syncer.attend(log)
    syncer.close()


SIZES = (10, 1 << 20, 7, 1 << 18, 1 << 18)


def begun_log(folder: Path) -> ActiveLog:
    return ActiveLog.create(folder / "binlog.000001", memoryview(events_of(BinlogBuilder().content)[0]))


def chunk_of(log: ActiveLog, offset: int, data: bytes) -> LogChunk:
    return LogChunk(log.name, offset, FORMAT, memoryview(data))


def test_chunks_of_any_size_are_written_one_after_the_other(tmp_path: Path) -> None:
    log, written = begun_log(tmp_path), []
    start = offset = log.size
    chunks = []
    for number, size in enumerate(SIZES):
        chunks.append(chunk_of(log, offset, bytes((number,)) * size))
        offset += size
    appender = Appender(lambda chunk, count: written.append((chunk.offset, count)))
    for chunk in chunks:
        appender.append(log, chunk)
    appender.wait()
    appender.close()
    assert log.path.read_bytes()[start:] == b"".join(chunk.data for chunk in chunks)
    assert written == [(chunk.offset, len(chunk.data)) for chunk in chunks]
    log.close()


def test_what_goes_wrong_in_the_background_is_reported(tmp_path: Path) -> None:
    log = begun_log(tmp_path)
    appender = Appender(lambda _chunk, _count: None)
    appender.append(log, chunk_of(log, log.size + 1, bytes(1 << 20)))
    with pytest.raises(Malformed, match="the copy ends at"):
        appender.append(log, chunk_of(log, log.size, b"next"))
    appender.close()
    log.close()


LOGS = (ServerLog("binlog.000009", 100), ServerLog("binlog.000010", 200), ServerLog("binlog.000011", 50))


@pytest.mark.parametrize(
    ("file", "offset", "lag"),
    [
        ("binlog.000009", 30, 320),
        ("binlog.000010", 4, 246),
        ("binlog.000011", 50, 0),
        ("binlog.000011", 70, 0),
        ("binlog.000008", 500, 350),
        ("binlog.000001", 0, 350),
    ],
)
def test_lag_is_counted_over_files(file: str, offset: int, lag: int) -> None:
    assert bytes_after(LOGS, file, offset) == lag


@pytest.mark.parametrize(
    "wrong", [{"sync_seconds": -1}, {"progress_seconds": -1}, {"upload_seconds": 0}, {"start": "0-1-2"}], ids=str
)
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=f"^{next(iter(wrong))} must be"):
        ArchiveSettings(**wrong)  # type: ignore[arg-type]
