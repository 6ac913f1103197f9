"""`python -m benchmarks.mirror.apply`: changes applied to a Delta table, by leaves and by `merge` of delta-rs.

Both are given the same changes, as Arrow batches in memory, and commit each batch; both run in this process, in turn,
without Spark. delta-rs is given the last change of each key: it refuses more than one. CPU seconds (user and system, of
all threads) are the median of the batches. Bytes written are counted per changed byte: those of new data files, by the
bytes of the changed rows in the files of the table. At the end both tables are compared, row by row.

`--jar` adds `MERGE` of Delta's own jar in Spark 4.2: as a mirror of the format `delta-merge` uses it, with the CPU
seconds of this process and of the JVM, and with deletion vectors, with those of the JVM alone. The first batch, when
Java is slow, is not counted for anyone.

`--memory` applies 10 million rows to an empty table in one batch, in a process of its own, and prints its peak memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

from benchmarks.memory import peak_bytes
from benchmarks.mirror.delta_jar import ONE_PARTITION, JarMerge, MirrorMerge
from benchmarks.mirror.orders import ORDERS, SCHEMA, WORKLOADS, Workload, changes, records, rows, table_rows
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves import LeafLimits, last_per_key, plan_tasks, rewrite, route, write_leaves
from binspark.mirror.records.format import OP, RecordOp, row_columns
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Commit
from binspark.replication.position import BinlogPosition
from tools.delta_spark import DeltaSpark, start_delta_spark

SIZES = (100_000, 1_000_000)
CHANGES = 100_000
BATCHES = 5
MEMORY_ROWS = 10_000_000
_STATE = TableState("bench", Phase.CURRENT, BinlogPosition("binlog.000001", 4), "{}", ORDERS.key)


class Mirror(Protocol):
    """Something that applies changes to a Delta table."""

    name: str
    path: Path

    def fill(self, count: int) -> None:
        """Write the rows of a new table."""

    def apply(self, batch: pa.RecordBatch) -> None:
        """Apply changes, and commit them."""

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has taken so far."""

    def finish(self) -> None:
        """Make the table readable for everybody."""


class InProcess:
    """What runs in this process."""

    def cpu_seconds(self) -> float:
        """Return the CPU time of this process."""
        now = os.times()
        return now.user + now.system

    def finish(self) -> None:
        """Everybody can read the table."""


class Leaves(InProcess):
    """What the mirror does on the driver and on executors, in one process."""

    name = "binspark leaves"

    def __init__(self, path: Path) -> None:
        self.path = path / "shop" / "orders"
        self._table = parse_target(str(path), Format.DELTA).create(ORDERS.name, SCHEMA, _STATE)
        self._version = self._table.read()
        self._limits = LeafLimits()

    def fill(self, count: int) -> None:
        """Write the rows of a new table."""
        self._commit(write_leaves(table_rows(count), self._table.directory, ORDERS, self._limits), [])

    def apply(self, batch: pa.RecordBatch) -> None:
        """Route changes to leaves, rewrite them, and commit."""
        tasks = plan_tasks(self._version.files, self._limits)
        results = [
            rewrite(tasks[number], self._table.directory, ORDERS, [part], self._limits)
            for number, part in route(tasks, last_per_key(batch))
        ]
        added = [file for result in results for file in result.added]
        self._commit(added, [file for result in results for file in result.removed])

    def _commit(self, added: list[DataFile], removed: list[DataFile]) -> None:
        self._version = self._table.commit(Commit(self._version, _STATE, added, removed))
        size = sum(file.size for file in self._version.files)
        self._limits = LeafLimits().of_table(size)


