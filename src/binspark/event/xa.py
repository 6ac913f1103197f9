"""The end of a transaction: XID, XA_PREPARE."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.context import Context
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import as_text, note

_MAX_LENGTH = 64
_XID = note("transaction number")


@dataclass(frozen=True, slots=True)
class Xid:
    """XID: the commit of a transaction of a transactional engine, with its transaction number."""

    xid: int


@dataclass(frozen=True, slots=True)
class XaPrepare:
    """XA_PREPARE: an XA transaction is prepared, or committed immediately if `one_phase`."""

    one_phase: bool
    format_id: int
    gtrid: bytes
    bqual: bytes

    @property
    def name(self) -> str:
        """The XID as servers print it."""
        return f"X'{self.gtrid.hex()}',X'{self.bqual.hex()}',{self.format_id}"


_XA = Layout(
    ("one_phase", "B", note("1: committed in one phase")),
    ("format_id", "i"),
    ("gtrid_length", "I"),
    ("bqual_length", "I"),
)


def decode_xid(body: Cursor, context: Context) -> Xid:
    """Decode XID: 8 bytes."""
    body.raw("post_header", context.post_header_length)
    return Xid(body.u64("xid", _XID))


def encode_xid(event: Xid, writer: Writer, context: Context) -> None:
    """Encode XID: the inverse of `decode_xid`."""
    writer.raw(bytes(context.post_header_length))
    writer.u64(event.xid)


def decode_xa_prepare(body: Cursor, context: Context) -> XaPrepare:
    """Decode XA_PREPARE.

    offset  bytes  field
    0       1      1: committed in one phase
    1       4      format id, signed
    5       4      length of the global transaction id, at most 64
    9       4      length of the branch qualifier, at most 64
    13      n      global transaction id
    13+n    m      branch qualifier
    """
    body.raw("post_header", context.post_header_length)
    one_phase, format_id, gtrid_length, bqual_length = body.fields(_XA)
    if gtrid_length > _MAX_LENGTH or bqual_length > _MAX_LENGTH:
        raise body.malformed(
            f"parts of the XID have {gtrid_length} and {bqual_length} bytes, expected at most {_MAX_LENGTH}"
        )
    gtrid = body.raw("gtrid", gtrid_length, as_text)
    return XaPrepare(bool(one_phase), format_id, gtrid, body.raw("bqual", bqual_length, as_text))


def encode_xa_prepare(event: XaPrepare, writer: Writer, context: Context) -> None:
    """Encode XA_PREPARE: the inverse of `decode_xa_prepare`."""
    writer.raw(bytes(context.post_header_length))
    writer.fields(_XA, event.one_phase, event.format_id, len(event.gtrid), len(event.bqual))
    writer.raw(event.gtrid)
    writer.raw(event.bqual)
