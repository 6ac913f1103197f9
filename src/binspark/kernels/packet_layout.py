"""What the kernel that unpacks packets and its callers agree on; the plain unpacker uses it as well."""

from __future__ import annotations

from enum import IntEnum

from binspark.frames.codes import EventCode as E
from binspark.transactions.byte_tables import ROLES
from binspark.transactions.grammar import BOUNDARIES, Role

ODD_CODES = (int(E.PARTIAL_UPDATE_ROWS), int(E.TRANSACTION_PAYLOAD), int(E.PARTIAL_ROW_DATA))
"""Events whose offset does not identify the rows in them."""

_NOT_IN_VERSION_4 = (
    *(E.UNKNOWN, E.START_V3, E.LOAD, E.SLAVE, E.CREATE_FILE, E.EXEC_LOAD, E.DELETE_FILE, E.NEW_LOAD),
    *(E.PRE_GA_WRITE_ROWS, E.PRE_GA_UPDATE_ROWS, E.PRE_GA_DELETE_ROWS),
)
_FOR_THE_STREAM = frozenset(
    {
        *(E.FORMAT_DESCRIPTION, E.ROTATE, E.STOP, E.START_ENCRYPTION, E.HEARTBEAT, E.HEARTBEAT_V2),
        E.QUERY_COMPRESSED,  # the role is in a text that has to be decompressed
        *_NOT_IN_VERSION_4,
    }
)
"""Events that the stream reads itself: they change how or where it reads, or unpacking cannot find their role."""

PACKET_ROLES = bytes(
    ROLES[code] if code in BOUNDARIES and code not in _FOR_THE_STREAM else Role.UNDECIDED for code in range(256)
)
"""The role of each type code for those who unpack packets. UNDECIDED, of unknown types as well: it is the stream's."""


class Outcome(IntEnum):
    """Why unpacking ended."""

    MORE = 1  # the next packet is not complete
    FULL = 2  # there is no room for the next event
    PYTHON = 3  # the next packet is for the stream
    STOPPED = 4  # the position or the time to stop at is reached
