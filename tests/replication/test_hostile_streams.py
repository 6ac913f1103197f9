"""A server that lies: about lengths, names and offsets, or by sending nothing without an end."""

from __future__ import annotations

import struct
from contextlib import nullcontext
from typing import Any
from zlib import crc32

import pytest

from binspark.errors import BinlogError, Malformed, Server, SourceError
from binspark.event.codec import encode_body
from binspark.event.heartbeat import HeartbeatV2
from binspark.event.rotate import Rotate
from binspark.frames import EventCode, HeaderFlag
from binspark.position import Position
from binspark.replication import channel as channel_module
from binspark.replication import follow as follow_module
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.sources import BulkSource, CompleteSource
from binspark.replication.stop import StopCondition
from binspark.server.config import connection_config
from binspark.server.errors import explain_dump_error
from binspark.testing.builder import BinlogBuilder
from tests.support.replication.scripted_server import FILE, events_of, packets, played

pytestmark = pytest.mark.timeout(120)


def event(code: EventCode, body: object, *, size: int | None = None) -> bytes:
    """Return an artificial event, with any size in its header."""
    content = encode_body(code, body, BinlogBuilder().format)
    length = 19 + len(content) + 4 if size is None else size
    data = struct.pack("<IBIIIH", 0, code, 1, length, 0, HeaderFlag.ARTIFICIAL) + content
    return data + crc32(data).to_bytes(4, "little")


def rotate(name: str = FILE, offset: int = 4) -> bytes:
    return event(EventCode.ROTATE, Rotate(offset, name))


def heartbeat(offset: int = 4) -> bytes:
    return event(EventCode.HEARTBEAT_V2, HeartbeatV2(FILE, offset))


def log_events() -> list[bytes]:
    builder = BinlogBuilder()
    builder.ddl("CREATE DATABASE d")
    return events_of(builder.files[0].content)


def read(sent: list[bytes], *, gaps: bool = True) -> list[Any]:
    with played(packets([b"\0" + each for each in sent])) as resumed:
        resumed.stream._positions._gaps = gaps
        return list(CompleteSource(BulkSource(resumed, 0.05), 1 << 20))


@pytest.mark.parametrize("name", ["../binlog.000001", "a/b.1", "..", "\x1b[2Jbinlog.000001", "b\n.1", "b" * 256, "\0"])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_name_that_is_no_file_name_is_refused(name: str, gaps: bool) -> None:
    with pytest.raises(Malformed, match="the server names a log") as caught:
        read([rotate(name), *log_events()], gaps=gaps)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("offset", [1 << 63, (1 << 64) - 1, (1 << 62) + 1])
def test_an_offset_that_no_file_has_is_refused(offset: int) -> None:
    first, *rest = log_events()
    with pytest.raises(Malformed, match="which no file has"):
        read([rotate(offset=offset), first, *rest])
    with pytest.raises(Malformed, match="which no file has"):
        read([rotate(), first, heartbeat(offset), *rest])


@pytest.mark.parametrize("size", [0, 18, 1 << 31, (1 << 32) - 1])
def test_a_length_that_is_not_that_of_its_packet_is_refused(size: int) -> None:
    first, *_ = log_events()
    with pytest.raises(Malformed):
        read([rotate(), first, event(EventCode.ROTATE, Rotate(4, FILE), size=size)])


def test_a_packet_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_module, "MAX_MESSAGE", 2 * channel_module.MAX_PAYLOAD)
    endless = packets([bytes(4 * channel_module.MAX_PAYLOAD)])
    with played(endless) as resumed, pytest.raises(BinlogError, match="which no server sends"):
        list(resumed)


class NoDetector:
    """Detects nothing."""

    def __init__(self, *_: object) -> None:
        pass

    def heartbeat(self, _stream: object) -> None:
        pass


@pytest.mark.parametrize(
    "stop",
    [StopCondition(end_of_log=True), StopCondition(BinlogPosition("binlog.000009", 4), is_written=True)],
    ids=["to the end of the log", "to where it ended before"],
)
@pytest.mark.parametrize("sent", [heartbeat(), rotate()], ids=["heartbeats", "rotations"])
def test_heartbeats_without_an_end_are_not_the_rest_of_a_log(
    stop: StopCondition, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_module, "_MAX_WITHOUT_DATA", 50)
    monkeypatch.setattr(follow_module, "ResetDetector", NoDetector)
    monkeypatch.setattr(follow_module, "find_start", lambda _connection, start: start)
    config = connection_config(host="db1", user="me", environ={})
    with played(packets([b"\0" + each for each in [rotate(), log_events()[0], *[sent] * 200]]), hang=True) as resumed:
        monkeypatch.setattr(follow_module, "resume_stream", lambda *_a, **_k: resumed)
        follower = Follower(config, BinlogPosition(FILE, 4), stop=stop)
        monkeypatch.setattr(follower._reconnector, "connect", lambda: nullcontext(FakeConnection()))
        with follower, pytest.raises(Server, match="instead of the rest of its log"):
            list(follower)


class FakeConnection:
    """What a follower needs of a connection: its address."""

    address = "db1:3306"


@pytest.mark.parametrize("text", ["\x1b]0;owned\x07" * 10_000, "line\nbinspark: all is well\r\n" * 1000, "\u202e" * 99])
def test_an_error_of_a_server_is_a_short_line_without_commands_for_a_terminal(text: str) -> None:
    error: SourceError = explain_dump_error(1236, text, Position(source="db1:3306"))
    assert str(error).isprintable()
    assert len(str(error)) < 3000
