"""The events of logs as columns, by a kernel that reads nothing but their headers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import ClassVar, Protocol

import numpy as np
import pyarrow as pa

from binspark.columns.list_fields import BODY, EVENT_FIELDS
from binspark.columns.list_reader import ListReader, int_array, strings_of, times_of
from binspark.columns.log_scan import Numbers
from binspark.columns.selection import Selection
from binspark.errors import BinlogError, DecodeError
from binspark.event import Event
from binspark.frames import EventCode, HeaderFlag, LogFormat, type_name
from binspark.frames.checksum import ChecksumState
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import DEFAULT_LIMITS, Limits, without_checksum
from binspark.kernels.event_list import list_events
from binspark.kernels.layout import State
from binspark.kernels.list_layout import NULL, EventNumber
from binspark.position import log_name
from binspark.transactions.byte_tables import IDENTIFYING_CODES, OUTSIDE_CODES
from binspark.transactions.transaction import commit_of

__all__ = ["NULL", "BodyWriter", "EventNumber", "EventReader"]

N = EventNumber
_CAPACITY = 1 << 14
_MAX_BODY_BYTES = 8 << 20
_MICROSECONDS = 1_000_000
_TYPES = pa.array([type_name(code) for code in range(256)], pa.string())
_CHECKSUMS = pa.array([ChecksumState.NONE.value, ChecksumState.OK.value], pa.string())
_ALL = Selection()


class BodyWriter(Protocol):
    """Writes the bodies of events as JSON."""

    def event(self, event: Event) -> str:
        """Return the body of a decoded event."""
        ...

    def listed(self, numbers: Numbers, file: str, log_format: LogFormat) -> Iterator[str]:
        """Yield the bodies of listed events, whose bytes are in memory, one after the other."""
        ...


class EventSelector(Protocol):
    """Chooses among listed events, beyond what the kernel that lists them selects: `changes.listed_filter`."""

    @property
    def kept(self) -> int:
        """How many of the events so far are selected, as far as that is known: they are at the front."""
        ...

    def keep_listed(self, events: Numbers, count: int, file: str, log_format: LogFormat) -> None:
        """Keep the selected ones of the events after those that are kept, whose bytes are in memory."""
        ...

    def keep_decoded(self, events: Numbers, event: Event) -> None:
        """Keep the event after those that are kept, which Python decoded, if it is selected."""
        ...

    def take(self) -> int:
        """Return how many events are certainly selected; they are taken, and the others move to the front."""
        ...


class EventReader(ListReader):
    """Lists the events of one log after the other, in batches with columns of `EVENT_FIELDS`.

    selection        the events to list
    names            the columns to make, all if None
    expand_payloads  whether a payload is followed by the events inside
    bodies           writes bodies, which become the column `body`, one JSON text each; without it they are not decoded
    on_listed        takes the numbers of events, an array with a row for each `EventNumber`; then there are no batches
    selector         chooses among the events; not together with `bodies`
    """

    post_headers: ClassVar[Mapping[EventCode, int]] = {}  # its kernel reads headers only

    def __init__(
        self,
        selection: Selection = _ALL,
        names: Collection[str] | None = None,
        *,
        expand_payloads: bool = True,
        bodies: BodyWriter | None = None,
        on_listed: Callable[[Numbers], None] | None = None,
        selector: EventSelector | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(_CAPACITY, expand_payloads=expand_payloads, limits=limits)
        self._fields = [field for field in EVENT_FIELDS if names is None or field.name in names]
        self._selection = selection
        self._events = np.zeros((N.COUNT, _CAPACITY), dtype=np.int64)
        self._bodies = bodies
        self._on_listed = on_listed
        self._selector = selector
        self._texts: list[str] = []
        self._text_bytes = 0
        self._select()

    def _select(self) -> None:
        state, selection = self.state, self._selection
        state[State.START_TIME] = selection.start_time
        state[State.STOP_TIME] = selection.stop_time or 0
        state[State.SERVER] = -1 if selection.server_id is None else selection.server_id
        state[State.COMMITTED_FROM] = selection.committed_from
        state[State.COMMITTED_BEFORE] = selection.committed_before or 0
        state[State.SELECT_BY_GTID] = selection.include_gtids is not None or selection.exclude_gtids is not None
        state[State.SKIP_UNNAMED] = not selection.wants_gtid(None)
        state[State.SELECT_EVENTS] = selection.selects_events
        self._forget_transaction()

    def _forget_transaction(self) -> None:
        self.state[State.TRANSACTION] = -1
        self.state[State.SKIP_TRANSACTION] = self.state[State.SKIP_UNNAMED]

    def _begin_part(self, file: str) -> None:
        super()._begin_part(file)
        if self._span is not None:
            self._forget_transaction()

    def _run_kernel(self) -> int:
        stop: int = list_events(self.state, self._events)
        return stop

    def _leave_bytes(self) -> Iterator[pa.RecordBatch]:
        self._use_bytes()
        if self._text_bytes >= _MAX_BODY_BYTES:
            yield from self._flush()

    def _take(self, event: Event) -> Iterator[pa.RecordBatch]:
        """List an event that Python decoded."""
        self._use_bytes()
        if event.offset == FIRST_EVENT_OFFSET and not event.header.flags & HeaderFlag.RELAY_LOG:
            self._forget_transaction()
        if self.state[State.LISTED] >= _CAPACITY or self._text_bytes >= _MAX_BODY_BYTES:
            yield from self._flush()
        if event.type_code in IDENTIFYING_CODES:
            gtid, commit_time = commit_of(event)
            wanted = self._selection.wants_gtid(gtid) and self._selection.wants_commit(commit_time)
            self.state[State.TRANSACTION], self.state[State.SKIP_TRANSACTION] = 0, not wanted
        if self._selects(event):
            self._add(event)

    def _selects(self, event: Event) -> bool:
        outside = event.type_code in OUTSIDE_CODES
        skips = self.state[State.SKIP_UNNAMED if outside else State.SKIP_TRANSACTION]
        known = self.state[State.TRANSACTION] >= 0 and not outside
        return not skips and self._selection.wants_event(event, committed=not known)

    def _add(self, event: Event) -> None:
        row = int(self.state[State.LISTED])
        header = event.header
        numbers = {
            N.OFFSET: event.offset,
            N.END: event.end_offset,
            N.INNER: NULL if event.inner is None else event.inner,
            N.TYPE: event.type_code,
            N.TIMESTAMP: header.timestamp,
            N.SERVER: header.server_id,
            N.SIZE: header.event_size,
            N.FLAGS: header.flags,
            N.CHECKSUM: event.checksum is ChecksumState.OK,
            N.FILE: self.state[State.FILE],
        }
        for number, value in numbers.items():
            self._events[number, row] = value
        self.state[State.LISTED] = row + 1
        if self._bodies is not None:
            self._keep(self._bodies.event(event))
        if self._selector is not None:
            self._selector.keep_decoded(self._events, event)
            self.state[State.LISTED] = self._selector.kept

    def _use_bytes(self) -> None:
        """Do what needs the bytes of the events that were listed since, while they are in memory."""
        if self._selector is None:
            self._write_bodies()
            return
        listed, selector = int(self.state[State.LISTED]), self._selector
        if listed == selector.kept:
            return
        try:
            selector.keep_listed(self._events, listed, self.files[-1], self._bytes_format())
        finally:
            self.state[State.LISTED] = selector.kept

    def _bytes_format(self) -> LogFormat:
        """Return the format of the events that the kernel reads."""
        log_format = self._framer.format
        assert log_format is not None
        return without_checksum(log_format) if self.state[State.INNER] else log_format

    def _write_bodies(self) -> None:
        """Write the bodies that are missing, while the bytes of their events are in memory."""
        done, listed = len(self._texts), int(self.state[State.LISTED])
        if self._bodies is None or done == listed:
            return
        try:
            for text in self._bodies.listed(self._events[:, done:listed], self.files[-1], self._bytes_format()):
                self._keep(text)
        except DecodeError:
            self.state[State.LISTED] = len(self._texts)
            raise

    def _keep(self, text: str) -> None:
        self._texts.append(text)
        self._text_bytes += len(text)

    def _flush(self) -> Iterator[pa.RecordBatch]:
        """Yield the events so far; those before one whose body cannot be decoded come before the error."""
        wrong: BinlogError | None = None
        try:
            self._use_bytes()
        except BinlogError as error:
            wrong = error
        listed = int(self.state[State.LISTED])
        count = listed if self._selector is None else self._selector.take()
        if count and self._on_listed is not None:
            self._on_listed(self._events[:, :count])
        elif count:
            yield self._batch(self._events[:, :count])
        self._events[:, : listed - count] = self._events[:, count:listed].copy()
        self.state[State.LISTED], self._text_bytes = listed - count, 0
        self._texts = []
        if wrong is not None:
            raise wrong

    def _batch(self, numbers: Numbers) -> pa.RecordBatch:
        arrays = [self._array(field, numbers) for field in self._fields]
        fields = list(self._fields)
        if self._bodies is not None:
            arrays.append(pa.array(self._texts, pa.string()))
            fields.append(pa.field(BODY, pa.string()))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _array(self, field: pa.Field, numbers: Numbers) -> pa.Array:
        match field.name:
            case "file":
                names = pa.array([log_name(file) for file in self.files], pa.string())
                return strings_of(numbers[N.FILE], names)
            case "type":
                return strings_of(numbers[N.TYPE], _TYPES)
            case "checksum":
                return strings_of(numbers[N.CHECKSUM], _CHECKSUMS)
            case "timestamp":
                return times_of(numbers[N.TIMESTAMP] * _MICROSECONDS, field.type)
        return int_array(numbers[_NUMBERS[field.name]], field.type)


_NUMBERS = {
    "pos": N.OFFSET,
    "end_pos": N.END,
    "inner": N.INNER,
    "type_code": N.TYPE,
    "server_id": N.SERVER,
    "size": N.SIZE,
    "flags": N.FLAGS,
}
