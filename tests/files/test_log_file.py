"""Open logs: read on or at an offset, alike wherever they are."""

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
from binspark.files.storage.file import LocalFile
from binspark.files.storage.remote import FIRST_AHEAD, MOST_AHEAD, RemoteFile

CONTENT = bytes(range(256)) * 8


class RecordedFile(io.BytesIO):
    """A file of a store that notes what it is asked for. Reading at an offset moves it, as with some stores."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.asked: list[int] = []

    def size(self) -> int:
        return len(self.getbuffer())

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self.asked.append(len(buffer))
        return super().readinto(buffer)

    def read_at(self, length: int, offset: int) -> bytes:
        self.seek(offset)
        return self.read(length)


def remote(content: bytes = CONTENT) -> tuple[LogFile, RecordedFile]:
    recorded = RecordedFile(content)
    return LogFile(RemoteFile(recorded, "s3://bucket/log", Storage()), MOST_AHEAD), recorded


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
    """Do a step and return what comes of it; a file in memory reads at an offset by slicing."""
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


def test_a_look_at_the_beginning_asks_for_little() -> None:
    file, recorded = remote(bytes(2 * MOST_AHEAD))
    file.read(19)
    assert recorded.asked == [FIRST_AHEAD]


def test_reading_on_asks_for_more_and_more() -> None:
    file, recorded = remote(bytes(4 * MOST_AHEAD))
    while file.read(1 << 18):
        pass
    assert recorded.asked[0] == FIRST_AHEAD
    assert max(recorded.asked) == MOST_AHEAD
    assert sum(recorded.asked) == 4 * MOST_AHEAD
    assert len(recorded.asked) < 16


def test_a_large_buffer_is_filled_in_bounded_pieces() -> None:
    file, recorded = remote(bytes(4 * MOST_AHEAD))
    assert file.readinto(bytearray(3 * MOST_AHEAD)) == 3 * MOST_AHEAD
    assert max(recorded.asked) <= MOST_AHEAD


def test_going_far_away_begins_with_little_again() -> None:
    file, recorded = remote(bytes(4 * MOST_AHEAD))
    file.read(MOST_AHEAD)
    file.seek(-100, os.SEEK_END)
    file.read(10)
    file.seek(0)
    file.read(10)
    assert recorded.asked[-2:] == [100, FIRST_AHEAD]


def test_a_store_that_fails_is_told_with_the_offset() -> None:
    file, recorded = remote()
    file.read(len(CONTENT))
    recorded.close()
    with pytest.raises(SourceError, match=r"s3://bucket/log:7: I/O operation on closed file"):
        file.read_at(7, 1)


def test_a_local_log_tells_its_size_when_it_was_opened(tmp_path: Path) -> None:
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
        with pytest.raises(SourceError, match="read once"):
            file.read_at(0, 4)
        with pytest.raises(SourceError, match="size"):
            _ = file.size
    assert not sys.stdin.closed


def test_standard_input_is_itself_and_tells_no_size() -> None:
    source = LogSource("-")
    assert source.exists()
    assert source.identity() == "-"
    with pytest.raises(SourceError, match="size"):
        source.size()
