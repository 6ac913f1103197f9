"""A server's side of a dump, played from a script."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from binspark.errors import ConnectionLost
from binspark.event import Heartbeat, HeartbeatV2, Rotate, encode_body
from binspark.frames import ChecksumAlgorithm, EventCode, Family, Framer, Header, HeaderFlag, LogFormat
from binspark.frames.checksum import checksum_of
from binspark.frames.codes import V4_POST_HEADERS
from binspark.frames.header import encode_header
from binspark.position import Position
from binspark.replication.channel import PacketChannel
from binspark.replication.settings import StreamSettings
from binspark.replication.stream import BinlogStream, Session
from binspark.testing.builder import BinlogBuilder
from binspark.wire import Writer

FORMAT = LogFormat(4, "9.7.4", 19, bytes(V4_POST_HEADERS.get(code, 0) for code in range(1, 44)))
_WRAP = 1 << 32


class ScriptedChannel(PacketChannel):
    """Delivers packets of a script, and remembers what was answered. It has no socket."""

    def __init__(self, packets: Iterable[bytes]) -> None:
        self._packets = iter(packets)
        self.answers: list[bytes] = []
        self.limits: list[float] = []

    def read(self, silence_seconds: float) -> bytes:
        self.limits.append(silence_seconds)
        packet = next(self._packets, None)
        if packet is None:
            raise ConnectionLost("the script ends")
        return packet

    def send(self, payload: bytes, seconds: float) -> None:
        self.answers.append(payload)


def scripted_stream(
    channel: ScriptedChannel,
    *,
    gaps: bool = False,
    skip_to: int = 0,
    semi_sync: bool = False,
    checksum: ChecksumAlgorithm = ChecksumAlgorithm.CRC32,
    settings: StreamSettings | None = None,
    until_end: bool = False,
) -> BinlogStream:
    """Return a stream that reads a script."""
    session = Session(Family.MYSQL, "9.7.4", checksum, semi_sync, gtids_enabled=True)
    start = Position(source="db1:3306", file="binlog.000001", offset=4)
    return BinlogStream(
        channel,
        session,
        settings or StreamSettings(heartbeat_seconds=1, missed_heartbeats=3, first_seconds=60),
        start,
        gaps=gaps,
        skip_to=skip_to,
        until_end=until_end,
    )


def event_bytes(
    code: EventCode,
    body: Any,
    *,
    next_position: int = 0,
    flags: int = 0,
    timestamp: int = 0,
    checksum: bool = True,
) -> bytes:
    """Return an artificial event of a stream."""
    encoded = encode_body(code, body, FORMAT)
    writer = Writer()
    size = 19 + len(encoded) + 4 * checksum
    encode_header(Header(timestamp, code, 1, size, next_position % _WRAP, flags), 4, writer)
    event = writer.take() + encoded
    return event + checksum_of(event) if checksum else event


def rotation(file: str, position: int = 4, *, checksum: bool = True) -> bytes:
    """Return the event that opens each file of a stream."""
    return event_bytes(EventCode.ROTATE, Rotate(position, file), flags=HeaderFlag.ARTIFICIAL, checksum=checksum)


def heartbeat(file: str, position: int) -> bytes:
    return event_bytes(EventCode.HEARTBEAT, Heartbeat(file), next_position=position)


def far_heartbeat(file: str, position: int) -> bytes:
    """Return what MariaDB sends past 4 GiB."""
    return event_bytes(EventCode.HEARTBEAT, Heartbeat(file, position))


def heartbeat_v2(file: str, position: int) -> bytes:
    return event_bytes(EventCode.HEARTBEAT_V2, HeartbeatV2(file, position), next_position=position)


def file_events(log: BinlogBuilder, number: int = 0) -> list[bytes]:
    """Return the events of a file of a built log."""
    return [frame.data for frame in Framer().feed(log.files[number].content)]


def as_packets(events: Iterable[bytes], mark: bytes = b"") -> list[bytes]:
    """Return events as packets."""
    return [b"\0" + mark + event for event in events]
