"""Bytes of transactions that are kept until they are complete: in memory or in a file."""

from __future__ import annotations

import gc
import mmap
import os
from dataclasses import replace

import pytest

from binspark.replication.buffer import TransactionBuffer
from binspark.replication.chunk import LogChunk
from tests.support.replication.scripted_channel import FORMAT

FILE = "binlog.000001"
OTHER_FORMAT = replace(FORMAT, server_version="9.7.5")


def chunk_of(offset: int, data: bytes, complete_end: int | None = None, *, indirect_rows: bool = False) -> LogChunk:
    return LogChunk(FILE, offset, FORMAT, memoryview(data), complete_end, offset, indirect_rows)


@pytest.mark.parametrize("memory_bytes", [1 << 20, 100, 0])
def test_bytes_are_kept_in_memory_or_in_a_file(memory_bytes: int) -> None:
    content = bytes(range(256)) * 4
    parts = [
        chunk_of(1000 + start, content[start : start + 100], indirect_rows=start == 900)
        for start in range(0, 1024, 100)
    ]
    buffer = TransactionBuffer(parts[0], memory_bytes)
    for part in parts[1:]:
        buffer.add(part)
    assert (buffer.end, buffer.is_complete) == (2024, False)
    buffer.add(chunk_of(2024, b"", 1700))
    assert buffer.is_complete
    first = buffer.take(OTHER_FORMAT)
    assert (first.offset, first.end, first.complete_end, bytes(first.data)) == (1000, 1700, 1700, content[:700])
    assert isinstance(first.data.obj, mmap.mmap) == (memory_bytes < len(content))
    assert (buffer.offset, buffer.end, buffer.is_complete) == (1700, 2024, False)
    buffer.add(chunk_of(2024, b"last", 2028))
    rest = buffer.take(FORMAT)
    assert bytes(rest.data) == content[700:] + b"last"
    assert (first.format, rest.format, rest.indirect_rows) == (FORMAT, OTHER_FORMAT, True)
    assert (buffer.offset, buffer.end) == (2028, 2028)
    assert bytes(first.data) == content[:700]


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_the_file_of_a_transaction_is_closed_when_nobody_has_it_any_more() -> None:
    gc.collect()
    before = open_files()
    buffer = TransactionBuffer(chunk_of(4, b"x" * 100), 10)
    for number in range(1, 20):
        buffer.add(chunk_of(4 + 100 * number, b"x" * 100, 4 + 100 * number + 100))
        taken = buffer.take(FORMAT)
        assert isinstance(taken.data.obj, mmap.mmap)
    assert open_files() <= before + 1  # the mapped file that `taken` keeps
    buffer.add(chunk_of(buffer.end, b"x" * 100))
    del taken, buffer
    gc.collect()
    assert open_files() <= before  # those of others may have been closed
