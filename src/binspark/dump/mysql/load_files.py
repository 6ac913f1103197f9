"""The files of LOAD DATA statements: their blocks are in the log, and the dump names files that are written again."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from binspark.errors import SourceError
from binspark.os_errors import describe_os_error
from binspark.position import Position
from binspark.private_files import create_file, open_file

if TYPE_CHECKING:
    from binspark.event import AppendBlock

_MAX_ATTEMPTS = 1000


class LoadFiles:
    """Writes the files to a directory; existing files are not overwritten."""

    def __init__(self, directory: str | None) -> None:
        self._directory = os.path.join(directory or tempfile.gettempdir(), "")
        self._names: dict[int, str] = {}

    def begin(self, block: AppendBlock) -> None:
        """Create a file with its first block."""
        for number in range(_MAX_ATTEMPTS):
            name = f"{self._directory}SQL_LOAD_MB-{block.file_id:x}-{number:x}"
            try:
                with open(create_file(name), "wb") as file:
                    file.write(block.block)
            except FileExistsError:
                continue
            except OSError as error:
                raise SourceError(
                    f"cannot write a file of LOAD DATA: {describe_os_error(error)}", Position(name)
                ) from None
            self._names[block.file_id] = name
            return
        raise SourceError(f"cannot name a file of LOAD DATA in {self._directory}: delete its files SQL_LOAD_MB-*")

    def append(self, block: AppendBlock) -> bool:
        """Append a block to a file; return whether the file was begun."""
        name = self._names.get(block.file_id)
        if name is None:
            return False
        try:
            with open(open_file(name, os.O_WRONLY | os.O_APPEND), "ab") as file:
                file.write(block.block)
        except OSError as error:
            raise SourceError(f"cannot write a file of LOAD DATA: {describe_os_error(error)}", Position(name)) from None
        return True

    def take(self, file_id: int) -> bytes | None:
        """Return the name of a complete file, None if it was not begun."""
        name = self._names.pop(file_id, None)
        return None if name is None else os.fsencode(name)
