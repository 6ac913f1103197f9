"""However a log is cut into chunks, its frames are the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.frames import Frame, Framer
from binspark.testing.builder import BinlogBuilder, blob, insert, table
from tests.corpus.cases import corpus_logs, log_id


def frames_of(chunks: Iterable[bytes]) -> list[Frame]:
    framer = Framer()
    frames = [frame for chunk in chunks for frame in framer.feed(chunk)]
    framer.finish()
    return frames


def cut(content: bytes, length: int) -> list[bytes]:
    return [content[at : at + length] for at in range(0, len(content), length)]


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
@pytest.mark.parametrize("length", [1, 7, 4096])
def test_chunks_of_one_length_give_the_same_frames(log: Path, length: int) -> None:
    content = log.read_bytes()
    assert frames_of(cut(content, length)) == frames_of([content])


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_random_chunks_give_the_same_frames(log: Path, data: st.DataObject) -> None:
    content = log.read_bytes()
    edges = [0, *sorted(data.draw(st.sets(st.integers(0, len(content)), max_size=40))), len(content)]
    chunks = [content[start:end] for start, end in itertools.pairwise(edges)]
    assert frames_of(chunks) == frames_of([content])


def test_a_large_event_in_many_chunks_is_joined_once_it_is_complete() -> None:
    log = BinlogBuilder()
    log.transaction(insert(table("shop.t", blob("b", 4)), (bytes(3_000_000),)))
    framer = Framer()
    pending = []
    for chunk in cut(log.content, 65536):
        assert all(frame.data for frame in framer.feed(chunk))
        pending.append(framer.pending_bytes)
    assert (max(pending) > 2_900_000, pending[-1]) == (True, 0)


def test_a_frame_comes_with_its_last_byte_and_not_before() -> None:
    log = BinlogBuilder()
    log.stop()
    framer = Framer()
    seen = [len(list(framer.feed(bytes((byte,))))) for byte in log.content]
    ends = [frame.end_offset for frame in frames_of([log.content])]
    assert [offset + 1 for offset, count in enumerate(seen) if count] == ends
    assert set(seen) == {0, 1}


def test_frames_know_where_they_are_and_where_their_body_is() -> None:
    log = BinlogBuilder()
    log.xid(0x0102030405060708)
    frame = frames_of([log.content])[-1]
    assert (frame.offset, frame.end_offset) == (log.offset - 31, log.offset)
    assert (frame.body_start, frame.body_end, frame.body.hex()) == (19, 27, "0807060504030201")


def test_a_framer_can_begin_in_the_middle() -> None:
    log = BinlogBuilder()
    start = log.offset
    log.xid(1)
    log.stop()
    frames = list(Framer(log.format, start).feed(log.content[start:]))
    assert [frame.offset for frame in frames] == [start, start + 31]
