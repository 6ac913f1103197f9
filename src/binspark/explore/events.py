"""The events of a unit, page by page, and one event with all its bytes and fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from binspark.errors import DecodeError, Encrypted, OptionError
from binspark.event import Event, EventDecoder, Rows, TableMap
from binspark.explore.explored_log import ExploredLog
from binspark.explore.explorer import Explorer
from binspark.explore.unit_frames import UnitFrames
from binspark.explore.units import Unit, UnitKind
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Frame, type_name
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.hidden_secrets import mask_after_secret_word, mask_secrets
from binspark.position import Position
from binspark.render.explain.explanation import (
    Explanation,
    Field,
    Section,
    explain_damage,
    explain_frame,
    explain_magic,
)
from binspark.render.explain.json import explanation_record
from binspark.render.explain.rows import KnownTables
from binspark.render.json_values import readable
from binspark.render.summary import summarize

MAX_EVENTS = 200
MAX_BYTES = 1 << 20
DEFAULT_BYTES = 8 << 10
_MAX_ROW_FIELDS = 20_000
_MAX_FIELD_BYTES = 512
_MAX_DAMAGE = 4096
_ENCRYPTED = "ENCRYPTED"
_UNREADABLE = (UnitKind.DAMAGED, UnitKind.INCOMPLETE)
_MAX_EXACT = 1 << 53
"""Numbers in a browser are exact up to here; larger ones are sent as text."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events of a unit. `next` is where the next page begins, None after the last one."""

    events: list[dict[str, Any]]
    next: tuple[int, int | None] | None

    def to_json(self) -> dict[str, Any]:
        """Return the page as a record."""
        return {"events": self.events, "next": self.next}


def unit_events(explorer: Explorer, number: int, unit: Unit, first: int = 0, inner: int | None = None) -> EventPage:
    """Return the events of a unit from an event on; `inner` is the number of one inside the payload at `first`."""
    explored = explorer.log(number)
    if unit.kind in _UNREADABLE:
        kind = _ENCRYPTED if unit.about["encrypted"] else unit.kind.name
        record = {"pos": unit.start, "end": unit.end, "inner": None, "type": kind, "summary": unit.about["text"]}
        is_damaged = unit.kind is UnitKind.DAMAGED
        return EventPage([{**record, "size": unit.end - unit.start, "time": None, "damaged": is_damaged}], None)
    with explored.opened() as file:
        rows = _records(_frames(explored, file, unit), unit, show_secrets=explorer.show_secrets)
        wanted = (row for row in rows if _order(row) >= (first, -1 if inner is None else inner))
        found = list(islice(wanted, MAX_EVENTS + 1))
    if len(found) <= MAX_EVENTS:
        return EventPage(found, None)
    after = found.pop()
    return EventPage(found, (after["pos"], after["inner"]))


def event_detail(
    explorer: Explorer,
    number: int,
    offset: int,
    inner: int | None = None,
    max_bytes: int = DEFAULT_BYTES,
    field: int | None = None,
) -> dict[str, Any]:
    """Return the event that an offset is in, with its bytes and fields; `inner` is one inside a payload.

    A field that is after `max_bytes` is included by its number, if possible.
    """
    found = explain_event(explorer, number, offset, inner)
    if not explorer.show_secrets:
        found = _without_secrets(found)
    needed = sum(len(each.data) for each in found.fields[: 0 if field is None else field + 1])
    return _detail(found, min(max(max_bytes, needed), MAX_BYTES))


def explain_event(explorer: Explorer, number: int, offset: int, inner: int | None = None) -> Explanation:
    """Return the event that an offset is in, explained; `inner` is one inside a payload."""
    explored = explorer.log(number)
    unit = explorer.unit_at(number, offset)
    with explored.opened() as file:
        tables = KnownTables(explored.source.name, explorer.definitions.at(explored, unit.start))
        return _explain(explored, file, unit, offset, inner, tables)


def _order(record: dict[str, Any]) -> tuple[int, int]:
    return record["pos"], -1 if record["inner"] is None else record["inner"]


def _frames(explored: ExploredLog, file: LogFile, unit: Unit) -> UnitFrames:
    return UnitFrames(file, explored.source.name, explored.index, unit.start, unit.end)


def _records(frames: UnitFrames, unit: Unit, *, show_secrets: bool) -> Iterator[dict[str, Any]]:
    """Yield a record for each event, up to damage, which is one, too."""
    if unit.start == 0:
        yield {"pos": 0, "end": 4, "inner": None, "type": "MAGIC", "size": 4, "time": None, "summary": "binary log"}
    decoder = EventDecoder(frames.name)
    tables: dict[int, str] = {}
    end = unit.start
    try:
        for frame in frames.expanded():
            yield _record(frame, decoder, tables, show_secrets=show_secrets)
            end = frame.end_offset
    except DecodeError as error:
        size = unit.end - end
        yield {"pos": end, "end": unit.end, "inner": None, "type": "DAMAGED", "size": size, "time": None} | {
            "summary": error.message,
            "damaged": True,
        }


