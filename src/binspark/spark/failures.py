"""The errors of executors on the driver: Spark passes on their text, which is parsed into the error again."""

from __future__ import annotations

import re

from binspark import errors
from binspark.position import Position

_RAISED = re.compile(r"binspark\.errors\.(\w+): (.*)")
_LOST = re.compile(
    r"Python worker exited unexpectedly|ExecutorLostFailure|FetchFailed|Failed to connect to|Connection reset"
    r"|Broken pipe|Cannot run program|EOFException|Socket closed|Job \d+ cancelled because SparkContext was shut down"
)
"""What Spark writes if a Python worker or an executor is gone, or one that was being started."""
_OFFSET = r"(?P<offset>\d+)(?: \((?P<details>[^)]*)\))?: (?P<message>.*)"
_MARIADB_GTID = re.compile(r"\d+-\d+-\d+")  # domain-server-sequence
_POSITIONS = (
    re.compile(rf"offset {_OFFSET}"),
    re.compile(rf"(?P<file>\S+?):{_OFFSET}"),
    re.compile(rf"(?P<file>[^:]*/(?:(?!: ).)*?):{_OFFSET}"),
    re.compile(r"(?P<file>\S*[/.]\S*[^\s:]): (?P<message>.*)"),
    re.compile(r"(?P<file>/.*?[^:]): (?P<message>.*)"),
)
"""How a text may begin with a position. Names of files may contain spaces if they are paths."""


def binlog_error(failure: BaseException) -> errors.BinlogError | None:
    """Return the binspark error that failed a query, with its position; None if the query failed for another reason.

    >>> try:  # doctest: +SKIP
    ...     df.count()
    ... except Exception as failure:
    ...     error = binspark.binlog_error(failure)
    """
    if isinstance(failure, errors.BinlogError):
        return failure
    found = [match for match in _RAISED.finditer(str(failure)) if hasattr(errors, match[1])]
    if not found:
        return None
    kind = getattr(errors, found[-1][1])
    message, position = _parse(found[-1][2].strip())
    made: errors.BinlogError = kind(message, position)
    return made


def lost_worker(failure: BaseException) -> errors.SourceError | None:
    """Return the error for a job that failed because processes of Spark were lost; None if it failed otherwise.

    They may have been killed for the memory that they used. The same job may succeed later.
    """
    found = _LOST.search(str(failure))
    if found is None:
        return None
    message = f"Spark lost a process that worked for it ({found[0]}): it was killed, or the machine is out of memory"
    return errors.SourceError(message)


def _parse(text: str) -> tuple[str, Position]:
    """Parse the text of `BinlogError.__str__`."""
    for pattern in _POSITIONS:
        found = pattern.fullmatch(text)
        if found:
            return found["message"], _position(found.groupdict())
    return text, Position()


def _position(parts: dict[str, str | None]) -> Position:
    details = (parts.get("details") or "").split(", ")
    named = {"gtid" if _is_gtid(detail) else "event": detail for detail in details if detail}
    offset = parts.get("offset")
    return Position(file=parts.get("file"), offset=None if offset is None else int(offset), **named)


def _is_gtid(detail: str) -> bool:
    return ":" in detail or _MARIADB_GTID.fullmatch(detail) is not None
