"""What holds for commits in both formats."""

from __future__ import annotations

import time
from dataclasses import replace

import pyarrow as pa

from binspark.mirror.state import TableState
from binspark.mirror.targets.target import Commit, TableVersion, TargetError
from binspark.position import Position

_CLOCKS_SECONDS = 3600
"""How much the clocks of a store and of this machine may differ."""


def check_mirror(stored: TableState | None, mirror: str, address: str) -> None:
    """Refuse to write a table that another mirror writes, or none."""
    if stored is None:
        raise TargetError(
            "there is a table of this name that no mirror wrote. Move it away, or choose another --target",
            Position(file=address),
        )
    if stored.mirror != mirror:
        raise TargetError(
            f"the table is written by the mirror {stored.mirror!r}, and this is the mirror {mirror!r}. "
            "Two mirrors cannot share a table: choose another --target",
            Position(file=address),
        )


def check_commit(commit: Commit, address: str) -> None:
    """Refuse a commit to a table that this mirror does not write."""
    check_mirror(commit.base.state, commit.state.mirror, address)


def kept_seconds(state: TableState | None, retention_seconds: float) -> float:
    """Return how old files must be to be removed: older than a copy that is being made, which no version has yet."""
    if state is None or state.staged is None:
        return retention_seconds
    return max(retention_seconds, time.time() - state.staged.began + _CLOCKS_SECONDS)


def version_after(commit: Commit, version: int, schema: pa.Schema) -> TableVersion:
    """Return the version that a commit made. What is known of data files stays known."""
    removed = {file.path for file in commit.removed}
    kept = (file for file in commit.base.files if file.path not in removed)
    added = (replace(file, footer=b"") for file in commit.added)
    return TableVersion(version, schema, commit.state, (*kept, *added))
