"""Searching in logs: by table, type of event, text, GTID, or values of rows. Each answer takes bounded time.

A search reads forwards, a part of a log at a time. When it has found enough, or has taken long enough, it returns
where the next one continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from ctypes import string_at
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import pyarrow.compute as pc

from binspark.columns.event_list import EventNumber
from binspark.columns.log_scan import Numbers
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import TransactionColumns
from binspark.errors import DecodeError, OptionError
from binspark.event import Event, EventDecoder
from binspark.explore.explored_log import ExploredLog
from binspark.explore.explorer import Explorer
from binspark.explore.log_index import LogRange
from binspark.explore.scan import read_bodies, read_transactions
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Framer, LogFormat
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.hidden_secrets import mask_after_secret_word, mask_secrets

MAX_HITS = 100
MAX_SECONDS = 1.0
_MAX_EXCERPT = 60
_MAX_CHANGES = 6
RANGE_BYTES = 16 << 20
_ALL = Selection()
_STATEMENTS = frozenset({EventCode.QUERY, EventCode.EXECUTE_LOAD_QUERY, EventCode.ROWS_QUERY, EventCode.ANNOTATE_ROWS})


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a search continues: a log, and an offset at which a unit begins."""

    log: int = 0
    offset: int = 0


@dataclass(slots=True)
class Found:
    """What a search has found so far. `next` is where it continues, None at the end of all logs."""

    hits: list[Hit] = field(default_factory=list)
    next: Cursor | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as a record."""
        cursor = None if self.next is None else {"log": self.next.log, "offset": self.next.offset}
        return {"hits": self.hits, "next": cursor}


Hit = dict[str, Any]
Data = Callable[[], bytes]
Match = Callable[[int, Data, Data], str | None]
"""Takes the type code of an event and how to get its bytes, all of them or, without passwords, the ones to show.

