"""Following real servers: every change once, in order, named, up to every kind of end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from binspark.changes import ChangeReader, change_json
from binspark.changes.selection_options import make_selection
from binspark.columns.selection import Selection
from binspark.documents.line_style import LineFormat, LineStyle
from binspark.errors import ConnectionLost, OptionError
from binspark.files import read_events
from binspark.replication.server_input import ServerInputSettings
from binspark.replication.settings import StreamSettings
from binspark.server.retry import Retry
from binspark.tail.follow import Tail
from binspark.testing.servers import Family, MySQL, Server
from tests.support.archive.archiving import MAX_WAIT, wait_until
from tests.support.replication.streams import end_of
from tests.support.servers import StartServer, config_of, each_stopped_family, every_family

pytestmark = pytest.mark.timeout(180)


def settings(**changes: Any) -> ServerInputSettings:
    stream = StreamSettings(heartbeat_seconds=0.2, missed_heartbeats=10, first_seconds=20)
    retry = Retry(limit=300, first_seconds=0.05, max_seconds=0.2)
    return ServerInputSettings(**{"start": "earliest", "stream": stream, "retry": retry, **changes})


class Seen:
    """The records that a tail has shown so far."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.flushes: list[int] = []

    def has(self, *ids: int) -> bool:
        return self.ids == list(ids)

    @property
    def ids(self) -> list[int]:
        return [(record["after"] or record["before"])["id"] for record in self.records]


def follow_to(tail: Tail, seen: Seen, selection: Selection = Selection()) -> None:  # noqa: B008
    for lines in tail.lines(selection, LineStyle(LineFormat.JSON)):
        shown = b"".join(bytes(text) for text in lines).decode().splitlines()
        seen.records += map(json.loads, shown)
        seen.flushes.append(len(shown))


def shown(server: Server, selection: Selection = Selection(), **changes: Any) -> Seen:  # noqa: B008
    """Follow a server up to an end."""
    seen = Seen()
    follow_to(Tail(config_of(server.port), settings(**changes)), seen, selection)
    return seen


@contextmanager
def following(server: Server, **changes: Any) -> Iterator[Seen]:
    """Follow a server in the background; a failure is the test's failure."""
    seen, tail = Seen(), Tail(config_of(server.port), settings(**changes))
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(follow_to, tail, seen)
        try:
            yield seen
        finally:
            tail.stop()
        work.result(MAX_WAIT)


def make_table(server: Server) -> None:
    server.run_sql("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, pad LONGTEXT)")


def insert(server: Server, *ids: int, pad: int = 10) -> None:
    """Insert rows, each in a transaction of its own."""
    with server.connect() as connection, connection.cursor() as cursor:
        for number in ids:
            cursor.execute("INSERT INTO d.t VALUES (%s, REPEAT('x', %s))", (number, pad))


@every_family
def test_changes_are_shown_as_they_happen(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 1)
    with following(server, start="latest") as seen:
        for number in range(2, 6):
            insert(server, number)
            wait_until(partial(seen.has, *range(2, number + 1)))
        server.query("FLUSH BINARY LOGS")
        insert(server, 6, 7)
        wait_until(lambda: seen.ids == [2, 3, 4, 5, 6, 7])
    assert [record["after"] for record in seen.records[:1]] == [{"id": 2, "pad": "x" * 10}]


@every_family
def test_only_complete_transactions_are_shown(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    with following(server, start="latest") as seen, server.connect(autocommit=False) as connection:
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO d.t VALUES (1, ''), (2, '')")
            cursor.execute("INSERT INTO d.t VALUES (3, '')")
            insert(server, 4)
            wait_until(lambda: seen.ids == [4])
            connection.commit()
        wait_until(lambda: seen.ids == [4, 1, 2, 3])
    assert seen.flushes == [1, 3]


@every_family
def test_what_is_shown_is_what_the_log_contains(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"binlog-row-metadata": "FULL"})
    make_table(server)
    insert(server, *range(200), pad=1000)
    server.run_sql("UPDATE d.t SET pad = 'new' WHERE id < 50; FLUSH BINARY LOGS; DELETE FROM d.t WHERE id > 100")
    reader = ChangeReader(Selection())
    wanted = [change_json(change) for event in read_events(server.log_files()) for change in reader.feed(event)]
    assert shown(server, until="end").records == [json.loads(line) for line in wanted]
    assert len(wanted) == 349


