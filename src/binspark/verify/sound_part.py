"""What the checks of single events must know of events that they did not see because they are sound."""

from __future__ import annotations

from typing import NamedTuple


class GtidInterval(NamedTuple):
    """GTIDs with consecutive numbers, `stop` exclusive, of transactions that follow each other.

    kind     the type code of their events
    source   MySQL: the UUID; MariaDB: domain and server, eight bytes each
    """

    kind: int
    source: bytes
    start: int
    stop: int


class SoundPart(NamedTuple):
    """Complete transactions that follow each other and are sound.

    has_gtid_events        whether any begins with a GTID event
    first_time, last_time  the earliest and the latest timestamp of their events, 0 if none has one
    last_sequence_number   of the logical clock, after them
    gap_expected           whether there was no sequence_number since the last damage
    """

    start: int
    end: int
    events: int
    transactions: int
    has_gtid_events: bool
    first_time: int
    last_time: int
    last_sequence_number: int
    gap_expected: bool
    intervals: tuple[GtidInterval, ...]
