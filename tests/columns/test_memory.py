"""Kernels write nowhere but into the room that they were given."""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.columns import table_builder
from binspark.columns.arena import Arena, aligned, thread_arena
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from tests.corpus.cases import case_logs
from tests.support.columns.bulk import bulk_outcome
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.columns.reference import ReferenceReader
from tests.support.examples import examples

_GUARD, _PATTERN, _ALIGNMENT = 128, 0xA5, 64
Block = npt.NDArray[np.uint8]


class GuardedMemory:
    """Gives blocks with a guard after every part, and checks afterwards that the guards are unchanged."""

    def __init__(self) -> None:
        self._parts: list[int] = []
        self._blocks: list[tuple[Block, list[int]]] = []

    def aligned(self, size: int) -> int:
        """Replace `aligned`: a part is followed by a guard."""
        self._parts.append(size)
        return aligned(size) + _GUARD

    def take(self, size: int) -> Block:
        """Replace `Arena.take`, which returns a block for the parts that were laid out before."""
        block = np.full(size, _PATTERN, dtype=np.uint8)
        self._blocks.append((block, self._parts))
        self._parts = []
        return block

    @property
    def blocks_given(self) -> int:
        return len(self._blocks)

    def check(self) -> None:
        for block, parts in self._blocks:
            start = -block.ctypes.data % _ALIGNMENT
            for size in parts:
                end = start + aligned(size) + _GUARD
                assert (block[start + size : end] == _PATTERN).all()
                start = end


@contextmanager
def guarded() -> Iterator[GuardedMemory]:
    memory = GuardedMemory()
    with (
        patch.object(table_builder, "aligned", memory.aligned),
        patch.object(Arena, "take", lambda _, n: memory.take(n)),
    ):
        yield memory
    memory.check()


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(logs(damage=True), st.booleans(), st.integers(1, 9), st.sampled_from((1, 1 << 20)))
def test_nothing_is_written_outside(log: RandomLog, before: bool, max_rows: int, max_bytes: int) -> None:
    with guarded():
        bulk_outcome(log.content, Selection(before=before, max_rows=max_rows, max_bytes=max_bytes), log.history())


def test_nothing_is_written_outside_while_batches_grow() -> None:
    log = case_logs("mysql/large-transaction")[0]
    selection = Selection(before=True)
    with guarded() as memory:
        found = bulk_outcome(log.read_bytes(), selection, file=log.name)
    assert memory.blocks_given > 3
    assert found == ReferenceReader(selection).read(log.read_bytes(), log.name)


def test_a_block_in_use_is_not_given_again() -> None:
    arena = Arena()
    kept = arena.take(1000)
    view = arena.take(1000)[10:20]
    assert view.base is not None
    assert len({kept.ctypes.data, view.base.ctypes.data, arena.take(1000).ctypes.data}) == 3


def test_a_block_that_is_no_longer_in_use_is_given_again() -> None:
    arena = Arena()
    address = arena.take(1000).ctypes.data
    assert arena.take(1000).ctypes.data == address


def test_memory_is_free_for_the_next_reader_as_soon_as_nobody_uses_the_last_one() -> None:
    log = case_logs("mysql/large-transaction")[0].read_bytes()

    def kept_after_reading() -> int:
        rows = sum(item.batch.num_rows for item in BatchReader(Selection()).read(io.BytesIO(log).readinto))
        assert rows
        return thread_arena().kept_bytes

    gc.disable()  # it would find readers that are part of a reference cycle, but late
    try:
        with ThreadPoolExecutor(1) as new_thread:  # with a pool of its own
            kept = [new_thread.submit(kept_after_reading).result() for _ in range(4)]
    finally:
        gc.enable()
    assert kept == kept[:1] * 4
