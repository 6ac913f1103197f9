"""Packets over a socket: large ones, out of order, cut off, silent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from binspark.errors import ConnectionLost, Malformed
from binspark.position import Position
from binspark.replication.channel import MAX_PAYLOAD, PacketChannel

POSITION = Position(source="db1:3306")


class Ends:
    """A channel, and the server's end of its socket."""

    def __init__(self) -> None:
        self.server, self._client = socket.socketpair()
        self.channel = PacketChannel(self._client, POSITION)
        self.channel.send(b"\x12dump", 5)

    def close(self) -> None:
        self.server.close()
        self._client.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    assert made.server.recv(10) == packet(b"\x12dump", 0)
    yield made
    made.close()


def packet(payload: bytes, sequence: int) -> bytes:
    return len(payload).to_bytes(3, "little") + bytes([sequence % 256]) + payload


def split(payload: bytes) -> list[bytes]:
    """Cut a payload as the protocol does: the last packet is shorter than the longest, if need be empty."""
    return [payload[at : at + MAX_PAYLOAD] for at in range(0, len(payload) + 1, MAX_PAYLOAD)]


def send(ends: Ends, *chunks: bytes) -> threading.Thread:
    def send_all() -> None:
        for chunk in chunks:
            ends.server.sendall(chunk)

    thread = threading.Thread(target=send_all)
    thread.start()
    return thread


def test_packets_are_read_one_by_one_however_they_arrive(ends: Ends) -> None:
    payloads = [b"", b"a", b"bc" * 1000, b"d"]
    stream = b"".join(packet(payload, number) for number, payload in enumerate(payloads, 1))
    thread = send(ends, *(stream[at : at + 3] for at in range(0, len(stream), 3)))
    assert [ends.channel.read(5) for _ in payloads] == payloads
    thread.join()


@pytest.mark.parametrize(
    "length", [MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD, 2 * MAX_PAYLOAD + 7]
)
def test_a_payload_over_16_mb_is_joined(ends: Ends, length: int) -> None:
    payload = bytes(range(256)) * (length // 256 + 1)
    payload = payload[:length]
    parts = [packet(part, number) for number, part in enumerate(split(payload), 1)]
    thread = send(ends, *parts, packet(b"next", len(parts) + 1))
    assert ends.channel.read(5) == payload
    assert ends.channel.read(5) == b"next"
    thread.join()


def test_the_numbers_of_packets_wrap_around(ends: Ends) -> None:
    thread = send(ends, b"".join(packet(b"x", number) for number in range(1, 600)))
    assert [ends.channel.read(5) for _ in range(1, 600)] == [b"x"] * 599
    thread.join()


def test_a_packet_out_of_order_is_refused(ends: Ends) -> None:
    ends.server.sendall(packet(b"x", 2))
    with pytest.raises(Malformed, match="expected packet 1, found packet 2"):
        ends.channel.read(5)


def test_a_packet_0_is_mariadbs_farewell(ends: Ends) -> None:
    ends.server.sendall(packet(b"x", 1) + packet(b"\xff\x1d\x04#08S01Shutdown", 0))
    ends.channel.read(5)
    with pytest.raises(ConnectionLost, match="ended the connection"):
        ends.channel.read(5)


def test_after_an_answer_the_server_counts_anew(ends: Ends) -> None:
    ends.server.sendall(packet(b"x", 1) + packet(b"y", 2))
    assert [ends.channel.read(5), ends.channel.read(5)] == [b"x", b"y"]
    ends.channel.send(b"taken", 5)
    assert ends.server.recv(20) == packet(b"taken", 0)
    ends.server.sendall(packet(b"z", 1))
    assert ends.channel.read(5) == b"z"


@pytest.mark.parametrize("sent", [b"", b"\x05", b"\x05\x00\x00\x01ab"])
def test_silence_is_a_lost_connection_wherever_it_begins(ends: Ends, sent: bytes) -> None:
    ends.server.sendall(sent)
    with pytest.raises(ConnectionLost, match=r"db1:3306: nothing came for 0\.05 seconds, not even a heartbeat"):
        ends.channel.read(0.05)


@pytest.mark.parametrize("sent", [b"", b"\x05", b"\x05\x00\x00\x01ab"])
def test_a_closed_connection_is_a_lost_one_wherever_it_ends(ends: Ends, sent: bytes) -> None:
    ends.server.sendall(sent)
    ends.server.close()
    with pytest.raises(ConnectionLost, match="closed the connection"):
        ends.channel.read(5)


def test_another_thread_can_end_the_wait(ends: Ends) -> None:
    caught: list[Any] = []

    def wait() -> None:
        with pytest.raises(ConnectionLost) as error:
            ends.channel.read(60)
        caught.append(error.value)

    thread = threading.Thread(target=wait)
    thread.start()
    ends.channel.abort()
    thread.join(30)
    assert not thread.is_alive()
    assert len(caught) == 1


def test_an_answer_to_a_server_that_is_gone_is_a_lost_connection(ends: Ends) -> None:
    ends.channel.abort()
    with pytest.raises(ConnectionLost, match="broke"):
        ends.channel.send(b"taken", 5)


@pytest.mark.parametrize("length", [MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1])
def test_a_command_over_16_mb_is_split(ends: Ends, length: int) -> None:
    payload = bytes(range(256)) * (length // 256 + 1)
    payload = payload[:length]
    expected = b"".join(packet(part, number) for number, part in enumerate(split(payload)))
    received = bytearray()

    def receive() -> None:
        while len(received) < len(expected):
            received.extend(ends.server.recv(1 << 20))

    thread = threading.Thread(target=receive)
    thread.start()
    ends.channel.send(payload, 5)
    thread.join()
    assert received == expected
    ends.server.sendall(packet(b"answer", len(split(payload))))
    assert ends.channel.read(5) == b"answer"


def test_packets_can_be_read_one_by_one_between_those_that_are_unpacked(ends: Ends) -> None:
    """Who unpacks takes packets from what is unread; the channel continues after them."""
    ends.server.sendall(b"".join(packet(bytes([number]), number) for number in range(1, 4)))
    assert ends.channel.read(5) == b"\x01"
    unread = ends.channel.unread
    while unread.end - unread.start < 2 * 5:
        assert ends.channel.receive(5)
    assert bytes(unread.memory.view[unread.start : unread.end]) == packet(b"\x02", 2) + packet(b"\x03", 3)
    unread.start, unread.sequence = unread.start + 5, 3
    assert ends.channel.read(5) == b"\x03"
    assert not ends.channel.receive(0)
    assert ends.channel.is_drained
