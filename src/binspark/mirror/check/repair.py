"""Puts rows that differ into a mirrored table as the source has them now.

They may be newer than the table's position: changes from there on are applied to them once more, which gives the same
rows. Until the mirror has reached the position at which they were read, the table is not consistent, as after a
snapshot, and its state says so. If versions of rows are kept, those that are current become these rows, too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from binspark.mirror.check.commit_records import commit_records
from binspark.mirror.check.compare import Differing
from binspark.mirror.check.mirror_rows import MirrorRows
from binspark.mirror.check.repair_versions import VersionRepair
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.records.format import RecordOp, complete_records
from binspark.mirror.records.keys import row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.read import read_literal_keys
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.target import CommitConflict, TargetTable
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.server.connection import Connection

_ATTEMPTS = 20
_FIRST, _SECOND = "0", "1"


def repair_rows(
    connection: Connection,
    target: TargetTable,
    mirror: MirrorRows,
    table: MirroredTable,
    differing: Differing,
    limits: LeafLimits,
    versions: VersionRepair | None = None,
) -> int:
    """Read rows that differ again from the source and put them into the table; return how many there are.

    The source is read after the table: what a mirror commits after that may be newer, and is a conflict.
    """
    for attempt in range(_ATTEMPTS):
        known = None if versions is None else versions.versions.read()
        base = mirror.refresh()
        stored = list(mirror.rows_at(differing.within, differing.rows))
        deleted = [complete_records(row_keys(table, rows), _FIRST, RecordOp.DELETE, rows) for rows in stored]
        found = read_literal_keys(connection.config, table, [row.literals for row in differing.rows.values()])
        read_at = end_of_log(connection)
        current = [rows for rows in found.to_batches() if rows.num_rows]
        put = [complete_records(row_keys(table, rows), _SECOND, RecordOp.PUT, rows) for rows in current]
        try:
            if versions is not None:  # first: the table is what shows that something is left to repair
                versions.replace(stored, current, limits, known)
            commit_records(target, table, [*deleted, *put], limits, partial(_state, read_at=read_at), base)
        except CommitConflict:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            break
    mirror.refresh()
    return len(differing.rows)


def _state(state: TableState, read_at: BinlogPosition) -> TableState:
    if state.position.reaches(read_at):
        return state
    return replace(state, phase=Phase.CATCH_UP, consistent_from=read_at)