@every_family
def test_filters_are_those_of_rows(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    server.run_sql("CREATE TABLE d.other (id INT PRIMARY KEY); INSERT INTO d.other VALUES (7)")
    insert(server, 1, 2)
    server.run_sql("UPDATE d.t SET pad = 'new' WHERE id = 2; DELETE FROM d.t WHERE id = 1")
    chosen = {
        "update": make_selection({"operations": ["update"]}),
        "table": make_selection({"tables": ["d.o*"]}),
        "not": make_selection({"exclude_tables": ["d.t"]}),
        "server": make_selection({"server_id": 99}),
    }
    found = {name: shown(server, selection, until="end").ids for name, selection in chosen.items()}
    assert found == {"update": [2], "table": [7], "not": [7], "server": []}


@every_family
def test_transactions_over_16_mb_are_shown(family: Family, start_server: StartServer) -> None:
    redo_log = "innodb-redo-log-capacity" if family is MySQL else "innodb-log-file-size"
    server = start_server(family, {"max-allowed-packet": "256M", redo_log: "512M"})
    make_table(server)
    for number, size in enumerate((17_000_000, 40_000_000)):
        server.run_sql(f"INSERT INTO d.t VALUES ({number}, REPEAT('x', {size}))", "--max-allowed-packet=256M")
    seen = shown(server, until="end")
    assert [len(record["after"]["pad"]) for record in seen.records] == [17_000_000, 40_000_000]


@every_family
def test_the_server_names_columns_that_the_log_does_not(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"binlog-row-metadata": "MINIMAL"})
    make_table(server)
    server.query("FLUSH BINARY LOGS")
    insert(server, 1)
    record = shown(server, start="binlog.000002", until="end").records[0]
    assert (record["after"], record["key"]) == ({"id": 1, "pad": "x" * 10}, {"id": 1})


@every_family
def test_the_current_schema_is_not_used_for_the_past(family: Family, start_server: StartServer) -> None:
    """Of a table that was changed since, the server does not know what it was: the log's own word is all there is."""
    server = start_server(family, {"binlog-row-metadata": "MINIMAL"})
    make_table(server)
    server.query("FLUSH BINARY LOGS")
    insert(server, 1)
    server.run_sql("ALTER TABLE d.t CHANGE pad note LONGTEXT; INSERT INTO d.t VALUES (2, 'y')")
    first, second = shown(server, start="binlog.000002", until="end").records
    assert list(first["after"]) == ["@1", "@2"]
    assert set(second["after"]) <= {"@1", "@2", "id", "note"}
    from_the_beginning = shown(server, until="end").records
    assert [list(record["after"]) for record in from_the_beginning] == [["id", "pad"], ["id", "note"]]


