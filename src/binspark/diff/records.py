"""What is known of each transaction of a side, 64 bytes each, in a temporary file: memory does not grow with logs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.void]
"""An array of `RECORD`."""

RECORD = np.dtype(
    [
        ("source", "<u4"),
        ("file", "<u4"),
        ("number", "<u8"),
        ("first", "<u8"),
        ("second", "<u8"),
        ("start", "<i8"),
        ("end", "<i8"),
        ("time", "<u4"),
        ("server", "<u4"),
        ("rows", "<u4"),
        ("statements", "<u4"),
    ]
)
"""A transaction.

source         the number of its GTID's source in `GtidSources`: ANONYMOUS, or SKIPPED for one that is not compared
file           the number of its log file
number         the number of its GTID
first, second  the digest of its contents
start, end     where it is in its file
time, server   when and where it began
rows           how many of its rows were compared, and
statements     how many statements
"""

ANONYMOUS = 0
SKIPPED = 0xFFFFFFFF
_BLOCK = 1 << 18
_UUID_LENGTH = 36


class GtidSources:
    """The sources of GTIDs by number: UUID and tag in MySQL, domain and server in MariaDB. Both sides share them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": ANONYMOUS}
        self._texts = [""]

    def split(self, gtid: str | None) -> tuple[int, int]:
        """Return the number of a GTID's source, and its own number."""
        if not gtid:
            return ANONYMOUS, 0
        source, _, number = gtid.rpartition(":" if ":" in gtid else "-")
        known = self._numbers.get(source)
        if known is None:
            known = self._numbers[source] = len(self._texts)
            self._texts.append(source)
        return known, int(number)

    @property
    def families(self) -> tuple[bool, bool]:
        """Whether there are GTIDs of MySQL, and of MariaDB."""
        of_mysql = [len(text) >= _UUID_LENGTH for text in self._texts[1:]]
        return any(of_mysql), not all(of_mysql)

    def text(self, source: int, number: int) -> str | None:
        """Return a GTID, None for an anonymous transaction."""
        text = self._texts[source]
        return f"{text}{':' if len(text) >= _UUID_LENGTH else '-'}{number}" if text else None


class RecordFile:
    """The records of a side, in the order of its logs."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(prefix="binspark-diff-", dir=folder)  # noqa: SIM115 (closed in __exit__)
        self.count = 0

    def append(self, records: Records) -> None:
        """Add records."""
        if len(records):
            self._file.seek(0, 2)
            self._file.write(np.ascontiguousarray(records).data)
            self.count += len(records)

    def part(self, start: int, end: int) -> Records:
        """Return some of the records, which may be changed."""
        self._file.flush()
        if start >= end:
            return np.empty(0, dtype=RECORD)
        offset = start * RECORD.itemsize
        return np.memmap(self._file, dtype=RECORD, mode="r+", offset=offset, shape=(end - start,))

    def blocks(self) -> Iterator[tuple[int, Records]]:
        """Yield all records, many at a time, each with the number of the first."""
        for start in range(0, self.count, _BLOCK):
            yield start, self.part(start, min(start + _BLOCK, self.count))

    def __getitem__(self, number: int) -> Any:
        return self.part(number, number + 1)[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._file.close()