class DeltaMerge(InProcess):
    """The `merge` of delta-rs."""

    name = "delta-rs merge"

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, count: int) -> None:
        """Write the rows of a new table."""
        write_deltalake(self.path, pa.Table.from_batches(table_rows(count), SCHEMA))

    def apply(self, batch: pa.RecordBatch) -> None:
        """Merge changes: what is deleted, updated and inserted follows from their operations."""
        columns = row_columns(batch)
        source = pa.Table.from_batches([columns.append_column(OP, batch.column(OP))])
        is_deletion = f"s.{OP} = {int(RecordOp.DELETE)}"
        values = {name: f"s.{name}" for name in SCHEMA.names}
        (
            DeltaTable(self.path)
            .merge(source, "t.id = s.id", source_alias="s", target_alias="t")
            .when_matched_delete(is_deletion)
            .when_matched_update(values)
            .when_not_matched_insert(values, f"not ({is_deletion})")
            .execute()
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """What a batch cost."""

    cpu: float
    seconds: float
    written: float


def measured(mirror: Mirror, batch: pa.RecordBatch) -> Cost:
    """Apply a batch."""
    known, (table_bytes, table_count) = _files(mirror.path), _size(mirror.path)
    before, began = mirror.cpu_seconds(), time.perf_counter()
    mirror.apply(batch)
    after, ended = mirror.cpu_seconds(), time.perf_counter()
    written = sum(path.stat().st_size for path in _files(mirror.path) - known)
    changed = CHANGES * table_bytes / table_count
    return Cost(after - before, ended - began, written / changed)


def _files(path: Path) -> set[Path]:
    """Return the data files and the deletion vectors of a table."""
    return {*path.glob("*.parquet"), *path.glob("*.bin")}


def _size(path: Path) -> tuple[int, int]:
    actions = pa.table(DeltaTable(path).get_add_actions(flatten=True))
    return pc.sum(actions["size_bytes"]).as_py(), pc.sum(actions["num_records"]).as_py()


def run(workload: Workload, count: int, batches: int, spark: DeltaSpark | None) -> None:
    """Apply batches by all of them, in turn, and print what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        mirrors: list[Mirror] = [Leaves(Path(folder) / "leaves"), DeltaMerge(Path(folder) / "merge")]
        if spark is not None:
            mirrors += [MirrorMerge(spark, Path(folder) / "jar", _STATE), JarMerge(spark, Path(folder) / "vectors")]
        for mirror in mirrors:
            mirror.fill(count)
        costs: dict[str, list[Cost]] = {mirror.name: [] for mirror in mirrors}
        for number in range(batches):
            batch = changes(workload, count, CHANGES, number)
            reduced = last_per_key(batch)
            for mirror in mirrors:
                given = batch if isinstance(mirror, Leaves | MirrorMerge) else reduced
                costs[mirror.name].append(measured(mirror, given))
        warm = 0 if spark is None else 1
        for mirror in mirrors:
            _print(workload, count, mirror, costs[mirror.name][warm:])
            mirror.finish()
        first, *others = (sorted_rows(mirror.path) for mirror in mirrors)
        if any(other != first for other in others):
            raise SystemExit(f"{workload.name}: the tables differ")


def sorted_rows(path: Path) -> pa.Table:
    return DeltaTable(path).to_pyarrow_table().cast(SCHEMA).sort_by("id").combine_chunks()


def _print(workload: Workload, count: int, mirror: Mirror, costs: list[Cost]) -> None:
    cpu, seconds, written = (
        statistics.median(values)
        for values in zip(*((cost.cpu, cost.seconds, cost.written) for cost in costs), strict=True)
    )
    size, _ = _size(mirror.path)
    print(
        f"{count:>10,} rows  {workload.name:<10}  {mirror.name:<24}  {cpu:6.2f} CPU s"
        f"  {CHANGES / cpu:9,.0f} changes/CPU s  {seconds:6.2f} s  {written:6.2f} bytes written per changed byte"
        f"  {size / 1e6:6.1f} MB",
        flush=True,
    )


# --- Memory -----------------------------------------------------------------------------------------------------------


def many_changes(count: int) -> Iterator[pa.RecordBatch]:
    """Yield new rows with keys in any order."""
    for begin in range(0, count, CHANGES):
        ids = np.arange(begin, begin + CHANGES) * 7_919 % (1 << 40)
        yield records(rows(ids, begin), np.full(CHANGES, RecordOp.PUT))


def apply_many(path: str) -> None:
    """Apply many rows to an empty table, and print the memory that it took."""
    table = parse_target(path, Format.DELTA).create(ORDERS.name, SCHEMA, _STATE)
    version, limits = table.read(), LeafLimits()
    (task,) = plan_tasks(version.files, limits)
    batch_bytes = next(many_changes(CHANGES)).nbytes
    before, began = peak_bytes(), os.times()
    result = rewrite(task, table.directory, ORDERS, many_changes(MEMORY_ROWS), limits)
    ended = os.times()
    table.commit(Commit(version, _STATE, result.added))
    cpu = ended.user + ended.system - began.user - began.system
    print(
        f"{sum(file.rows for file in result.added):,} rows ({batch_bytes * MEMORY_ROWS // CHANGES / 1e9:.1f} GB)"
        f" into an empty table: {len(result.added)} leaves, {cpu:.1f} CPU s,"
        f" peak memory {(peak_bytes() or 0) / 1e6:,.0f} MB, of it {(before or 0) / 1e6:,.0f} MB before"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=list(SIZES), help="the sizes of the table")
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--workloads", nargs="*", default=[workload.name for workload in WORKLOADS])
    parser.add_argument("--jar", action="store_true", help="measure Delta's own jar, too")
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    options = parser.parse_args()
    if options.memory:
        with tempfile.TemporaryDirectory() as folder:
            process = multiprocessing.get_context("spawn").Process(target=apply_many, args=(folder,))
            process.start()
            process.join()
        return
    with start_delta_spark("2g", ONE_PARTITION) if options.jar else nullcontext() as spark:
        for count in options.rows:
            for workload in (workload for workload in WORKLOADS if workload.name in options.workloads):
                run(workload, count, options.batches + (spark is not None), spark)


if __name__ == "__main__":
    main()
