"""Positions of a snapshot: where changes begin, at which position rows are read, and where they become consistent.

changes begin    the end of the log before the first row is read: `replication.find.end_of_log`
MySQL            rows are read without a lock, each chunk at a moment of its own; with the changes up to the end of
                 the log after the last chunk they are consistent
MariaDB          reports the exact position of a consistent read, without a lock: that of the last chunk is enough
without a key    changes cannot be applied twice, so that the position of the rows must be exact: writers wait some
                 milliseconds (`LOCK TABLES … READ`) until a consistent read has begun
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from binspark.errors import Authentication, ConnectionLost, Server
from binspark.frames.format import Family
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.borders import if_unchanged
from binspark.mirror.snapshot.select import SESSION, table_name
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.server.connection import Connection, connect, quoted_name
from binspark.server.info import mariadb_gtids_at, server_family, server_info

log = logging.getLogger("binspark.mirror")

LOCK_SECONDS = 10
"""How long to wait for transactions that have written to a table, before it is locked. New ones wait as long."""

PREPARED_SECONDS = 10.0
"""How long to wait for XA transactions that are prepared."""

_POLL_SECONDS = 0.05
_CONSISTENT_READ = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
_MARIADB_CONSISTENT_READ = "START TRANSACTION WITH CONSISTENT SNAPSHOT"
_POSITION = "SHOW STATUS WHERE Variable_name IN ('Binlog_snapshot_file', 'Binlog_snapshot_position')"


def begin_consistent_read(connection: Connection) -> BinlogPosition | None:
    """Make all queries of a connection read the same state from now on; return its position where a server reports it.

    The position has no GTIDs: a server would read its log to find them.
    """
    connection.rows(SESSION)
    connection.rows("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    if server_family(connection) is Family.MYSQL:
        connection.rows(_CONSISTENT_READ)
        return None
    connection.rows(_MARIADB_CONSISTENT_READ)
    status = {str(name): str(value) for name, value in connection.rows(_POSITION)}
    file = status.get("Binlog_snapshot_file", "")
    if not file:
        return None
    return BinlogPosition(file, int(status["Binlog_snapshot_position"]), None, server_info(connection).uuid)


def consistent_from(connection: Connection, positions: Sequence[BinlogPosition | None]) -> BinlogPosition:
    """Return the position from which on rows are consistent, that were read at these positions.

    Where some position is not known, it is the end of the log, now that all rows were read. `positions` may be those of
    a snapshot that was resumed on another server: then they have no order.
    """
    known = [position for position in positions if position is not None]
    server = server_info(connection).uuid
    if not known or len(known) != len(positions) or any(position.server != server for position in known):
        return end_of_log(connection)
    last = max(known, key=lambda position: position.order)
    try:
        return replace(last, gtids=mariadb_gtids_at(connection, last.file, last.offset))
    except Server:  # the log was purged meanwhile
        return end_of_log(connection)


@contextmanager
def exact_position(
    connection: Connection, table: MirroredTable, lock_seconds: int = LOCK_SECONDS
) -> Iterator[BinlogPosition]:
    """Make a connection read a table as it was at one position of the log, and return that position.

    Nobody can write to the table until the consistent read has begun, which takes milliseconds. Engines without
    transactions have no consistent read: their tables stay locked until the rows were read.
    """
    with connect(connection.config) as locking:
        _lock(locking, table, lock_seconds)
        begin_consistent_read(connection)
        # Having read from the table keeps others from altering it until the rows were read, the lock only until now.
        if_unchanged(lambda: connection.rows(f"SELECT 1 FROM {table_name(table)} LIMIT 0"))  # noqa: S608 (quoted)
        position = end_of_log(locking)
        if _has_transactions(locking, table):
            locking.close()
        yield position


def wait_for_prepared(connection: Connection, seconds: float = PREPARED_SECONDS) -> None:
    """Wait until the XA transactions have ended that are prepared now.

    The log before now has their rows, which are in no table until they are committed: a copy would lack them. Users
    who may not see such transactions do not wait.
    """
    with suppress(Server, Authentication):
        left, deadline = _prepared(connection), time.monotonic() + seconds
        while left and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            left &= _prepared(connection)
        if left:
            what = f"{len(left)} XA transactions are prepared since {seconds:.1f} s (XA RECOVER lists them)"
            log.warning("%s. If they are committed later, tables that are copied now lack rows: --check finds it", what)


def _prepared(connection: Connection) -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in connection.rows("XA RECOVER")}


def require_reached(connection: Connection, position: BinlogPosition) -> None:
    """Refuse a server that does not have all changes before a position: a replica that lags would lack rows."""
    if server_info(connection).uuid == position.server:
        return
    if not end_of_log(connection).reaches(position):
        message = f"this server has not reached {position.describe()} yet, where the snapshot begins"
        raise ConnectionLost(message, connection.position)


def _has_transactions(connection: Connection, table: MirroredTable) -> bool:
    sql = (
        "SELECT e.transactions FROM information_schema.tables t JOIN information_schema.engines e "
        "ON e.engine = t.engine WHERE t.table_schema = %s AND t.table_name = %s"
    )
    return connection.rows(sql, (table.source.schema, table.source.table)) == [("YES",)]


def lock_for_reading(connection: Connection, table: MirroredTable) -> None:
    """Lock a table against changes. Where the user may not do that, say what to do."""
    try:
        connection.rows(f"LOCK TABLES {table_name(table)} READ")
    except Authentication as error:
        message = (
            f"{table.name} has no key, so that it is locked for a moment while it is read, which the user may not do: "
            f"GRANT LOCK TABLES ON {quoted_name(table.source.schema)}.* TO {connection.account}; or give the table a "
            f"key, or leave it out with --exclude-tables. {error.message}"
        )
        raise Authentication(message, connection.position) from None


def _lock(connection: Connection, table: MirroredTable, seconds: int) -> None:
    connection.rows(f"SET SESSION lock_wait_timeout = {seconds}")
    try:
        if_unchanged(lambda: lock_for_reading(connection, table))
    except Server as error:
        if "(error 1205)" not in error.message:
            raise
        message = (
            f"{table.name} could not be locked within {seconds} s, which a table without a key needs for a moment: a "
            "transaction has written to it and is still open. Try again when it has ended, or give the table a key"
        )
        raise Server(message, connection.position) from None
