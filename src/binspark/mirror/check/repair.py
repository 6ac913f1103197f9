"""Puts rows that differ into a mirrored table as the source has them now.

They may be newer than the table's position: changes from there on are applied to them once more, which gives the same
rows. Until the mirror has reached the position at which they were read, the table is not consistent, as after a
snapshot, and its state says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from binspark.errors import SchemaError
from binspark.mirror.change_records import RecordOp, complete_records
from binspark.mirror.check.compare import Differing
from binspark.mirror.check.mirror_rows import MirrorRows
from binspark.mirror.data_file import DataFile
from binspark.mirror.keys import row_keys
from binspark.mirror.leaves.leaf_reader import with_bounds
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.plan import RangeTask, plan_tasks, route
from binspark.mirror.leaves.rewrite import Rewritten, rewrite
from binspark.mirror.mirrored_table import MirroredTable
from binspark.mirror.snapshot.read import read_literal_keys
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.target import Commit, CommitConflict, TargetTable
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.server.connection import Connection

_ATTEMPTS = 5
_FIRST, _SECOND = "0", "1"


def repair_rows(
    connection: Connection,
    target: TargetTable,
    mirror: MirrorRows,
    table: MirroredTable,
    differing: Differing,
    limits: LeafLimits,
) -> int:
    """Read rows that differ again from the source and put them into the table; return how many there are."""
    for attempt in range(_ATTEMPTS):
        mirror.refresh()
        deleted = [
            complete_records(row_keys(table, rows), _FIRST, RecordOp.DELETE, rows)
            for rows in mirror.rows_at(differing.within, differing.rows)
        ]
        found = read_literal_keys(connection.config, table, [row.literals for row in differing.rows.values()])
        read_at = end_of_log(connection)
        put = [
            complete_records(row_keys(table, rows), _SECOND, RecordOp.PUT, rows)
            for rows in found.to_batches()
            if rows.num_rows
        ]
        try:
            _commit(target, table, [*deleted, *put], read_at, limits)
        except CommitConflict:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            break
    mirror.refresh()
    return len(differing.rows)


def _commit(
    target: TargetTable,
    table: MirroredTable,
    records: Iterable[pa.RecordBatch],
    read_at: BinlogPosition,
    limits: LeafLimits,
) -> None:
    version = target.read()
    if version.state is None:
        raise SchemaError(f"{target.address} is not a mirrored table")
    files = with_bounds(version.files, target.directory, table)
    own = limits.of_table(sum(file.size for file in files))
    tasks = plan_tasks(files, own)
    changes: dict[int, list[pa.RecordBatch]] = {}
    for batch in records:
        for number, part in route(tasks, batch):
            changes.setdefault(number, []).append(part)
    done = [
        rewrite(task, target.directory, table, changes.get(task.number, ()), own) for task in _affected(tasks, changes)
    ]
    target.commit(Commit(version, _state(version.state, read_at), _added(done), _removed(done)))


def _affected(tasks: Iterable[RangeTask], changes: dict[int, list[pa.RecordBatch]]) -> list[RangeTask]:
    """Return the tasks with changes, and those that share files with them."""
    tasks = list(tasks)
    groups = {task.group for task in tasks if task.number in changes}
    return [task for task in tasks if task.group in groups]


def _added(done: Iterable[Rewritten]) -> list[DataFile]:
    return [file for each in done for file in each.added]


def _removed(done: Iterable[Rewritten]) -> list[DataFile]:
    return list({file.path: file for each in done for file in each.removed}.values())


def _state(state: TableState, read_at: BinlogPosition) -> TableState:
    if state.position.reaches(read_at):
        return state
    return replace(state, phase=Phase.CATCH_UP, consistent_from=read_at)
