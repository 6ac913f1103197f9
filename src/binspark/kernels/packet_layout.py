"""What the kernel that unpacks packets and its callers agree on; those who unpack without it use the same words."""

from __future__ import annotations

from enum import IntEnum

from binspark.frames.codes import EventCode

ODD_CODES = (int(EventCode.PARTIAL_UPDATE_ROWS), int(EventCode.TRANSACTION_PAYLOAD), int(EventCode.PARTIAL_ROW_DATA))
"""Events of which the offset does not tell all that must be known of the rows in them."""


class Part(IntEnum):
    """The part that an event plays. Only its body tells that of the last three."""

    NONE = 0
    IDENTIFIES = 1
    BEGINS = 2
    PREPARES = 3
    STATEMENT = 4
    ROWS = 5
    ENDS = 6
    FOR_PYTHON = 7
    ROWS_EVENT = 8
    QUERY_EVENT = 9
    MARIADB_GTID = 10


class Outcome(IntEnum):
    """Why unpacking ended."""

    MORE = 1  # the next packet is not complete
    FULL = 2  # there is no room for the next event
    PYTHON = 3  # the next packet is for the stream
    STOPPED = 4  # the place or the time to stop at is reached
