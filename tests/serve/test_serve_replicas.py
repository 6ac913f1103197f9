"""Real replicas replicate from an archive until their tables are equal to those of the source."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from binspark.serve.server import ArchiveServer
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.archive.archiving import archive, settle, wait_until
from tests.support.encryption.servers import encrypting_server
from tests.support.replicas import catch_up, written_gtids
from tests.support.serve.clients import serving
from tests.support.servers import FAMILIES, StartServer, database, every_family, shared

__all__ = ["database", "shared"]

PASSWORD = "säcret"
WORKLOAD = """
    CREATE TABLE {0}.orders (id INT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(40), price DECIMAL(9,2), body LONGTEXT);
    INSERT INTO {0}.orders (note, price) VALUES ('one', 1.5), ('zwölf', 12), (NULL, -3);
    UPDATE {0}.orders SET price = price * 2 WHERE id > 1;
    DELETE FROM {0}.orders WHERE note = 'one';
    ALTER TABLE {0}.orders ADD COLUMN added TIMESTAMP NULL DEFAULT NULL;
    INSERT INTO {0}.orders (note, added) VALUES ('later', '2026-11-15 09:30:00');
    START TRANSACTION; INSERT INTO {0}.orders (note) VALUES ('a'); INSERT INTO {0}.orders (note) VALUES ('b'); COMMIT;
