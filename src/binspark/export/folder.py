"""The directory that an export writes to: nothing in it changes before all files are complete."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from binspark.errors import OptionError
from binspark.private_files import create_folder

_MAX_NAME_BYTES = 200
_UNESCAPED = frozenset("_-$")
_HIDDEN_PREFIX = "_"
_PART = re.compile(r"part-\d{5,}\.parquet")
_PARTIAL = re.compile(r"\.part-\d{5,}\.parquet\.(partial|rewritten)")


def folder_name(schema: str, table: str) -> str:
    """Return the directory name for `schema.table`. Two tables never share one."""
    name = f"{_safe(schema)}.{_safe(table)}"
    raw = name.encode()
    if len(raw) <= _MAX_NAME_BYTES:
        return name
    digest = hashlib.sha256(raw).hexdigest()[:16]
    return raw[: _MAX_NAME_BYTES - 17].decode(errors="ignore") + "~" + digest


def part_name(number: int) -> str:
    """Return the name of the file with this number."""
    return f"part-{number:05d}.parquet"


def partial_name(name: str) -> str:
    """Return the name of a file until it is complete. Readers of directories ignore names with a leading dot."""
    return f".{name}.partial"


def rewritten_path(partial: Path) -> Path:
    """Return where to write a file that replaces one that is not complete."""
    return partial.with_suffix(".rewritten")


def is_part(name: str) -> bool:
    """Return whether a file is one that an export wrote."""
    return _PART.fullmatch(name) is not None


def is_partial(name: str) -> bool:
    """Return whether a file is one that an export did not complete."""
    return _PARTIAL.fullmatch(name) is not None


def _safe(name: str) -> str:
    """Escape all but letters, digits and `_-$` as `%XX`; also a leading `_`, which would hide the directory.

    An empty name, which only a log that lies has, is `%`: the directory would be another one.
    """
    if not name:
        return "%"
    encoded = "".join(letter if letter.isalnum() or letter in _UNESCAPED else _escaped(letter) for letter in name)
    return _escaped(_HIDDEN_PREFIX) + encoded[1:] if encoded.startswith(_HIDDEN_PREFIX) else encoded


def _escaped(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode(errors="surrogateescape"))


class OutputFolder:
    """Names the files of an export, and renames them to their final names when all are complete.

    Until then they have names that readers ignore. If the export fails they are removed; those of a killed process are
    removed by the next export.
    """

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        self._path = path
        self._overwrite = overwrite
        self._is_new = not path.exists()
        self._parts: dict[Path, Path] = {}
        self._counts: dict[Path, int] = {}
        self._emptied: set[Path] = set()

    def __enter__(self) -> Self:
        if self._path.exists() and not self._path.is_dir():
            raise OptionError(f"must be a directory, got the file {self._path}", option="--output")
        if not self._overwrite and _has_other_files(self._path):
            raise OptionError(
                f"is not empty: {self._path}; use --overwrite to replace the tables in it", option="--output"
            )
        for abandoned in self._files(is_partial):
            self._remove(abandoned)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for partial in self._parts.values():
            with suppress(OSError):
                self._remove(partial)
        self._remove_empty_folders()

    def new_part(self, schema: str, table: str) -> Path:
        """Return the path to write the next file of a table to."""
        folder = self._path / folder_name(schema, table)
        number = self._counts.get(folder, 0)
        self._counts[folder] = number + 1
        final = folder / part_name(number)
        partial = folder / partial_name(final.name)
        create_folder(folder)
        self._parts[final] = partial
        return partial

    def publish(self) -> tuple[Path, ...]:
        """Rename all files to their final names, remove those of an earlier export, and return the files."""
        earlier = set(self._files(is_part))
        finals = tuple(self._parts)
        for final, partial in self._parts.items():
            os.replace(partial, final)
        self._parts.clear()
        for old in earlier.difference(finals):
            self._remove(old)
        return finals

    def _files(self, matches: Callable[[str], bool]) -> list[Path]:
        """Return the files in the directories of tables whose names match."""
        return [file for file in self._path.glob("*/*") if matches(file.name)]

    def _remove(self, file: Path) -> None:
        self._emptied.add(file.parent)
        file.unlink()

    def _remove_empty_folders(self) -> None:
        """Remove the directories of tables that are empty now."""
        for folder in [*self._emptied, *([self._path] if self._is_new else [])]:
            with suppress(OSError):
                folder.rmdir()


def _has_other_files(path: Path) -> bool:
    """Return whether a directory has more in it than the incomplete files of an export."""
    if not path.is_dir():
        return False
    entries = list(path.iterdir())
    inside = [file for entry in entries if entry.is_dir() for file in entry.iterdir()]
    return not all(entry.is_dir() for entry in entries) or not all(is_partial(file.name) for file in inside)
