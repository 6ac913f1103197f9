"""MariaDB's own events: GTID, GTID_LIST, BINLOG_CHECKPOINT, START_ENCRYPTION, PARTIAL_ROW_DATA."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import NamedTuple

from binspark.event.context import Context
from binspark.event.xa import XaPrepare
from binspark.gtid import MariadbGtid
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import as_text, flags, note

_LIST_COUNT = (1 << 28) - 1
_NONCE_LENGTH = 12


class MariadbGtidFlag(IntFlag):
    """Flags of a MariaDB GTID."""

    STANDALONE = 0x01
    GROUP_COMMIT_ID = 0x02
    TRANSACTIONAL = 0x04
    ALLOW_PARALLEL = 0x08
    WAITED = 0x10
    DDL = 0x20
    PREPARED_XA = 0x40
    COMPLETED_XA = 0x80


class MariadbGtidExtraFlag(IntFlag):
    """More flags of a MariaDB GTID."""

    MULTI_ENGINE = 0x01
    START_ALTER = 0x02
    COMMIT_ALTER = 0x04
    ROLLBACK_ALTER = 0x08
    THREAD_ID = 0x10


class XaId(NamedTuple):
    """The identifier of an XA transaction."""

    format_id: int
    gtrid: bytes
    bqual: bytes

    @property
    def name(self) -> str:
        """The XID as servers print it."""
        return XaPrepare(False, *self).name


@dataclass(frozen=True, slots=True)
class MariadbGtidEvent:
    """MARIADB_GTID: a transaction begins. The server part of its GTID is the server id in the header."""

    sequence_number: int
    domain_id: int
    gtid_flags: int
    commit_id: int | None = None
    xid: XaId | None = None
    extra_flags: int | None = None
    extra_engines: int | None = None
    start_alter_sequence: int | None = None
    thread_id: int | None = None
    padding: bytes = b""

    def gtid(self, server_id: int) -> MariadbGtid:
        """Return the GTID of the transaction, given the server id in the header of the event."""
        return MariadbGtid(self.domain_id, server_id, self.sequence_number)


class GtidListFlag(IntFlag):
    """Flags in the top bits of the count of a GTID_LIST."""

    UNTIL_REACHED = 1 << 28
    IGNORE_GTIDS = 1 << 29


@dataclass(frozen=True, slots=True)
class GtidList:
    """GTID_LIST: the last transaction of each domain and server in the log files before this one."""

    flags: int
    gtids: tuple[MariadbGtid, ...]
    padding: bytes = b""


@dataclass(frozen=True, slots=True)
class BinlogCheckpoint:
    """BINLOG_CHECKPOINT: crash recovery does not need log files before this one."""

    log_file: str


@dataclass(frozen=True, slots=True)
class StartEncryption:
    """START_ENCRYPTION: all following events of this log file are encrypted."""

    scheme: int
    key_version: int
    nonce: bytes


class PartialRowFlag(IntFlag):
    """Flags of a PARTIAL_ROW_DATA."""

    ORIGINAL_EVENT_SIZE = 0x01


@dataclass(frozen=True, slots=True)
class PartialRowData:
    """PARTIAL_ROW_DATA: a fragment of a rows event that is too large to be sent at once (since MariaDB 12.3)."""

    total_fragments: int
    sequence_number: int
    flags: int
    original_event_size: int | None
    fragment: bytes


_SEQUENCE = note("number of the transaction in its domain")
_COMMIT_ID = note("transactions with the same commit id were committed together")
_GTID = Layout(("sequence_number", "Q", _SEQUENCE), ("domain_id", "I"), ("gtid_flags", "B", flags(MariadbGtidFlag)))
_XA = Layout(("format_id", "i"), ("gtrid_length", "B"), ("bqual_length", "B"))
_LIST_ENTRY = Layout(("domain_id", "I"), ("server_id", "I"), ("sequence_number", "Q"))
_ENCRYPTION = Layout(("scheme", "B"), ("key_version", "I"))
_FRAGMENT = Layout(("total_fragments", "I"), ("sequence_number", "I"), ("flags", "B", flags(PartialRowFlag)))


def decode_mariadb_gtid(body: Cursor, _context: Context) -> MariadbGtidEvent:
    """Decode MARIADB_GTID. Each field after the flags depends on a flag; servers pad the body with zeros to 19 bytes.

    offset  bytes  field
    0       8      sequence number
    8       4      domain id
    12      1      flags
            8      commit id, common to transactions of one group commit   (GROUP_COMMIT_ID)
            6+n    format id, two lengths, XID                   (PREPARED_XA, COMPLETED_XA)
            1      extra flags, if bytes remain
            1      number of further engines that take part      (MULTI_ENGINE)
            8      sequence number of the START ALTER            (COMMIT_ALTER, ROLLBACK_ALTER)
            4      id of the thread                              (THREAD_ID)
    """
    sequence_number, domain_id, gtid_flags = body.fields(_GTID)
    commit_id = body.u64("commit_id", _COMMIT_ID) if gtid_flags & MariadbGtidFlag.GROUP_COMMIT_ID else None
    has_xa = gtid_flags & (MariadbGtidFlag.PREPARED_XA | MariadbGtidFlag.COMPLETED_XA)
    xid = _read_xid(body) if has_xa else None
    if not body.remaining:
        return MariadbGtidEvent(sequence_number, domain_id, gtid_flags, commit_id, xid)
    extra = body.u8("extra_flags", flags(MariadbGtidExtraFlag))
    engines = body.u8("extra_engines") if extra & MariadbGtidExtraFlag.MULTI_ENGINE else None
    ends_alter = extra & (MariadbGtidExtraFlag.COMMIT_ALTER | MariadbGtidExtraFlag.ROLLBACK_ALTER)
    alter = body.u64("start_alter_sequence") if ends_alter else None
    thread_id = body.u32("thread_id") if extra & MariadbGtidExtraFlag.THREAD_ID else None
    padding = body.rest("padding")
    return MariadbGtidEvent(
        sequence_number, domain_id, gtid_flags, commit_id, xid, extra, engines, alter, thread_id, padding
    )


def encode_mariadb_gtid(event: MariadbGtidEvent, writer: Writer, _context: Context) -> None:
    """Encode MariaDB's GTID: the inverse of `decode_mariadb_gtid`."""
    writer.fields(_GTID, event.sequence_number, event.domain_id, event.gtid_flags)
    if event.commit_id is not None:
        writer.u64(event.commit_id)
    if event.xid is not None:
        writer.fields(_XA, event.xid.format_id, len(event.xid.gtrid), len(event.xid.bqual))
        writer.raw(event.xid.gtrid + event.xid.bqual)
    if event.extra_flags is not None:
        writer.u8(event.extra_flags)
    if event.extra_engines is not None:
        writer.u8(event.extra_engines)
    if event.start_alter_sequence is not None:
        writer.u64(event.start_alter_sequence)
    if event.thread_id is not None:
        writer.u32(event.thread_id)
    writer.raw(event.padding)


