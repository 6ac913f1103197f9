"""What is in bytes of a log, found without decoding them: where transactions begin, their GTIDs, which statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Protocol
from uuid import UUID

import numpy as np
import numpy.typing as npt

from binspark.event import Event, EventDecoder, GtidList, PreviousGtids
from binspark.frames import EventCode, Framer, LogFormat
from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition, MariadbState
from binspark.gtid.intervals import join
from binspark.kernels.starts import NAME_LENGTH, count_starts, find_starts
from binspark.kernels.walk import Look, Met, Walk, hop
from binspark.replication.gtids import Gtids, joined
from binspark.schema.table import TableName
from binspark.transactions.byte_tables import IDENTIFYING_CODES, OUTSIDE_CODES

Bytes = npt.NDArray[np.uint8]

_TYPE = 4
_SIZE = slice(9, 13)
_TYPE_AND_SIZE = Struct("<4xB4xI")

# Where the event that begins a transaction has its GTID.
_SERVER_ID = slice(5, 9)
_UUID = slice(20, 36)
_NUMBER = slice(36, 44)
_SEQUENCE = slice(19, 27)
_DOMAIN = slice(27, 31)

_FEW = 4
"""Up to this number of transactions, their GTIDs are added one by one."""


class EventBytes(Protocol):
    """What is needed of a `LogChunk`: complete events that follow each other in a file.

    file, offset  where the first of them is
    format        how it is laid out
    array         the bytes of all of them
    """

    @property
    def file(self) -> str:  # noqa: D102 (see above)
        ...

    @property
    def offset(self) -> int:  # noqa: D102
        ...

    @property
    def format(self) -> LogFormat:  # noqa: D102
        ...

    @property
    def array(self) -> Bytes:  # noqa: D102
        ...


@dataclass(frozen=True, eq=False)
class TransactionIndex:
    """The transactions in some bytes of a log.

    starts       the offsets in the file where they begin
    heads        the first bytes of the events that begin them; each row contains a GTID but for its tag
    tagged       the GTIDs that have tags, by the number of their transaction
    before_file  the GTIDs before the file, if the bytes contain the event that reports them
    format       how events after the first are laid out
    """

    starts: npt.NDArray[np.int64]
    heads: npt.NDArray[np.uint8]
    tagged: Mapping[int, Gtid]
    before_file: GtidSet | MariadbState | None
    format: LogFormat

    def __len__(self) -> int:
        return len(self.starts)

    def gtid(self, number: int) -> Gtid | MariadbGtid | None:
        """Return the GTID of a transaction; None if it is anonymous."""
        head = self.heads[number].tobytes()
        match head[_TYPE]:
            case EventCode.GTID:
                return Gtid(str(UUID(bytes=head[_UUID])), int.from_bytes(head[_NUMBER], "little"))
            case EventCode.GTID_TAGGED:
                return self.tagged[number]
            case EventCode.MARIADB_GTID:
                numbers = (int.from_bytes(head[part], "little") for part in (_DOMAIN, _SERVER_ID, _SEQUENCE))
                return MariadbGtid(*numbers)
        return None

    def gtids_after(self, before: Gtids | None, count: int) -> Gtids | None:
        """Return the GTIDs after the first `count` transactions, given those before the bytes; None if not known.

        An anonymous transaction makes them unknown, until a file begins that reports them.
        """
        state = self.before_file
        known = joined(before, state.position if isinstance(state, MariadbState) else state)
        if known is None:
            return None
        if count <= _FEW:
            return self._added_one_by_one(known, count)
        heads = self.heads[:count]
        if (heads[:, _TYPE] == EventCode.ANONYMOUS_GTID).any():
            return None
        return self._added_to_set(known, heads) if isinstance(known, GtidSet) else _advanced(known, heads)

    def _added_one_by_one(self, gtids: Gtids, count: int) -> Gtids | None:
        for number in range(count):
            gtid = self.gtid(number)
            if isinstance(gtid, Gtid) and isinstance(gtids, GtidSet):
                gtids |= GtidSet.of([gtid])
            elif isinstance(gtid, MariadbGtid) and isinstance(gtids, MariadbPosition):
                gtids = gtids.advance(gtid)
            else:
                return None
        return gtids

    def _added_to_set(self, gtids: GtidSet, heads: npt.NDArray[np.uint8]) -> GtidSet:
        untagged = GtidSet.from_parts(_intervals(heads[heads[:, _TYPE] == EventCode.GTID]))
        tagged = GtidSet.of(gtid for number, gtid in self.tagged.items() if number < len(heads))
        return gtids | untagged | tagged


def index_transactions(events: EventBytes) -> TransactionIndex:
    """Find the transactions of servers that begin each with a GTID event, be it an anonymous one."""
    base = int(events.array.ctypes.data)
    end = base + len(events.array)
    count = count_starts(base, end)
    starts, heads = np.zeros(count, dtype=np.int64), np.zeros((count, NAME_LENGTH), dtype=np.uint8)
    reported_at = find_starts(base, end, starts, int(heads.ctypes.data))
    starts += events.offset - base
    within = _format_within(events)
    tagged = {
        int(number): event_at(events, int(starts[number]), within).body.gtid
        for number in np.flatnonzero(heads[:, _TYPE] == EventCode.GTID_TAGGED)
    }
    before_file = _reported(event_at(events, reported_at - base + events.offset, within)) if reported_at else None
    return TransactionIndex(starts, heads, tagged, before_file, within)


def index_one_transaction(events: EventBytes) -> TransactionIndex:
    """Return the index of bytes that are one transaction, which has no GTID event in the logs of old servers."""
    head = np.zeros((1, NAME_LENGTH), dtype=np.uint8)
    first = events.array[:NAME_LENGTH]
    head[0, : len(first)] = first
    code = int(first[_TYPE])
    if code not in IDENTIFYING_CODES:
        head[0, _TYPE] = EventCode.ANONYMOUS_GTID
    tagged = {0: event_at(events, events.offset, events.format).body.gtid} if code == EventCode.GTID_TAGGED else {}
    return TransactionIndex(np.array([events.offset], dtype=np.int64), head, tagged, None, events.format)


def end_of_last_transaction(events: EventBytes, start: int) -> int:
    """Return the offset after the transaction that begins at another, the last: what follows belongs to the log alone.

    That is the rotation at the end of a file, and what MariaDB notes in between.
    """
    view, at, end = events.array.data, start - events.offset, start
    while at < len(view):
        code, size = _TYPE_AND_SIZE.unpack_from(view, at)
        at += size
        if code not in OUTSIDE_CODES:
            end = events.offset + at
    return end


def find_statements(events: EventBytes) -> Iterator[Event]:
    """Yield the statements that are not only the begin or the end of a transaction."""
    base = int(events.array.ctypes.data)
    walk = np.zeros(Walk.WIDTH, dtype=np.int64)
    walk[Walk.AT] = base
    within, end, origin = _format_within(events), base + len(events.array), events.offset - base
    while hop(walk, end, origin, within.checksum_length, Look.STATEMENTS, 0, 0) == Met.EVENT:
        event = event_at(events, int(walk[Walk.AT]) + origin, within)
        yield event
        walk[Walk.AT] += len(event.frame.data)


def find_tables(events: EventBytes, begin: int, end: int) -> frozenset[TableName]:
    """Return the tables of the TABLE_MAPs between two offsets of the file, at each of which an event begins."""
    base, within = int(events.array.ctypes.data), _format_within(events)
    walk, origin = np.zeros(Walk.WIDTH, dtype=np.int64), events.offset - base
    walk[Walk.AT] = begin - origin
    found: set[TableName] = set()
    while hop(walk, end - origin, origin, within.checksum_length, Look.TABLE_MAPS, 0, 0) == Met.EVENT:
        event = event_at(events, int(walk[Walk.AT]) + origin, within)
        found.add(TableName(event.body.schema, event.body.table))
        walk[Walk.AT] += len(event.frame.data)
    return frozenset(found)


def _format_within(events: EventBytes) -> LogFormat:
    """Return how the events after the first are laid out: the first of a file says it."""
    if len(events.array) <= _TYPE or events.array[_TYPE] != EventCode.FORMAT_DESCRIPTION:
        return events.format
    framer = Framer(events.format, events.offset)
    next(framer.feed(_bytes_at(events, events.offset)))
    assert framer.format is not None
    return framer.format


def event_at(events: EventBytes, offset: int, log_format: LogFormat) -> Event:
    """Decode the event that begins at an offset of the file."""
    frame = next(Framer(log_format, offset).feed(_bytes_at(events, offset)))
    return EventDecoder(events.file).decode(frame)


def _bytes_at(events: EventBytes, offset: int) -> bytes:
    start = offset - events.offset
    size = int.from_bytes(events.array[start : start + _SIZE.stop][_SIZE].tobytes(), "little")
    return events.array[start : start + size].tobytes()


def _reported(event: Event) -> GtidSet | MariadbState | None:
    """Return the GTIDs that an event reports to have come before its file."""
    match event.body:
        case PreviousGtids() as previous:
            return previous.gtid_set
        case GtidList() as listed:
            return MariadbState.of(listed.gtids)
    return None


def _intervals(heads: npt.NDArray[np.uint8]) -> list[tuple[tuple[str, str], tuple[tuple[int, int], ...]]]:
    """Return the numbers of each UUID as intervals."""
    uuids, numbers = _column(heads, _UUID, "V16"), _column(heads, _NUMBER, "<i8")
    parts = []
    for uuid in np.unique(uuids):
        own = np.sort(numbers[uuids == uuid])
        first = np.flatnonzero(np.diff(own, prepend=own[0] - 2) != 1)
        last = np.append(first[1:], len(own)) - 1
        intervals = join((int(own[a]), int(own[b]) + 1) for a, b in zip(first, last, strict=True))
        parts.append(((str(UUID(bytes=uuid.tobytes())), ""), intervals))
    return parts


def _advanced(position: MariadbPosition, heads: npt.NDArray[np.uint8]) -> MariadbPosition:
    """Return the position after transactions: in each domain, the last of them."""
    domains = _column(heads, _DOMAIN, "<u4")
    for domain in np.unique(domains):
        last = heads[np.flatnonzero(domains == domain)[-1:]]
        server, sequence = _column(last, _SERVER_ID, "<u4")[0], _column(last, _SEQUENCE, "<u8")[0]
        position = position.advance(MariadbGtid(int(domain), int(server), int(sequence)))
    return position


def _column(heads: npt.NDArray[np.uint8], part: slice, kind: str) -> npt.NDArray[np.generic]:
    return np.ascontiguousarray(heads[:, part]).view(kind).ravel()
