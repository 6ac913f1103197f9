"""Changes are read and files written in this process, without Spark: for small ranges, and for those who have none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from binspark.mirror.runners.runner import (
    MOVES,
    Result,
    Routed,
    Runner,
    TableWork,
    TaskResult,
    read_changes,
    read_moves,
)
from binspark.mirror.source.change_source import ReadTask
from binspark.replication.position import BinlogPosition

_MEMORY_BYTES = 256 << 20
_THREADS = min(4, os.cpu_count() or 1)
_READERS = 2


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Runs one part of the log after the other, and a few tasks at a time.

    memory_bytes   how many bytes of changes are kept in memory; more are kept in temporary files
    """

    memory_bytes: int = _MEMORY_BYTES
    threads: int = _THREADS

    def run(self, parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> list[TaskResult]:
        """Read parts of the log and write new files. Tasks without changes have no result."""
        with ExitStack() as stack:
            buckets = _Buckets(self.memory_bytes, stack)
            with_moves: set[int] = set()
            for routed in read_changes(parts, tables):
                if routed.task == MOVES:
                    with_moves.add(routed.table)
                else:
                    buckets.add(routed)
            buckets.drop(with_moves)
            for routed in read_moves(parts, [work for work in tables if work.number in with_moves]):
                buckets.add(routed)
            return self._rewritten(buckets.close(), {work.number: work for work in tables})

    @property
    def readers(self) -> int:
        """How many chunks of a table are copied at a time."""
        return _READERS

    def each(self, jobs: Sequence[Callable[[], Result]], description: str) -> list[Result]:  # noqa: ARG002 (for Spark)
        """Return the results of jobs, one after the other: each may use all the memory that is allowed."""
        return [job() for job in jobs]

    def _rewritten(self, buckets: Sequence[_Bucket], works: Mapping[int, TableWork]) -> list[TaskResult]:
        def finish(bucket: _Bucket) -> TaskResult:
            work = works[bucket.table]
            written = work.rewrite(bucket.task, bucket.batches())
            return TaskResult(bucket.table, bucket.task, written, bucket.records)

        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(finish, buckets))


@dataclass(frozen=True, slots=True)
class Runners:
    """Who works: the Spark that was given on what is large, this process on all else. None is started here.

    size_of        returns how many bytes of the log a range has; None if that is not known
    spark          returns the runner of Spark; None if there is none
    local_bytes    up to this size, this process works
    memory_bytes   how many bytes of changes it keeps in memory
    """

    size_of: Callable[[BinlogPosition, BinlogPosition], int | None]
    spark: Callable[[], Runner] | None
    local_bytes: int
    memory_bytes: int

    def of_range(self, start: BinlogPosition, end: BinlogPosition) -> Runner:
        """Return what applies a range of the log."""
        return self.of_bytes(None if self.spark is None else self.size_of(start, end))

    def of_bytes(self, size: int | None) -> Runner:
        """Return what works on some bytes of the log, or of a table; None if it is not known how many they are."""
        is_small = size is not None and size <= self.local_bytes
        return LocalRunner(self.memory_bytes) if self.spark is None or is_small else self.spark()


@dataclass(slots=True)
class _Bucket:
    """The changes of one task: first those in a file, then those in memory."""

    table: int
    task: int
    records: int = 0
    held: list[pa.RecordBatch] = field(default_factory=list)
    path: Path | None = None
    writer: pa.ipc.RecordBatchStreamWriter | None = None

    def spill(self, folder: Path) -> None:
        if not self.held:
            return
        if self.writer is None:
            self.path = folder / f"{self.table}-{self.task}-{id(self)}.arrows"
            self.writer = pa.ipc.new_stream(str(self.path), self.held[0].schema)
        for batch in self.held:
            self.writer.write_batch(batch)
        self.held = []

    def batches(self) -> Iterator[pa.RecordBatch]:
        if self.path is not None:
            with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as stream:
                yield from stream
        yield from self.held


class _Buckets:
    """The changes of a range by task. When they are too many for memory, they go to temporary files."""

    def __init__(self, memory_bytes: int, stack: ExitStack) -> None:
        self._limit = memory_bytes
        self._stack = stack
        self._folder: Path | None = None
        self._by_task: dict[tuple[int, int], _Bucket] = {}
        self._held = 0

    def add(self, routed: Routed) -> None:
        """Take changes."""
        key = (routed.table, routed.task)
        bucket = self._by_task.setdefault(key, _Bucket(*key))
        if routed.records is None:
            return
        bucket.held.append(routed.records)
        bucket.records += routed.records.num_rows
        self._held += routed.records.nbytes
        if self._held > self._limit:
            self._spill()

    def drop(self, tables: Collection[int]) -> None:
        """Forget the changes of some tables."""
        for key, bucket in list(self._by_task.items()):
            if key[0] in tables:
                if bucket.writer is not None:
                    bucket.writer.close()
                del self._by_task[key]

    def close(self) -> list[_Bucket]:
        """Return all tasks that have to be run."""
        for bucket in self._by_task.values():
            if bucket.writer is not None:
                bucket.writer.close()
        return list(self._by_task.values())

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="binspark-changes-")))
        for bucket in self._by_task.values():
            bucket.spill(self._folder)
        self._held = 0
