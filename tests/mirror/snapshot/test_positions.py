"""Snapshots know their position in the log."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from binspark import errors
from binspark.frames.format import Family as LogFamily
from binspark.mirror.snapshot.chunk import COMPLETE, Chunk
from binspark.mirror.snapshot.positions import (
    begin_consistent_read,
    consistent_from,
    exact_position,
    lock_for_reading,
    require_reached,
)
from binspark.mirror.snapshot.read import chunk_at_position
from binspark.mirror.snapshot.statement import TableChanged
from binspark.replication.find import end_of_log
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.stop import StopCondition
from binspark.server.connection import connect
from binspark.server.info import server_family
from binspark.testing.servers import Family, MariaDB, Server
from tests.support.mirror.tables import reached, table_of
from tests.support.servers import config_of, every_family


@contextmanager
def writers(server: Server, sql: str, count: int = 3) -> Iterator[None]:
    """Run a statement again and again, in several connections."""
    stop = threading.Event()

    def write() -> None:
        with server.connect() as connection, connection.cursor() as cursor:
            while not stop.is_set():
                cursor.execute(sql)

    threads = [threading.Thread(target=write) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def inserts_after(server: Server, position: BinlogPosition, name: str) -> int:
    """Count the rows events of a table from a position to the end of the log: each statement inserts one row."""
    stop = StopCondition(end_of_log=True)
    count = 0
    with Follower(reached(server), position, stop=stop) as follower:
        for chunk in follower:
            count += bytes(chunk.data).count(f"{name}\0".encode())
    return count


@every_family
def test_a_table_that_the_user_may_not_lock_names_the_privilege(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.without_key (a INT); CREATE USER {database};"
        f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {database}"
    )
    table = table_of(shared, f"{database}.without_key")
    message = rf"without_key has no key.*GRANT LOCK TABLES ON `{database}`\.\* TO `{database}`@`%`"
    config = config_of(shared.port, user=database)
    with connect(config) as connection, pytest.raises(errors.Authentication, match=message):
        lock_for_reading(connection, table)


@every_family
def test_a_table_without_a_key_is_read_at_the_position_that_is_returned(shared: Server, database: str) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.without_key (a INT)")
    table = table_of(shared, f"{database}.without_key")
    for _ in range(5):
        with (
            writers(shared, f"INSERT INTO {database}.without_key VALUES (1)"),
            connect(reached(shared)) as connection,
            chunk_at_position(connection, table, COMPLETE) as (position, batches),
        ):
            read = sum(batch.num_rows for batch in batches)
        assert position is not None
        total = shared.query(f"SELECT COUNT(*) FROM {database}.without_key")[0][0]
        assert read + inserts_after(shared, position, "without_key") == total


@every_family
def test_a_table_of_an_engine_without_transactions_stays_locked_while_it_is_read(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.isam (a INT) ENGINE = MyISAM;"
        f"INSERT INTO {database}.isam VALUES (1), (2)"
    )
    table = table_of(shared, f"{database}.isam")
    with (
        connect(reached(shared)) as connection,
        exact_position(connection, table),
        shared.connect() as another,
        another.cursor() as cursor,
    ):
        cursor.execute("SET SESSION lock_wait_timeout = 1")
        with pytest.raises(Exception, match="Lock wait timeout"):
            cursor.execute(f"INSERT INTO {database}.isam VALUES (3)")
    shared.run_sql(f"INSERT INTO {database}.isam VALUES (3)")


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_mariadb_reports_the_exact_position_of_a_consistent_read(shared: Server, database: str, family: Family) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.exact (id INT PRIMARY KEY AUTO_INCREMENT)")
    table = table_of(shared, f"{database}.exact")
    for _ in range(5):
        with (
            writers(shared, f"INSERT INTO {database}.exact VALUES (NULL)"),
            connect(reached(shared)) as connection,
            chunk_at_position(connection, table, Chunk(("0",), None)) as (position, batches),
        ):
            read = sum(batch.num_rows for batch in batches)
        assert position is not None
        total = shared.query(f"SELECT COUNT(*) FROM {database}.exact")[0][0]
        assert read + inserts_after(shared, position, "exact") == total


@every_family
def test_rows_are_consistent_from_the_last_chunk_on(shared: Server, database: str) -> None:
    with connect(reached(shared)) as connection:
        first = begin_consistent_read(connection)
    shared.run_sql(f"CREATE DATABASE {database}")
    with connect(reached(shared)) as connection:
        last = begin_consistent_read(connection)
        connection.rows("COMMIT")
        end = end_of_log(connection)
        is_mariadb = server_family(connection) is LogFamily.MARIADB
        assert consistent_from(connection, [last, first]) == end
        assert consistent_from(connection, [last, None]) == end
        if is_mariadb:
            assert last is not None
            assert last.coordinates == end.coordinates
            assert first is not None
            assert consistent_from(connection, [first]).coordinates == first.coordinates


@every_family
def test_a_table_that_cannot_be_locked_is_refused_with_the_reason(shared: Server, database: str) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (a INT)")
    table = table_of(shared, f"{database}.t")
    with shared.connect(autocommit=False) as writing, writing.cursor() as cursor:
        cursor.execute(f"INSERT INTO {database}.t VALUES (1)")
        with (
            connect(reached(shared)) as connection,
            pytest.raises(errors.Server, match=r"could not be locked within 1 s, .* is still open"),
            exact_position(connection, table, lock_seconds=1),
        ):
            pass


@every_family
def test_a_server_that_lags_behind_the_start_is_refused(shared: Server) -> None:
    with connect(reached(shared)) as connection:
        here = end_of_log(connection)
        require_reached(connection, here)
        elsewhere = BinlogPosition("binlog.000009", 4, here.gtids, "another server")
        if here.gtids is not None and str(here.gtids):
            require_reached(connection, elsewhere)
        with pytest.raises(errors.ConnectionLost, match=r"has not reached binlog\.000009:4 yet"):
            require_reached(connection, BinlogPosition("binlog.000009", 4, None, "another server"))


@every_family
def test_a_table_without_a_key_that_was_dropped_meanwhile_has_changed(shared: Server, database: str) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.gone (a INT)")
    table = table_of(shared, f"{database}.gone")
    shared.query(f"DROP TABLE {database}.gone")
    with (
        connect(reached(shared)) as connection,
        pytest.raises(TableChanged, match=r"the table was changed while it was read: .*doesn't exist"),
        chunk_at_position(connection, table, COMPLETE),
    ):
        pass
