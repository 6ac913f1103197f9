"""How far packets are unpacked: what goes in, what comes out, and why unpacking ended."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.client.bulk.area import Area


@dataclass(slots=True, eq=False)
class Unpacking:
    """Goes on from call to call.

    source     packets that have come; those from `at` to `end` are not dealt with yet
    target     the bytes of events up to `out`
    packets    how many were unpacked plainly, since the beginning
    sequence   the number of the next packet
    needed     how many bytes it takes
    offset     where in the file the next event is due
    checksum   whether events end with a CRC32
    opened     what is in progress after the last event, one of `Progress`
    whole      in `target`, after the last event after which nothing was in progress; 0 for none
    last       in `target`, the last event
    is_odd     whether bulk readers of rows do not tell enough of one of the events
    stop       the first transaction that ends at this offset or later is the last; 0 for none
    stop_time  no transaction is taken that begins at this time or later, in seconds since 1970; 0 for none
    """

    source: Area
    target: Area
    at: int = 0
    end: int = 0
    out: int = 0
    packets: int = 0
    sequence: int = 0
    needed: int = 0
    offset: int = 0
    checksum: bool = False
    opened: int = 0
    whole: int = 0
    last: int = 0
    is_odd: bool = False
    stop: int = 0
    stop_time: int = 0
