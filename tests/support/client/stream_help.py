"""Streams of servers, for tests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from binspark.client.connect import connect
from binspark.client.dump import open_stream
from binspark.client.follow_files import follow_files
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.start import AtFile, AtGtids, StartFrom
from binspark.client.stream import BinlogStream, StreamEvent
from binspark.frames import EventCode
from binspark.testing.servers import MariaDB, Server
from tests.support.client.client_help import options_of, quick, quick_stream


@contextmanager
def streaming(server: Server, start: AtFile | AtGtids, **settings: Any) -> Iterator[BinlogStream]:
    with connect(options_of(server.port)) as connection:
        yield open_stream(connection, start, quick_stream(**settings))


def to_the_end(server: Server, start: AtFile | AtGtids) -> list[StreamEvent]:
    with streaming(server, start, until_end=True) as stream:
        return list(stream)


def until_heartbeat(stream: BinlogStream) -> list[StreamEvent]:
    return list(takewhile(lambda event: not event.heartbeat, stream))


def until_commit(stream: Iterator[StreamEvent]) -> list[StreamEvent]:
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


def places_of(events: list[StreamEvent]) -> list[tuple[str, int, bytes]]:
    """Return the events that stand in files, each with its place."""
    return [(event.file, event.offset, event.data) for event in events if event.in_file]


def files_on_disk(server: Server) -> dict[str, bytes]:
    """Read a server's logs as they are when they are closed: without the mark of use."""
    contents = {path.name: bytearray(path.read_bytes()) for path in server.log_files()}
    for content in contents.values():
        content[4 + 17] &= 0xFE
    return {name: bytes(content) for name, content in contents.items()}


def follow_from(server: Server, file: str, offset: int = 4) -> list[StreamEvent]:
    """Follow files from a place to the end."""
    settings = quick(stream=quick_stream(until_end=True))
    return list(follow_files(options_of(server.port), AtFile(file, offset), settings))


def settle(server: Server) -> None:
    """Wait until a server has written what it writes by itself: MariaDB notes in a log that it needs no older one."""
    last = server.log_files()[-1].name
    deadline = time.monotonic() + 30
    while server.family is MariaDB and not _has_checkpoint(server, last):
        assert time.monotonic() < deadline


def _has_checkpoint(server: Server, file: str) -> bool:
    events = to_the_end(server, AtFile(file))
    return any(event.type_code == EventCode.BINLOG_CHECKPOINT and file.encode() in event.data for event in events)


def kill_dump(server: Server) -> None:
    """Let the server end the newest connection that reads its logs."""
    running = server.query("SHOW PROCESSLIST")
    server.query("KILL %s", (max(row[0] for row in running if row[4].startswith("Binlog Dump")),))


def resolved(server: Server, start: StartFrom) -> ResumePoint:
    with connect(options_of(server.port)) as connection:
        return resolve_start(connection, start)
