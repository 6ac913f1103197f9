"""The doctor on real servers: problems are found, and their fixes work."""

from __future__ import annotations

import pytest

from binspark import rows
from binspark.errors import Server as ServerError
from binspark.replication.dump import open_stream
from binspark.replication.position import BinlogPosition
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.doctor.servers import apply_fixes, connected, findings
from tests.support.servers import ServerOptions, StartServer

BAD_OPTIONS: ServerOptions = {
    "binlog-format": "MIXED",
    "binlog-row-image": "MINIMAL",
    "binlog-checksum": "NONE",
    "binlog-ignore-db": "scratch",
    "max-binlog-size": 8192,
}
BAD_MYSQL: ServerOptions = {
    **BAD_OPTIONS,
    "gtid-mode": "OFF",
    "enforce-gtid-consistency": "OFF",
    "binlog-error-action": "IGNORE_ERROR",
    "binlog-expire-logs-seconds": 3600,
    "binlog-row-value-options": "PARTIAL_JSON",
    "binlog-transaction-compression": "ON",
    "innodb-native-foreign-keys": "ON",
    "log-replica-updates": "OFF",
}
BAD_MARIADB: ServerOptions = {
    **BAD_OPTIONS,
    "binlog-annotate-row-events": "OFF",
    "expire-logs-days": 1,
    "log-bin-compress": "ON",
    "mysql56-temporal-format": "OFF",
}
GOOD_OPTIONS: ServerOptions = {
    "binlog-row-metadata": "FULL",
    "binlog-expire-logs-seconds": 864000,
    "innodb-flush-log-at-trx-commit": 1,
    "sync-binlog": 1,
}

TABLES = """
CREATE DATABASE shop;
CREATE TABLE shop.customers (id INT PRIMARY KEY);
CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT,
    FOREIGN KEY (customer) REFERENCES shop.customers (id) ON DELETE CASCADE);
CREATE TABLE shop.visits (page INT, UNIQUE KEY (page));
"""


def test_a_good_mysql_server_has_no_problem(start_server: StartServer) -> None:
    server = start_server(MySQL, {**GOOD_OPTIONS, "binlog-rows-query-log-events": "ON"})
    server.run_sql(TABLES + "DROP TABLE shop.visits;")
    assert findings(server) == {}


def test_a_good_mariadb_server_has_no_problem(start_server: StartServer) -> None:
    server = start_server(MariaDB, {**GOOD_OPTIONS, "gtid-strict-mode": "ON"})
    server.run_sql(TABLES + "DROP TABLE shop.visits, shop.orders;")
    assert findings(server) == {}


def test_a_bad_mysql_server_is_fixed_by_its_findings(start_server: StartServer) -> None:
    server = start_server(MySQL, BAD_MYSQL)
    server.run_sql(TABLES + "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1'; SET GLOBAL server_id = 0;")
    found = findings(server)
    assert set(found) == {
        "binlog-format", "row-image", "replica-updates", "server-id", "ignore-db", "error-action", "row-metadata",
        "no-key", "partial-json", "gtid-mode", "retention-seconds", "checksum", "sync-binlog", "flush-log",
        "native-foreign-keys", "rows-query", "compression", "small-logs",
    }  # fmt: skip
    apply_fixes(server, found)
    left = findings(server)
    assert set(left) == {"replica-updates", "ignore-db", "native-foreign-keys"}
    assert all(finding.restart for finding in left.values())


def test_a_bad_mariadb_server_is_fixed_by_its_findings(start_server: StartServer) -> None:
    server = start_server(MariaDB, BAD_MARIADB)
    server.run_sql(TABLES + "CREATE TABLE shop.times (id UUID PRIMARY KEY, at DATETIME(3));")
    server.run_sql("CHANGE MASTER TO MASTER_HOST = '127.0.0.1';")
    found = findings(server)
    assert set(found) == {
        "binlog-format", "row-image", "replica-updates", "ignore-db", "cascades", "row-metadata", "no-key",
        "old-times", "temporal-format", "retention-seconds", "checksum", "sync-binlog", "flush-log",
        "gtid-strict", "rows-query", "hidden-types", "event-compression", "small-logs",
    }  # fmt: skip
    later = found.pop("old-times")
    apply_fixes(server, found)
    server.run_sql(later.fix)  # its comment says that another setting must be fixed first
    left = findings(server)
    assert set(left) == {"replica-updates", "ignore-db", "cascades", "hidden-types"}
    assert {code for code, finding in left.items() if finding.restart} == {"replica-updates", "ignore-db"}


