"""Streams of real servers: every event with its bytes and position."""

from __future__ import annotations

from itertools import islice, takewhile

import pytest

from binspark.files import read_events
from binspark.testing.servers import Family, MySQL, Server
from tests.support.replication.following import insert, inserted_ids, make_table
from tests.support.replication.streams import (
    end_of,
    files_on_disk,
    in_file,
    streamed_files,
    streaming,
    to_the_end,
    until_commit,
    until_heartbeat,
)
from tests.support.servers import StartServer, every_family

pytestmark = pytest.mark.timeout(120)

NOT_REPORTED = 0
"""MariaDB 11 and later do so for events inside a transaction."""


@every_family
@pytest.mark.parametrize("checksum", ["CRC32", "NONE"])
def test_a_stream_is_the_servers_files_byte_for_byte(family: Family, checksum: str, start_server: StartServer) -> None:
    server = start_server(family, {"binlog-checksum": checksum})
    make_table(server, "d")
    insert(server, "d", 1, 2, 3)
    server.query("FLUSH LOGS")
    insert(server, "d", 4, pad=100_000)
    server.restart()
    insert(server, "d", 5)
    events = to_the_end(server, in_file("binlog.000001"))
    assert streamed_files(events) == files_on_disk(server)
    in_files = [event for event in events if event.in_file]
    assert all(event.frame.header.next_position in (NOT_REPORTED, event.end_offset) for event in in_files)
    assert in_files[-1].frame.header.next_position == in_files[-1].end_offset


@every_family
def test_checksums_that_change_between_files_are_followed(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    for checksum in ("NONE", "CRC32", "NONE"):
        server.query(f"SET GLOBAL binlog_checksum = {checksum}")
        insert(server, "d", {"NONE": 1, "CRC32": 2}[checksum] + len(server.log_files()) * 10)
    assert streamed_files(to_the_end(server, in_file("binlog.000001"))) == files_on_disk(server)


@every_family
def test_decoded_events_are_those_of_the_file(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    streamed = [event.decode() for event in to_the_end(server, in_file("binlog.000001")) if event.in_file]
    on_disk = list(read_events(server.log_files()))
    assert [(event.offset, event.body) for event in streamed] == [(event.offset, event.body) for event in on_disk]


@every_family
def test_what_is_inserted_while_streaming_comes_next(family: Family, shared: Server, database: str) -> None:
    make_table(shared, database)
    with streaming(shared, end_of(shared)) as stream:
        until_heartbeat(stream)
        for number in range(3):
            insert(shared, database, number)
            events = [event.decode() for event in until_commit(stream)]
            assert inserted_ids(events, database) == [number]


@every_family
def test_rotations_are_followed_while_streaming(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    with streaming(server, in_file("binlog.000001")) as stream:
        seen = []
        for number in range(3):
            insert(server, "d", number)
            seen += until_commit(stream)
            server.query("FLUSH LOGS")
        seen += takewhile(lambda event: event.file != "binlog.000004", stream)
        on_disk = files_on_disk(server)
        del on_disk["binlog.000004"]
        assert streamed_files(seen) == on_disk


@every_family
def test_a_reader_is_listed_by_its_server(family: Family, shared: Server) -> None:
    with streaming(shared, end_of(shared), connection_server_id=4_000_000_001, report_host="here") as stream:
        until_heartbeat(stream)
        listed = shared.query("SHOW REPLICAS" if family is MySQL else "SHOW SLAVE HOSTS")
        assert [(row[0], row[1]) for row in listed if row[0] == 4_000_000_001] == [(4_000_000_001, "here")]


@every_family
def test_a_quiet_server_reports_its_position(family: Family, shared: Server) -> None:
    end = end_of(shared)
    with streaming(shared, end) as stream:
        first, second = islice((event for event in stream if event.is_heartbeat), 2)
        assert (second.file, second.offset, second.in_file) == (stream.file, stream.offset, False)
        assert stream.position.source == f"127.0.0.1:{shared.port}"
    assert (first.file, first.offset) >= (end.file, end.offset)


@pytest.mark.mysql
def test_mysql_sends_the_heartbeats_that_know_64_bits(mysql: Server) -> None:
    with streaming(mysql, end_of(mysql)) as stream:
        beat = next(event for event in stream if event.is_heartbeat)
    assert beat.decode().type == "HEARTBEAT_V2"
    assert beat.decode().body.log_position == beat.offset
