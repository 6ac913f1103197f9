"""A server's side of a dump, played over a socket, packet by packet."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from binspark.frames import MAGIC, ChecksumAlgorithm, Family, Framer
from binspark.frames.checksum import with_in_use_flag_clear
from binspark.position import Position
from binspark.replication.channel import MAX_PAYLOAD, PacketChannel
from binspark.replication.position import BinlogPosition
from binspark.replication.resume import ResumedStream
from binspark.replication.settings import StreamSettings
from binspark.replication.sources import BulkSource
from binspark.replication.stop import NEVER, StopCondition
from binspark.replication.stream import BinlogStream, Session
from binspark.server.info import ServerInfo

FILE = "binlog.000001"
END = b"\xfe\x00\x00\x02\x00"


def events_of(log: bytes) -> list[bytes]:
    """Return the events of a log as a server sends them: as if the log were closed."""
    events = [frame.data for frame in Framer().feed(log)]
    return [with_in_use_flag_clear(events[0]), *events[1:]]


def closed(log: bytes) -> bytes:
    """Return a log as it is when it is closed."""
    return MAGIC + b"".join(events_of(log))


def packets(payloads: Iterable[bytes], first_number: int = 1) -> bytes:
    """Return packets as they travel; a payload that is too long for one takes several."""
    sent, number = b"", first_number
    for payload in payloads:
        while True:
            part, payload = payload[:MAX_PAYLOAD], payload[MAX_PAYLOAD:]
            sent += len(part).to_bytes(3, "little") + bytes((number,)) + part
            number = (number + 1) & 0xFF
            if len(part) < MAX_PAYLOAD:
                break
    return sent


def event_packets(events: Iterable[bytes]) -> bytes:
    return packets([*(b"\0" + event for event in events), END])


SERVER = ServerInfo(Family.MYSQL, "9.7.4", "server", 1, gtids_enabled=True)


@contextmanager
def played(
    sent: bytes,
    *,
    chunk: int = 1 << 20,
    server_version: str = "9.7.4",
    hang: bool = False,
    until_end: bool = True,
    settings: StreamSettings | None = None,
) -> Iterator[ResumedStream]:
    """Run a server that sends these bytes and then ends the connection, or hangs."""
    ours, theirs = socket.socketpair()

    def play() -> None:
        with suppress(OSError):
            for start in range(0, len(sent), chunk):
                theirs.sendall(sent[start : start + chunk])
            if not hang:
                theirs.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=play)
    thread.start()
    try:
        channel = PacketChannel(ours, Position(source="db1:3306"))
        channel.unread.sequence = 1
        session = Session(Family.MYSQL, server_version, ChecksumAlgorithm.CRC32, semi_sync=False, gtids_enabled=True)
        start = Position(FILE, 4, source="db1:3306")
        stream = BinlogStream(channel, session, settings or StreamSettings(), start, gaps=False, until_end=until_end)
        yield ResumedStream(stream, SERVER, BinlogPosition(FILE, 4), by_file=True)
    finally:
        with suppress(OSError):
            ours.shutdown(socket.SHUT_RDWR)
        thread.join()
        ours.close()
        theirs.close()


@contextmanager
def streamed(sent: bytes, *, stop: StopCondition = NEVER, **arguments: Any) -> Iterator[BulkSource]:
    """Read from such a server in bulk."""
    with played(sent, **arguments) as resumed:
        yield BulkSource(resumed, 0.05, stop)
