"""Answers of a server that lies, to the queries by which tables are copied."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from binspark.errors import Malformed, SchemaError, SourceError
from binspark.mirror.snapshot.statement import QueryChannel
from binspark.position import Position
from binspark.replication.packets import ErrorPacket, encode_error
from tests.support.replication.scripted_server import packets

PREPARED = b"\x00" + (1).to_bytes(4, "little")


class AnsweredConnection:
    """A connection whose server has answered already."""

    position = Position(source="db1:3306")
    account = "`me`@`%`"

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected


@contextmanager
def answered(*payloads: bytes) -> Iterator[QueryChannel]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(packets(payloads))
        connection: Any = AnsweredConnection(ours)
        yield QueryChannel(connection, 5.0)


@pytest.mark.parametrize("counts", [b"\xff\xff\x00\x00", b"\x00\x00\xff\xff", b"\x01\x10\x00\x00"])
def test_more_columns_than_a_table_may_have_are_refused(counts: bytes) -> None:
    with answered(PREPARED + counts + b"\x00\x00\x00") as channel, pytest.raises(Malformed, match="at most 4,096"):
        channel.execute("SELECT 1")


@pytest.mark.parametrize(("code", "kind"), [(1146, SchemaError), (1317, SourceError)])
def test_an_error_has_no_commands_for_a_terminal(code: int, kind: type[Exception]) -> None:
    error = encode_error(ErrorPacket(code, "\x1b[2J" * 10_000, "HY000"))
    with answered(error) as channel, pytest.raises(kind) as caught:
        channel.execute("SELECT 1")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 3100
