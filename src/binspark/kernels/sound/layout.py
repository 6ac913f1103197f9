"""What `kernels.sound.transactions` and its caller agree on: the numbers that they share, and why the kernel ends."""

from __future__ import annotations

from enum import IntEnum

from binspark.frames.codes import EventCode as E

POST_HEADERS = {
    E.QUERY: 13,
    E.XID: 0,
    E.INTVAR: 0,
    E.RAND: 0,
    E.TABLE_MAP: 8,
    **dict.fromkeys((E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1), 8),
    **dict.fromkeys((E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS), 10),
}
"""The events whose layout depends on the length of their post-header, and the length that this kernel knows."""


class Sound(IntEnum):
    """Numbers that the kernel and its caller share.

    The first ones are set by the caller for each window. Those up to DECLARED are of the transaction in progress, those
    after it of the log up to the last complete transaction.
    """

    AT = 0  # address of the next event
    END = 1  # address after the last byte in memory
    ORIGIN = 2  # an address plus this is an offset in the log
    CHECKSUM = 3  # 1: events have a CRC32
    CRC_FUNCTION = 4
    MAY_LACK_POSITIONS = 5  # 1: an end position may be 0
    NEEDED = 6  # how many bytes the next event takes, if they are not in memory
    INTERVALS = 7  # address of the intervals of GTIDs, see `kernels.transaction_gtid.Interval`
    INTERVAL_CAPACITY = 8
    EXPECTS_ANONYMOUS = 9  # 1: there was a transaction without GTID before
    PROGRESS = 10
    EVENTS = 11
    FIRST_TIME = 12  # 0: none so far
    LAST_TIME = 13
    CLOCK = 14  # the last sequence_number
    GAP_EXPECTED = 15  # 1: the next sequence_number may be any greater one
    START = 16  # offset of the first event
    GTID = 17  # a `TransactionGtid`
    DECLARED = 21  # the length of the transaction according to its GTID event, 0 if it says none
    SOUND_END = 22  # offset after the last complete transaction
    SOUND_EVENTS = 23
    SOUND_FIRST_TIME = 24
    SOUND_LAST_TIME = 25
    SOUND_CLOCK = 26
    SOUND_GAP_EXPECTED = 27
    TRANSACTIONS = 28
    IDENTIFIED = 29  # how many of them begin with a GTID event
    INTERVAL_COUNT = 30
    MAP_ENTRY = 31  # address of the entry where a TABLE_MAP that is not known belongs
    COUNT = 32


class SoundStop(IntEnum):
    """Why `skip_sound` ended."""

    MORE = 1  # the next event is not completely in memory
    REFUSED = 2  # the next event is for Python
    TABLE_MAP = 3  # it is a TABLE_MAP that is not known
    FULL = 4  # there are too many intervals
