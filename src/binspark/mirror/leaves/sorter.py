"""Changes in the order of their keys, however many there are: what does not fit into memory goes to temporary files."""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from binspark.errors import SourceError
from binspark.mirror.leaves.key_order import first_not_less
from binspark.mirror.records.format import KEY
from binspark.mirror.records.keys import KEY_TYPE
from binspark.os_errors import describe_os_error
from binspark.position import Position

Reduction = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Returns records in the order of their keys, without those that do not matter any more."""

_MAX_RUNS = 16
_SHARE_OF_A_RUN = 4
_SHARE_OF_A_BATCH = 64
_COMPRESSION = "lz4"


class RecordSorter:
    """Sorts records, and gives them back by ranges of keys.

    Records are collected up to a share of the memory, then reduced. If they are still many they are written to a run:
    a temporary file with records in the order of keys, in batches that can be read one by one.

    shrink   the reduction of some of the records
    reduce   the reduction of all records of a key
    by       the column that is the key; the reductions return records in its order
    """

    def __init__(self, shrink: Reduction, reduce: Reduction, memory_bytes: int, by: str = KEY) -> None:
        self._by = by
        self._shrink = shrink
        self._reduce = reduce
        self._run_bytes = max(1, memory_bytes // _SHARE_OF_A_RUN)
        self._batch_bytes = max(1, memory_bytes // _SHARE_OF_A_BATCH)
        self._buffered: list[pa.RecordBatch] = []
        self._buffered_bytes = 0
        self._runs: list[_Run] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._buffered, self._runs = [], []
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def records(self) -> int:
        """How many records there are, before the last reduction."""
        buffered = (int(batch.num_rows) for batch in self._buffered)
        return sum(buffered) + sum(run.rows for run in self._runs)

    def add(self, records: pa.RecordBatch) -> None:
        """Add records, in any order."""
        if not records.num_rows:
            return
        self._buffered.append(records)
        self._buffered_bytes += records.nbytes
        if self._buffered_bytes >= self._run_bytes:
            self._shrink_buffer()
            if self._buffered_bytes > self._run_bytes // 2:
                self._spill()

    def finish(self) -> None:
        """Prepare for `chunks`, after the last records."""
        if self._runs and self._buffered:
            self._shrink_buffer()
            self._spill()
        elif self._buffered:
            self._buffered = [self._reduce(_joined(self._buffered))]

    def chunks(self, low: bytes | None, high: bytes | None) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range of keys, reduced, in the order of keys; those of a key are in one batch."""
        for batch in self._buffered:
            records = _within(batch, low, high, self._by)
            if records.num_rows:
                yield records
        yield from _merged(self._runs, self._reduce, low, high, self._run_bytes)

    def with_keys(self, keys: pa.Array) -> Iterator[pa.RecordBatch]:
        """Yield the records so far that have one of some keys, which are in order; they are not reduced."""
        wanted = keys.to_pylist()
        batches = (batch for run in self._runs for batch in _RunReader(run).batches_with_keys(wanted))
        for batch in chain(batches, self._buffered):
            is_wanted = pc.is_in(batch.column(self._by), keys)
            if pc.any(is_wanted).as_py():
                yield batch.filter(is_wanted)

    def _shrink_buffer(self) -> None:
        self._buffered = [self._shrink(_joined(self._buffered))]
        self._buffered_bytes = self._buffered[0].nbytes

    def _spill(self) -> None:
        self._write_run(self._buffered, level=0)
        self._buffered, self._buffered_bytes = [], 0
        # A batch of each run is in memory when runs are merged, so there must not be too many.
        while len(last := [run for run in self._runs if run.level == self._runs[-1].level]) >= _MAX_RUNS:
            level = last[0].level + 1
            self._runs = [run for run in self._runs if run.level >= level]
            self._write_run(_merged(last, self._shrink, None, None, self._run_bytes), level)
            for run in last:
                run.path.unlink()

    def _write_run(self, records: Iterable[pa.RecordBatch], level: int) -> None:
        with _spill_errors():
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="binspark-mirror-")
            self._count += 1
            path = Path(self._folder.name) / f"run-{self._count}.arrow"
            self._runs.append(_write_run(path, records, self._batch_bytes, level, self._by))


