"""Watching what is read: logs announce themselves, and their positions are those of the stored files."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from binspark.files.progress import ExpectedLog, Position, begin_job, is_watched, watched_by
from binspark.files.read import source_events
from binspark.files.sources import LogSource, expect_logs, find_logs
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar
from binspark.verify import verify_logs

fsspec = pytest.importorskip("fsspec")


class Recorder:
    """Records everything that it is given; `reached` has the last position of each log."""

    def __init__(self) -> None:
        self.expected: dict[str, int | None] = {}
        self.passes = 0
        self.jobs: list[tuple[str, int | None]] = []
        self.open: dict[str, Position] = {}
        self.reached: dict[str, int] = {}

    def expect(self, logs: Iterable[ExpectedLog], passes: int) -> None:
        self.expected |= {name: end() for name, end in logs}
        self.passes = passes

    def opened(self, name: str, position: Position) -> None:
        self.open[name] = position

    def closing(self, name: str, position: Position) -> None:
        assert self.open.pop(name) == position
        self.reached[name] = max(self.reached.get(name, 0), position())

    def begin(self, title: str, position: Position | None, total: int | None) -> None:
        assert position is None
        self.jobs.append((title, total))


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    watcher = Recorder()
    with watched_by(watcher):
        yield watcher
    assert not is_watched()


@pytest.fixture(scope="module")
def content() -> bytes:
    builder = BinlogBuilder()
    items = table("shop.items", integer("id"), varchar("name", 400))
    for number in range(1500):
        builder.transaction(insert(items, (number, f"{number:x}" * 60)))
    return builder.content


def test_a_log_is_read_to_its_end(recorder: Recorder, content: bytes, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(content)
    seen = [recorder.open[str(log)]() for _ in source_events(LogSource(str(log)))]
    assert seen == sorted(seen)
    assert 0 < seen[0] < seen[-1] == len(content)
    assert recorder.open == {}


def test_of_a_compressed_log_the_position_is_that_of_its_file(
    recorder: Recorder, content: bytes, tmp_path: Path
) -> None:
    log = tmp_path / "binlog.000001.gz"
    log.write_bytes(gzip.compress(content))
    source = LogSource(str(log))
    expect_logs([source], passes=2)
    for _ in source_events(source):
        pass
    assert (recorder.expected, recorder.passes) == ({str(log): log.stat().st_size}, 2)
    assert recorder.reached == {str(log): log.stat().st_size}


def test_standard_input_has_a_position_but_no_end(
    recorder: Recorder, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    sources = find_logs("-")
    expect_logs(sources)
    for _ in source_events(sources[0]):
        pass
    assert recorder.expected == {"-": None}
    assert recorder.reached == {"-": len(content)}


def test_a_remote_log_is_watched_as_a_local_one(recorder: Recorder, content: bytes) -> None:
    with fsspec.open("memory://watched/binlog.000001", "wb") as file:
        file.write(content)
    sources = find_logs("memory://watched/")
    expect_logs(sources)
    for _ in source_events(sources[0]):
        pass
    assert list(recorder.expected.values()) == [len(content)] == list(recorder.reached.values())


@pytest.mark.parametrize("name", ["local", "remote"])
def test_reads_at_an_offset_count_too(recorder: Recorder, content: bytes, tmp_path: Path, name: str) -> None:
    path = str(tmp_path / "binlog.000001") if name == "local" else "memory://watched_at/binlog.000001"
    with fsspec.open(path, "wb") as file:
        file.write(content)
    with LogSource(path).open() as log:
        log.read_at(100, 50)
        assert recorder.open[path]() == 150
        log.seek(len(content) - 10)
        log.read(10)
        assert recorder.open[path]() == len(content)
        log.read_at(200, 50)
        assert recorder.open[path]() == 250


def test_a_log_ends_where_reading_stops(recorder: Recorder, content: bytes, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(content)
    expect_logs([LogSource(str(log), stop=1000)])
    assert recorder.expected == {str(log): 1000}


def test_verify_announces_its_logs(recorder: Recorder, content: bytes, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(content)
    assert verify_logs(str(log)).ok
    assert recorder.expected == recorder.reached == {str(log): len(content)}


def test_a_job_is_announced_by_its_title(recorder: Recorder) -> None:
    begin_job("drawing")
    assert recorder.jobs == [("drawing", None)]


def test_without_a_watcher_nothing_is_announced(content: bytes, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(content)
    expect_logs([LogSource(str(log))])
    begin_job("drawing")
    assert not is_watched()