def decode_gtid_list(body: Cursor, _context: Context) -> GtidList:
    """Decode GTID_LIST.

    offset  bytes  field
    0       4      number of entries in the low 28 bits, flags above
    4       16     for each entry: domain id, server id, sequence number
            rest   padding of an empty list
    """
    count_and_flags = body.u32("count_and_flags", _count_meaning)
    gtids: list[MariadbGtid] = []
    for index in range(count_and_flags & _LIST_COUNT):
        body.enter("gtids", index)
        gtids.append(MariadbGtid(*body.fields(_LIST_ENTRY)))
        body.leave()
    return GtidList(count_and_flags & ~_LIST_COUNT, tuple(gtids), body.rest("padding"))


def encode_gtid_list(event: GtidList, writer: Writer, _context: Context) -> None:
    """Encode GTID_LIST: the inverse of `decode_gtid_list`."""
    writer.u32(len(event.gtids) | event.flags)
    for gtid in event.gtids:
        writer.fields(_LIST_ENTRY, gtid.domain, gtid.server, gtid.sequence)
    writer.raw(event.padding)


def decode_binlog_checkpoint(body: Cursor, _context: Context) -> BinlogCheckpoint:
    """Decode BINLOG_CHECKPOINT: 4 bytes of length, then the name of the file."""
    return BinlogCheckpoint(body.text("log_file", body.u32("log_file_length")))


def encode_binlog_checkpoint(event: BinlogCheckpoint, writer: Writer, _context: Context) -> None:
    """Encode BINLOG_CHECKPOINT: the inverse of `decode_binlog_checkpoint`."""
    name = writer.encode_text(event.log_file)
    writer.u32(len(name))
    writer.raw(name)


def decode_start_encryption(body: Cursor, _context: Context) -> StartEncryption:
    """Decode START_ENCRYPTION: 1 byte of scheme, 4 of key version, 12 of nonce."""
    scheme, key_version = body.fields(_ENCRYPTION)
    return StartEncryption(scheme, key_version, body.raw("nonce", _NONCE_LENGTH))


def encode_start_encryption(event: StartEncryption, writer: Writer, _context: Context) -> None:
    """Encode START_ENCRYPTION: the inverse of `decode_start_encryption`."""
    writer.fields(_ENCRYPTION, event.scheme, event.key_version)
    writer.raw(event.nonce)


def decode_partial_row_data(body: Cursor, _context: Context) -> PartialRowData:
    """Decode PARTIAL_ROW_DATA.

    offset  bytes  field
    0       4      number of fragments
    4       4      number of this one, from 1
    8       1      flags
    9       8      size of the complete rows event  (ORIGINAL_EVENT_SIZE, on the first fragment)
            rest   fragment of the rows event
    """
    total, number, fragment_flags = body.fields(_FRAGMENT)
    has_size = fragment_flags & PartialRowFlag.ORIGINAL_EVENT_SIZE
    size = body.u64("original_event_size") if has_size else None
    return PartialRowData(total, number, fragment_flags, size, body.rest("fragment"))


def encode_partial_row_data(event: PartialRowData, writer: Writer, _context: Context) -> None:
    """Encode PARTIAL_ROW_DATA: the inverse of `decode_partial_row_data`."""
    writer.fields(_FRAGMENT, event.total_fragments, event.sequence_number, event.flags)
    if event.original_event_size is not None:
        writer.u64(event.original_event_size)
    writer.raw(event.fragment)


def _read_xid(body: Cursor) -> XaId:
    format_id, gtrid_length, bqual_length = body.fields(_XA)
    return XaId(format_id, body.raw("gtrid", gtrid_length, as_text), body.raw("bqual", bqual_length, as_text))


def _count_meaning(value: int) -> str:
    count, bits = value & _LIST_COUNT, value & ~_LIST_COUNT
    return f"{count} entries, {flags(GtidListFlag)(bits)}"
