"""The events of Group Replication: TRANSACTION_CONTEXT, VIEW_CHANGE."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.context import Context
from binspark.gtid import GtidSet, decode_gtid_set, encode_gtid_set
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import as_padded_text

_VIEW_ID_LENGTH = 40


@dataclass(frozen=True, slots=True)
class TransactionContext:
    """TRANSACTION_CONTEXT: what the group certifies a transaction against. The sets contain hashes of rows."""

    server_uuid: str
    thread_id: int
    gtid_specified: bool
    snapshot_version: GtidSet | None
    snapshot_tagged: bool
    write_set: tuple[bytes, ...]
    read_set: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ViewChange:
    """VIEW_CHANGE: the members of the group changed. The map has the transactions that changed each row hash."""

    view_id: str
    sequence_number: int
    certification_info: tuple[tuple[bytes, bytes], ...]
    view_id_padding: bytes = b""


_CONTEXT = Layout(
    ("server_uuid_length", "B"),
    ("thread_id", "I"),
    ("gtid_specified", "B"),
    ("snapshot_length", "I"),
    ("write_set_size", "I"),
    ("read_set_size", "I"),
)
_VIEW = Layout(("sequence_number", "Q"), ("certification_info_size", "I"))


def decode_transaction_context(body: Cursor, _context: Context) -> TransactionContext:
    """Decode TRANSACTION_CONTEXT.

    offset  bytes  field
    0       1      length of the server's UUID text
    1       4      thread id
    5       1      1 if the client set the GTID
    6       4      length of the snapshot version
    10      4      number of entries in the write set
    14      4      number of entries in the read set
    18      n      server's UUID, as text
            s      snapshot version, a GTID set (see `binspark.gtid.encoding`)
            ...    write set, then read set: for each entry 2 bytes of length and the entry
    """
    uuid_length, thread_id, gtid_specified, snapshot_length, write_size, read_size = body.fields(_CONTEXT)
    server_uuid = body.text("server_uuid", uuid_length)
    snapshot, tagged = _read_snapshot(body, snapshot_length)
    write_set = _read_entries(body, "write_set", write_size)
    read_set = _read_entries(body, "read_set", read_size)
    return TransactionContext(server_uuid, thread_id, bool(gtid_specified), snapshot, tagged, write_set, read_set)


def encode_transaction_context(event: TransactionContext, writer: Writer, _context: Context) -> None:
    """Encode TRANSACTION_CONTEXT: the inverse of `decode_transaction_context`."""
    server_uuid = writer.encode_text(event.server_uuid)
    snapshot = Writer()
    if event.snapshot_version is not None:
        encode_gtid_set(event.snapshot_version, snapshot, tagged=event.snapshot_tagged)
    sizes = (len(snapshot), len(event.write_set), len(event.read_set))
    writer.fields(_CONTEXT, len(server_uuid), event.thread_id, event.gtid_specified, *sizes)
    writer.raw(server_uuid)
    writer.raw(snapshot.take())
    for entry in (*event.write_set, *event.read_set):
        writer.u16(len(entry))
        writer.raw(entry)


def decode_view_change(body: Cursor, _context: Context) -> ViewChange:
    """Decode VIEW_CHANGE.

    offset  bytes  field
    0       40     id of the view, zero-padded
    40      8      sequence number
    48      4      number of entries in the certification information
    52      ...    for each entry 2 bytes of length and a key, 4 bytes of length and a value
    """
    view_id, _, padding = body.raw("view_id", _VIEW_ID_LENGTH, as_padded_text).partition(b"\0")
    sequence_number, size = body.fields(_VIEW)
    info: list[tuple[bytes, bytes]] = []
    for index in range(size):
        body.enter("certification_info", index)
        key = body.raw("key", body.u16("key_length"))
        info.append((key, body.raw("value", body.u32("value_length"))))
        body.leave()
    kept_padding = b"\0" + padding if padding.strip(b"\0") else b""
    return ViewChange(view_id.decode("latin-1"), sequence_number, tuple(info), kept_padding)


def encode_view_change(event: ViewChange, writer: Writer, _context: Context) -> None:
    """Encode VIEW_CHANGE: the inverse of `decode_view_change`."""
    view_id = event.view_id.encode("latin-1") + event.view_id_padding
    writer.raw(view_id.ljust(_VIEW_ID_LENGTH, b"\0")[:_VIEW_ID_LENGTH])
    writer.fields(_VIEW, event.sequence_number, len(event.certification_info))
    for key, value in event.certification_info:
        writer.u16(len(key))
        writer.raw(key)
        writer.u32(len(value))
        writer.raw(value)


def _read_snapshot(body: Cursor, length: int) -> tuple[GtidSet | None, bool]:
    if length == 0:
        return None, False
    part = body.sub("snapshot_version", length)
    snapshot, tagged = decode_gtid_set(part)
    part.expect_end()
    return snapshot, tagged


def _read_entries(body: Cursor, name: str, size: int) -> tuple[bytes, ...]:
    entries: list[bytes] = []
    for index in range(size):
        body.enter(name, index)
        entries.append(body.raw("entry", body.u16("length")))
        body.leave()
    return tuple(entries)
