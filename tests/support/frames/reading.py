"""Logs that may be damaged, read as far as they go."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import NamedTuple

from binspark.errors import BinlogError, DecodeError
from binspark.event import Event, TransactionPayload, decode_event, inner_events
from binspark.frames import Framer
from binspark.frames.payload import DEFAULT_LIMITS, Limits


class Reading(NamedTuple):
    """What was read before the end, or before the error. Inner events are counted, not kept."""

    events: list[Event]
    error: DecodeError | None

    @property
    def offsets(self) -> list[int]:
        return [event.offset for event in self.events]


def read(content: bytes, limits: Limits = DEFAULT_LIMITS, *, report_checksums: bool = False) -> Reading:
    """Read a log to its end or to its first error. An error that is not of ours is not caught."""
    events: list[Event] = []
    try:
        events.extend(_events(content, limits, report_checksums=report_checksums))
    except BinlogError as error:
        return Reading(events, checked(error))
    return Reading(events, None)


def checked(error: BinlogError) -> DecodeError:
    """Return an error of a log, which says where it is and survives a trip through pickle."""
    assert isinstance(error, DecodeError)
    assert error.position.offset is not None
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    return error


def _events(content: bytes, limits: Limits, *, report_checksums: bool) -> Iterator[Event]:
    framer = Framer(report_checksums=report_checksums)
    for frame in framer.feed(content):
        event = decode_event(frame, "binlog.000001", limits)
        if isinstance(event.body, TransactionPayload):
            for _ in inner_events(event, limits):
                pass
        yield event
    framer.finish()
