"""Lets the versions of rows that are current be the rows that a repair puts into their table.

A version that differs ends with the repair, and another begins: when the row was really changed is not known. Changes
from the position of the versions on are applied to them once more, as after a copy of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pyarrow as pa

from binspark.columns.options import ColumnOptions
from binspark.errors import SchemaError
from binspark.mirror.check.commit_records import commit_records
from binspark.mirror.leaves.leaf_reader import stored_rows, with_bounds
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.records.keys import key_bytes, row_keys
from binspark.mirror.records.versions import version_records
from binspark.mirror.schema.definitions import as_mirrored, read_stored
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import (
    IS_CURRENT,
    SEQ,
    TIME,
    current_table,
    seq_at,
    version_rows,
    versioned,
    versions_name,
)
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.target import TableVersion, Target, TargetTable

_ROW_DIGITS = 8
"""How many digits at the end of a SEQ are the number of a row."""


@dataclass(frozen=True, slots=True)
class VersionRepair:
    """Repairs the versions of a table's rows."""

    target: Target
    versions: TargetTable
    table: MirroredTable
    options: ColumnOptions

    @classmethod
    def of(cls, target: Target, table: MirroredTable, options: ColumnOptions) -> VersionRepair | None:
        """Return what repairs the versions of a table; None if there are none."""
        found = target.table(versions_name(table.name))
        state = None if found is None else found.read().state
        if found is None or state is None or not state.has_versions:
            return None
        return cls(target, found, table, options)

    def stored(self) -> MirroredTable:
        """Return how the versions are stored; `SchemaError` if they have other columns than the table."""
        state = self.versions.read().state
        assert state is not None
        return self._versions(state)

    def replace(
        self,
        stored: Sequence[pa.RecordBatch],
        current: Sequence[pa.RecordBatch],
        limits: LeafLimits,
        base: TableVersion | None = None,
    ) -> None:
        """Make the stored versions of rows the current ones. Both have the columns of the table.

        `base` is the version of the versions that rows were read from: `CommitConflict` if there is a newer one.
        """
        base = base or self.versions.read()
        state = base.state
        if state is None or state.phase not in (Phase.CATCH_UP, Phase.CURRENT):
            return  # they begin again with the rows that the table has then
        versions = self._versions(state)
        kept = {row_key for rows in current for row_key in row_keys(self.table, rows).to_pylist()}
        gone = [_without(self.table, rows, kept) for rows in stored]
        made = [self._made(versions, state, rows, is_current=True) for rows in current]
        made += [self._made(versions, state, rows, is_current=None) for rows in gone if rows.num_rows]
        made = [rows for rows in made if rows.num_rows]
        if not made:
            return
        records = [version_records(versions, rows) for rows in self._differing(versions, made, base) if rows.num_rows]
        if records:
            commit_records(self.versions, versions, records, limits, lambda before: before, base)

    def _versions(self, state: TableState) -> MirroredTable:
        found = as_mirrored(*read_stored(state.definition), self.target.column_type, self.options)
        versions = replace(versioned(found, self.target.column_type), key=state.key)
        if current_table(versions).schema != self.table.schema:
            message = f"the versions of {self.table.name} have other columns than it: a schema change is being made"
            raise SchemaError(f"{message}; compare or repair it when the mirror has caught up")
        return versions

    @staticmethod
    def _made(
        versions: MirroredTable, state: TableState, rows: pa.RecordBatch, *, is_current: bool | None
    ) -> pa.RecordBatch:
        """Return rows as versions that begin now; without `is_current`, as what ends the versions with their keys."""
        count = rows.num_rows
        begins = pa.repeat(pa.scalar(datetime.now(UTC), TIME), count)
        seq = pa.repeat(pa.scalar(seq_at(state.position)), count)
        return version_rows(versions, rows.columns, begins, seq, pa.repeat(pa.scalar(is_current, pa.bool_()), count))

    def _differing(
        self, versions: MirroredTable, made: Sequence[pa.RecordBatch], base: TableVersion
    ) -> list[pa.RecordBatch]:
        """Return versions without those that are there already."""
        keys = sorted(key for rows in made for key in row_keys(versions, rows).to_pylist())
        files = with_bounds(base.files, self.versions.directory, versions)
        known = stored_rows(files, self.versions.directory, versions, keys)
        seq = _after(known.rows.column(SEQ).to_pylist(), made)
        names = self.table.schema.names
        same = set(zip(known.keys.to_pylist(), _values(known.rows, names), strict=True))
        found = []
        for rows in made:
            own = zip(row_keys(versions, rows).to_pylist(), _values(rows, names), strict=True)
            is_ending = rows.column(IS_CURRENT).is_null().to_pylist()
            wanted = [ends or each not in same for each, ends in zip(own, is_ending, strict=True)]
            chosen = rows.filter(pa.array(wanted, pa.bool_()))
            index = chosen.schema.get_field_index(SEQ)
            seqs = pa.array([seq] * chosen.num_rows, chosen.schema.field(index).type)
            found.append(chosen.set_column(index, SEQ, seqs))
        return found


def _after(known: Sequence[str], made: Sequence[pa.RecordBatch]) -> str:
    """Return the SEQ of new versions: after those that another repair, or a copy, has begun at the same position."""
    seq: str = made[0].column(SEQ)[0].as_py()
    position = seq[:-_ROW_DIGITS]
    last = max((one for one in known if one.startswith(position)), default=None)
    return seq if last is None else f"{position}{int(last[-_ROW_DIGITS:], 16) + 1:0{_ROW_DIGITS}x}"


def _values(rows: pa.RecordBatch, names: Sequence[str]) -> list[bytes]:
    values: list[bytes] = key_bytes([rows.column(name) for name in names], nullable=True).to_pylist()
    return values


def _without(table: MirroredTable, rows: pa.RecordBatch, keys: set[bytes]) -> pa.RecordBatch:
    return rows.filter(pa.array([key not in keys for key in row_keys(table, rows).to_pylist()], pa.bool_()))
