"""What tests of followers share: quick settings, and tables whose rows show what was delivered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from binspark.event import Event, Rows
from binspark.replication.chunk import LogChunk
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import FollowSettings, StreamSettings
from binspark.replication.start import Start
from binspark.replication.stop import StopCondition
from binspark.server.config import ConnectionConfig
from binspark.server.retry import Retry
from binspark.testing.servers import Server

QUICK_RETRY = Retry(limit=200, first_seconds=0.05, max_seconds=0.2)
END_OF_LOG = StopCondition(end_of_log=True)


def quick_stream(**changes: Any) -> StreamSettings:
    """Return settings with which a lost connection is noticed within a second."""
    return StreamSettings(**{"heartbeat_seconds": 0.2, "missed_heartbeats": 5, "first_seconds": 10, **changes})


def quick(**changes: Any) -> FollowSettings:
    """Return settings with which a connection is made again at once."""
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
    deadline = time.monotonic() + 90
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


def ids_of(chunks: Iterable[LogChunk], database: str) -> list[int]:
    return [number for chunk in chunks for number in inserted_ids(chunk.events(), database)]


def chunks_until(follower: Follower, database: str, last_id: int) -> list[LogChunk]:
    """Return the chunks that contain transactions, up to the one that inserts an id."""
    chunks: list[LogChunk] = []
    for chunk in follower:
        if chunk.data and len(chunk.transactions):
            chunks.append(chunk)
            if last_id in ids_of([chunk], database):
                break
    return chunks


def until_heartbeat(follower: Follower) -> None:
    """Follow until nothing more is there."""
    while not next(follower).is_heartbeat:
        pass


def position_after_id(chunks: Iterable[LogChunk], database: str, number: int) -> BinlogPosition:
    """Return the position after the transaction that inserts an id."""
    for chunk in chunks:
        start = chunk.offset
        for count in range(1, len(chunk.transactions) + 1):
            position = chunk.position_after(count)
            if number in ids_of([chunk.between(start, position.offset)], database):
                return position
            start = position.offset
    raise AssertionError(f"{number} was not inserted")


def transactions_of(chunks: Iterable[LogChunk]) -> list[tuple[str, int, str]]:
    """Return what distinguishes transactions: file, offset and GTID."""
    return [
        (chunk.file, int(start), str(chunk.transactions.gtid(number)))
        for chunk in chunks
        if chunk.data
        for number, start in enumerate(chunk.transactions.starts)
    ]


def positions_after(chunks: Iterable[LogChunk]) -> list[BinlogPosition]:
    """Return the position after each transaction."""
    return [
        chunk.position_after(count) for chunk in chunks if chunk.data for count in range(1, len(chunk.transactions) + 1)
    ]


@contextmanager
def following(
    config: ConnectionConfig, start: Start | str, *, one_per_chunk: bool = False, **changes: Any
) -> Iterator[Follower]:
    """Follow quickly, and close at the end."""
    with Follower(config, start, quick(**changes), one_per_chunk=one_per_chunk) as follower:
        yield follower


def read_to_end(
    config: ConnectionConfig, start: Start | str, *, one_per_chunk: bool = False, **changes: Any
) -> list[LogChunk]:
    """Return all chunks up to the end of the log."""
    settings = quick(**changes)
    with Follower(config, start, settings, stop=END_OF_LOG, one_per_chunk=one_per_chunk) as follower:
        return list(follower)


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
