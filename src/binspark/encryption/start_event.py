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
    ignored = bytearray(event)
    ignored[_TYPE] = EventCode.IGNORABLE
    ignored[_FLAGS] |= HeaderFlag.IGNORABLE
    if has_checksum:
        ignored[-CHECKSUM_LENGTH:] = checksum_of(bytes(ignored[:-CHECKSUM_LENGTH]))
    return bytes(ignored)
