"""What the mirror needs of a lakehouse format. Delta and Iceberg implement it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from binspark.errors import BinlogError
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.schema.column_changes import SchemaChange
from binspark.mirror.state import TableState
from binspark.schema.table import TableName


class CommitConflict(BinlogError):
    """Another program changed the table after it was read: nothing was committed. Read it and plan again."""


class TargetError(BinlogError):
    """A table of the target is not as the mirror needs it; the message says what to do."""


class OtherMirror(TargetError):
    """Another mirror writes a table, or another process of the same one."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A mirrored table as it was read.

    version   the version of a Delta table, the snapshot of an Iceberg table; -1 for an Iceberg table without one
    schema    its columns, in Arrow's types and in the order of the target: a new column may be the last one there
    state     what the mirror stored with its last commit; None if no mirror writes this table
    files     its data files
    foreign   the commits of other programs since then that changed rows or columns, one description each. Those that
              only moved rows to other files (OPTIMIZE, rewrite of data files) are not among them
    """

    version: int
    schema: pa.Schema
    state: TableState | None
    files: tuple[DataFile, ...]
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """A change of a table: all of it, or nothing. It is valid for the version that it was planned on.

    added, removed   data files
    schema_change    how its columns change, in the same commit. A target may need all files rewritten for it
    changes          files of changes (see `leaves.change_files`), which the target merges into the rows by itself
    """

    base: TableVersion
    state: TableState
    added: Sequence[DataFile] = ()
    removed: Sequence[DataFile] = ()
    schema_change: SchemaChange | None = None
    changes: Sequence[DataFile] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """A consistent cut over all tables: these versions belong to one position of the source.

    number     counts the cuts of a target
    mirror     the id of the mirror that wrote it
    """

    number: int
    position: str
    gtids: str
    time_us: int
    versions: tuple[tuple[TableName, int], ...]
    mirror: str = ""


class Cuts(Protocol):
    """The cuts of a target, in a table of their own."""

    def append(self, cut: Cut) -> None:
        """Append a cut."""
        ...

    def last(self) -> Cut | None:
        """Return the newest cut."""
        ...

    def all(self) -> list[Cut]:
        """Return all cuts, the oldest first."""
        ...

    def clean_up(self, retention_seconds: float) -> list[Cut]:
        """Remove cuts older than this, but not the newest, and join the small files that each cut makes.

        Return the cuts that stay. Where a format pays for each version, it is one for each hour, and all of the last.
        """
        ...


class TargetTable(Protocol):
    """A table of the target."""

    @property
    def name(self) -> TableName:
        """The name of the source's table."""
        ...

    @property
    def address(self) -> str:
        """Where users find it: a URI, or the identifier in a catalog."""
        ...

    @property
    def directory(self) -> TableDirectory:
        """Where its data files are."""
        ...

    @property
    def merges(self) -> bool:
        """Whether a commit may have changes instead of data files: the target merges them into its rows."""
        ...

    def read(self, version: int | None = None) -> TableVersion:
        """Return the newest version, or the one of a cut: an error says if it was cleaned up."""
        ...

    def directory_at(self, version: int) -> TableDirectory:
        """Return where the data files of a version are: columns may have had other numbers than they have now."""
        ...

    def needs_rewrite(self, change: SchemaChange) -> bool:
        """Return whether all data files have to be rewritten, in the same commit, for a schema change."""
        ...

    def directory_after(self, change: SchemaChange) -> TableDirectory:
        """Return where data files are that are committed together with a schema change: columns have new numbers."""
        ...

    def commit(self, commit: Commit) -> TableVersion:
        """Commit a change atomically; raise CommitConflict if the table has changed since it was read."""
        ...

    def clean_up(self, retention_seconds: float, needed: Collection[int] | None = None) -> int:
        """Remove versions, and files that no version needs, older than this. Return how many data files that were.

        The files of a copy that is being made (`TableState.staged`) stay.
        A version counts from when it was replaced. This may make a new version: read it before the next commit.

        needed   the versions to which cuts refer, if that is known: where a format pays for each version with every
                 commit, others are removed after an hour
        """
        ...


class Target(Protocol):
    """A lakehouse: a directory of Delta tables, or a catalog of Iceberg tables."""

    def column_type(self, kind: pa.DataType) -> pa.DataType:
        """Return the type that a column of a type gets here: Iceberg has no integers smaller than 32 bits."""
        ...

    def tables(self) -> list[TableName]:
        """Return the tables that are there."""
        ...

    def table(self, name: TableName) -> TargetTable | None:
        """Return a table, None if it is not there."""
        ...

    def create(self, name: TableName, schema: pa.Schema, state: TableState) -> TargetTable:
        """Create an empty table."""
        ...

    def drop(self, name: TableName) -> None:
        """Drop a table with its files. It is not an error if it is not there."""
        ...

    def rename(self, name: TableName, new_name: TableName) -> TargetTable:
        """Rename a table. Where a format cannot, it is copied by its metadata or refused with an error that says so."""
        ...

    @property
    def cuts(self) -> Cuts:
        """The table `_binspark`."""
        ...

    def close(self) -> None:
        """Release the connections to a catalog."""
        ...
