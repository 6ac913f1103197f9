"""What a runner does for one range of the log: its changes by table and range of keys, and the files made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import pyarrow as pa

from binspark.columns.reader import BatchReader
from binspark.kernels import cache
from binspark.mirror.data_file import TableDirectory
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.plan import RangeTask, route
from binspark.mirror.leaves.reduce import last_per_key, net_copies
from binspark.mirror.leaves.rewrite import Rewritten
from binspark.mirror.mirrored_table import MirroredTable
from binspark.mirror.records import RecordMaker, selection_of
from binspark.mirror.source import ReadTask
from binspark.schema.history import SchemaHistory
from binspark.spark.streaming.part_reader import reader_of

_GATHERED_BYTES = 48 << 20
"""How many bytes of records of a table are gathered before they are reduced and sorted by key."""


@dataclass(frozen=True, slots=True)
class TableWork:
    """A table that changes are made in. It is sent to executors.

    number      its number among the tables of the range
    table       its schema there
    directory   where its files are
    tasks       the ranges of keys that it is divided into
    limits      how large files are
    """

    number: int
    table: MirroredTable
    directory: TableDirectory
    tasks: tuple[RangeTask, ...]
    limits: LeafLimits

    def siblings(self, number: int) -> tuple[int, ...]:
        """Return the tasks that share files with one: they have to be run if it is."""
        group = self.tasks[number].group
        return tuple(task.number for task in self.tasks if task.group == group and task.number != number)


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
    """Makes the changes of a range in the files of tables. Nothing is committed."""

    def run(self, parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> list[TaskResult]:
        """Read parts of the log and write new files. Tasks without changes have no result."""
        ...


def read_changes(read: ReadTask, tables: Sequence[TableWork]) -> Iterator[Routed]:
    """Read a part of the log once for all tables; yield its changes, reduced and by task."""
    if not tables:
        return
    cache.enable()
    gathered = {str(work.table.name): _Gathered(work) for work in tables}
    selection = selection_of([work.table for work in tables])

    def make(history: SchemaHistory) -> BatchReader:
        return BatchReader(selection, history)

    for found in reader_of(read.part, read.history).batches(read.part, make):
        own = gathered.get(found.table.name)
        if own is not None and found.batch.num_rows:
            yield from own.add(own.maker.records(found))
    for own in gathered.values():
        yield from own.flush()


class _Gathered:
    """Records of one table that are not reduced yet."""

    def __init__(self, work: TableWork) -> None:
        self.maker = RecordMaker(work.table)
        self._work = work
        self._records: list[pa.RecordBatch] = []
        self._bytes = 0
        self._announced: set[int] = set()

    def add(self, records: pa.RecordBatch) -> Iterator[Routed]:
        self._records.append(records)
        self._bytes += records.nbytes
        if self._bytes >= _GATHERED_BYTES:
            yield from self.flush()

    def flush(self) -> Iterator[Routed]:
        if not self._records:
            return
        records = pa.concat_batches(self._records)
        self._records, self._bytes = [], 0
        records = last_per_key(records) if self._work.table.key else net_copies(records)
        for task, part in route(self._work.tasks, records):
            yield from self._siblings(task)
            yield Routed(self._work.number, task, part)

    def _siblings(self, task: int) -> Iterator[Routed]:
        for sibling in self._work.siblings(task) if task not in self._announced else ():
            self._announced.add(sibling)
            yield Routed(self._work.number, sibling, None)
        self._announced.add(task)
