"""Streams of real servers: every event with its bytes and place, from every start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from client_help import StartServer, every_family, in_background, insert, make_table, options_of, purge_to, quick_stream
from tcp_proxy import proxied

from binspark import errors
from binspark.client.connect import connect
from binspark.client.dump import open_stream
from binspark.client.facts import log_end
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.settings import StreamSettings
from binspark.client.start import AtFile, AtGtids, AtTime, Earliest, Latest, StartFrom
from binspark.client.stream import BinlogStream, StreamEvent
from binspark.errors import OptionError, Purged
from binspark.event import inner_events
from binspark.files import read_events
from binspark.gtid import GtidSet, MariadbPosition
from binspark.position import Position
from binspark.testing.servers import Family, MariaDB, MySQL, Server, start

pytestmark = pytest.mark.timeout(120)

GIB = 1 << 30


@contextmanager
def streaming(server: Server, start: AtFile | AtGtids, **settings: Any) -> Iterator[BinlogStream]:
    with connect(options_of(server.port)) as connection:
        yield open_stream(connection, start, quick_stream(**settings))


def to_the_end(server: Server, start: AtFile | AtGtids) -> list[StreamEvent]:
    with streaming(server, start, until_end=True) as stream:
        return list(stream)


def until_heartbeat(stream: BinlogStream) -> list[StreamEvent]:
    return list(takewhile(lambda event: not event.heartbeat, stream))


def streamed_files(events: list[StreamEvent]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for event in events:
        files[event.file] = files.get(event.file, b"\xfebin") + (event.data if event.in_file else b"")
    return files


def files_on_disk(server: Server) -> dict[str, bytes]:
    """Read a server's logs as they are when they are closed: without the mark of use."""
    contents = {path.name: bytearray(path.read_bytes()) for path in server.log_files()}
    for content in contents.values():
        content[4 + 17] &= 0xFE
    return {name: bytes(content) for name, content in contents.items()}


def resolved(server: Server, start: StartFrom) -> ResumePoint:
    with connect(options_of(server.port)) as connection:
        return resolve_start(connection, start)


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
    events = to_the_end(server, AtFile("binlog.000001"))
    assert streamed_files(events) == files_on_disk(server)
    in_files = [event for event in events if event.in_file]
    assert [event.frame.header.next_position for event in in_files] == [event.end_offset for event in in_files]


