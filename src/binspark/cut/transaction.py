"""One transaction on its way into the new log: copied as it is, or collected until what is left of it is known."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from struct import Struct
from typing import Any

from binspark.columns.selection import Selection
from binspark.cut.clock import LogicalClock
from binspark.cut.contents import Contents
from binspark.cut.output import OutputLog, bare, gtid_event
from binspark.event import (
    Event,
    EventDecoder,
    GtidEvent,
    GtidTagged,
    Load,
    MariadbGtidEvent,
    Query,
    TransactionPayload,
    encode_body,
)
from binspark.event.mariadb import MariadbGtidFlag
from binspark.frames import EventCode
from binspark.frames.header import HEADER_LENGTH
from binspark.transactions.grammar import Ending, Role, boundary_of
from binspark.transactions.transaction import commit_of

_MICROSECONDS = 1_000_000
_IN_MEMORY = 8 << 20
_LENGTH = Struct("<I")
_TYPE = 4
_GTIDS = (GtidEvent, GtidTagged, MariadbGtidEvent)
_ENDS_ANOTHER = (Ending.XA_COMMIT, Ending.XA_ROLLBACK, Ending.INCIDENT)
# A MariaDB GTID has at least as many bytes as its post-header: without a commit id it is padded.
_MARIADB_GTID_FIELDS, _MARIADB_GTID_BYTES, _COMMIT_ID_BYTES = 13, 19, 8


class Draft:
    """A transaction that is being read. What its first events say decides whether it is selected.

    first      its first event
    is_empty   whether nothing but its GTID is left, after `finish`
    """

    def __init__(
        self,
        first: Event,
        selection: Selection,
        start: int,
        contents: Contents | None,
        opened: Callable[[], OutputLog],
    ) -> None:
        self.first = first
        self.is_empty = False
        self._selection = selection
        self._contents = contents
        self._opened = opened
        self._held: list[Event] = []
        self._wanted: bool | None = None if selection.thread_id is not None else True
        if first.offset < start or not _wants(selection, first):
            self._wanted = False
        self._collected = _Collected()
        self._gtid = first if isinstance(first.body, _GTIDS) else None
        self._ends: list[bytes] = []
        self._begins: list[bytes] = []
        self._has_content = False
        self._copy_start: int | None = None
        if contents is not None:
            contents.begin()

    def add(self, event: Event, clock: LogicalClock) -> None:
        """Take the next event."""
        if self._wanted is None:
            self._wanted = self._wants_thread(event)
            self._held.append(event)
            if self._wanted:
                held, self._held = self._held, []
                for each in held:
                    self._take(each, clock)
        elif self._wanted:
            self._take(event, clock)

    def finish(self, clock: LogicalClock, *, drop_empty: bool) -> bool:
        """End the transaction; return whether it is in the new log."""
        if not self._wanted:
            return False
        if self._copy_start is not None:
            return True
        self.is_empty = not self._has_content
        if self.is_empty and (drop_empty or not self._has_gtid):
            self._collected.close()
            return False
        self._write(self._opened(), clock)
        return True

    def _write(self, output: OutputLog, clock: LogicalClock) -> None:
        gtid = self._gtid
        if gtid is not None:
            body = gtid.body if self._ends or not self.is_empty else self._empty(gtid)
            shell = [*self._begins, *self._ends]
            size = self._collected.size + sum(map(len, shell))
            rest = size + output.checksum_length * (len(shell) + self._collected.count)
            output.write(gtid_event(gtid, clock.moved(body), rest, output.checksum_length))
        for event in self._begins:
            output.write(event)
        for event in self._collected:
            output.write(event)
        for event in self._ends:
            output.write(event)

    def abandon(self, clock: LogicalClock) -> None:
        """Remove what was written: the transaction does not end."""
        self.close()
        if self._copy_start is not None:
            self._opened().truncate(self._copy_start)
            if self._gtid is not None:
                clock.undo(self._gtid.body)

    def close(self) -> None:
        """Discard what was collected."""
        self._collected.close()

    @property
    def _has_gtid(self) -> bool:
        return self._gtid is not None and commit_of(self._gtid).gtid is not None

    def _take(self, event: Event, clock: LogicalClock) -> None:
        if self._contents is None and self._copies(event):
            self._copy(event, clock)
        elif isinstance(event.body, TransactionPayload) and self._contents is not None:
            for inner in EventDecoder(event.file).inner_events(event):
                self._choose(inner)
        elif event is not self._gtid:
            self._choose(event)

    def _copies(self, event: Event) -> bool:
        """Whether events are copied at once: their sizes do not change."""
        if self._copy_start is not None:
            return True
        return event is self.first and event.frame.format.checksum_length == self._opened().checksum_length

    def _copy(self, event: Event, clock: LogicalClock) -> None:
        output = self._opened()
        if self._copy_start is None:
            self._copy_start = output.offset
        if event is not self._gtid:
            output.copy(event)
            return
        body = event.body
        moved = clock.moved(body)
        if moved == body:
            output.copy(event)
            return
        rest = (getattr(body, "transaction_length", None) or 0) - len(event.frame.data)
        output.write(gtid_event(event, moved, rest, output.checksum_length))

    def _choose(self, event: Event) -> None:
        role, ending = boundary_of(event)
        if role is Role.BEGINS:
            self._begins.append(bare(event))
        elif role is Role.ENDS:
            self._ends.append(bare(event))
            self._has_content = self._has_content or ending in _ENDS_ANOTHER
        elif self._contents is None:
            self._collected.append(bare(event))
            self._has_content = True
        else:
            # Savepoints, and the end of an XA transaction before it is prepared, do nothing by themselves.
            is_shell = role is Role.INSIDE and isinstance(event.body, Query)
            for kept in self._contents.feed(event):
                self._collected.append(kept)
                self._has_content = self._has_content or not is_shell

    def _wants_thread(self, event: Event) -> bool | None:
        body: Any = event.body
        if isinstance(body, TransactionPayload):
            event = next(EventDecoder(event.file).inner_events(event), event)
            body = event.body
        thread_id = body.thread_id if isinstance(body, Query | Load | MariadbGtidEvent) else None
        if thread_id is None:
            return None if isinstance(body, _GTIDS) else False
        return self._selection.wants_thread(thread_id)

    def _empty(self, gtid: Event) -> Any:
        """Replace a statement that was a transaction by one that does nothing; return the GTID of that."""
        self._ends = [_statement(gtid, b"COMMIT")]
        if isinstance(gtid.body, MariadbGtidEvent):
            return _without_statement(gtid.body)
        self._begins = [_statement(gtid, b"BEGIN")]
        return gtid.body


def _wants(selection: Selection, first: Event) -> bool:
    """Return whether a transaction is selected, by what its first event says."""
    if isinstance(first.body, _GTIDS):
        gtid, commit_time = commit_of(first)
    else:
        gtid, commit_time = None, first.header.timestamp * _MICROSECONDS
    return selection.wants_event(first) and selection.wants_gtid(gtid) and selection.wants_commit(commit_time)


def _without_statement(body: MariadbGtidEvent) -> MariadbGtidEvent:
    """Return a GTID that announced a statement as that of a transaction."""
    flags = body.gtid_flags & ~(MariadbGtidFlag.STANDALONE | MariadbGtidFlag.DDL) | MariadbGtidFlag.TRANSACTIONAL
    length = _MARIADB_GTID_FIELDS + (0 if body.commit_id is None else _COMMIT_ID_BYTES)
    padding = bytes(max(0, _MARIADB_GTID_BYTES - length))
    plain = replace(body, gtid_flags=flags, extra_flags=None, extra_engines=None, start_alter_sequence=None)
    return replace(plain, thread_id=None, padding=padding)


def _statement(gtid: Event, text: bytes) -> bytes:
    """Return a statement of the session of a GTID, as an event without its checksum."""
    header = bytearray(gtid.frame.data[:HEADER_LENGTH])
    header[_TYPE] = EventCode.QUERY
    header[-2:] = b"\x00\x00"
    thread_id = getattr(gtid.body, "thread_id", None) or 0
    return bytes(header) + encode_body(EventCode.QUERY, Query(thread_id, 0, 0, "", (), text), gtid.frame.format)


class _Collected:
    """Events without their checksums; large transactions are kept in a temporary file."""

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self._file: tempfile.SpooledTemporaryFile[bytes] | None = None

    def append(self, event: bytes) -> None:
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed with the transaction)
        self._file.write(_LENGTH.pack(len(event)))
        self._file.write(event)
        self.count += 1
        self.size += len(event)

    def __iter__(self) -> Iterator[bytes]:
        if self._file is None:
            return
        self._file.seek(0)
        while head := self._file.read(_LENGTH.size):
            yield self._file.read(*_LENGTH.unpack(head))
        self.close()

    def close(self) -> None:
        """Forget the events."""
        if self._file is not None:
            self._file.close()
        self._file = None
