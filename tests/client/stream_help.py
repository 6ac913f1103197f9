"""Streams of servers, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from client_help import options_of, quick_stream

from binspark.client.connect import connect
from binspark.client.dump import open_stream
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.start import AtFile, AtGtids, StartFrom
from binspark.client.stream import BinlogStream, StreamEvent
from binspark.frames import EventCode
from binspark.testing.servers import Server


@contextmanager
def streaming(server: Server, start: AtFile | AtGtids, **settings: Any) -> Iterator[BinlogStream]:
    with connect(options_of(server.port)) as connection:
        yield open_stream(connection, start, quick_stream(**settings))


def to_the_end(server: Server, start: AtFile | AtGtids) -> list[StreamEvent]:
    with streaming(server, start, until_end=True) as stream:
        return list(stream)


def until_heartbeat(stream: BinlogStream) -> list[StreamEvent]:
    return list(takewhile(lambda event: not event.heartbeat, stream))


def until_commit(stream: BinlogStream) -> list[StreamEvent]:
    """Read up to the end of the next transaction."""
    events = []
    for event in stream:
        events.append(event)
        if event.type_code == EventCode.XID:
            break
    return events


def streamed_files(events: list[StreamEvent]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for event in events:
        files[event.file] = files.get(event.file, b"\xfebin") + (event.data if event.in_file else b"")
    return files


def files_on_disk(server: Server) -> dict[str, bytes]:
    """Read a server's logs as they are when they are closed: without the mark of use."""
    contents = {path.name: bytearray(path.read_bytes()) for path in server.log_files()}
    for content in contents.values():
        content[4 + 17] &= 0xFE
    return {name: bytes(content) for name, content in contents.items()}


def resolved(server: Server, start: StartFrom) -> ResumePoint:
    with connect(options_of(server.port)) as connection:
        return resolve_start(connection, start)
