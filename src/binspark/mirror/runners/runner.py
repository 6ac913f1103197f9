"""What a runner does for one range of the log: its changes by table and range of keys, and the files made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.reader import BatchReader, TableBatch
from binspark.kernels import cache
from binspark.mirror.files.data_file import TableDirectory
from binspark.mirror.leaves import (
    LeafLimits,
    MoveResolver,
    RangeTask,
    Rewritten,
    has_moves,
    last_per_key,
    net_copies,
    read_stored_rows,
    rewrite,
    route,
    with_bounds,
    write_changes,
)
from binspark.mirror.leaves.versions import rewrite_versions
from binspark.mirror.records.changes import RecordMaker, selection_of
from binspark.mirror.records.format import OP, RecordOp
from binspark.mirror.records.versions import VersionMaker, is_emptying
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.source.change_source import ReadTask
from binspark.schema.history import SchemaHistory
from binspark.spark.streaming.part_reader import reader_of

Result = TypeVar("Result")

_GATHERED_BYTES = 48 << 20
"""How many bytes of records of a table are gathered before they are reduced and sorted by key, at most."""


class PartRecords(Protocol):
    """Makes the records of a table that is none of the source."""

    def records(self, read: ReadTask) -> Iterator[pa.RecordBatch]:
        """Yield the records of a part of the log."""
        ...


@dataclass(frozen=True, slots=True)
class TableWork:
    """A table that changes are made in. It is sent to executors.

    number      its number among the tables of the range
    table       its schema there
    directory   where its files are
    tasks       the ranges of keys that it is divided into
    limits      how large files are
    merges      whether the target merges changes into its rows: they are written as they are, and all in one task
    maker       makes its records; None for those of its rows in the log
    """

    number: int
    table: MirroredTable
    directory: TableDirectory
    tasks: tuple[RangeTask, ...]
    limits: LeafLimits
    merges: bool = False
    maker: PartRecords | None = None

    def siblings(self, number: int) -> tuple[int, ...]:
        """Return the tasks that share files with one: they have to be run if it is."""
        group = self.tasks[number].group
        return tuple(task.number for task in self.tasks if task.group == group and task.number != number)

    def rewrite(self, task: int, changes: Iterable[pa.RecordBatch]) -> Rewritten:
        """Rewrite the rows of a task with changes; or the changes alone."""
        if self.merges:
            return write_changes(self.tasks[task].files, self.directory, self.table, changes, self.limits)
        write = rewrite_versions if self.table.has_versions else rewrite
        return write(self.tasks[task], self.directory, self.table, changes, self.limits)

    def reduced(self, records: pa.RecordBatch) -> pa.RecordBatch:
        """Return what changes come to."""
        if self.table.has_versions:
            return records
        return last_per_key(records) if self.table.key else net_copies(records)

    def move_resolver(self) -> MoveResolver:
        """Return what gives rows that moved the columns that they had at other keys."""
        files = {file.path: file for task in self.tasks for file in task.files}
        bounded = with_bounds(list(files.values()), self.directory, self.table)
        stored = partial(read_stored_rows, bounded, self.directory, self.table)
        return MoveResolver(stored, self.limits.memory_bytes)


MOVES = -1
"""The number instead of a task's that reports rows with only some columns which moved to other keys."""


class Routed(NamedTuple):
    """Changes for one task of one table; none, if it only has to be run because it shares files with another."""

    table: int
    task: int
    records: pa.RecordBatch | None


class TaskResult(NamedTuple):
    """What became of one task.

    changes   how many records were applied
    """

    table: int
    task: int
    rewritten: Rewritten
    changes: int


