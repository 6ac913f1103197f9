"""Logs that change between planning and reading: what was planned is read, or refused if it no longer exists."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from binspark.errors import SourceError
from binspark.files.split_reader import SplitReader
from binspark.files.splits import Split, split_logs
from binspark.files.storage.local import LocalFile
from binspark.frames import Framer
from binspark.testing.builder import BinlogBuilder, insert
from binspark.transactions import Ending
from tests.support.files.split_logs import ITEMS, KINDS, BuiltLog, built_log, overwritten
from tests.support.files.split_reading import (
    EVERYTHING,
    all_events,
    all_rows,
    history_of,
    plan,
    saved,
    small_reader,
    split_events,
    split_rows,
)

FLAGS = 4 + 17
IN_USE = 1
UNFINISHED = (Ending.UNFINISHED, Ending.INTERRUPTED, Ending.CRASH)
kinds = pytest.mark.parametrize("kind", KINDS)


def in_use(log: BuiltLog) -> bytes:
    return overwritten(log.content, FLAGS, bytes((log.content[FLAGS] | IN_USE,)))


@pytest.fixture(params=["grows", "is-closed", "is-copied-over"])
def change(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """What may happen to a log between planning and reading."""
    log = built_log("named-crc32")

    def grows(path: Path) -> None:
        path.write_bytes(in_use(log))

    def is_closed(path: Path) -> None:
        path.write_bytes(log.content)

    def is_copied_over(path: Path) -> None:
        copied = path.with_name("copy")
        shutil.copy(path, copied)
        copied.replace(path)

    return {"grows": grows, "is-closed": is_closed, "is-copied-over": is_copied_over}[request.param]


def test_what_was_planned_is_read_whatever_the_server_does_to_the_log(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    log = built_log("named-crc32")
    content = in_use(log)
    for length in (next(Framer().feed(content)).end_offset, 300, 1000, log.starts[4] + 30):
        path = saved(content[:length], tmp_path)
        planned = plan(path)
        change(path)
        reader = SplitReader(history_of(planned))
        found = split_events(split_logs([planned], 300), reader)
        assert found.events == [
            event for event in all_events(path.read_bytes(), str(path)).events if event.end_offset <= planned.size
        ]
        assert found.refusal is None
        assert split_rows(split_logs([planned], 300), reader) == all_rows(content[: planned.size], str(path))


def another_log(*, seconds: int = 0, transactions: int = 3) -> bytes:
    """Return the second log of a server; of two that begin in the same second, the first events are the same."""
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,)))
    for _ in range(transactions):
        log.timestamp += seconds
        log.rotate()
        log.transaction(insert(ITEMS, (2,)))
        log.transaction(insert(ITEMS, (3,)))
    log.mark_in_use()
    return log.content


def both_reads(split: Split) -> Iterator[Callable[[], object]]:
    reader = SplitReader(history_of())
    yield lambda: list(reader.events(split))
    yield lambda: _batches(reader, split)


def _batches(reader: SplitReader, split: Split) -> object:
    return list(reader.batches(split, lambda history: small_reader(EVERYTHING, history)))


@pytest.mark.parametrize("seconds", [0, 5], ids=["the-same-second", "later"])
def test_another_log_under_the_same_name_is_refused(seconds: int, tmp_path: Path) -> None:
    path = saved(another_log(transactions=1), tmp_path)
    planned = plan(path)
    path.write_bytes(another_log(seconds=seconds, transactions=2))
    assert path.stat().st_size >= planned.size
    for read in both_reads(Split((planned,), 200, None)):
        with pytest.raises(SourceError, match="another log has taken this name") as caught:
            read()
        assert caught.value.position.file == str(path)


def test_a_log_that_has_shrunk_is_refused(tmp_path: Path) -> None:
    content = built_log("named-crc32").content
    planned = plan(saved(content, tmp_path))
    saved(content[:-1], tmp_path)
    for read in both_reads(Split((planned,))):
        with pytest.raises(SourceError, match=f"it had {len(content)} when the read was planned"):
            read()


def test_a_missing_log_is_a_source_error(tmp_path: Path) -> None:
    path = saved(built_log("named-crc32").content, tmp_path)
    planned = plan(path)
    path.rename(tmp_path / "purged")
    for read in both_reads(Split((planned,), 700, None)):
        with pytest.raises(SourceError, match="No such file") as caught:
            read()
        assert caught.value.position.file == str(path)
    with pytest.raises(SourceError, match="No such file"):
        history_of(planned)
    with pytest.raises(SourceError, match="No such file"):
        plan(path)


def test_a_failing_disk_is_a_source_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan(saved(built_log("named-crc32").content, tmp_path))

    def fail(_file: LocalFile, _buffer: memoryview) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(LocalFile, "readinto", fail)
    for read in both_reads(Split((planned,))):
        with pytest.raises(SourceError, match="Input/output error") as caught:
            read()
        assert caught.value.position.file == planned.name
