"""How a mirror works: values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from binspark.columns.options import ColumnOptions
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS
from binspark.monitoring.settings import MetricsSettings


class SnapshotMode(StrEnum):
    """Whether the rows are copied that a table has when its mirror begins.

    INITIAL   yes, once
    NEVER     no: the log, or the archive, begins with the tables
    """

    INITIAL = "initial"
    NEVER = "never"


class DropMode(StrEnum):
    """What becomes of the mirror of a table that the source drops: it stays as it is, or is dropped."""

    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class MirrorSettings:
    """How a mirror works.

    mirror_id          its name, which its tables contain: another mirror does not write them; None for the default
    snapshot           whether rows are copied first
    from_dump          a dump that the mirror begins with
    resnapshot         tables that are copied again, whatever they contain
    start              where the log begins to be read if nothing is copied: earliest, latest, a position
    once               end when everything is applied that the source had when the run began
    apply_seconds      how often changes are committed
    apply_bytes        about how much of the log is applied at a time; a larger transaction is not divided
    local_bytes        ranges up to this size are applied, and tables copied, without Spark
    rows_per_chunk     how many rows of a table are copied at a time
    on_drop            what becomes of dropped tables
    history            keep all changes in a table of their own, too
    scd2               keep all versions of rows in tables of their own, too
    accept_foreign     continue with tables in which other programs have changed rows
    clean_up_seconds   how often old versions are removed; 0 for never
    keep_seconds       how old they must be
    columns            how values become columns
    limits             how large files are
    retry_attempts     how often a failed step is tried again, with longer and longer waits
    metrics            where metrics are served; None for nowhere
    """

    mirror_id: str | None = None
    snapshot: SnapshotMode = SnapshotMode.INITIAL
    from_dump: str | None = None
    resnapshot: tuple[str, ...] = ()
    start: str = "earliest"
    once: bool = False
    apply_seconds: float = 30.0
    apply_bytes: int = 256 << 20
    local_bytes: int = 64 << 20
    rows_per_chunk: int = 250_000
    on_drop: DropMode = DropMode.KEEP
    history: bool = False
    scd2: bool = False
    accept_foreign: bool = False
    clean_up_seconds: float = 3600.0
    keep_seconds: float = 7 * 86400.0
    columns: ColumnOptions = MIRROR_OPTIONS
    limits: LeafLimits = field(default_factory=LeafLimits)
    retry_attempts: int = 8
    metrics: MetricsSettings | None = None
