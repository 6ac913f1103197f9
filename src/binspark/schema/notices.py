"""What a history of schemas reports while events are read."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.hidden_secrets import hide_secrets
from binspark.position import Position
from binspark.schema.table import TableName

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class UnreadableDdl:
    """A statement about tables that is not supported. Until they are created again, only table maps describe them."""

    position: Position
    statement: str
    reason: str


@dataclass(frozen=True, slots=True)
class HiddenColumns:
    """Columns that a table has in the log but not in its definition: those of functional indexes.

    MySQL before 8.0.18 logs them. They have no names, and are shown as `@n`.
    """

    position: Position
    table: TableName
    names: tuple[str, ...]

    def __str__(self) -> str:
        listed, what = ", ".join(self.names), "columns that are" if len(self.names) > 1 else "a column that is"
        return f"{self.table} has {what} not in its definition, for a functional index; shown as {listed}"


@dataclass(frozen=True, slots=True)
class DoubtfulTable:
    """A table whose definition contradicts the log, or that has text in an unknown character set.

    Its rows are read as the log describes them.
    """

    position: Position
    table: TableName
    reason: str

    def __str__(self) -> str:
        return f"{self.table}: {self.reason}"


@dataclass(frozen=True, slots=True)
class LoggedStatement:
    """A statement that changes rows and was logged as its text (binlog_format): the log does not contain the rows."""

    position: Position
    statement: str

    def __str__(self) -> str:
        text = hide_secrets(" ".join(self.statement.split()))
        text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
        return (
            f"a change was logged as a statement (binlog_format), so that the log does not contain its rows: {text!r}"
        )


@dataclass(frozen=True, slots=True)
class RolledBackChanges:
    """A statement that rolls back changes which are in the log before it: who reads rows finds them all the same."""

    position: Position
    statement: str

    def __str__(self) -> str:
        text = hide_secrets(" ".join(self.statement.split()))
        return (
            f"changes in the log before this statement were rolled back, and are read as changes all the same: {text!r}"
        )


SchemaNotice = UnreadableDdl | HiddenColumns | DoubtfulTable | LoggedStatement | RolledBackChanges
"""What a history reports while it is fed."""

AboutRows = LoggedStatement | RolledBackChanges | DoubtfulTable
"""What concerns everybody who reads rows, also without the definitions of tables."""