class Runner(Protocol):
    """Makes the changes of a range in the files of tables, and does other work on files. Nothing is committed."""

    def run(self, parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> list[TaskResult]:
        """Read parts of the log and write new files. Tasks without changes have no result."""
        ...

    @property
    def readers(self) -> int:
        """How many chunks of a table are copied at a time."""
        ...

    def each(self, jobs: Sequence[Callable[[], Result]], description: str) -> list[Result]:
        """Return the results of jobs, which can be sent to executors. It is called by several threads."""
        ...


def read_changes(parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> Iterator[Routed]:
    """Read parts of the log once for all tables; yield their changes, reduced and by task.

    A table with rows that moved to other keys and have only some columns is reported (`MOVES`): all its changes of a
    range are needed at once, see `read_moves`.
    """
    gathered: dict[int, _Gathered] = {}
    for work, records in _records(parts, tables):
        own = gathered.get(work.number)
        if own is None:
            own = gathered[work.number] = _Gathered(work)
        yield from own.add(records)
    for own in gathered.values():
        yield from own.flush()


def read_moves(parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> Iterator[Routed]:
    """Read all parts of a range; yield the changes of tables with rows that moved and have only some columns."""
    with ExitStack() as stack:
        resolvers = {work.number: stack.enter_context(work.move_resolver()) for work in tables}
        for work, records in _records(parts, tables):
            resolvers[work.number].add(records)
        for work in tables:
            gathered = _Gathered(work)
            for records in resolvers[work.number].resolved():
                yield from gathered.route(records)


def _records(parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> Iterator[tuple[TableWork, pa.RecordBatch]]:
    """Yield the records of each table."""
    cache.enable()
    mirrored = [work for work in tables if work.maker is None]
    if mirrored:
        yield from records_of_rows(parts, mirrored)
    numbered = {work.table.name: work for work in mirrored if not work.table.has_versions}
    for read in parts:
        for name, unknown in read.read_again.items():
            if name in numbered:
                yield numbered[name], unknown
    for work in tables:
        if work.maker is not None:
            for read in parts:
                for records in work.maker.records(read):
                    yield work, records


def records_of_rows(
    parts: Sequence[ReadTask], tables: Sequence[TableWork]
) -> Iterator[tuple[TableWork, pa.RecordBatch]]:
    """Yield the records of tables of the source, whose rows are read in one pass."""
    selection = selection_of([work.table for work in tables])
    works: dict[str, list[TableWork]] = {}
    for work in tables:
        works.setdefault(str(work.table.name), []).append(work)
    readers: dict[str, list[_TableReader]] = {}  # those of tables with changes alone: most tables have none

    def make(history: SchemaHistory) -> BatchReader:
        return BatchReader(selection, history)

    for read in parts:
        for found in reader_of(read.part, read.history).batches(read.part, make):
            name = str(found.table.name)
            if name not in readers:
                readers[name] = [_TableReader(work) for work in works.get(name, ())]
            for reader in readers[name]:
                for records in reader.records(found):
                    yield reader.work, records


class _TableReader:
    """Makes records of the rows of one table."""

    def __init__(self, work: TableWork) -> None:
        self.work = work
        self._versions = VersionMaker(work.table) if work.table.has_versions else None
        self._rows = self._versions or RecordMaker(work.table)

    def records(self, found: TableBatch) -> Iterator[pa.RecordBatch]:
        is_ending = is_emptying(found)
        if is_ending.any():
            if self._versions is not None:
                yield self._versions.endings(_some(found, is_ending))
            found = _some(found, ~is_ending)
        if found.batch.num_rows:
            yield self._rows.records(found)


def _some(found: TableBatch, mask: np.ndarray) -> TableBatch:
    return found.taken(np.flatnonzero(mask), range(len(found.values)), before=found.has_before, images=True)


class _Gathered:
    """Records of one table that are not reduced yet. If rows have moved, the rest is not needed: see `read_moves`."""

    def __init__(self, work: TableWork) -> None:
        self._work = work
        self._records: list[pa.RecordBatch] = []
        self._bytes = 0
        self._has_moves = False
        self._announced: set[int] = set()

    def add(self, records: pa.RecordBatch) -> Iterator[Routed]:
        if not self._has_moves and has_moves(records):
            self._has_moves, self._records = True, []
            yield Routed(self._work.number, MOVES, None)
        if self._has_moves:
            return
        self._records.append(records)
        self._bytes += records.nbytes
        if self._bytes >= min(_GATHERED_BYTES, self._work.limits.memory_bytes):
            yield from self.flush()

    def flush(self) -> Iterator[Routed]:
        if self._records:
            records = pa.concat_batches(self._records)
            self._records, self._bytes = [], 0
            yield from self.route(self._work.reduced(records))

    def route(self, records: pa.RecordBatch) -> Iterator[Routed]:
        is_ending = pc.equal(records.column(OP), int(RecordOp.END))
        if pc.any(is_ending).as_py():
            for each in self._work.tasks:
                yield Routed(self._work.number, each.number, records.filter(is_ending))
            records = records.filter(pc.invert(is_ending))
        for task, part in route(self._work.tasks, records):
            yield from self._siblings(task)
            yield Routed(self._work.number, task, part)

    def _siblings(self, task: int) -> Iterator[Routed]:
        for sibling in self._work.siblings(task) if task not in self._announced else ():
            self._announced.add(sibling)
            yield Routed(self._work.number, sibling, None)
        self._announced.add(task)
