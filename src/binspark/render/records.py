"""Events and transactions as JSON objects, and events as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from binspark.event import Event
from binspark.frames import HeaderFlag
from binspark.options.times import UTC_CLOCK, Clock
from binspark.position import log_name
from binspark.render.json_values import body_json, readable
from binspark.render.summary import summarize
from binspark.transactions import TableChanges, Transaction

if TYPE_CHECKING:
    from binspark.event.context import SqlText


def event_record(event: Event) -> dict[str, Any]:
    """Return an event as the record that `binspark events --format jsonl` prints."""
    header = event.header
    record = {
        "file": log_name(event.file),
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


@dataclass(frozen=True, slots=True)
class EventLines:
    """Events as lines of text, under a heading.

    with_file   whether positions have the name of their file
    width       the maximum width of a line; None for no limit
    show_secrets   whether passwords in statements are shown
    """

    clock: Clock = UTC_CLOCK
    with_file: bool = False
    width: int | None = None
    show_secrets: bool = False

    def heading(self) -> str:
        """Return the line above the events."""
        time = "time".ljust(self.clock.width)
        position = f"{'position':<{_FILE_POSITION}}" if self.with_file else f"{'position':>{_POSITION}}"
        return self._cut(f"{position} {'end_log_pos':>11}  {'type':<20} {'size':>8}  {time}  contents")

    def line(self, event: Event) -> str:
        """Return an event as a line: position, end_log_pos, type, size, time, summary."""
        header = event.header
        time = self.clock.text(header.timestamp) if header.timestamp else " " * self.clock.width
        numbers = f"{header.next_position:>11}  {event.type:<20} {header.event_size:>8}"
        summary = summarize(event, show_secrets=self.show_secrets)
        return self._cut(f"{self._position(event)} {numbers}  {time}  {summary}{_marks(event)}".rstrip())

    def _position(self, event: Event) -> str:
        inner = "" if event.inner is None else f"+{event.inner}"
        if self.with_file:
            return f"{log_name(event.file)}:{event.offset}{inner}".ljust(_FILE_POSITION)
        return f"{inner or event.offset:>{_POSITION}}"

    def _cut(self, line: str) -> str:
        if self.width is None or len(line) <= self.width:
            return line
        return line[: self.width - 1] + "…"


_POSITION, _FILE_POSITION = 10, 24


def _marks(event: Event) -> str:
    """Return what is unusual about an event: it is in no file, or its checksum does not match."""
    is_artificial = bool(event.header.flags & HeaderFlag.ARTIFICIAL)
    return ("  [artificial]" if is_artificial else "") + ("  CHECKSUM BAD" if event.checksum == "bad" else "")


def transaction_record(transaction: Transaction, row_statements: Sequence[SqlText] | None = None) -> dict[str, Any]:
    """Return a transaction as the record that `--format jsonl` prints.

    `row_statements` are the statements that changed its rows; None where they were not collected.
    """
    record = {
        "file": log_name(transaction.file),
        "pos": transaction.start,
        "end_pos": transaction.end,
        "gtid": transaction.gtid,
        "tag": transaction.tag,
        "timestamp": transaction.timestamp,
        "server_id": transaction.server_id,
        "immediate_commit_timestamp": transaction.immediate_commit_timestamp,
        "original_commit_timestamp": transaction.original_commit_timestamp,
        "length": transaction.length,
        "last_committed": transaction.last_committed,
        "sequence_number": transaction.sequence_number,
        "events": transaction.events,
        "rows": [_changes_record(changes) for changes in transaction.changes],
        "xid": transaction.xid,
        "xa": transaction.xa,
        "ddl": None if transaction.ddl is None else readable(transaction.ddl),
        "end": transaction.ending.value,
        "complete": transaction.complete,
        "end_file": log_name(transaction.end_file),
        "declared_length": transaction.declared_length,
        "commit_id": transaction.commit_id,
        "gtid_flags": transaction.gtid_flags,
        "statements": transaction.statements,
        "texts": [readable(text) for text in transaction.texts],
        "thread_id": transaction.thread_id,
        "schema": transaction.schema,
        "compressed": transaction.compressed,
    }
    if row_statements is not None:
        record["row_statements"] = [readable(text) for text in row_statements]
    return record


def _changes_record(changes: TableChanges) -> dict[str, Any]:
    record = {
        "schema": changes.schema,
        "table": changes.table,
        "operation": changes.operation.value,
        "events": changes.events,
        "bytes": changes.bytes,
    }
    return record if changes.rows is None else {**record, "rows": changes.rows}
