"""The statements of a dump, one after the other: only one of them is in memory.

Newlines in values are escaped, so that a statement ends where a line ends with a semicolon.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, cast

from binspark.errors import Malformed
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.schema.table import TableName

_INSERT = re.compile(
    rb"(?:INSERT|REPLACE)\s+(?:IGNORE\s+)?INTO\s+(?:`((?:[^`]|``)+)`\.)?`((?:[^`]|``)+)`\s*(?:\(([^()]*)\)\s*)?VALUES\s*",
    re.IGNORECASE,
)
_INSERTS = (b"INSERT ", b"REPLACE ")
_USE = re.compile(r"USE `((?:[^`]|``)+)`;")
_DELIMITER = re.compile(rb"DELIMITER (\S+)\s*$")
_NAME = re.compile(rb"`((?:[^`]|``)+)`")


@dataclass(frozen=True, slots=True)
class Insert:
    """An INSERT statement.

    columns     the names that it lists; None for all columns of the table
    statement   its text, and where the values begin in it
    """

    table: TableName
    columns: tuple[str, ...] | None
    statement: bytes
    start: int


@dataclass(slots=True)
class DumpReader:
    """Reads a dump, or a file of one. `text` is all that is not an INSERT statement, once it was read."""

    path: str
    schema: str = ""
    text: list[str] = field(default_factory=list)

    def inserts(self) -> Iterator[Insert]:
        """Yield the INSERT statements. A statement that the file ends in is an error."""
        schema, delimiter = self.schema, b";"
        with open_text(self.path) as file:
            for line in file:
                changed = _DELIMITER.match(line)
                if changed is not None:
                    delimiter = changed[1]
                elif line.startswith(_INSERTS) and delimiter == b";":
                    yield self._insert(_complete(line, file, self.path), schema)
                elif delimiter == b";":
                    text = line.decode("utf-8", "replace")
                    self.text.append(text)
                    used = _USE.match(text)
                    schema = schema if used is None else used[1].replace("``", "`")

    def _insert(self, statement: bytes, schema: str) -> Insert:
        found = _INSERT.match(statement)
        if found is None:
            shown = statement[:80].decode("utf-8", "replace")
            raise Malformed(f"an INSERT statement that is not supported: {shown!r}", Position(file=self.path))
        of_schema, table, columns = found.groups()
        names = None if columns is None else tuple(map(_plain, _NAME.findall(columns)))
        name = TableName(schema if of_schema is None else _plain(of_schema), _plain(table))
        return Insert(name, names, statement, found.end())


@contextmanager
def open_text(path: str) -> Iterator[IO[bytes]]:
    """Open a file of a dump, which may be compressed."""
    with source_errors(path):
        file = _open(path)
    try:
        with file:
            yield file
    except (EOFError, OSError, lzma.LZMAError) as error:
        raise Malformed(f"the file cannot be read: {error}", Position(file=path)) from None


def _complete(line: bytes, file: IO[bytes], path: str) -> bytes:
    """Return a statement from its first line on."""
    lines = [line]
    while not lines[-1].rstrip().endswith(b";"):
        following = file.readline()
        if not following:
            raise Malformed("the dump ends inside an INSERT statement: it is not complete", Position(file=path))
        lines.append(following)
    return b"".join(lines)


def _open(path: str) -> IO[bytes]:
    """Open a file by the ending of its name."""
    if path.endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.endswith(".bz2"):
        return bz2.open(path, "rb")
    if path.endswith(".xz"):
        return lzma.open(path, "rb")
    plain = open(path, "rb")  # noqa: SIM115
    if not path.endswith(".zst"):
        return plain
    import zstandard

    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(plain, read_across_frames=True))


def _plain(name: bytes) -> str:
    return name.decode("utf-8", "replace").replace("``", "`")
