"""Open logs, local and remote: read in order or at an offset."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import SourceError
from binspark.files import LogFile, LogSource, Storage
from binspark.files.storage.local import LocalFile
from binspark.files.storage.remote import MAX_READ_AHEAD, MIN_READ_AHEAD, RemoteFile

CONTENT = bytes(range(256)) * 8


class RecordedFile(io.BytesIO):
    """A file in remote storage that records requests. Reading at an offset moves it, as some file systems do."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.requested: list[int] = []

    def size(self) -> int:
        return len(self.getbuffer())

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self.requested.append(len(buffer))
        return super().readinto(buffer)

    def read_at(self, length: int, offset: int) -> bytes:
        self.seek(offset)
        return self.read(length)


def remote(content: bytes = CONTENT) -> tuple[LogFile, RecordedFile]:
    recorded = RecordedFile(content)
    return LogFile(RemoteFile(recorded, "s3://bucket/log", Storage()), MAX_READ_AHEAD), recorded


def local(folder: Path) -> LogFile:
    path = folder / "log"
    path.write_bytes(CONTENT)
    return LogFile(LocalFile(str(path)))


STEPS = st.one_of(
    st.tuples(st.just("read"), st.integers(0, 700)),
    st.tuples(st.just("readinto"), st.integers(0, 700)),
    st.tuples(st.just("seek"), st.integers(0, len(CONTENT) + 50)),
    st.tuples(st.just("read_at"), st.integers(0, len(CONTENT) + 50)),
)


def take(file: LogFile | io.BytesIO, step: str, number: int) -> object:
    """Do a step and return its result; a file in memory reads at an offset by slicing."""
    if step == "readinto":
        buffer = bytearray(number)
        count = file.readinto(buffer)
        return bytes(buffer[:count])
    if step == "read_at":
        return file.read_at(number, 100) if isinstance(file, LogFile) else CONTENT[number : number + 100]
    return getattr(file, step)(number)


@pytest.mark.parametrize("where", ["local", "remote"])
def test_any_way_of_reading_gives_the_bytes_of_the_log(where: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    opened: dict[str, Callable[[], LogFile]] = {
        "local": lambda: local(tmp_path_factory.mktemp("logs")),
        "remote": lambda: remote()[0],
    }
    with opened[where]() as file:

        @given(st.lists(STEPS, max_size=12))
        def check(steps: list[tuple[str, int]]) -> None:
            model = io.BytesIO(CONTENT)
            file.seek(0)
            assert [take(file, *step) for step in steps] == [take(model, *step) for step in steps]
            assert file.tell() == model.tell()

        check()


def test_the_first_read_requests_little() -> None:
    file, recorded = remote(bytes(2 * MAX_READ_AHEAD))
    file.read(19)
    assert recorded.requested == [MIN_READ_AHEAD]


def test_sequential_reads_request_more_and_more() -> None:
    file, recorded = remote(bytes(4 * MAX_READ_AHEAD))
    while file.read(1 << 18):
        pass
    assert recorded.requested[0] == MIN_READ_AHEAD
    assert max(recorded.requested) == MAX_READ_AHEAD
    assert sum(recorded.requested) == 4 * MAX_READ_AHEAD
    assert len(recorded.requested) < 16


def test_a_large_buffer_is_filled_by_requests_of_bounded_size() -> None:
    file, recorded = remote(bytes(4 * MAX_READ_AHEAD))
    assert file.readinto(bytearray(3 * MAX_READ_AHEAD)) == 3 * MAX_READ_AHEAD
    assert max(recorded.requested) <= MAX_READ_AHEAD


def test_a_distant_seek_starts_with_a_small_request_again() -> None:
    file, recorded = remote(bytes(4 * MAX_READ_AHEAD))
    file.read(MAX_READ_AHEAD)
    file.seek(-100, os.SEEK_END)
    file.read(10)
    file.seek(0)
    file.read(10)
    assert recorded.requested[-2:] == [100, MIN_READ_AHEAD]


def test_a_failing_store_is_reported_with_the_offset() -> None:
    file, recorded = remote()
    file.read(len(CONTENT))
    recorded.close()
    with pytest.raises(SourceError, match=r"s3://bucket/log:7: I/O operation on closed file"):
        file.read_at(7, 1)


def test_the_size_of_a_local_log_is_the_one_when_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(CONTENT)
    source = LogSource(str(path))
    with source.open() as file, path.open("ab") as writer:
        writer.write(b"more")
        writer.flush()
        assert (file.size, source.size()) == (len(CONTENT), len(CONTENT) + 4)
        assert file.read() == CONTENT + b"more"


def test_standard_input_is_read_once_and_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CONTENT)))
    source = LogSource("-")
    with source.open() as file:
        assert file.read(10) == CONTENT[:10]
        assert file.read() == CONTENT[10:]
        with pytest.raises(SourceError, match="cannot read 4 bytes at 0 of standard input"):
            file.read_at(0, 4)
        with pytest.raises(SourceError, match="size"):
            _ = file.size
    assert not sys.stdin.closed


def test_standard_input_exists_but_has_no_size() -> None:
    source = LogSource("-")
    assert source.exists()
    assert source.identity() == "-"
    with pytest.raises(SourceError, match="size"):
        source.size()
