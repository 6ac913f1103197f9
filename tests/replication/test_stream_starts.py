"""Streams of real servers from every start: files, GTIDs, times."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import ANY

import pytest

from binspark.errors import OptionError, Purged
from binspark.files import read_events
from binspark.frames import EventCode
from binspark.gtid import GtidSet, MariadbPosition
from binspark.replication.find import find_start
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.replication.start import AtTime, Earliest, Latest
from binspark.server.connection import connect
from binspark.testing.servers import Family, MariaDB, MySQL, Server, start
from tests.support.replication.following import insert, make_table, purge_to
from tests.support.replication.streams import found_start, in_file, positions_of, streaming, to_the_end
from tests.support.servers import FAMILIES, StartServer, config_of, every_family
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(120)
after = BinlogPosition.after_gtids

GIB = 1 << 30
FIRST = "binlog.000001"
NOT_SENT: dict[Family, set[int]] = {MySQL: set(), MariaDB: {EventCode.FORMAT_DESCRIPTION, EventCode.GTID_LIST}}
"""By GTIDs, the first events of a file need not be sent: MariaDB 11.4 and later look GTIDs up in an index."""


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
    events = [event.decode() for event in to_the_end(server, after(have))]
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
    events = [event.decode() for event in to_the_end(server, after(MariadbPosition("0-1-3,7-1-1")))]
    gtids = [str(event.body.gtid(event.header.server_id)) for event in events if event.type == "MARIADB_GTID"]
    assert gtids == ["7-1-2", "0-1-4"]


@every_family
def test_the_empty_set_is_everything(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1)
    all_events, by_gtids = (positions_of(to_the_end(server, start)) for start in (in_file(FIRST), after(GtidSet())))
    not_sent = all_events[: len(all_events) - len(by_gtids)]
    assert not_sent + by_gtids == all_events
    assert {data[4] for _, _, data in not_sent} <= NOT_SENT[family]


@pytest.mark.mysql
def test_a_position_past_4_gib_can_be_requested(start_server: StartServer) -> None:
    """A log of that size would take long to write: here the server says that its log ends before."""
    server = start_server(MySQL)
    with streaming(server, in_file("binlog.000001", 5 * GIB)) as stream, pytest.raises(Purged, match="file size"):
        next(stream)


@pytest.mark.mysql
def test_without_gtids_a_position_past_4_gib_is_reached_by_skipping(start_server: StartServer) -> None:
    server = start_server(MySQL, {"gtid-mode": "OFF"})
    position = in_file("binlog.000001", 5 * GIB)
    events = to_the_end(server, position)
    assert [(event.decode().type, event.offset, event.in_file) for event in events] == [
        ("ROTATE", 5 * GIB, False), ("FORMAT_DESCRIPTION", 5 * GIB, False),
    ]  # fmt: skip
    server.query("FLUSH LOGS")
    with pytest.raises(Purged, match=r"the log ends at \d+, before the requested position"):
        to_the_end(server, position)


@every_family
def test_earliest_latest_and_a_file_are_found(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    server.query("FLUSH LOGS")
    insert(server, "d", 1)
    purge_to(server, "binlog.000002")
    earliest, latest = found_start(server, Earliest()), found_start(server, Latest())
    size = server.log_files()[-1].stat().st_size
    assert (earliest.file, earliest.offset) == ("binlog.000002", 4)
    assert (latest.file, latest.offset) == ("binlog.000002", size)
    assert str(latest.gtids).endswith({MySQL: ":1-3", MariaDB: "0-1-3"}[family])
    assert found_start(server, in_file("binlog.000002", 4)) == earliest


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


timed_logs = pytest.mark.parametrize("timed_log", FAMILIES, indirect=True)


@timed_logs
def test_a_time_is_the_first_transaction_of_that_time_or_later(timed_log: Server) -> None:
    starts = transaction_starts(timed_log)
    for seconds in range(starts[0][2] - 1, starts[-1][2] + 1):
        position = found_start(timed_log, AtTime(datetime.fromtimestamp(seconds, UTC)))
        expected = next((file, offset) for file, offset, began in starts if began >= seconds)
        assert (position.file, position.offset) == expected


@timed_logs
def test_a_time_comes_with_the_gtids_before_it(timed_log: Server) -> None:
    *_, (file, offset, seconds) = transaction_starts(timed_log)
    position = found_start(timed_log, AtTime(datetime.fromtimestamp(seconds, UTC)))
    assert (position.file, position.offset) == (file, offset)
    assert position.gtids is not None
    rest = [event.offset for event in to_the_end(timed_log, after(position.gtids)) if event.type_code in (33, 162)]
    assert rest == [offset]


@timed_logs
def test_a_time_after_the_last_transaction_is_the_end(timed_log: Server) -> None:
    time.sleep(1.1)
    now = datetime.now(UTC).replace(microsecond=0)
    assert found_start(timed_log, AtTime(now)) == replace(found_start(timed_log, Latest()), created=ANY)


@timed_logs
def test_few_files_are_looked_into_for_a_time(timed_log: Server) -> None:
    *_, (_, _, seconds) = transaction_starts(timed_log)
    with proxied(timed_log.port) as proxy, connect(config_of(proxy.port)) as connection:
        find_start(connection, AtTime(datetime.fromtimestamp(seconds, UTC)))
    assert len(timed_log.log_files()) == 9
    # The first connection, the files that bisecting looks into, the one that is read.
    assert proxy.accepted <= 1 + 4 + 1


@timed_logs
def test_a_time_that_has_not_come_is_refused(timed_log: Server) -> None:
    with pytest.raises(OptionError, match="future"):
        found_start(timed_log, AtTime(datetime(2100, 1, 1, tzinfo=UTC)))


@every_family
def test_a_time_before_the_oldest_log_is_refused_if_older_ones_were_purged(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family)
    long_ago = AtTime(datetime(2020, 1, 1, tzinfo=UTC))
    assert found_start(server, long_ago).file == "binlog.000001"
    server.query("FLUSH LOGS")
    purge_to(server, "binlog.000002")
    with pytest.raises(Purged, match=r"binlog\.000002, begins later"):
        found_start(server, long_ago)


@every_family
def test_gtids_of_the_other_family_are_refused(family: Family, shared: Server) -> None:
    others = GtidSet("b8ae2fd2-3005-11f0-8be8-0242ac150002:1")
    gtids: Gtids = MariadbPosition("0-1-1") if family is MySQL else others
    with pytest.raises(OptionError, match="but the server is"):
        found_start(shared, after(gtids))
    with pytest.raises(OptionError, match="but the server is"):
        to_the_end(shared, after(gtids))
