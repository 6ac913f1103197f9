"""What `kernels.cut.transactions` and its caller agree on: the numbers that they share, and why the kernel ends."""

from __future__ import annotations

from enum import IntEnum


class Cut(IntEnum):
    """Numbers that the kernel and its caller share.

    Those up to SELECTED_AT are set by the caller, those after it are what the kernel has done since.
    """

    AT = 0  # address of the next transaction
    END = 1  # address after the last byte in memory
    ORIGIN = 2  # an address plus this is an offset in the log
    STOP = 3  # transactions that begin here or later are for Python
    OUT_AT = 4  # address after the last event that is written
    OUT_OFFSET = 5  # the offset of that in the new log
    IS_OPEN = 6  # 1: the new log has begun
    CHECKSUM = 7  # 1: events have a CRC32
    CRC_FUNCTION = 8
    BY_TABLE = 9  # 1: events of other tables or operations are removed
    OPERATIONS = 10  # the operations that are selected, in a bit mask
    DROP_EMPTY = 11  # 1: transactions of which nothing is left are removed
    START = 12  # transactions before this offset are removed
    START_TIME = 13
    STOP_TIME = 14  # 0: none
    SERVER = 15  # -1: any
    COMMITTED_FROM = 16
    COMMITTED_BEFORE = 17  # 0: none
    INCLUDED = 18  # address of intervals of GTIDs that are selected: UUID, first number, number after the last
    INCLUDED_COUNT = 19  # -1: all are
    EXCLUDED = 20
    EXCLUDED_COUNT = 21
    ASKS = 22  # 1: Python decides by GTID
    DECISION = 23  # what it has decided of the next transaction
    CLOCK = 24  # address of the logical clock of the new log, see `Clock`
    MAPS = 25  # address of the table maps that are known, see `kernels.known_maps.KnownMap`
    INTERVALS = 26  # address of room for the GTIDs that are removed before the new log begins
    INTERVAL_CAPACITY = 27
    THREAD = 28  # -1: any
    BY_ROW = 29  # 1: rows are selected by a condition, those that are at the next addresses in the order of the log
    SELECTED = 30  # address of the positions of their events
    SELECTED_NUMBERS = 31  # address of their numbers in their events
    SELECTED_COUNT = 32
    SELECTED_LIMIT = 33  # Python cuts rows events from this offset on: it is not known which rows are selected
    SELECTED_AT = 34  # the number of the first of them in the next transaction, or later
    INTERVAL_COUNT = 35
    TRANSACTIONS = 36
    EMPTIED = 37
    REMOVED = 38
    LAST = 39  # address of the last event that is kept, 0 for none
    NEEDED = 40  # how many bytes the next transaction takes at least, if it is not in memory
    MAP_AT = 41  # address of a TABLE_MAP that is not known,
    MAP_ENTRY = 42  # and of the entry where it belongs
    # Of the transaction in progress:
    GTID = 43  # a `TransactionGtid`; its KIND is the type code of the first event
    HAS_CLOCK = 47
    COMMIT_TIME = 48  # in microseconds since 1970
    LENGTH_AT = 49  # where its length is in the GTID event, 0 if it has none
    TX_THREAD = 50  # its connection, -1 as long as that is not known
    SELECTED_NEXT = 51  # the number of the next row that is selected
    COUNT = 52


class Clock(IntEnum):
    """Numbers of a logical clock. The old number of transaction n is at index FIRST + n % KEPT_NUMBERS."""

    LAST = 0  # the number of the last transaction
    KEPT = 1  # how many old numbers are known
    BEFORE_FILE = 2  # the number of the last transaction of earlier logs
    FIRST = 3


KEPT_NUMBERS = 1 << 16
"""How many old numbers of transactions are kept."""


class Decision(IntEnum):
    """Whether a transaction is selected by its GTID."""

    NONE = 0
    KEEP = 1
    REMOVE = 2


class CutStop(IntEnum):
    """Why `cut_transactions` ended."""

    MORE = 1  # the next transaction is not completely in memory
    REFUSED = 2  # it is for Python
    TABLE_MAP = 3  # it has a TABLE_MAP that is not known
    FULL = 4  # there are too many intervals
    OPEN = 5  # it is the first that is kept: the new log must begin
    GTID = 6  # Python decides whether it is selected
    END = 7  # the position to stop at is reached
