"""How MariaDB's servers and readers agree on an encrypted log in clear."""

from __future__ import annotations

from binspark.frames import EventCode, HeaderFlag
from binspark.frames.checksum import checksum_of
from binspark.frames.format import CHECKSUM_LENGTH

_TYPE, _FLAGS = 4, 17


def without_encryption(event: bytes, *, has_checksum: bool) -> bytes:
    """Return START_ENCRYPTION as an event that is to be ignored: in a decrypted log it would not be true.

    Servers send it with the flag for that: at an event without it, and of a type that they do not know, tools end.
    """
    return _retyped(event, EventCode.IGNORABLE, has_checksum=has_checksum)


def as_server_sends_it(event: bytes, *, has_checksum: bool) -> bytes:
    """Return the event that `without_encryption` made as MariaDB sends it: under its own type, to be ignored.

    A replica that reads by GTIDs takes IGNORABLE for a part of a transaction, and ends because none has begun.
    """
    return _retyped(event, EventCode.START_ENCRYPTION, has_checksum=has_checksum)


def _retyped(event: bytes, code: EventCode, *, has_checksum: bool) -> bytes:
    ignored = bytearray(event)
    ignored[_TYPE] = code
    ignored[_FLAGS] |= HeaderFlag.IGNORABLE
    if has_checksum:
        ignored[-CHECKSUM_LENGTH:] = checksum_of(bytes(ignored[:-CHECKSUM_LENGTH]))
    return bytes(ignored)
