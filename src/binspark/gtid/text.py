"""The text of a MySQL GTID set, as the server accepts it and as the server prints it.

    set       empty elements are fine:   element, element, …
    element   a UUID, then tags and intervals in any order:   uuid :item :item …
    item      a tag, which applies until the next one or the end of the element; or an interval
    interval  a number, or  first-last ; empty when last is before first

The same UUID, tag or number may occur any number of times. A UUID or a tag without an interval adds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from binspark.errors import Malformed
from binspark.gtid.intervals import Interval, Intervals, join
from binspark.gtid.syntax import ANY_UUID, MAX_NUMBER, NUMBER, SPACE, TAG, normal_uuid, refuse

Source = tuple[str, str]
"""UUID and tag: numbers of one source form one sequence."""

Part = tuple[Source, Intervals]

_SEPARATORS = re.compile(r"[ \t\n\v\f\r,]*")
_UUID = re.compile(rf"({ANY_UUID}){SPACE}")
_INTERVAL = re.compile(rf"{SPACE}{NUMBER}{SPACE}(?:-{SPACE}{NUMBER}{SPACE})?")
_TAG = re.compile(rf"{SPACE}({TAG}){SPACE}")
_SPACE = re.compile(SPACE)


def parse_parts(text: str) -> tuple[Part, ...]:
    """Parse a GTID set into its parts, in order, none of them empty."""
    collected: dict[Source, list[Interval]] = {}
    offset = _end_of(_SEPARATORS, text, 0)
    while offset < len(text):
        offset = _parse_element(text, offset, collected)
        if offset < len(text) and text[offset] != ",":
            raise _refuse(text, offset, "a comma, a colon or the end")
        offset = _end_of(_SEPARATORS, text, offset)
    return normal_parts((source, join(intervals)) for source, intervals in collected.items())


def normal_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Order parts as the server does: by the UUID's bytes, then by the tag's, no tag first."""
    return tuple(sorted(part for part in parts if part[1]))


def format_parts(parts: Iterable[Part], separator: str) -> str:
    """Return the text of parts in the server's form, with `separator` between UUIDs."""
    printed: list[str] = []
    last_uuid = ""
    for (uuid, tag), intervals in parts:
        if uuid != last_uuid:
            printed.append(f"{separator}{uuid}" if last_uuid else uuid)
            last_uuid = uuid
        if tag:
            printed.append(f":{tag}")
        printed.extend(f":{start}" if stop - start == 1 else f":{start}-{stop - 1}" for start, stop in intervals)
    return "".join(printed)


def _parse_element(text: str, offset: int, collected: dict[Source, list[Interval]]) -> int:
    """Parse one UUID and its items; return the offset after them."""
    match = _UUID.match(text, offset)
    if not match:
        raise _refuse(text, offset, "a UUID")
    uuid = normal_uuid(match[1])
    intervals: list[Interval] = collected.setdefault((uuid, ""), [])
    offset = match.end()
    while text.startswith(":", offset):
        interval = _INTERVAL.match(text, offset + 1)
        if interval:
            start, stop = _interval_bounds(text, interval)
            if start < stop:
                intervals.append((start, stop))
            offset = interval.end()
            continue
        tag = _TAG.match(text, offset + 1)
        if not tag:
            raise _refuse(text, _end_of(_SPACE, text, offset + 1), "a number or a tag")
        intervals = collected.setdefault((uuid, tag[1].lower()), [])
        offset = tag.end()
    return offset


def _interval_bounds(text: str, interval: re.Match[str]) -> Interval:
    first, last = interval.groups()
    start = int(first)
    if not 1 <= start <= MAX_NUMBER:
        raise _refuse(text, interval.start(1), f"a number from 1 to {MAX_NUMBER}")
    if last is None:
        if text.startswith("-", interval.end()):
            raise _refuse(text, _end_of(_SPACE, text, interval.end() + 1), f"a number up to {MAX_NUMBER}")
        return start, start + 1
    stop = int(last) + 1
    if stop > MAX_NUMBER + 1:
        raise _refuse(text, interval.start(2), f"a number up to {MAX_NUMBER}")
    return start, stop


def _refuse(text: str, offset: int, expected: str) -> Malformed:
    return refuse("GTID set", text, offset, expected)


def _end_of(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match else offset