@every_family
def test_checksums_that_change_between_files_are_followed(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    for checksum in ("NONE", "CRC32", "NONE"):
        server.query(f"SET GLOBAL binlog_checksum = {checksum}")
        insert(server, "d", {"NONE": 1, "CRC32": 2}[checksum] + len(server.log_files()) * 10)
    assert streamed_files(to_the_end(server, AtFile("binlog.000001"))) == files_on_disk(server)


@every_family
def test_decoded_events_are_those_of_the_file(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    streamed = [event.decode() for event in to_the_end(server, AtFile("binlog.000001")) if event.in_file]
    on_disk = list(read_events(server.log_files()))
    assert [(event.offset, event.body) for event in streamed] == [(event.offset, event.body) for event in on_disk]


@every_family
def test_what_is_inserted_while_streaming_comes_at_once(family: Family, shared: Server, database: str) -> None:
    make_table(shared, database)
    with connect(options_of(shared.port)) as connection:
        end = log_end(connection)
    with streaming(shared, AtFile(end.file, end.offset)) as stream:
        assert [event.in_file for event in until_heartbeat(stream)] == [False, False]
        for number in range(3):
            insert(shared, database, number)
            types = [event.decode().type for event in until_heartbeat(stream)]
            assert types[-1] in ("XID", "BINLOG_CHECKPOINT")


@every_family
def test_rotations_are_followed_while_streaming(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    with streaming(server, AtFile("binlog.000001")) as stream:
        seen = until_heartbeat(stream)
        for number in range(3):
            server.query("FLUSH LOGS")
            insert(server, "d", number)
            seen += until_heartbeat(stream)
        assert [event.file for event in seen if event.type_code == 4 and not event.in_file] == [
            f"binlog.{number:06}" for number in range(1, 5)
        ]
        assert streamed_files(seen) == files_on_disk(server)


@every_family
def test_transactions_over_16_mb_come_in_one_piece(family: Family, start_server: StartServer) -> None:
    redo_log = {MySQL: "innodb-redo-log-capacity", MariaDB: "innodb-log-file-size"}[family]
    server = start_server(family, {"max-allowed-packet": "256M", redo_log: "512M"})
    make_table(server, "d")
    sizes = [(1 << 24) - 60, 1 << 24, 40_000_000]
    for number, size in enumerate(sizes):
        server.run_sql(f"INSERT INTO d.t VALUES ({number}, REPEAT('x', {size}))", "--max-allowed-packet=256M")
    events = to_the_end(server, AtFile("binlog.000001"))
    assert streamed_files(events) == files_on_disk(server)
    assert max(len(event.data) for event in events) > 40_000_000


@every_family
def test_a_reader_is_listed_by_its_server(family: Family, shared: Server) -> None:
    with streaming(shared, AtFile("binlog.000001"), server_id=4_000_000_001, report_host="here") as stream:
        until_heartbeat(stream)
        listed = shared.query("SHOW REPLICAS" if family is MySQL else "SHOW SLAVE HOSTS")
        assert [(row[0], row[1]) for row in listed if row[0] == 4_000_000_001] == [(4_000_000_001, "here")]


@every_family
def test_a_quiet_server_tells_its_position(family: Family, shared: Server) -> None:
    with connect(options_of(shared.port)) as connection:
        end = log_end(connection)
    heard: list[Position] = []
    with connect(options_of(shared.port)) as connection:
        stream = open_stream(connection, AtFile(end.file, end.offset), quick_stream(), heard.append)
        list(islice((event for event in stream if event.heartbeat), 2))
    expected = Position(file=end.file, offset=end.offset, source=f"127.0.0.1:{shared.port}")
    assert heard == [expected, expected]


@pytest.mark.mysql
@pytest.mark.xdist_group("client-mysql")
def test_mysql_sends_the_heartbeats_that_know_64_bits(mysql: Server) -> None:
    with streaming(mysql, AtFile("binlog.000001")) as stream:
        beat = next(event for event in stream if event.heartbeat)
    assert beat.decode().type == "HEARTBEAT_V2"
    assert beat.decode().body.log_position == beat.offset


@pytest.mark.mysql
def test_mysql_starts_past_gtids_tagged_ones_too(start_server: StartServer) -> None:
    server = start_server(MySQL)
    make_table(server, "d")
    server.run_sql(
        "SET gtid_next='automatic:nightly'; INSERT INTO d.t VALUES (1, ''); INSERT INTO d.t VALUES (2, '');"
        "SET gtid_next='automatic'; INSERT INTO d.t VALUES (3, '')"
    )
    uuid = server.query("SELECT @@server_uuid")[0][0]
    have = GtidSet(f"{uuid}:1-2:nightly:1")
    events = [event.decode() for event in to_the_end(server, AtGtids(have))]
    gtids = [str(event.body.gtid) for event in events if event.type in ("GTID", "GTID_TAGGED")]
    assert gtids == [f"{uuid}:nightly:2", f"{uuid}:3"]


@pytest.mark.mariadb
def test_mariadb_starts_past_gtids_of_every_domain(start_server: StartServer) -> None:
    server = start_server(MariaDB)
    make_table(server, "d")
    server.run_sql(
        "INSERT INTO d.t VALUES (1, ''); SET gtid_domain_id=7; INSERT INTO d.t VALUES (2, '');"
        "INSERT INTO d.t VALUES (3, ''); SET gtid_domain_id=0; INSERT INTO d.t VALUES (4, '')"
    )
    events = [event.decode() for event in to_the_end(server, AtGtids(MariadbPosition("0-1-3,7-1-1")))]
    gtids = [str(event.body.gtid(event.header.server_id)) for event in events if event.type == "MARIADB_GTID"]
    assert gtids == ["7-1-2", "0-1-4"]


@every_family
def test_the_empty_set_is_everything(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1)
    by_gtids = to_the_end(server, AtGtids(GtidSet()))
    assert streamed_files(by_gtids) == files_on_disk(server)


@pytest.mark.mysql
def test_a_place_past_4_gib_can_be_asked_for(start_server: StartServer) -> None:
    """A log of that size would take long to write: here the server says that its log ends before."""
    server = start_server(MySQL)
    with streaming(server, AtFile("binlog.000001", 5 * GIB)) as stream, pytest.raises(Purged, match="file size"):
        next(stream)


@pytest.mark.mysql
def test_without_gtids_a_place_past_4_gib_is_reached_by_skipping(start_server: StartServer) -> None:
    server = start_server(MySQL, {"gtid-mode": "OFF"})
    insert_nothing = to_the_end(server, AtFile("binlog.000001", 5 * GIB))
    assert [event.in_file for event in insert_nothing] == [False]


@every_family
def test_earliest_latest_and_a_file_are_found(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    server.query("FLUSH LOGS")
    insert(server, "d", 1)
    purge_to(server, "binlog.000002")
    earliest, latest = resolved(server, Earliest()), resolved(server, Latest())
    size = server.log_files()[-1].stat().st_size
    assert (earliest.file, earliest.offset) == ("binlog.000002", 4)
    assert (latest.file, latest.offset) == ("binlog.000002", size)
    assert str(latest.gtids).endswith({MySQL: ":1-3", MariaDB: "0-1-3"}[family])
    assert resolved(server, AtFile("binlog.000002", 4)) == earliest


def transaction_starts(server: Server) -> list[tuple[str, int, int]]:
    """Return where each transaction begins in the server's files, and when."""
    events = [event for path in server.log_files() for event in read_events(path)]
    identifying = [event for event in events if event.type in ("GTID", "MARIADB_GTID")]
    return [(Path(event.file).name, event.offset, event.header.timestamp) for event in identifying]


@pytest.fixture(scope="module")
def timed_log(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server with a file for each of some seconds, and transactions in most of them."""
    with start(request.param) as server:
        make_table(server, "d")
        for number in range(4):
            insert(server, "d", 10 * number, 10 * number + 1)
            time.sleep(1.1)
            server.query("FLUSH LOGS")
            server.query("FLUSH LOGS")
        insert(server, "d", 100)
        yield server


timed_logs = pytest.mark.parametrize(
    "timed_log",
    [
        pytest.param(MySQL, marks=[pytest.mark.mysql, pytest.mark.xdist_group("timed-mysql")], id="mysql"),
        pytest.param(MariaDB, marks=[pytest.mark.mariadb, pytest.mark.xdist_group("timed-mariadb")], id="mariadb"),
    ],
    indirect=True,
)


@timed_logs
def test_a_time_is_the_first_transaction_of_that_time_or_later(timed_log: Server) -> None:
    starts = transaction_starts(timed_log)
    for seconds in range(starts[0][2] - 1, starts[-1][2] + 1):
        point = resolved(timed_log, AtTime(datetime.fromtimestamp(seconds, UTC)))
        expected = next((file, offset) for file, offset, began in starts if began >= seconds)
        assert (point.file, point.offset) == expected


@timed_logs
def test_a_time_comes_with_the_gtids_before_it(timed_log: Server) -> None:
    *_, (file, offset, seconds) = transaction_starts(timed_log)
    point = resolved(timed_log, AtTime(datetime.fromtimestamp(seconds, UTC)))
    assert (point.file, point.offset) == (file, offset)
    assert point.gtids is not None
    rest = [event.offset for event in to_the_end(timed_log, AtGtids(point.gtids)) if event.type_code in (33, 162)]
    assert rest == [offset]


@timed_logs
def test_a_time_behind_the_last_transaction_is_the_end(timed_log: Server) -> None:
    time.sleep(1.1)
    now = datetime.now(UTC).replace(microsecond=0)
    assert resolved(timed_log, AtTime(now)) == replace(resolved(timed_log, Latest()), created=ANY)


@timed_logs
def test_few_files_are_looked_into_for_a_time(timed_log: Server) -> None:
    *_, (_, _, seconds) = transaction_starts(timed_log)
    with proxied(timed_log.port) as proxy, connect(options_of(proxy.port)) as connection:
        resolve_start(connection, AtTime(datetime.fromtimestamp(seconds, UTC)))
    assert len(timed_log.log_files()) == 9
    assert proxy.accepted <= 1 + 4 + 1  # the question, the files that bisecting looks into, the one that is read


@timed_logs
def test_a_time_that_has_not_come_is_refused(timed_log: Server) -> None:
    with pytest.raises(OptionError, match="future"):
        resolved(timed_log, AtTime(datetime(2100, 1, 1, tzinfo=UTC)))


@every_family
def test_a_time_before_the_oldest_log_is_refused_if_older_ones_were_purged(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family)
    long_ago = AtTime(datetime(2020, 1, 1, tzinfo=UTC))
    assert resolved(server, long_ago).file == "binlog.000001"
    server.query("FLUSH LOGS")
    purge_to(server, "binlog.000002")
    with pytest.raises(Purged, match=r"binlog\.000002, begins later"):
        resolved(server, long_ago)


@every_family
def test_gtids_of_the_other_family_are_refused(family: Family, shared: Server) -> None:
    gtids = {MySQL: MariadbPosition("0-1-1"), MariaDB: GtidSet("b8ae2fd2-3005-11f0-8be8-0242ac150002:1")}[family]
    with pytest.raises(OptionError, match="and the server is"):
        resolved(shared, AtGtids(gtids))
    with pytest.raises(OptionError, match="and the server is"):
        to_the_end(shared, AtGtids(gtids))


@pytest.mark.mysql
def test_compressed_transactions_are_streamed_whole(start_server: StartServer) -> None:
    server = start_server(MySQL, {"binlog-transaction-compression": "ON"})
    make_table(server, "d")
    insert(server, "d", 1, pad=100_000)
    payloads = [event.decode() for event in to_the_end(server, AtFile("binlog.000001")) if event.type_code == 40]
    inside = [inner.type for payload in payloads for inner in inner_events(payload)]
    assert inside == ["QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"]


@pytest.mark.mariadb
def test_an_encrypted_log_comes_decrypted(start_server: StartServer, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("1;" + "ab" * 32 + "\n")
    server = start_server(
        MariaDB,
        {
            "plugin-load-add": "file_key_management",
            "file-key-management-filename": str(keys),
            "encrypt-binlog": "ON",
        },
    )
    make_table(server, "d")
    insert(server, "d", 1, 2)
    types = [event.decode().type for event in to_the_end(server, AtFile("binlog.000001"))]
    assert types.count("START_ENCRYPTION") == 1
    assert types.count("XID") == 2
    assert b"START" not in server.log_files()[0].read_bytes()


SEMI_SYNC = {
    MySQL: {"plugin-load-add": "semisync_source.so"},
    MariaDB: {},
}


@every_family
def test_a_server_that_waits_gets_its_acknowledgements(family: Family, start_server: StartServer) -> None:
    server = start_server(family, SEMI_SYNC[family])
    side = {MySQL: "source", MariaDB: "master"}[family]
    make_table(server, "d")
    server.query(f"SET GLOBAL rpl_semi_sync_{side}_timeout = 60000")
    server.query(f"SET GLOBAL rpl_semi_sync_{side}_enabled = ON")
    with connect(options_of(server.port)) as connection:
        end = log_end(connection)
    with streaming(server, AtFile(end.file, end.offset), semi_sync=True) as stream:
        until_heartbeat(stream)
        with in_background(lambda: insert(server, "d", 1, 2, 3)):
            committed = list(islice((event for event in stream if event.type_code == 16), 3))
            stream.acknowledge()
        assert len(committed) == 3
        status = dict(server.query("SHOW STATUS LIKE 'Rpl_semi_sync%'"))
    assert (status[f"Rpl_semi_sync_{side}_yes_tx"], status[f"Rpl_semi_sync_{side}_no_tx"]) == ("3", "0")


@pytest.mark.mysql
@pytest.mark.xdist_group("client-mysql")
def test_a_server_that_never_waits_is_named(mysql: Server) -> None:
    with (
        pytest.raises(errors.Server, match="INSTALL PLUGIN"),
        streaming(mysql, AtFile("binlog.000001"), semi_sync=True),
    ):
        pass


def test_a_server_id_is_chosen_where_servers_have_none() -> None:
    assert all(StreamSettings().server_id >= 1 << 31 for _ in range(20))
    assert StreamSettings().server_id != StreamSettings().server_id
    assert StreamSettings().uuid != StreamSettings().uuid


@pytest.mark.parametrize(
    "wrong", [{"server_id": 0}, {"server_id": 1 << 32}, {"heartbeat_seconds": 0}, {"missed_heartbeats": 0}]
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        StreamSettings(**wrong)
