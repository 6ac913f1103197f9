"""Commits a few changes of a mirrored table, which are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from binspark.errors import SchemaError
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves.leaf_reader import with_bounds
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.plan import RangeTask, plan_tasks, route
from binspark.mirror.leaves.rewrite import Rewritten
from binspark.mirror.runners.runner import TableWork
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.state import TableState
from binspark.mirror.targets.target import Commit, TableVersion, TargetTable


def commit_records(
    target: TargetTable,
    table: MirroredTable,
    records: Iterable[pa.RecordBatch],
    limits: LeafLimits,
    state_after: Callable[[TableState], TableState],
    base: TableVersion | None = None,
) -> None:
    """Make changes in a version of a table, which must be the newest one: `CommitConflict` if it is not."""
    version = base or target.read()
    if version.state is None:
        raise SchemaError(f"{target.address} is not a mirrored table")
    files = with_bounds(version.files, target.directory, table)
    own = limits.of_table(sum(file.size for file in files))
    tasks = plan_tasks(files, own)
    changes: dict[int, list[pa.RecordBatch]] = {}
    for batch in records:
        for number, part in route(tasks, batch):
            changes.setdefault(number, []).append(part)
    work = TableWork(0, table, target.directory, tuple(tasks), own)
    done = [work.rewrite(task.number, changes.get(task.number, ())) for task in _affected(tasks, changes)]
    target.commit(Commit(version, state_after(version.state), _added(done), _removed(done)))


def _affected(tasks: Iterable[RangeTask], changes: dict[int, list[pa.RecordBatch]]) -> list[RangeTask]:
    """Return the tasks with changes, and those that share files with them."""
    tasks = list(tasks)
    groups = {task.group for task in tasks if task.number in changes}
    return [task for task in tasks if task.group in groups]


def _added(done: Iterable[Rewritten]) -> list[DataFile]:
    return [file for each in done for file in each.added]


def _removed(done: Iterable[Rewritten]) -> list[DataFile]:
    return list({file.path: file for each in done for file in each.removed}.values())