It returns an excerpt, None if the event does not match.
"""
Look = Callable[[LogFile, ExploredLog, LogRange], Iterator[Hit]]


def search(explorer: Explorer, kind: str, text: str, cursor: Cursor, seconds: float = MAX_SECONDS) -> Found:
    """Search from a cursor on."""
    make = _KINDS.get(kind)
    if make is None:
        raise OptionError(f"must be one of {', '.join(_KINDS)}, got {kind}", option="kind")
    if not text.strip():
        raise OptionError("is empty: what is to be searched for?", option="text")
    look = make(text.strip())
    found = Found()
    deadline = time.monotonic() + seconds
    for number in range(cursor.log, len(explorer.logs)):
        explored = explorer.logs[number]
        start = cursor.offset if number == cursor.log else 0
        if not explorer.ensure_read(number, max(0.0, deadline - time.monotonic())):
            found.next = Cursor(number, start)
            return found
        for hits, after in _in_log(explored, look, start):
            found.hits += ({"log": number, "name": explored.name, **hit} for hit in hits)
            if len(found.hits) >= MAX_HITS or time.monotonic() >= deadline:
                found.next = _after(explorer, number, after)
                return found
    return found


def _after(explorer: Explorer, number: int, offset: int | None) -> Cursor | None:
    if offset is not None:
        return Cursor(number, offset)
    return Cursor(number + 1) if number + 1 < len(explorer.logs) else None


def _in_log(explored: ExploredLog, look: Look, start: int) -> Iterator[tuple[list[Hit], int | None]]:
    """Yield what each part of a log has, and where the next part begins."""
    index = explored.index
    if index.format is None or start >= index.size:
        return
    part: LogRange | None = index.range_at(start, RANGE_BYTES)
    while part is not None:
        hits: list[Hit] = []
        try:
            with explored.opened() as file:
                hits.extend(hit for hit in look(file, explored, part) if hit["pos"] >= start)
        except DecodeError:
            if part.damage is None:  # otherwise a unit reports that the log is damaged
                raise
        following = index.next_range(part, RANGE_BYTES)
        yield hits, None if following is None else following.start.offset
        part = following


def _by_table(text: str) -> Look:
    pattern = text if "." in text else f"*.{text}"
    selection = Selection(tables=frozenset({pattern}))

    def look(file: LogFile, explored: ExploredLog, part: LogRange) -> Iterator[Hit]:
        for row in _transactions(file, explored, part, selection):
            changes = [
                f"{each['operation']} {each['schema']}.{each['table']}"
                for each in row["rows"]
                if selection.wants(f"{each['schema']}.{each['table']}")
            ]
            yield _transaction_hit(row, ", ".join(changes[:_MAX_CHANGES]))

    return look


def _by_gtid(text: str) -> Look:
    def look(file: LogFile, explored: ExploredLog, part: LogRange) -> Iterator[Hit]:
        for row in _transactions(file, explored, part, _ALL, text.lower()):
            yield _transaction_hit(row, text)

    return look


def _transactions(
    file: LogFile, explored: ExploredLog, part: LogRange, selection: Selection, gtid: str | None = None
) -> Iterator[dict[str, Any]]:
    columns = TransactionColumns(selection, ("pos", "gtid", "timestamp", "rows"))
    name, index = explored.source.name, explored.index
    for batch in read_transactions(file, name, index, part.bounds, columns, with_tail=part.has_tail):
        yield from (batch if gtid is None else batch.filter(pc.equal(batch.column("gtid"), gtid))).to_pylist()


def _transaction_hit(row: dict[str, Any], summary: str) -> Hit:
    return {"pos": row["pos"], "inner": None, "type": "transaction", "time": _seconds(row), "summary": summary}


def _seconds(row: dict[str, Any]) -> float | None:
    return None if row["timestamp"] is None else row["timestamp"].timestamp()


def _by_type(text: str) -> Look:
    wanted = {code for code in EventCode if fnmatchcase(code.name, text.upper().replace(" ", "_"))}
    if not wanted:
        raise OptionError(f"{text} is not a type of event; an example is WRITE_ROWS, or *_ROWS", option="text")
    return _by_bytes(lambda kind, _data, _shown: "" if kind in wanted else None)


def _by_text(text: str) -> Look:
    wanted = text.encode().lower()

    def find(_kind: int, data: Data, shown: Data) -> str | None:
        if wanted not in data().lower():
            return None
        found = shown()
        at = found.lower().find(wanted)
        return None if at < 0 else _excerpt(found, at, len(wanted))

    return _by_bytes(find)


def _excerpt(data: bytes, at: int, length: int) -> str:
    around = data[max(0, at - _MAX_EXCERPT // 2) : at + length + _MAX_EXCERPT // 2]
    text = around.decode(errors="replace")
    return "".join(character if character.isprintable() else "·" for character in text)


class _Matches:
    """Tests events as they are listed: what a `BodyWriter` writes is an excerpt, empty for an event without a match."""

    def __init__(self, match: Match, *, show_secrets: bool) -> None:
        self._match = match
        self._show_secrets = show_secrets

    def event(self, event: Event) -> str:
        """Test a decoded event."""
        return _marked(self._match(event.type_code, lambda: event.frame.data, lambda: self._shown(event)))

    def listed(self, numbers: Numbers, file: str, log_format: LogFormat) -> Iterator[str]:
        """Test listed events, whose bytes are in memory."""
        decoder = EventDecoder(file)
        rows = (numbers[EventNumber.TYPE], numbers[EventNumber.ADDRESS], numbers[EventNumber.SIZE])
        for kind, address, size in zip(*(row.tolist() for row in rows), strict=True):
            data = partial(string_at, address, size)
            yield _marked(self._match(kind, data, partial(self._listed, kind, data, decoder, log_format)))

    def _listed(self, kind: int, data: Data, decoder: EventDecoder, log_format: LogFormat) -> bytes:
        if self._show_secrets or kind not in _STATEMENTS:
            return data()
        try:
            [frame] = Framer(log_format, FIRST_EVENT_OFFSET, report_checksums=True).feed(data())
            return self._shown(decoder.decode(frame))
        except (DecodeError, ValueError):
            return mask_after_secret_word(data())

    def _shown(self, event: Event) -> bytes:
        """Return the bytes of an event without passwords in a statement."""
        data, statement = event.frame.data, getattr(event.body, "query", b"")
        return data if self._show_secrets or not statement else data.replace(statement, mask_secrets(statement))


def _marked(excerpt: str | None) -> str:
    return "" if excerpt is None else f"+{excerpt}"


def _by_bytes(match: Match) -> Look:
    def look(file: LogFile, explored: ExploredLog, part: LogRange) -> Iterator[Hit]:
        matches = _Matches(match, show_secrets=explored.show_secrets)
        for batch in read_bodies(file, explored.source.name, explored.index, part.bounds, matches):
            for event in batch.filter(pc.not_equal(batch.column("body"), "")).to_pylist():
                hit = {name: event[name] for name in ("pos", "inner", "type")}
                yield {**hit, "time": _seconds(event), "summary": event["body"][1:]}

    return look


_KINDS: dict[str, Callable[[str], Look]] = {
    "table": _by_table,
    "type": _by_type,
    "text": _by_text,
    "gtid": _by_gtid,
}
