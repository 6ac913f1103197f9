"""An event as one record of JSON lines, and as one line for a person."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from binspark.event import Event
from binspark.render.json_values import body_json
from binspark.render.summary import summarize


def event_record(event: Event) -> dict[str, Any]:
    """Return an event as the record that `binspark events --format jsonl` prints."""
    header = event.header
    record = {
        "file": PurePath(event.file).name,
        "pos": event.offset,
        "end_pos": event.end_offset,
        "type": event.type,
        "type_code": event.type_code,
        "timestamp": header.timestamp,
        "server_id": header.server_id,
        "size": header.event_size,
        "flags": header.flags,
        "checksum": event.checksum.value,
        "body": body_json(event),
    }
    if event.inner is not None:
        record["inner"] = event.inner
    return record


def event_line(event: Event) -> str:
    """Return an event as a line for a person: position, type, size, time, what it says."""
    place = f"{event.offset:>10}" if event.inner is None else f"{'+' + str(event.inner):>10}"
    mark = " CHECKSUM BAD" if event.checksum == "bad" else ""
    moment = _moment(event.header.timestamp)
    return f"{place}  {event.type:<20} {event.header.event_size:>8}  {moment}  {summarize(event)}{mark}"


def _moment(timestamp: int) -> str:
    return f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%d %H:%M:%S}" if timestamp else " " * 19
