"""What is recorded of a copy of a table's rows while it is made: its chunks, and the paths of their data files.

The data files are in the directory of the table, but no version of the table has them. The records are in a directory
that the state of the table names. Programs that remove unused files ignore it, because its name begins with `_`.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from binspark.errors import BinlogError
from binspark.mirror.files.access import create_file, file_errors, open_file, remove
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.files.directory import open_directory
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.copy import CopiedChunk
from binspark.mirror.state import StagedCopy
from binspark.replication.position import BinlogPosition

_DIRECTORY = "_binspark_copy-"
_SUFFIX = ".json"
_THREADS = 8

_FieldIds = tuple[tuple[str, int], ...]


class ColumnsChanged(BinlogError):
    """Another program has changed the columns of a table: files that were written for it do not fit."""


def new_copy(position: BinlogPosition, definition: str) -> StagedCopy:
    """Return a copy that begins now."""
    return StagedCopy(f"{_DIRECTORY}{uuid.uuid4().hex}", position, definition, int(time.time()))


def remove_forgotten(directory: TableDirectory, staged: StagedCopy | None) -> None:
    """Remove what is recorded of copies that a table does not name: a process was killed before it could do so."""
    from pyarrow.fs import FileSelector

    with file_errors(directory, ""):
        folder = open_directory(directory.uri, directory.storage)
        for info in folder.files.get_file_info(FileSelector(folder.root, allow_not_found=True)):
            if info.base_name.startswith(_DIRECTORY) and (staged is None or info.base_name != staged.directory):
                folder.files.delete_dir(info.path)


class StagedFiles:
    """What is recorded of a copy: chunks, and the paths of their files.

    Each record is a file of its own. One that is not complete is from a process that was killed; the chunks of it are
    copied again.
    """

    def __init__(self, directory: TableDirectory, staged: StagedCopy) -> None:
        self._directory = directory
        self._name = staged.directory

    def write(self, number: int, chunks: Sequence[CopiedChunk]) -> None:
        """Record chunks."""
        content = {"field_ids": self._directory.field_ids, "chunks": [_to_json(chunk) for chunk in chunks]}
        with create_file(self._directory, f"{self._name}/{number:08}{_SUFFIX}") as file:
            file.write(json.dumps(content, ensure_ascii=False).encode())

    def read(self) -> list[CopiedChunk]:
        """Return the chunks that were recorded, in their order. Their files have no footers.

        `ColumnsChanged` if the columns of the table have other numbers now.
        """
        found: list[CopiedChunk] = []
        for field_ids, chunks in self._records():
            if field_ids != self._directory.field_ids:
                raise ColumnsChanged(f"another program changed the columns of {self._directory.uri}")
            found += chunks
        return found

    def abandon(self) -> None:
        """Remove the files of a copy that no state names any more, and what is recorded of them."""
        for _, chunks in self._records():
            for chunk in chunks:
                for file in chunk.files:
                    remove(self._directory, file.path)
        self.forget()

    def forget(self) -> None:
        """Remove what is recorded. The data files stay."""
        if self._names():
            with file_errors(self._directory, self._name):
                folder = open_directory(self._directory.uri, self._directory.storage)
                folder.files.delete_dir(folder.path(self._name))

    def _names(self) -> list[str]:
        from pyarrow.fs import FileSelector

        with file_errors(self._directory, self._name):
            folder = open_directory(self._directory.uri, self._directory.storage)
            found = folder.files.get_file_info(FileSelector(folder.path(self._name), allow_not_found=True))
        return sorted(info.base_name for info in found if info.base_name.endswith(_SUFFIX))

    def _records(self) -> Iterator[tuple[_FieldIds, list[CopiedChunk]]]:
        with ThreadPoolExecutor(_THREADS) as pool:
            contents = list(pool.map(self._content, self._names()))
        for content in contents:
            try:
                fields = json.loads(content)
            except ValueError:
                continue
            yield tuple((name, number) for name, number in fields["field_ids"]), [*map(_of_json, fields["chunks"])]

    def _content(self, name: str) -> bytes:
        with open_file(self._directory, f"{self._name}/{name}") as file:
            return bytes(file.read())


def _to_json(chunk: CopiedChunk) -> dict[str, object]:
    return {
        "chunk": chunk.chunk.to_json(),
        "position": chunk.position and chunk.position.to_json(),
        "files": [[file.path, file.size, file.rows] for file in chunk.files],
    }


def _of_json(fields: dict[str, Any]) -> CopiedChunk:
    position = fields["position"]
    files = tuple(DataFile(*file) for file in fields["files"])
    return CopiedChunk(
        Chunk.from_json(fields["chunk"]),
        files,
        sum(file.rows for file in files),
        None if position is None else BinlogPosition.from_json(position),
    )
