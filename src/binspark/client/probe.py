"""Looking into a log of a server without reading it all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from binspark.client.connect import connect
from binspark.client.dump import open_stream
from binspark.client.options import ConnectionOptions
from binspark.client.settings import StreamSettings
from binspark.client.start import AtFile, AtGtids
from binspark.client.stream import BinlogStream
from binspark.errors import Malformed
from binspark.frames.codes import EventCode
from binspark.position import Position


@contextmanager
def to_the_end(options: ConnectionOptions, start: AtFile | AtGtids) -> Iterator[BinlogStream]:
    """Open a stream on a connection of its own that ends where the log ends now."""
    settings = StreamSettings(until_end=True)
    with connect(options) as connection:
        yield open_stream(connection, start, settings)


def file_created(options: ConnectionOptions, file: str) -> int:
    """Return when a log was made, in seconds since 1970, as its first event says."""
    with to_the_end(options, AtFile(file)) as stream:
        for event in stream:
            if event.type_code == EventCode.FORMAT_DESCRIPTION:
                return event.frame.header.timestamp
    raise Malformed("the log has no format description", Position(file=file))
