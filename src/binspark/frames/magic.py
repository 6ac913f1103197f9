"""How a log begins: the magic, and the version, which follows from the first event."""

from __future__ import annotations

from binspark.errors import Encrypted, Malformed, Truncated
from binspark.frames.codes import EventCode, type_name
from binspark.frames.header import HEADER_LENGTH, V1_HEADER_LENGTH

MAGIC = b"\xfebin"
ENCRYPTED_MAGIC = b"\xfdbin"
FIRST_EVENT_OFFSET = len(MAGIC)
GIVE_KEYRING = "give the server's keyring file (--keyring FILE, in Python and Spark the option keyring)"
"""What to do about a log that is encrypted."""

_START_V3_BODY = 56
_SIZE_OF_V1_START = V1_HEADER_LENGTH + _START_V3_BODY
_SIZE_OF_V3_START = HEADER_LENGTH + _START_V3_BODY

# The bytes of the first event that contain its type and size in every version.
VERSION_EVIDENCE = V1_HEADER_LENGTH


def check_magic(start: bytes) -> None:
    """Raise an error for a file that does not begin with the magic of a binary log."""
    if start[:4] == MAGIC:
        return
    if start[:4] == ENCRYPTED_MAGIC:
        raise Encrypted(f"the log is encrypted (binlog_encryption=ON); {GIVE_KEYRING}")
    if MAGIC.startswith(start[:4]) or ENCRYPTED_MAGIC.startswith(start[:4]):
        found = f"only {len(start)} of the {len(MAGIC)} bytes of the magic" if start else "the file is empty"
        raise Truncated(found)
    raise Malformed(f"not a binary log: begins with 0x{start[:4].hex()}, expected 0x{MAGIC.hex()}")


def log_version(first_event: bytes) -> int:
    """Return the version of a log (1, 3 or 4), given the start of its first event."""
    type_code = first_event[4]
    size = int.from_bytes(first_event[9:13], "little")
    if type_code == EventCode.FORMAT_DESCRIPTION:
        return 4
    if type_code == EventCode.START_V3 and size in (_SIZE_OF_V1_START, _SIZE_OF_V3_START):
        return 1 if size == _SIZE_OF_V1_START else 3
    if type_code == EventCode.ROTATE:
        return 3  # relay logs of MySQL 4.0 and 4.1 begin with the ROTATE of their source
    found = f"the first event is a {size}-byte {type_name(type_code)}"
    raise Malformed(f"unknown log version: {found}, expected FORMAT_DESCRIPTION, START_V3 or ROTATE")