def _record(frame: Frame, decoder: EventDecoder, tables: dict[int, str], *, show_secrets: bool) -> dict[str, Any]:
    record = {
        "pos": frame.offset,
        "end": frame.end_offset,
        "inner": frame.inner,
        "type": type_name(frame.type_code),
        "size": len(frame.data),
        "time": frame.header.timestamp,
        "server_id": frame.header.server_id,
    }
    try:
        event = decoder.decode(frame)
        summary = _summary(event, tables, show_secrets=show_secrets)
        return {**record, "summary": summary, "damaged": frame.checksum.value == "bad"}
    except DecodeError as error:
        return {**record, "summary": error.message, "damaged": True}


def _summary(event: Event, tables: dict[int, str], *, show_secrets: bool) -> str:
    body = event.body
    if isinstance(body, TableMap):
        tables[body.table_id] = f"{body.schema}.{body.table}"
    if isinstance(body, Rows) and body.table_id in tables:
        return f"{body.operation.value} {tables[body.table_id]}, {len(body.rows):,} bytes of rows"
    return summarize(event, show_secrets=show_secrets)


def _explain(
    explored: ExploredLog, file: LogFile, unit: Unit, offset: int, inner: int | None, tables: KnownTables
) -> Explanation:
    frames = _frames(explored, file, unit)
    if offset < FIRST_EVENT_OFFSET and unit.kind is UnitKind.BETWEEN:
        return explain_magic(explored.name)
    if unit.kind in _UNREADABLE:
        return _damaged(explored, file, unit.start, unit.end, str(unit.about["text"]))
    end = unit.start
    try:
        for frame in frames:
            end = frame.end_offset
            tables.note(frame)
            if frame.end_offset > offset:
                return _explained(explored, frames, frame, inner, tables)
            if frame.type_code == EventCode.TRANSACTION_PAYLOAD:
                for each in frames.inside(frame):
                    tables.note(each)
    except DecodeError as error:
        return _damaged(explored, file, end, unit.end, error.message)
    raise OptionError(f"there is no event at position {offset} of {explored.name}")


def _explained(
    explored: ExploredLog, frames: UnitFrames, frame: Frame, inner: int | None, tables: KnownTables
) -> Explanation:
    if inner is None:
        return explain_frame(frame, explored.name, tables=tables, max_row_fields=_MAX_ROW_FIELDS)
    base = 0
    for each in frames.inside(frame):
        tables.note(each)
        if each.inner == inner:
            return explain_frame(each, explored.name, base, tables=tables, max_row_fields=_MAX_ROW_FIELDS)
        base += len(each.data)
    raise OptionError(f"the payload at position {frame.offset} of {explored.name} has no event number {inner}")


def _damaged(explored: ExploredLog, file: LogFile, start: int, end: int, message: str) -> Explanation:
    data = file.read_at(start, min(end - start, _MAX_DAMAGE))
    known = (damage.error for damage in explored.index.damages if damage.error.message == message)
    error = next(
        (error for error in known if isinstance(error, DecodeError)),
        DecodeError(message, Position(file=explored.name, offset=start)),
    )
    found = explain_damage(data, start, error, explored.index.format, explored.name)
    return replace(found, type=_ENCRYPTED) if isinstance(error, Encrypted) else found


def _without_secrets(found: Explanation) -> Explanation:
    """Return an explanation in which passwords are masked: in the statement, and in what cannot be decoded."""
    statement = getattr(None if found.event is None else found.event.body, "query", b"")
    masked = mask_secrets(statement[:MAX_BYTES])
    has_secrets = masked != statement[:MAX_BYTES]

    def shown(field: Field) -> Field:
        if field.section is Section.UNDECODED:
            data = mask_after_secret_word(field.data)
            return replace(field, data=data, value=data)
        if field.name != "query" or not has_secrets:
            return field
        data = masked if field.data[:MAX_BYTES] == statement[:MAX_BYTES] else b""  # or it is compressed
        return replace(field, data=data.ljust(len(field.data), b"*"), value=readable(masked))

    return replace(found, fields=tuple(map(shown, found.fields)))


def _detail(found: Explanation, max_bytes: int) -> dict[str, Any]:
    """Return an explanation with its first bytes, and the fields that are in them."""
    size = sum(len(field.data) for field in found.fields)
    start = found.fields[0].offset if found.fields else found.pos
    data = b""
    shown = []
    for field in found.fields:
        if len(data) >= max_bytes:
            break
        data += field.data[: max_bytes - len(data)]
        shown.append(field)
    record = explanation_record(replace(found, fields=tuple(shown)))
    for field in record["fields"]:
        field["hex"] = ""  # its bytes are in `bytes`
        if isinstance(field["value"], int) and abs(field["value"]) >= _MAX_EXACT:
            field["value"] = str(field["value"])
        if isinstance(field["value"], str) and len(field["value"]) > _MAX_FIELD_BYTES:
            field["value"] = field["value"][:_MAX_FIELD_BYTES] + "…"
    header = None if found.event is None else found.event.header
    return {
        **record,
        "summary": found.summary,
        "damaged": found.damaged,
        "time": None if header is None else header.timestamp,
        "base": start,
        "size": size,
        "bytes": data.hex(),
        "more_fields": len(found.fields) - len(shown),
    }