@each_stopped_family
def test_a_restart_of_the_server_loses_and_repeats_nothing(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    with following(server, start="latest") as seen:
        for number, end in enumerate((server.stop, server.kill, server.stop)):
            insert(server, *range(number * 20, number * 20 + 10), pad=5000)
            end()
            server.launch()
            insert(server, *range(number * 20 + 10, number * 20 + 20))
        wait_until(lambda: len(seen.ids) >= 60)
    assert seen.ids == list(range(60))


@every_family
def test_a_position_is_a_stop(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 1, 2)
    end = end_of(server)
    insert(server, 3)
    server.query("FLUSH BINARY LOGS")
    insert(server, 4)
    assert shown(server, until=f"{end.file}:{end.offset}").ids == [1, 2]
    assert shown(server, until=f"{end.file}:{end.offset + 1}").ids == [1, 2, 3]
    assert shown(server, until="binlog.000002").ids == [1, 2, 3]
    assert shown(server, start=f"{end.file}:{end.offset}", until="end").ids == [3, 4]
    assert shown(server, start="latest", until="end").ids == []
    assert shown(server, start="binlog.000002", until=f"{end.file}:{end.offset}").ids == []


@every_family
def test_what_comes_later_is_after_the_end(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 1)
    tail, seen = Tail(config_of(server.port), settings(until="end")), Seen()
    insert(server, 2)
    follow_to(tail, seen)
    assert seen.ids == [1]


@every_family
def test_gtids_are_a_start_and_a_stop(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 1, 2, 3, 4)
    gtids = [record["gtid"] for record in shown(server, until="end").records]
    assert shown(server, until=gtids[2]).ids == [1, 2, 3]
    before = {MySQL: gtids[1].replace(":", ":1-")}.get(family, gtids[1])
    assert shown(server, start=before, until="end").ids == [3, 4]
    assert shown(server, start=before, until=gtids[2]).ids == [3]
    assert shown(server, start="latest", until=before).ids == []


@every_family
def test_a_time_that_is_over_is_a_stop_after_gtids_too(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 1, 2)
    first = shown(server, until="end").records[0]["gtid"]
    time.sleep(1.1)
    moment = datetime.now(UTC)
    time.sleep(1.1)
    insert(server, 3)
    before = {MySQL: first.replace(":", ":1-")}.get(family, first)
    assert shown(server, start=before, until=moment.isoformat()).ids == [2]


@every_family
def test_gtids_of_another_family_are_no_stop(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    other = "0-1-5" if family is MySQL else "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"
    with pytest.raises(OptionError, match=r"until is a .* but the server is"):
        Tail(config_of(server.port), settings(until=other))


@every_family
def test_a_time_is_a_stop(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 1, 2)
    time.sleep(1.1)
    moment = datetime.now(UTC)
    time.sleep(1.1)
    insert(server, 3)
    assert shown(server, until=moment.isoformat()).ids == [1, 2]
    assert shown(server, until=f"timestamp:{moment.isoformat()}").ids == [1, 2]
    soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    assert shown(server, until=soon).ids == [1, 2, 3]


@every_family
def test_several_servers_take_turns(family: Family, start_server: StartServer) -> None:
    """The first of them does not answer; the second one does."""
    server = start_server(family)
    make_table(server)
    insert(server, 1)
    seen, options = Seen(), config_of(server.port, host=["127.0.0.1:1", f"127.0.0.1:{server.port}"])
    follow_to(Tail(options, settings(until="end")), seen)
    assert seen.ids == [1]


@pytest.mark.mysql
def test_compressed_transactions_are_shown(start_server: StartServer) -> None:
    server = start_server(MySQL, {"binlog-transaction-compression": "ON"})
    make_table(server)
    insert(server, *range(50), pad=3000)
    assert shown(server, until="end").ids == list(range(50))


@pytest.mark.mysql
def test_a_dump_names_columns_too(start_server: StartServer, tmp_path: Path) -> None:
    from binspark.files.schema_file import history_of

    server = start_server(MySQL, {"binlog-row-metadata": "MINIMAL"})
    make_table(server)
    server.query("FLUSH BINARY LOGS")
    insert(server, 1)
    (tmp_path / "dump.sql").write_text("USE d; CREATE TABLE t (number INT PRIMARY KEY, filling LONGTEXT);")
    seen, history = Seen(), history_of(tmp_path / "dump.sql")
    follow_to(Tail(config_of(server.port), settings(start="binlog.000002", until="end"), history), seen)
    assert seen.records[0]["key"] == {"number": 1}


def test_a_server_that_does_not_answer_is_reported_at_once() -> None:
    with pytest.raises(ConnectionLost, match="no server listens there"):
        Tail(config_of(1), settings())


@pytest.mark.mysql
def test_transactions_without_gtids_are_shown(start_server: StartServer) -> None:
    server = start_server(MySQL, {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"})
    make_table(server)
    with following(server) as seen:
        insert(server, *range(300), pad=500)
        wait_until(lambda: len(seen.ids) >= 300)
    assert seen.ids == list(range(300))
    assert {record["gtid"] for record in seen.records} == {None}
