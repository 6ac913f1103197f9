"""The units of a part of a log: transactions with what they change, and what is between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pyarrow as pa

from binspark.columns.transaction_batch import TransactionColumns
from binspark.errors import DecodeError, Encrypted
from binspark.explore.log_index import LogIndex, LogRange
from binspark.explore.scan import read_transactions
from binspark.files.storage.store import LogFile
from binspark.frames import Framer, type_name
from binspark.frames.magic import FIRST_EVENT_OFFSET

_MAX_CHANGES = 6
_MAX_TEXT = 200
_MAX_TYPES = 4
_MAX_BETWEEN = 1 << 16
_NAMES = (
    *("pos", "end_pos", "gtid", "timestamp", "immediate_commit_timestamp", "server_id", "thread_id"),
    *("events", "rows", "ddl", "texts", "xa", "end", "complete"),
)


class UnitKind(StrEnum):
    """What a unit is."""

    TRANSACTION = "transaction"
    BETWEEN = "between"
    DAMAGED = "damaged"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Unit:
    """Some bytes of a log that are shown as one line, and can be opened.

    number   in its log, counted from 0
    about    what is known of a transaction, of the events between transactions, or of what cannot be read
    """

    number: int
    kind: UnitKind
    start: int
    end: int
    about: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the unit as a record."""
        return {"unit": self.number, "kind": self.kind.value, "pos": self.start, "end": self.end, **self.about}


def read_units(
    file: LogFile, name: str, index: LogIndex, part: LogRange, *, is_incomplete: bool = False
) -> Iterator[Unit]:
    """Yield the units of a part of a log. What cannot be read at its end may be incomplete only."""
    number, offset = part.start.unit, part.start.offset
    for unit in _transactions(file, name, index, part):
        if unit.start > offset:
            yield _between(file, index, number, offset, unit.start)
            number += 1
        yield Unit(number, unit.kind, unit.start, unit.end, unit.about)
        number, offset = number + 1, unit.end
    if part.sound_end > offset:
        yield _between(file, index, number, offset, part.sound_end)
        number, offset = number + 1, part.sound_end
    if part.end > offset:
        kind = UnitKind.INCOMPLETE if is_incomplete else UnitKind.DAMAGED
        error = None if part.damage is None else part.damage.error
        about = {"text": None if error is None else error.message, "encrypted": isinstance(error, Encrypted)}
        yield Unit(number, kind, offset, part.end, about)


def _transactions(file: LogFile, name: str, index: LogIndex, part: LogRange) -> Iterator[Unit]:
    columns = TransactionColumns(names=_NAMES)
    if part.sound_end <= FIRST_EVENT_OFFSET or index.format is None:
        return
    try:
        for batch in read_transactions(file, name, index, part.bounds, columns, with_tail=part.has_tail):
            yield from _units_of(batch)
    except DecodeError:
        if part.damage is None:
            raise


def _units_of(batch: pa.RecordBatch) -> Iterator[Unit]:
    for start in range(0, batch.num_rows, 256):
        for row in batch.slice(start, 256).to_pylist():
            yield Unit(0, UnitKind.TRANSACTION, row["pos"], row["end_pos"], _about(row))


def _about(row: dict[str, Any]) -> dict[str, Any]:
    committed = row["immediate_commit_timestamp"] or row["timestamp"]
    texts = [row["ddl"]] if row["ddl"] else row["texts"]
    changes = row["rows"]
    return {
        "gtid": row["gtid"],
        "time": None if committed is None else committed.timestamp(),
        "server_id": row["server_id"],
        "thread_id": row["thread_id"],
        "events": row["events"],
        "ending": row["end"],
        "complete": row["complete"],
        "text": shortened(texts[0]) if texts else row["xa"],
        "changes": [
            {
                "table": f"{change['schema']}.{change['table']}",
                "operation": change["operation"],
                "rows": change["rows"],
                "bytes": change["bytes"],
            }
            for change in changes[:_MAX_CHANGES]
        ],
        "more_changes": max(0, len(changes) - _MAX_CHANGES),
    }


def shortened(text: str) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"


def _between(file: LogFile, index: LogIndex, number: int, start: int, end: int) -> Unit:
    """Return the unit of the events between two transactions, with the types of the first ones."""
    data = file.read_at(start, min(end - start, _MAX_BETWEEN))
    framer = Framer(report_checksums=True) if start < FIRST_EVENT_OFFSET else Framer(index.format, start)
    types: list[str] = ["MAGIC"] if end <= FIRST_EVENT_OFFSET else []
    time = None
    try:
        for frame in framer.feed(data):
            types.append(type_name(frame.type_code))
            time = time or frame.header.timestamp
            if len(types) > _MAX_TYPES:
                types[-1] = "…"
                break
    except DecodeError:
        types.append("…")
    return Unit(number, UnitKind.BETWEEN, start, end, {"types": types, "time": time})
