"""Errors on their way through Spark: an executor raises, the driver sees text, and that becomes the error again."""

from __future__ import annotations

import re

from binspark import errors
from binspark.position import Position

_RAISED = re.compile(r"binspark\.errors\.(\w+): (.*)")
_PLACE = re.compile(r"(?:offset |(?P<file>\S+?):)(?P<offset>\d+)(?: \((?P<event>[^)]*)\))?: (?P<message>.*)")
_FILE = re.compile(r"(?P<file>\S*[^\s:]): (?P<message>.*)")


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
    place = _PLACE.fullmatch(text)
    if place:
        return place["message"], Position(file=place["file"], offset=int(place["offset"]), event=place["event"])
    file = _FILE.fullmatch(text)
    if file and ("/" in file["file"] or "." in file["file"]):
        return file["message"], Position(file=file["file"])
    return text, Position()
