"""Errors on their way through Spark: an executor raises, the driver sees text, and that becomes the error again."""

from __future__ import annotations

import re

from binspark import errors
from binspark.position import Position

_RAISED = re.compile(r"binspark\.errors\.(\w+): (.*)")
_OFFSET = r"(?P<offset>\d+)(?: \((?P<details>[^)]*)\))?: (?P<message>.*)"
_PLACES = (
    re.compile(rf"offset {_OFFSET}"),
    re.compile(rf"(?P<file>\S+?):{_OFFSET}"),
    re.compile(rf"(?P<file>[^:]*/(?:(?!: ).)*?):{_OFFSET}"),
    re.compile(r"(?P<file>\S*[/.]\S*[^\s:]): (?P<message>.*)"),
    re.compile(r"(?P<file>/.*?[^:]): (?P<message>.*)"),
)
"""How a text may begin with a place. Names of files may hold spaces where they are paths."""


def binlog_error(failure: BaseException) -> errors.BinlogError | None:
    """Return the error of binspark that made a query fail, with its position; None if something else did.

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


def _parse(text: str) -> tuple[str, Position]:
    """Take apart what `BinlogError.__str__` wrote."""
    for pattern in _PLACES:
        place = pattern.fullmatch(text)
        if place:
            return place["message"], _position(place.groupdict())
    return text, Position()


def _position(place: dict[str, str | None]) -> Position:
    details = (place.get("details") or "").split(", ")
    named = {"gtid" if _is_gtid(detail) else "event": detail for detail in details if detail}
    offset = place.get("offset")
    return Position(file=place.get("file"), offset=None if offset is None else int(offset), **named)


def _is_gtid(detail: str) -> bool:
    return ":" in detail or detail.count("-") == 2
