"""Logs as frames and as events, in order, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from binspark.errors import DecodeError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.sources import LogSource, Paths, find_logs
from binspark.frames import EventCode, Frame, Framer
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.os_errors import describe_os_error
from binspark.position import Position

_CHUNK = 1 << 18
_PAYLOAD = EventCode.TRANSACTION_PAYLOAD


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How logs are read.

    expand_payloads   whether a TRANSACTION_PAYLOAD is followed by the events inside it
    report_checksums  whether an event with a wrong checksum is yielded, marked as such, instead of raising `Checksum`
    limits            how large compressed data may become
    """

    expand_payloads: bool = True
    report_checksums: bool = False
    limits: Limits = DEFAULT_LIMITS


_DEFAULT = ReadOptions()


def read_events(paths: Paths, options: ReadOptions = _DEFAULT) -> Iterator[Event]:
    """Yield every event of one or more logs. Events before damage are yielded before the error is raised."""
    for source in find_logs(paths):
        yield from source_events(source, options)


def source_events(source: LogSource, options: ReadOptions = _DEFAULT) -> Iterator[Event]:
    """Yield every event of one log."""
    decoder = EventDecoder(source.name, options.limits)
    expand = options.expand_payloads
    for frame in read_frames(source, report_checksums=options.report_checksums):
        event = decoder.decode(frame)
        yield event
        if frame.type_code == _PAYLOAD and expand:
            yield from decoder.inner_events(event)


def read_frames(source: LogSource, *, report_checksums: bool = False) -> Iterator[Frame]:
    """Yield every frame of one log, up to where the source stops; raise `Truncated` if it ends inside an event."""
    framer = Framer(report_checksums=report_checksums)
    stop = math.inf if source.stop is None else source.stop
    try:
        with source.open() as file:
            while chunk := file.read(_CHUNK):
                for frame in framer.feed(chunk):
                    if frame.offset >= stop:
                        return
                    yield frame
        framer.finish()
    except DecodeError as error:
        if (error.position.offset or 0) >= stop:
            return
        raise error.at(Position(file=source.name)) from None
    except OSError as error:
        raise SourceError(describe_os_error(error), Position(source.name, framer.offset)) from None
