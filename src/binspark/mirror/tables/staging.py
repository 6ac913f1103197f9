"""A copy of a table's rows while it is made, beside what the table has: one commit replaces its rows at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from binspark.errors import BinlogError, SourceError
from binspark.mirror.files.access import is_there
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves import with_footers
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.copy import CopiedChunk
from binspark.mirror.state import Phase, StagedCopy, TableState
from binspark.mirror.tables.open_table import OpenTable
from binspark.mirror.tables.staged_files import StagedFiles
from binspark.replication.position import BinlogPosition


class StagedFilesLost(BinlogError):
    """Another program has removed files of a copy that was being made: it begins again."""


class Staging:
    """A copy of a table while it is made.

    table       how the table is mirrored when the copy is complete
    directory   where the data files of the copy are
    position    where the changes begin that are applied to it
    began       when the copy began, in seconds since 1970
    """

    def __init__(self, opened: OpenTable, staged: StagedCopy, table: MirroredTable) -> None:
        self._opened = opened
        self._staged = staged
        self.table = table
        self.directory = opened.directory_for(table.schema)
        self.position = staged.position
        self.began = staged.began
        self._files = StagedFiles(self.directory, staged)
        self._count = 0

    def copied(self) -> list[CopiedChunk]:
        """Return the chunks that runs before have copied."""
        found = self._files.read()
        self._count = len(found)
        return found

    def record(self, group: Sequence[CopiedChunk]) -> list[CopiedChunk]:
        """Record chunks, and return them without what is not recorded."""
        self._files.write(self._count, group)
        self._count += len(group)
        return [replace(chunk, files=tuple(replace(file, footer=b"") for file in chunk.files)) for chunk in group]

    def files(self, chunks: Iterable[CopiedChunk]) -> list[DataFile]:
        """Return the files of chunks as they are committed; `StagedFilesLost` if one no longer exists."""
        files = [file for chunk in chunks for file in chunk.files]
        try:
            return with_footers(files, self.directory, self.table)
        except SourceError:
            lost = [file.path for file in files if not is_there(self.directory, file.path)]
            if not lost:
                raise
            message = f"another program removed {len(lost)} of its files from {self.directory.uri}, first {lost[0]}"
            raise StagedFilesLost(message) from None

    def state(
        self, phase: Phase, position: BinlogPosition | None = None, consistent_from: BinlogPosition | None = None
    ) -> TableState:
        """Return the state of the table with the rows of the copy, which are those at a position."""
        return TableState(
            self._opened.state.mirror,
            phase,
            position or self.position,
            self._staged.definition,
            self.table.key,
            consistent_from=consistent_from,
        )

    def commit(self, state: TableState, files: Sequence[DataFile]) -> None:
        """Replace the rows of the table by those of the copy."""
        self._opened.replace_rows(state, self.table.schema, files, self.directory)
        self._files.forget()
