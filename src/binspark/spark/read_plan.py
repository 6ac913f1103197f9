"""What a query reads: values, which travel from the driver's planning to the executors."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.files.splits import PlannedLog, Split
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema


@dataclass(frozen=True)
class ReadPlan:
    """The logs as they are now, and the shapes of tables over all of them."""

    logs: tuple[PlannedLog, ...]
    history: SchemaHistory
    splits: tuple[Split, ...]


@dataclass(frozen=True)
class Shape:
    """A table in one shape, and where that comes from."""

    table: TableSchema
    position: Position
