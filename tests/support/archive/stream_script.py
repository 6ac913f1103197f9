"""A server's side of a dump, played over a socket, packet by packet."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace

from binspark.client.bulk.runs import EventRuns, Stop
from binspark.client.identity import ServerIdentity
from binspark.client.reopen import Reopened
from binspark.client.resume import ResumePoint
from binspark.client.session import Session
from binspark.client.settings import StreamSettings
from binspark.client.stream import BinlogStream
from binspark.client.wire_access import MAX_PACKET, PacketChannel
from binspark.event import HeartbeatV2, Rotate, encode_body
from binspark.frames import MAGIC, ChecksumAlgorithm, EventCode, Family, Framer, Header, HeaderFlag, LogFormat
from binspark.frames.checksum import checksum_of, with_in_use_flag_clear
from binspark.frames.codes import V4_POST_HEADERS
from binspark.frames.header import encode_header
from binspark.position import Position
from binspark.wire import Writer

FILE = "binlog.000001"
END = b"\xfe\x00\x00\x02\x00"
FORMAT = LogFormat(4, "9.7.4", 19, bytes(V4_POST_HEADERS.get(code, 0) for code in range(1, 44)))


def made_up(code: EventCode, body: object, *, checksum: bool = True, flags: int = 0) -> bytes:
    """Return an event that is in no file."""
    encoded = encode_body(code, body, FORMAT)
    writer = Writer()
    encode_header(Header(0, code, 1, 19 + len(encoded) + 4 * checksum, 0, flags), 4, writer)
    event = writer.take() + encoded
    return event + checksum_of(event) if checksum else event


def rotate(file: str, offset: int = 4, *, checksum: bool = True) -> bytes:
    """Return the event that says in which file the stream goes on."""
    return made_up(EventCode.ROTATE, Rotate(offset, file), checksum=checksum, flags=HeaderFlag.ARTIFICIAL)


def heartbeat(file: str, offset: int) -> bytes:
    return made_up(EventCode.HEARTBEAT_V2, HeartbeatV2(file, offset))


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
            part, payload = payload[:MAX_PACKET], payload[MAX_PACKET:]
            sent += len(part).to_bytes(3, "little") + bytes((number,)) + part
            number = (number + 1) & 0xFF
            if len(part) < MAX_PACKET:
                break
    return sent


def event_packets(events: Iterable[bytes]) -> bytes:
    return packets([*(b"\0" + event for event in events), END])


@contextmanager
def streamed(
    sent: bytes,
    *,
    chunk: int = 1 << 20,
    server_version: str = "9.7.4",
    hang: bool = False,
    settings: StreamSettings | None = None,
    stop: Stop | None = None,
) -> Iterator[EventRuns]:
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
        yield _runs(ours, server_version, settings or StreamSettings(until_end=True), stop)
    finally:
        with suppress(OSError):
            ours.shutdown(socket.SHUT_RDWR)
        thread.join()
        ours.close()
        theirs.close()


def _runs(ours: socket.socket, version: str, settings: StreamSettings, stop: Stop | None) -> EventRuns:
    channel = PacketChannel(SimpleNamespace(_sock=ours), Position(source="db1:3306"))
    channel._sequence = 1
    session = Session(Family.MYSQL, version, ChecksumAlgorithm.CRC32, semi_sync=False, gtids_enabled=True)
    stream = BinlogStream(channel, session, settings, place=Position(FILE, 4), gaps=False)
    identity = ServerIdentity(Family.MYSQL, "server", 1, gtids_enabled=True)
    return EventRuns(Reopened(stream, identity, ResumePoint(FILE, 4), by_file=True), tick_seconds=0.05, stop=stop)