"""


class Replicated:
    """A shared server, the archive of what a test writes there, and a replica that knows only the archive."""

    def __init__(self, source: Server, replica: Server, database: str, folder: Path) -> None:
        self.source, self.replica, self.database, self.folder = source, replica, database, folder
        source.query("FLUSH BINARY LOGS")
        self.first = source.log_files()[-1].name
        self.before = written_gtids(source)
        source.query(f"CREATE DATABASE {database}")
        self.run(WORKLOAD.format(database))

    def run(self, script: str) -> None:
        """Write something on the source, and archive it."""
        self.source.run_sql(script)
        settle(self.source)
        archive(self.source, self.folder, start=self.first)

    def insert(self, note: str, size: int = 10) -> None:
        self.run(f"INSERT INTO {self.database}.orders (note, body) VALUES ('{note}', REPEAT('x', {size}))")

    def replicate_by_gtids(self, served: ArchiveServer, until: str | None = None) -> None:
        """Make the replica one of the archive, from its beginning, up to a position of MariaDB."""
        if self.replica.family is MySQL:
            self.replica.run_sql(
                f"RESET BINARY LOGS AND GTIDS; SET GLOBAL gtid_purged = '{self.before}';"
                f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={served.port}, SOURCE_USER='repl',"
                f"SOURCE_PASSWORD='{PASSWORD}', SOURCE_AUTO_POSITION=1, SOURCE_CONNECT_RETRY=1; START REPLICA"
            )
            return
        self.replica.run_sql(
            f"SET GLOBAL gtid_slave_pos = '{self.before}';"
            f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={served.port}, MASTER_USER='repl',"
            f"MASTER_PASSWORD='{PASSWORD}', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1; START SLAVE"
            + ("" if until is None else f" UNTIL master_gtid_pos = '{until}'")
        )

    def replicate_by_file(self, served: ArchiveServer) -> None:
        """Make the replica one of the archive, from the beginning of its first log, without GTIDs."""
        if self.replica.family is MySQL:
            self.replica.run_sql(
                f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={served.port}, SOURCE_USER='repl',"
                f"SOURCE_PASSWORD='{PASSWORD}', SOURCE_AUTO_POSITION=0, GET_SOURCE_PUBLIC_KEY=1, SOURCE_SSL=0,"
                f"SOURCE_LOG_FILE='{self.first}', SOURCE_LOG_POS=4, SOURCE_CONNECT_RETRY=1; START REPLICA"
            )
            return
        self.replica.run_sql(
            f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={served.port}, MASTER_USER='repl',"
            f"MASTER_PASSWORD='{PASSWORD}', MASTER_USE_GTID=no, MASTER_LOG_FILE='{self.first}', MASTER_LOG_POS=4,"
            "MASTER_CONNECT_RETRY=1; START SLAVE"
        )

    def check_equal(self) -> None:
        """Wait until the replica has everything; its table is that of the source."""
        table = f"{self.database}.orders"
        everything = f"SELECT * FROM {table} ORDER BY id"
        wait_until(lambda: self._has_table() and self.replica.query(everything) == self.source.query(everything))
        assert self.replica.query(f"SHOW CREATE TABLE {table}") == self.source.query(f"SHOW CREATE TABLE {table}")

    def _has_table(self) -> bool:
        found = self.replica.query("SELECT 1 FROM information_schema.tables WHERE table_schema = %s", (self.database,))
        return bool(found)


class ReplicatedAtOnce(Replicated):
    """The same for a server whose logs cannot be read: the archive continues with what was written late."""

    def run(self, script: str) -> None:
        self.source.run_sql(script)
        archive(self.source, self.folder, start=self.first)


@pytest.fixture
def replicated(family: Family, shared: Server, start_server: StartServer, database: str, tmp_path: Path) -> Replicated:
    replica = start_server(family, {"server-id": 7, "binlog-row-metadata": "FULL"})
    return Replicated(shared, replica, database, tmp_path / "archive")


@every_family
def test_a_replica_follows_by_gtids_over_restarts_of_both_sides(family: Family, replicated: Replicated) -> None:
    with ExitStack() as first:
        served = first.enter_context(serving(replicated.folder, password=PASSWORD))
        port = served.port
        replicated.replicate_by_gtids(served)
        replicated.check_equal()
        replicated.insert("while it is followed", 3_000_000)
        replicated.check_equal()
        replicated.replica.query("STOP REPLICA")
        replicated.run("FLUSH BINARY LOGS")
        replicated.insert("while the replica is stopped")
        replicated.replica.query("START REPLICA")
        replicated.check_equal()
    replicated.insert("while nothing is served")
    with serving(replicated.folder, password=PASSWORD, port=port):
        replicated.check_equal()
        replicated.insert("after it has connected again")
        replicated.check_equal()
        catch_up(replicated.replica, replicated.source)


SEMI_SYNC = {
    MySQL: {"plugin-load-add": "semisync_replica.so", "rpl-semi-sync-replica-enabled": "ON"},
    MariaDB: {"rpl-semi-sync-slave-enabled": "ON"},
}


@every_family
def test_a_semi_synchronous_replica_follows_asynchronously(
    family: Family, shared: Server, start_server: StartServer, database: str, tmp_path: Path
) -> None:
    """It asks whether the source can wait for it: an archive cannot, and says so."""
    replica = start_server(family, {"server-id": 7, "binlog-row-metadata": "FULL", **SEMI_SYNC[family]})
    replicated = Replicated(shared, replica, database, tmp_path / "archive")
    with serving(replicated.folder, password=PASSWORD) as served:
        replicated.replicate_by_gtids(served)
        replicated.check_equal()
        replicated.insert("while it is followed")
        replicated.check_equal()
        status = dict(replica.query("SHOW STATUS LIKE 'Rpl_semi_sync_%_status'"))
    assert set(status.values()) == {"OFF"}


@pytest.mark.mariadb
def test_a_replica_follows_the_archive_of_an_encrypting_server_by_gtids(
    start_server: StartServer, database: str, tmp_path: Path
) -> None:
    """START_ENCRYPTION, which stands before GTID_LIST, is archived as an event to be ignored."""
    replica = start_server(MariaDB, {"server-id": 7})
    with encrypting_server(MariaDB, tmp_path) as (source, _):
        replicated = ReplicatedAtOnce(source, replica, database, tmp_path / "archive")
        replicated.run("FLUSH BINARY LOGS")
        replicated.insert("in another log")
        with serving(replicated.folder, password=PASSWORD) as served:
            replicated.replicate_by_gtids(served)
            replicated.check_equal()
            replicated.insert("while it is followed")
            replicated.check_equal()


@pytest.mark.slow
@every_family
def test_a_replica_follows_by_file_and_position(family: Family, replicated: Replicated) -> None:
    with serving(replicated.folder, password=PASSWORD) as served:
        replicated.replicate_by_file(served)
        replicated.check_equal()
        replicated.run("FLUSH BINARY LOGS")
        replicated.replica.query("STOP REPLICA")
        replicated.insert("in another log")
        replicated.replica.query("START REPLICA")
        replicated.check_equal()


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES[1:])
def test_a_replica_of_mariadb_stops_at_a_gtid(family: Family, replicated: Replicated) -> None:
    replicated.insert("up to here")
    until = written_gtids(replicated.source)
    rows = replicated.source.query(f"SELECT COUNT(*) FROM {replicated.database}.orders")
    replicated.insert("not wanted")
    replica = replicated.replica
    with serving(replicated.folder, password=PASSWORD) as served:
        replicated.replicate_by_gtids(served, until=until)
        wait_until(lambda: replica.query("SELECT @@GLOBAL.gtid_slave_pos") == [(until,)])
        wait_until(lambda: replica.query("SHOW SLAVE STATUS")[0][10:12] == ("No", "No"))
        assert replica.query(f"SELECT COUNT(*) FROM {replicated.database}.orders") == rows
        replica.query("START SLAVE")
        replicated.check_equal()
