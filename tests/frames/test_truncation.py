"""A truncated log gives the complete events before its end, and then an error with the position."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.errors import BinlogError, Truncated
from binspark.event import Event
from binspark.files import read_events
from binspark.testing.builder import MYSQL_3_23, MYSQL_4_1, BinlogBuilder, ServerKind
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.frames.reading import Reading, read

SMALL = [log for log in corpus_logs() if log.stat().st_size < 1000]
LARGER = [log for log in corpus_logs() if log.stat().st_size >= 1000]


def cut_everywhere(content: bytes, step: int) -> None:
    complete = read(content)
    ends = [event.end_offset for event in complete.events]
    starts = [4, *ends]
    for length in range(5, len(content), step):
        reading = read(content[:length])
        before = [end for end in ends if end <= length]
        assert reading.offsets == complete.offsets[: len(before)]
        assert refused_at(reading) == (None if length in ends else (Truncated, starts[len(before)]))


def refused_at(reading: Reading) -> tuple[type, int | None] | None:
    return None if reading.error is None else (type(reading.error), reading.error.position.offset)


@pytest.mark.parametrize("log", SMALL, ids=log_id)
def test_every_prefix_of_a_small_log(log: Path) -> None:
    cut_everywhere(log.read_bytes(), step=1)


@pytest.mark.parametrize("log", LARGER[::3], ids=log_id)
def test_some_prefixes_of_a_larger_log(log: Path) -> None:
    content = log.read_bytes()
    cut_everywhere(content, step=len(content) // 40)


@pytest.mark.slow
@pytest.mark.parametrize("log", LARGER, ids=log_id)
def test_many_prefixes_of_a_larger_log(log: Path) -> None:
    content = log.read_bytes()
    cut_everywhere(content, step=max(1, len(content) // 800))


@pytest.mark.parametrize("kind", [MYSQL_3_23, MYSQL_4_1], ids=lambda kind: kind.server_version)
def test_every_prefix_of_a_log_before_version_4(kind: ServerKind) -> None:
    log = BinlogBuilder(kind)
    log.query("CREATE TABLE t (a INT)", "shop")
    log.stop()
    cut_everywhere(log.content, step=1)


def test_the_error_names_the_file_the_offset_and_the_event(tmp_path: Path) -> None:
    log = BinlogBuilder()
    start = log.offset
    log.xid(7)
    path = tmp_path / "binlog.000001"
    path.write_bytes(log.content[:-1])
    with pytest.raises(Truncated) as caught:
        list(read_events(path))
    position = caught.value.position
    assert (position.file, position.offset, position.event) == (str(path), start, "XID")
    assert str(caught.value) == f"{path}:{start} (XID): the log ends 30 bytes into a 31-byte event"


def test_events_before_the_cut_are_delivered_before_the_error(tmp_path: Path) -> None:
    content = case_logs("mysql/rotation")[0].read_bytes()
    path = tmp_path / "binlog.000001"
    path.write_bytes(content[:-10])
    delivered: list[Event] = []
    with pytest.raises(BinlogError):
        delivered.extend(read_events(path))
    assert [event.type for event in delivered[-2:]] == [event.type for event in read(content).events[-3:-1]]
