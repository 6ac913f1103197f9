"""The versions of the rows of mirrored tables: where they begin, begin again after a copy, and end with their table.

From there on they are kept as tables are: each range of the log is applied to a table and to its versions, each with
its position in the commit.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from binspark.mirror.leaves.begin_versions import BeginVersions, RangeOfVersions, VersionFiles, can_have_keys
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.plan import RangeTask, files_within
from binspark.mirror.leaves.versions import Ending
from binspark.mirror.records.keys import key_kinds, may_be_followed
from binspark.mirror.runners.runner import Runner
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import seq_at, versioned, versions_name
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.open_table import OpenTable
from binspark.replication.position import BinlogPosition
from binspark.schema.table import TableName

log = logging.getLogger("binspark.mirror")


def begin_versions(
    tables: MirroredTables, choose_runner: Callable[[int], Runner], lag_seconds: float | None = None
) -> None:
    """Begin the versions of all tables that have none yet, or that were copied again since.

    choose_runner   returns what reads and writes a number of bytes
    lag_seconds     how old the first change is that is not applied yet
    """
    if not tables.settings.scd2:
        return
    for table in tables:
        if table.has_versions or not table.is_applied:
            continue
        if not table.table.key:
            tables.suspend_versions(table.name)
            if table.name not in tables.without_versions:
                log.warning("%s has no key, so that the versions of its rows cannot be kept", table.name)
                tables.without_versions.add(table.name)
            continue
        versions = tables.versions_of(table.name)
        if versions is None or _is_to_begin(versions, table, tables.cut_position):
            versions = versions or tables.open_versions(table)
            ending = _ending(table.position, table.state.copied or time.time() - (lag_seconds or 0))
            new = versioned(table.table, tables.target.column_type)
            runner = choose_runner(sum(file.size for file in (*table.version.files, *versions.version.files)))
            _begin(versions, table, new, ending, tables.settings.limits, runner)


def end_versions(
    tables: MirroredTables,
    name: TableName,
    position: BinlogPosition,
    choose_runner: Callable[[int], Runner],
    lag_seconds: float | None = None,
) -> None:
    """End all versions of the rows of a table that the source no longer has, at a position of the log."""
    if not tables.settings.scd2:
        return
    versions = tables.versions_of(name) or tables.existing(versions_name(name))
    if versions is None or not versions.has_versions:
        return
    ending = _ending(position, time.time() - (lag_seconds or 0))
    directory, limits = versions.target.directory, tables.settings.limits
    files = VersionFiles(directory, versions.table)
    ranges = [RangeOfVersions(task.low, task.high, (), task.files) for task in versions.work(0, limits).tasks]
    jobs = [BeginVersions(files, files, each, versions.table, directory, ending, limits) for each in ranges]
    runner = choose_runner(sum(file.size for file in versions.version.files))
    written = [file for each in runner.each(jobs, f"end {versions.name}") for file in each]
    state = replace(versions.state.moved(position), phase=Phase.DROPPED, pending=None)
    versions.replace_rows(state, versions.table.schema, written)


def _ending(position: BinlogPosition, seconds: float) -> Ending:
    """Return the moment of a position, in full seconds: changes after it were made after that."""
    return Ending(datetime.fromtimestamp(int(seconds), UTC), seq_at(position))


def _is_to_begin(versions: OpenTable, table: OpenTable, last_cut: BinlogPosition | None) -> bool:
    """Return whether versions have to begin with the rows that a table has.

    A table is committed after its versions, except where another program was in the way: then, if the mirror was killed
    as well, its definition may be ahead.
    """
    if not versions.is_applied:
        return True
    if versions.table.key[:-1] != table.table.key and table.position.reaches(versions.position):
        return True
    if versions.definition != table.definition and not versions.position.reaches(table.position):
        return True
    if last_cut is None or versions.position.reaches(last_cut):
        return False
    message = "%s lacks the changes from %s to %s: the mirror ran without --scd2"
    log.warning(message, versions.name, versions.position.describe(), last_cut.describe())
    return True


def _begin(
    versions: OpenTable, table: OpenTable, new: MirroredTable, ending: Ending, limits: LeafLimits, runner: Runner
) -> None:
    """Make the valid versions equal to the rows of a table: those that differ end, and others begin."""
    directory = versions.directory_for(new.schema)
    known = VersionFiles(versions.target.directory, versions.table)
    rows = VersionFiles(table.target.directory, table.table)
    ranges = _ranges(versions, table, new, limits)
    jobs = [BeginVersions(known, rows, each, new, directory, ending, limits) for each in ranges]
    files = [file for written in runner.each(jobs, f"begin {versions.name}") for file in written]
    state = replace(table.state, key=new.key, has_versions=True, pending=None, staged=None, copied=None)
    versions.replace_rows(state, new.schema, files, directory)
    versions.skip_to(table.position)


def _ranges(versions: OpenTable, table: OpenTable, new: MirroredTable, limits: LeafLimits) -> Iterator[RangeOfVersions]:
    """Yield the ranges of keys of a table, with the files of its rows and of the versions that are there.

    If the keys of versions that are there do not begin with those of rows, as bytes, there is one range. Versions that
    cannot have the key are left out.
    """
    known = versions.files
    if known and not can_have_keys(versions.table, new):
        message = "%s begins anew, without its %d versions of before: they have no column for the key %s; version %d"
        counted = sum(file.rows for file in known)
        log.warning(f"{message} of the table has them", versions.name, counted, new.key[:-1], versions.version.version)
        known = []
    tasks = table.work(0, limits).tasks
    if known and (key_kinds(versions.table) != key_kinds(new) or not may_be_followed(table.table)):
        tasks = (RangeTask(0, None, None, tuple(table.files)),)
    for task in tasks:
        yield RangeOfVersions(task.low, task.high, task.files, files_within(known, task.low, task.high))
