"""Where a changed row is on the page: its event, also inside a payload, and the field of one of its values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from binspark.columns.row_counts import count_rows
from binspark.event import EventDecoder, Rows, TableMap
from binspark.explore.events import explain_event
from binspark.explore.explorer import Explorer
from binspark.explore.unit_frames import UnitFrames
from binspark.frames import EventCode, Frame
from binspark.render.explain.explanation import Field

_IMAGES = ("after", "before")


@dataclass(frozen=True, slots=True)
class WantedRow:
    """A row of an event; inside a payload, counted over all its events. Of its images, and columns, the first will do.

    image    `before` or `after`, and
    column   the name of a column: what to look for first
    """

    row: int
    image: str = ""
    column: str = ""


def find_row(explorer: Explorer, number: int, offset: int, wanted: WantedRow) -> dict[str, Any]:
    """Return the event of a row, inside the payload at an offset if there is one, and the number of the field.

    `field` is null where row images are not divided into values.
    """
    inner, row = _inside_payload(explorer, number, offset, wanted.row)
    fields = explain_event(explorer, number, offset, inner).fields
    return {"log": number, "pos": offset, "inner": inner, "field": _field_of(fields, row, wanted)}


def _inside_payload(explorer: Explorer, number: int, offset: int, row: int) -> tuple[int | None, int]:
    """Return the event inside a payload that has a row, and the number of the row in it."""
    explored = explorer.log(number)
    unit = explorer.unit_at(number, offset)
    with explored.opened() as file:
        frames = UnitFrames(file, explored.source.name, explored.index, unit.start, unit.end)
        frame = next((frame for frame in frames if frame.end_offset > offset), None)
        if frame is None or frame.type_code != EventCode.TRANSACTION_PAYLOAD:
            return None, row
        for inner, count in _row_counts(frames.inside(frame), explored.source.name):
            if row < count:
                return inner, row
            row -= count
    return None, row


def _row_counts(frames: Iterator[Frame], name: str) -> Iterator[tuple[int | None, int]]:
    """Yield the rows events among some frames, and how many rows each has."""
    decoder = EventDecoder(name)
    maps: dict[int, TableMap] = {}
    for frame in frames:
        event = decoder.decode(frame)
        if isinstance(event.body, TableMap):
            maps[event.body.table_id] = event.body
        elif isinstance(event.body, Rows) and event.body.table_id in maps:
            yield frame.inner, count_rows(event, maps[event.body.table_id]) or 0


def _field_of(fields: tuple[Field, ...], row: int, wanted: WantedRow) -> int | None:
    """Return the number of the first field of a row that is nearest to what is wanted."""
    images = sorted(_IMAGES, key=lambda image: image != wanted.image)
    names = [field.name.lower() for field in fields]
    columns = [f"row[{row}].{image}.{wanted.column.lower()}" for image in images]
    for wanted_name in (*columns, *(f"row[{row}].{image}." for image in images), f"row[{row}]."):
        parts = wanted_name if wanted_name.endswith(".") else f"{wanted_name}."
        for number, name in enumerate(names):
            if name == wanted_name or name.startswith(parts):
                return number
    return None