def test_a_replica_that_was_restarted_with_its_updates_logged_is_fine(start_server: StartServer) -> None:
    server = start_server(MySQL, {"log-replica-updates": "OFF"})
    server.run_sql("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1';")
    finding = findings(server)["replica-updates"]
    assert (finding.setting, finding.value) == ("log_replica_updates", "OFF")
    server.restart({"log-replica-updates": "ON", "skip-replica-start": None})
    assert "replica-updates" not in findings(server)


@pytest.mark.parametrize(
    ("gtid_mode", "code"),
    [("OFF_PERMISSIVE", "gtid-mode"), ("ON_PERMISSIVE", "gtid-permissive")],
)
def test_gtids_are_switched_on_from_any_step(start_server: StartServer, gtid_mode: str, code: str) -> None:
    server = start_server(MySQL, {"gtid-mode": gtid_mode})
    server.run_sql(findings(server)[code].fix)
    assert not {"gtid-mode", "gtid-permissive"} & set(findings(server))


def test_logs_that_are_kept_for_ever_are_kept_for_a_while(start_server: StartServer) -> None:
    server = start_server(MySQL, {"binlog-expire-logs-auto-purge": "OFF", "binlog-expire-logs-seconds": 0})
    server.run_sql(findings(server)["auto-purge"].fix)
    server.run_sql(findings(server)["retention-unlimited"].fix)
    assert not {"auto-purge", "retention-unlimited"} & set(findings(server))


def test_mariadb_keeps_logs_for_ever_by_default(mariadb: Server) -> None:
    assert findings(mariadb)["retention-unlimited"].fix.startswith("SET GLOBAL expire_logs_days = 30;")


@pytest.mark.parametrize(
    ("family", "options"),
    [(MySQL, {"disable-log-bin": None}), (MariaDB, {"skip-log-bin": None})],
    ids=["mysql", "mariadb"],
)
def test_a_server_without_logs_is_found(start_server: StartServer, family: Family, options: ServerOptions) -> None:
    finding = findings(start_server(family, options))["log-bin"]
    assert (finding.value, finding.restart) == ("OFF", True)


def test_a_server_without_an_id_refuses_to_send_its_logs(start_server: StartServer) -> None:
    server = start_server(MySQL, {})
    server.run_sql("SET GLOBAL server_id = 0")
    with connected(server) as connection, pytest.raises(ServerError, match="no server id"):
        next(open_stream(connection, BinlogPosition("binlog.000001", 4), until_end=True))
    assert "server-id" in findings(server)


@pytest.mark.parametrize(
    ("family", "options", "logged"),
    [
        (MySQL, {}, ["delete shop.orders", "delete shop.customers"]),
        (MySQL, {"innodb-native-foreign-keys": "ON"}, ["delete shop.customers"]),
        (MariaDB, {}, ["delete shop.customers"]),
    ],
    ids=["mysql", "mysql-native", "mariadb"],
)
def test_what_a_foreign_key_deletes_is_logged_unless_the_doctor_reports_it(
    start_server: StartServer, family: Family, options: ServerOptions, logged: list[str]
) -> None:
    server = start_server(family, options)
    server.run_sql(TABLES + "INSERT INTO shop.customers VALUES (1); INSERT INTO shop.orders VALUES (1, 1);")
    server.run_sql("FLUSH BINARY LOGS; DELETE FROM shop.customers")
    changes = rows(server.log_files()[-1])
    assert [f"{change.op} {change.schema}.{change.table}" for change in changes] == logged
    is_silent = not {"cascades", "native-foreign-keys"} & set(findings(server))
    assert is_silent == (len(logged) == 2)


def test_checking_a_server_changes_nothing(start_server: StartServer) -> None:
    server = start_server(MySQL, {})
    before = server.query("SHOW BINARY LOGS"), server.query("SHOW GLOBAL VARIABLES")
    findings(server)
    assert (server.query("SHOW BINARY LOGS"), server.query("SHOW GLOBAL VARIABLES")) == before
