"""The files of LOAD DATA statements, whose blocks are in the log."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from binspark.dump.dumper import Warn
from binspark.errors import OptionError
from binspark.os_errors import describe_os_error
from binspark.private_files import create_file, open_file

_NAME = "SQL_LOAD_MB"
_MAX_VERSIONS = 1000


class LoadFiles:
    """Writes blocks to files that the printed LOAD DATA statements name."""

    def __init__(self, folder: str | None, warn: Warn) -> None:
        self._folder = folder or os.environ.get("TMPDIR") or tempfile.gettempdir()
        self._warn = warn
        self._paths: dict[int, Path] = {}

    def begin(self, file_id: int, block: bytes) -> None:
        """Create the file of a statement with its first block."""
        for version in range(_MAX_VERSIONS):
            path = Path(self._folder, f"{_NAME}-{file_id:x}-{version:x}")
            try:
                with open(create_file(path), "wb") as file:
                    file.write(block)
            except FileExistsError:
                continue
            except OSError as error:
                raise OptionError(f"cannot write {path}: {describe_os_error(error)}", option="--local-load") from None
            self._paths[file_id] = path
            return
        raise OptionError(f"{self._folder} has {_MAX_VERSIONS} files of this name already", option="--local-load")

    def append(self, file_id: int, block: bytes) -> None:
        """Append a block."""
        path = self._paths.get(file_id)
        if path is None:
            self._warn(f"a block of file {file_id} of LOAD DATA is skipped: its first block is not in this part")
            return
        with open(open_file(path, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(block)

    def take(self, file_id: int) -> bytes | None:
        """Return the name of a complete file, None if its first block was not read."""
        path = self._paths.pop(file_id, None)
        if path is None:
            self._warn(f"LOAD DATA of file {file_id} is skipped: its first block is not in this part")
            return None
        return os.fsencode(path)
