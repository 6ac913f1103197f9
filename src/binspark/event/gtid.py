"""The GTID of the transaction that follows: GTID, ANONYMOUS_GTID; and those of earlier files: PREVIOUS_GTIDS."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from binspark.event.construct import fast_constructor
from binspark.event.context import Context
from binspark.frames import EventCode
from binspark.gtid import Gtid, GtidSet, decode_gtid_set, encode_gtid_set
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import flags, microseconds, note, quantity, server_version

LOGICAL_CLOCK = 2
_COMMIT_TIMESTAMP_LENGTH = 7
_SERVER_VERSION_LENGTH = 4
_TICKET_LENGTH = 8
_HAS_ORIGINAL_TIMESTAMP = 1 << 55
_HAS_ORIGINAL_VERSION = 1 << 31
MAX_GNO = (1 << 63) - 1


class GtidFlag(IntFlag):
    """Flags of a GTID."""

    MAY_HAVE_SBR = 0x01


@dataclass(frozen=True, slots=True)
class GtidEvent:
    """GTID and ANONYMOUS_GTID: a transaction begins. An anonymous one has number 0 and a UUID of zeros.

    Fields that the server did not write are None: the logical clock before 5.7, commit times and length before 8.0.1,
    server versions before 8.0.14. If the transaction originated on the server that wrote the log, the original commit
    time and version are those of that server.
    """

    gtid_flags: int
    sid: str
    gno: int
    logical_clock_typecode: int | None = None
    last_committed: int | None = None
    sequence_number: int | None = None
    immediate_commit_timestamp: int | None = None
    original_commit_timestamp: int | None = None
    transaction_length: int | None = None
    immediate_server_version: int | None = None
    original_server_version: int | None = None
    commit_group_ticket: int | None = None

    @property
    def gtid(self) -> Gtid | None:
        """The GTID of the transaction, None if it is anonymous."""
        return Gtid(self.sid, self.gno) if self.gno else None


@dataclass(frozen=True, slots=True)
class PreviousGtids:
    """PREVIOUS_GTIDS: all transactions in the log files before this one."""

    tagged: bool
    gtid_set: GtidSet


_gtid_event = fast_constructor(GtidEvent)
_FLAGS = flags(GtidFlag)
_SID = note("the server where the transaction originated")
_CLOCK_TYPE = note(f"{LOGICAL_CLOCK}: the two numbers of a logical clock follow")
_LENGTH = quantity("byte", "all events of the transaction, this one included")
_CLOCK = Layout(
    ("last_committed", "Q", note("commit parent: executed after the transaction with this sequence number")),
    ("sequence_number", "Q", note("number of the transaction in this file")),
)


def decode_gtid(body: Cursor, context: Context) -> GtidEvent:
    """Decode GTID or ANONYMOUS_GTID. Each server version added fields: a field exists if there are bytes for it.

    offset  bytes  field
    0       1      flags
    1       16     UUID of the server where the transaction originated
    17      8      its number
    25      1      type of the logical clock, 2                      (since 5.7)
    26      8      last committed: executed after the transaction with this sequence number
    34      8      sequence number
    42      7      commit time on the server that wrote the log, in microseconds (since 8.0.1)
            7      original commit time, if the top bit of the field before is set
            packed length of the transaction, this event included
            4      version of the server that wrote the log          (since 8.0.14)
            4      version of the original server, if the top bit of the field before is set
            8      commit group ticket, if there is one              (since 8.0.27)
    """
    gtid_flags = body.u8("gtid_flags", _FLAGS)
    sid = body.uuid("sid", _SID)
    gno = body.i64("gno", lambda number: f"{sid}:{number}" if number else "anonymous")
    _check_number(body, gno, context)
    end = body.end
    clock_type = body.u8("logical_clock_typecode", _CLOCK_TYPE) if body.offset < end else None
    if clock_type != LOGICAL_CLOCK:
        return GtidEvent(gtid_flags, sid, gno, clock_type)
    last_committed, sequence_number = body.fields(_CLOCK)
    if end - body.offset < _COMMIT_TIMESTAMP_LENGTH:
        return GtidEvent(gtid_flags, sid, gno, clock_type, last_committed, sequence_number)
    immediate, original = _read_timestamps(body)
    length = body.packed("transaction_length", _LENGTH) if body.offset < end else None
    version, original_version = _read_versions(body) if end - body.offset >= _SERVER_VERSION_LENGTH else (None, None)
    ticket = body.u64("commit_group_ticket") if end - body.offset >= _TICKET_LENGTH else None
    return _gtid_event(
        gtid_flags,
        sid,
        gno,
        clock_type,
        last_committed,
        sequence_number,
        immediate,
        original,
        length,
        version,
        original_version,
        ticket,
    )


def encode_gtid(event: GtidEvent, writer: Writer, _context: Context) -> None:
    """Encode GTID or ANONYMOUS_GTID: the inverse of `decode_gtid`."""
    writer.u8(event.gtid_flags)
    writer.uuid(event.sid)
    writer.i64(event.gno)
    if event.logical_clock_typecode is None:
        return
    writer.u8(event.logical_clock_typecode)
    if event.last_committed is None:
        return
    writer.fields(_CLOCK, event.last_committed, event.sequence_number)
    if event.immediate_commit_timestamp is None:
        return
    _write_with_original(
        writer,
        event.immediate_commit_timestamp,
        event.original_commit_timestamp,
        _HAS_ORIGINAL_TIMESTAMP,
        _COMMIT_TIMESTAMP_LENGTH,
    )
    if event.transaction_length is not None:
        writer.packed(event.transaction_length)
    if event.immediate_server_version is not None:
        immediate, original = event.immediate_server_version, event.original_server_version
        _write_with_original(writer, immediate, original, _HAS_ORIGINAL_VERSION, _SERVER_VERSION_LENGTH)
    if event.commit_group_ticket is not None:
        writer.u64(event.commit_group_ticket)


def decode_previous_gtids(body: Cursor, _context: Context) -> PreviousGtids:
    """Decode PREVIOUS_GTIDS: a GTID set (see `binspark.gtid.encoding`) in the tagged or the untagged format."""
    gtid_set, tagged = decode_gtid_set(body)
    return PreviousGtids(tagged, gtid_set)


def encode_previous_gtids(event: PreviousGtids, writer: Writer, _context: Context) -> None:
    """Encode PREVIOUS_GTIDS: the inverse of `decode_previous_gtids`."""
    encode_gtid_set(event.gtid_set, writer, tagged=event.tagged)


def _check_number(body: Cursor, gno: int, context: Context) -> None:
    anonymous = context.type_code == EventCode.ANONYMOUS_GTID
    if anonymous and gno != 0:
        raise body.malformed(f"GTID number of an anonymous transaction is {gno}, expected 0")
    if not anonymous and not 0 < gno < MAX_GNO:
        raise body.malformed(f"GTID number is {gno}, expected 1 to {MAX_GNO - 1}")


def _read_timestamps(body: Cursor) -> tuple[int, int]:
    raw = body.uint("immediate_commit_timestamp", _COMMIT_TIMESTAMP_LENGTH, _timestamp_meaning)
    if not raw & _HAS_ORIGINAL_TIMESTAMP:
        return raw, raw
    original = body.uint("original_commit_timestamp", _COMMIT_TIMESTAMP_LENGTH, microseconds)
    return raw & ~_HAS_ORIGINAL_TIMESTAMP, original


def _read_versions(body: Cursor) -> tuple[int, int]:
    raw = body.u32("immediate_server_version", _version_meaning)
    if not raw & _HAS_ORIGINAL_VERSION:
        return raw, raw
    return raw & ~_HAS_ORIGINAL_VERSION, body.u32("original_server_version", server_version)


def _write_with_original(writer: Writer, immediate: int, original: int | None, mark: int, length: int) -> None:
    if original is None or original == immediate:
        writer.uint(immediate, length)
        return
    writer.uint(immediate | mark, length)
    writer.uint(original, length)


def _timestamp_meaning(raw: int) -> str:
    text = microseconds(raw & ~_HAS_ORIGINAL_TIMESTAMP)
    return f"{text}; the original commit time follows" if raw & _HAS_ORIGINAL_TIMESTAMP else text


def _version_meaning(raw: int) -> str:
    text = server_version(raw & ~_HAS_ORIGINAL_VERSION)
    return f"{text}; the original version follows" if raw & _HAS_ORIGINAL_VERSION else text
