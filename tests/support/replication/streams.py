"""Streams of servers, for tests."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from binspark.frames import EventCode
from binspark.replication.chunk import LogChunk
from binspark.replication.dump import open_stream
from binspark.replication.find import end_of_log, find_start
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.start import Start
from binspark.replication.stream import BinlogStream, StreamEvent
from binspark.server.connection import connect
from binspark.testing.servers import MariaDB, Server
from tests.support.replication.following import END_OF_LOG, quick, quick_stream
from tests.support.servers import config_of


def in_file(file: str, offset: int = 4) -> BinlogPosition:
    """Return a position in a file of any server."""
    return BinlogPosition(file, offset)


@contextmanager
def streaming(
    server: Server, start: BinlogPosition, *, until_end: bool = False, **settings: Any
) -> Iterator[BinlogStream]:
    with connect(config_of(server.port)) as connection:
        yield open_stream(connection, start, quick_stream(**settings), until_end=until_end)


def to_the_end(server: Server, start: BinlogPosition) -> list[StreamEvent]:
    with streaming(server, start, until_end=True) as stream:
        return list(stream)


def until_heartbeat(stream: BinlogStream) -> list[StreamEvent]:
    return list(takewhile(lambda event: not event.is_heartbeat, stream))


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


def positions_of(events: list[StreamEvent]) -> list[tuple[str, int, bytes]]:
    """Return the events that are in files, each with its position."""
    return [(event.file, event.offset, event.data) for event in events if event.in_file]


def chunk_files(chunks: Iterable[tuple[LogChunk, bytes]], magic: bytes = b"\xfebin") -> dict[str, bytes]:
    """Return the files that chunks consist of."""
    files: dict[str, bytes] = {}
    for chunk, data in chunks:
        files[chunk.file] = files.get(chunk.file, magic) + data
    return files


def files_on_disk(server: Server) -> dict[str, bytes]:
    """Read a server's logs as they are when they are closed: without the flag of use."""
    contents = {path.name: bytearray(path.read_bytes()) for path in server.log_files()}
    for content in contents.values():
        content[4 + 17] &= 0xFE
    return {name: bytes(content) for name, content in contents.items()}


def copying_follower(server_port: int, start: Start | str, **arguments: Any) -> Follower:
    """Return a follower that delivers bytes as they come."""
    return Follower(config_of(server_port), start, quick(), complete_transactions=False, **arguments)


def until_size(follower: Follower, seen: list[tuple[LogChunk, bytes]], size: int) -> None:
    """Follow until a file has come up to a size."""
    while not seen or seen[-1][0].offset + len(seen[-1][1]) < size:
        chunk = next(follower)
        seen.append((chunk, bytes(chunk.data)))


def bytes_as_they_come(port: int, start: Start | str) -> list[tuple[LogChunk, bytes]]:
    """Follow files to the end of the log; return chunks with their bytes, which are valid only for a moment."""
    with copying_follower(port, start, stop=END_OF_LOG) as follower:
        return [(chunk, bytes(chunk.data)) for chunk in follower]


def settle(server: Server) -> None:
    """Wait until a server has written what it writes by itself: MariaDB notes in a log that it needs no older one."""
    last = server.log_files()[-1].name
    deadline = time.monotonic() + 90
    while server.family is MariaDB and not _has_checkpoint(server, last):
        assert time.monotonic() < deadline


def _has_checkpoint(server: Server, file: str) -> bool:
    events = to_the_end(server, in_file(file))
    return any(event.type_code == EventCode.BINLOG_CHECKPOINT and file.encode() in event.data for event in events)


def kill_dump(server: Server) -> None:
    """Let the server end the newest connection that reads its logs."""
    running = server.query("SHOW PROCESSLIST")
    server.query("KILL %s", (max(row[0] for row in running if row[4].startswith("Binlog Dump")),))


def found_start(server: Server, start: Start) -> BinlogPosition:
    with connect(config_of(server.port)) as connection:
        return find_start(connection, start)


def end_of(server: Server) -> BinlogPosition:
    """Return where a server writes."""
    with connect(config_of(server.port)) as connection:
        return end_of_log(connection)
