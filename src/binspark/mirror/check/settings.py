"""How a check works: values only."""

from __future__ import annotations

from dataclasses import dataclass, field

from binspark.columns.options import ColumnOptions
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """How a check works.

    exact            compare at one position: tables are locked for milliseconds, to find it, and a mirror that runs
                     meanwhile must not pass it
    repair           read rows that differ again from the source, and put them into the mirror
    rows_per_range   how many rows are compared by one checksum query
    listed           how many rows that differ are listed, for each table
    rounds           how often rows are read again that change while they are compared
    wait_seconds     how long to wait for the mirror to reach the source
    columns          how values become columns
    limits           how large files are
    """

    exact: bool = False
    repair: bool = False
    rows_per_range: int = 100_000
    listed: int = 100
    rounds: int = 6
    wait_seconds: float = 60.0
    columns: ColumnOptions = MIRROR_OPTIONS
    limits: LeafLimits = field(default_factory=LeafLimits)
