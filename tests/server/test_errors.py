"""What a server's error means: the kind of error, and what to do."""

from __future__ import annotations

import pytest

from binspark.errors import ConnectionLost, Purged, Server, SourceError
from binspark.position import Position
from binspark.server.errors import explain_dump_error

TEXTS = {
    "A slave with the same server_uuid/server_id as this slave has connected to the master": Server,
    "Misconfigured source - source server_id is 0": Server,
    "Binary log is not open": Server,
    "Client requested master to start replication from impossible position": Purged,
    "Client requested source to start replication from position > file size": Purged,
    "Could not find first log file name in binary log index file": Purged,
    "log event entry exceeded max_allowed_packet; Increase max_allowed_packet on source": Server,
    "I/O error reading log event": ConnectionLost,
    "something that nobody has seen": Server,
}


@pytest.mark.parametrize(("text", "kind"), TEXTS.items(), ids=TEXTS)
def test_the_text_of_a_failed_dump_says_what_failed(text: str, kind: type[SourceError]) -> None:
    error = explain_dump_error(1236, text, Position(source="db1:3306"))
    assert type(error) is kind
    assert str(error).startswith("db1:3306: ")
    assert text in str(error)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (1236, "A slave with the same server_uuid/server_id as this slave has connected to the master"),
        (4052, "A slave with the same server_id is already connected; the first event 'binlog.000001' at 4"),
    ],
    ids=["MySQL, MariaDB 10", "MariaDB 11"],
)
def test_a_reader_of_the_same_name_learns_what_to_do(code: int, text: str) -> None:
    assert "give each reader a connection_server_id of its own" in str(
        explain_dump_error(code, text, Position(source="db1:3306"))
    )
