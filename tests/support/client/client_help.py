"""What tests of clients share: options, quick settings, and tables whose rows tell what was delivered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from binspark.client.follow import Follower, follow
from binspark.client.gather import connection_options
from binspark.client.group import Group, GroupKind
from binspark.client.options import ConnectionOptions
from binspark.client.settings import FollowSettings, Retry, StreamSettings
from binspark.event import Event, Rows
from binspark.testing.servers import MariaDB, MySQL, Server

FAMILIES = [
    pytest.param(MySQL, marks=pytest.mark.mysql, id="mysql"),
    pytest.param(MariaDB, marks=pytest.mark.mariadb, id="mariadb"),
]
every_family = pytest.mark.parametrize("family", FAMILIES)
StartServer = Callable[..., Server]

QUICK_RETRY = Retry(limit=200, first_seconds=0.05, longest_seconds=0.2)


def options_of(*ports: int, **arguments: Any) -> ConnectionOptions:
    """Return options for servers on loopback, as root."""
    hosts = [f"127.0.0.1:{port}" for port in ports]
    return connection_options(**{"hosts": hosts, "user": "root", "environ": {}, **arguments})


def quick_stream(**changes: Any) -> StreamSettings:
    """Return settings under which a lost connection is noticed within a second."""
    return StreamSettings(**{"heartbeat_seconds": 0.2, "missed_heartbeats": 5, "first_seconds": 10, **changes})


def quick(**changes: Any) -> FollowSettings:
    """Return settings under which a connection is made again at once."""
    stream = changes.pop("stream", None) or quick_stream()
    return FollowSettings(**{"stream": stream, "retry": QUICK_RETRY, **changes})


def make_table(server: Server, database: str) -> None:
    server.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY, pad LONGBLOB)")


def insert(server: Server, database: str, *ids: int, pad: int = 0) -> None:
    """Insert rows, each in a transaction of its own."""
    with server.connect() as connection, connection.cursor() as cursor:
        for number in ids:
            cursor.execute(f"INSERT INTO {database}.t VALUES (%s, REPEAT('x', %s))", (number, pad))


def purge_to(server: Server, file: str) -> None:
    """Purge older logs. A server puts that off while it may need one for its own recovery."""
    deadline = time.monotonic() + 30
    while server.query("SHOW BINARY LOGS")[0][0] != file:
        assert time.monotonic() < deadline
        server.query(f"PURGE BINARY LOGS TO '{file}'")


def inserted_ids(events: Iterable[Event], database: str) -> list[int]:
    """Return the ids that were inserted into a table made by `make_table`, by the bytes of the rows."""
    ids: list[int] = []
    table_ids: set[int] = set()
    for event in events:
        body = event.body
        if event.type == "TABLE_MAP" and (body.schema, body.table) == (database, "t"):
            table_ids.add(body.table_id)
        elif isinstance(body, Rows) and body.table_id in table_ids:
            ids += _first_integers(body.rows)
    return ids


def _first_integers(rows: bytes) -> Iterator[int]:
    """Cut rows of (INT, LONGBLOB): a byte of null bits, four of the integer, four of a length, the bytes."""
    offset = 0
    while offset < len(rows):
        yield int.from_bytes(rows[offset + 1 : offset + 5], "little")
        offset += 9 + int.from_bytes(rows[offset + 5 : offset + 9], "little")


def transactions_until(follower: Follower, database: str, last_id: int) -> list[Group]:
    """Return the transactions that come up to the one that inserts an id."""
    groups: list[Group] = []
    for group in follower:
        if group.kind is GroupKind.TRANSACTION:
            groups.append(group)
            if last_id in inserted_ids(group.events(), database):
                break
    return groups


def ids_of(groups: Iterable[Group], database: str) -> list[int]:
    return [number for group in groups for number in inserted_ids(group.events(), database)]


@contextmanager
def following(options: ConnectionOptions, start: Any, **changes: Any) -> Iterator[Follower]:
    """Follow quickly, and close at the end."""
    follower = follow(options, start, quick(**changes))
    try:
        yield follower
    finally:
        follower.close()


@contextmanager
def in_background(work: Callable[[], object]) -> Iterator[None]:
    """Do something meanwhile; its failure is the test's failure."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert failures == []
