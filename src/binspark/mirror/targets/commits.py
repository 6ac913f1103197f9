"""What holds for commits in both formats."""

from __future__ import annotations

import time
from dataclasses import replace

import pyarrow as pa

from binspark.mirror.state import TableState
from binspark.mirror.targets.target import Commit, OtherMirror, TableVersion, TargetError
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
        raise other_mirror(stored.mirror, mirror, address)


def other_mirror(stored: str, mirror: str, address: str) -> OtherMirror:
    """Return the error of a mirror that finds what another has written."""
    return OtherMirror(
        f"written by the mirror {stored!r}, and this is the mirror {mirror!r}. Give each mirror a --target of its own, "
        f"or continue the first with --mirror-id {stored!r}",
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
