"""The folder that an export fills: nothing in it changes before all of it is there."""

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

_MOST_BYTES = 200
_KEPT_BESIDE_LETTERS = frozenset("_-$")
_HIDDEN = "_"
_PART = re.compile(r"part-\d{5,}\.parquet")
_PARTIAL = re.compile(r"\.part-\d{5,}\.parquet\.partial")


def folder_name(schema: str, table: str) -> str:
    """Return `schema.table` as the name of a folder. Two tables never share one."""
    name = f"{_safe(schema)}.{_safe(table)}"
    raw = name.encode()
    if len(raw) <= _MOST_BYTES:
        return name
    digest = hashlib.sha256(raw).hexdigest()[:16]
    return raw[: _MOST_BYTES - 17].decode(errors="ignore") + "~" + digest


def part_name(number: int) -> str:
    """Return the name of a table's file with this number."""
    return f"part-{number:05d}.parquet"


def partial_name(name: str) -> str:
    """Return what a file is called until it is complete. Readers of folders pass over names with a leading dot."""
    return f".{name}.partial"


def is_part(name: str) -> bool:
    """Tell whether a file is one that an export wrote."""
    return _PART.fullmatch(name) is not None


def is_partial(name: str) -> bool:
    """Tell whether a file is one that an export left unfinished."""
    return _PARTIAL.fullmatch(name) is not None


def _safe(name: str) -> str:
    """Write every character but letters, digits and a few signs as `%XX`; a leading `_` too, as it hides a folder."""
    encoded = "".join(
        letter if letter.isalnum() or letter in _KEPT_BESIDE_LETTERS else _escaped(letter) for letter in name
    )
    return _escaped(_HIDDEN) + encoded[1:] if encoded.startswith(_HIDDEN) else encoded


def _escaped(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode(errors="surrogateescape"))


class OutputFolder:
    """Hands out names for files, and gives the files their final names when all of them are complete.

    Until then they stand beside their final place under names that readers pass over. If the export does not come to
    its end they are removed; what a killed process left is removed by the next export.
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
            raise OptionError(f"{self._path} is not a folder")
        if not self._overwrite and _holds_anything(self._path):
            raise OptionError(f"{self._path} is not empty; --overwrite replaces the tables in it")
        for left in self._files(is_partial):
            self._remove(left)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for partial in self._parts.values():
            with suppress(OSError):
                self._remove(partial)
        self._remove_empty_folders()

    def new_part(self, schema: str, table: str) -> Path:
        """Return where to write the next file of a table."""
        folder = self._path / folder_name(schema, table)
        number = self._counts.get(folder, 0)
        self._counts[folder] = number + 1
        final = folder / part_name(number)
        partial = folder / partial_name(final.name)
        folder.mkdir(parents=True, exist_ok=True)
        self._parts[final] = partial
        return partial

    def publish(self) -> tuple[Path, ...]:
        """Give every file its final name, and remove the files of an earlier export; return the files."""
        earlier = set(self._files(is_part))
        finals = tuple(self._parts)
        for final, partial in self._parts.items():
            os.replace(partial, final)
        self._parts.clear()
        for old in earlier.difference(finals):
            self._remove(old)
        return finals

    def _files(self, is_asked_for: Callable[[str], bool]) -> list[Path]:
        """Return the files of tables whose name is of a kind."""
        return [file for file in self._path.glob("*/*") if is_asked_for(file.name)]

    def _remove(self, file: Path) -> None:
        self._emptied.add(file.parent)
        file.unlink()

    def _remove_empty_folders(self) -> None:
        """Remove the folders of tables that files were removed from and that hold nothing else."""
        for folder in [*self._emptied, *([self._path] if self._is_new else [])]:
            with suppress(OSError):
                folder.rmdir()


def _holds_anything(path: Path) -> bool:
    """Tell whether anything is in a folder but what an export left that was cut short."""
    if not path.is_dir():
        return False
    entries = list(path.iterdir())
    inside = [file for entry in entries if entry.is_dir() for file in entry.iterdir()]
    return not all(entry.is_dir() for entry in entries) or not all(is_partial(file.name) for file in inside)