@contextmanager
def _spill_errors() -> Iterator[None]:
    """Turn an error of a temporary file into one that says what to do."""
    try:
        yield
    except OSError as error:
        reason = f"{describe_os_error(error)}; set TMPDIR to a directory with room for temporary files"
        raise SourceError(reason, Position(file=tempfile.gettempdir())) from None


@dataclass(frozen=True, slots=True)
class _Run:
    """A file of records in the order of keys: the first key of each of its batches, and their size in memory."""

    path: Path
    firsts: tuple[bytes, ...]
    sizes: tuple[int, ...]
    rows: int
    level: int
    by: str


def _write_run(path: Path, records: Iterable[pa.RecordBatch], batch_bytes: int, level: int, by: str) -> _Run:
    firsts: list[bytes] = []
    sizes: list[int] = []
    rows = 0
    writer: pa.ipc.RecordBatchFileWriter | None = None
    options = pa.ipc.IpcWriteOptions(compression=_COMPRESSION)
    with pa.OSFile(str(path), "wb") as file:
        for batch in records:
            if writer is None:
                writer = pa.ipc.new_file(file, batch.schema, options=options)
            count = max(1, batch.num_rows * batch_bytes // max(1, batch.nbytes))
            for begin in range(0, batch.num_rows, count):
                part = batch.slice(begin, count)
                writer.write_batch(part)
                firsts.append(_sorted_by(part, by)[0].as_py())
                sizes.append(part.nbytes)
                rows += part.num_rows
        if writer is not None:
            writer.close()
    return _Run(path, tuple(firsts), tuple(sizes), rows, level, by)


class _RunReader:
    """Reads the records of a run by ranges of keys, in ascending order. The last batch is kept for the next."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._file = pa.ipc.open_file(pa.OSFile(str(run.path)))
        self._number = -1
        self._batch: pa.RecordBatch | None = None

    def records(self, low: bytes | None, high: bytes | None) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range."""
        firsts = self._run.firsts
        for number, first in enumerate(firsts):
            is_before = low is not None and number + 1 < len(firsts) and firsts[number + 1] < low
            if is_before or (high is not None and first >= high):
                continue
            records = _within(self._read(number), low, high, self._run.by)
            if records.num_rows:
                yield records

    def batches_with_keys(self, keys: Sequence[bytes]) -> Iterator[pa.RecordBatch]:
        """Yield the batches that may have records with one of some keys, which are in order."""
        ends = [*self._run.firsts[1:], None]
        for number, (first, end) in enumerate(zip(self._run.firsts, ends, strict=True)):
            at = bisect_left(keys, first)
            if at < len(keys) and (end is None or keys[at] <= end):
                yield self._file.get_batch(number)

    def _read(self, number: int) -> pa.RecordBatch:
        if self._batch is None or number != self._number:
            self._number, self._batch = number, self._file.get_batch(number)
        return self._batch


def _merged(
    runs: Iterable[_Run], reduce: Reduction, low: bytes | None, high: bytes | None, max_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Yield the records of runs in the order of keys: a range of keys at a time, of which all records are read."""
    readers = [_RunReader(run) for run in runs]
    starts = sorted(start for run in runs for start in zip(run.firsts, run.sizes, strict=True))
    cuts: list[bytes | None] = [low]
    gathered = 0
    for key, size in starts:
        if (low is not None and key <= low) or (high is not None and key >= high):
            continue
        if gathered >= max_bytes and key != cuts[-1]:
            cuts.append(key)
            gathered = 0
        gathered += size
    for begin, end in zip(cuts, [*cuts[1:], high], strict=True):
        found = [records for reader in readers for records in reader.records(begin, end)]
        records = reduce(_joined(found)) if found else None
        if records is not None and records.num_rows:
            yield records


def _within(records: pa.RecordBatch, low: bytes | None, high: bytes | None, by: str) -> pa.RecordBatch:
    keys = _sorted_by(records, by)
    begin = 0 if low is None else first_not_less(keys, low)
    return records.slice(begin, first_not_less(keys, high) - begin)


def _sorted_by(records: pa.RecordBatch, by: str) -> pa.Array:
    return records.column(by).cast(KEY_TYPE)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
