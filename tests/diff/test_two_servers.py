"""`gtid missing` and `diff` between a source and its replica: what they report is what was done to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from binspark.cli.diff import diff_command
from binspark.cli.gtid import gtid_command
from binspark.testing.servers import Family, MySQL, Server
from tests.support.replicas import catch_up, replicate, reset_logs, written_gtids
from tests.support.servers import ServerOptions, StartServer, every_family

pytestmark = pytest.mark.timeout(180)

STOP = {True: "STOP REPLICA", False: "STOP SLAVE"}
START = {True: "START REPLICA", False: "START SLAVE"}
WORK = """
CREATE DATABASE d; USE d;
CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(40), doc JSON, at TIMESTAMP NULL, price DECIMAL(9,2));
CREATE TABLE other (id INT PRIMARY KEY);
BEGIN; INSERT INTO t VALUES (1, 'Ada', '{"a": 1}', '2026-01-02 03:04:05', 1.5), (2, NULL, NULL, NULL, NULL);
INSERT INTO other VALUES (1); COMMIT;
UPDATE t SET name = 'Grace' WHERE id = 2;
DELETE FROM other;
"""


def url(server: Server) -> str:
    scheme = "mysql" if server.family is MySQL else "mariadb"
    return f"{scheme}://root@127.0.0.1:{server.port}"


def missing(source: Any, target: Any, *options: str) -> Result:
    sides = ("--from", str(source), "--to", str(target))
    return CliRunner().invoke(gtid_command, ("missing", *sides, "--no-defaults", *options))


def diff(a: Any, b: Any, *options: str) -> tuple[int, list[dict[str, Any]]]:
    result = CliRunner().invoke(diff_command, (str(a), str(b), "--format", "jsonl", "--no-defaults", *options))
    assert "Traceback" not in result.output
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


def run_as(replica: Server, source: Server, gtid: str, statement: str) -> None:
    """Run a statement on the replica under a GTID of the source."""
    if source.family is MySQL:
        replica.run_sql(f"SET GTID_NEXT='{gtid}'; {statement}; SET GTID_NEXT=AUTOMATIC")
        return
    domain, server, number = gtid.split("-")
    replica.run_sql(f"SET gtid_domain_id={domain}, server_id={server}, gtid_seq_no={number}; {statement}")


def next_gtid(source: Server) -> str:
    return CliRunner().invoke(gtid_command, ("next", written_gtids(source))).stdout.split()[0]


@every_family
def test_what_source_and_replica_do_not_share_is_found(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    is_mysql = family is MySQL
    source = start_server(family, {"server-id": 1})
    # The replica writes its log in another way: nothing of that is a difference.
    other: ServerOptions = {"binlog-checksum": "NONE", "binlog-row-metadata": "FULL", "binlog-row-event-max-size": 8192}
    compressed = "binlog-transaction-compression" if is_mysql else "log-bin-compress"
    replica = start_server(family, {"server-id": 2, "log-slave-updates": "ON", compressed: "ON", **other})
    for server in (source, replica):
        reset_logs(server)
    replicate(replica, source)
    source.run_sql(WORK)
    catch_up(replica, source)

    assert missing(url(source), url(replica)).stdout == "nothing is missing: both sides have the same GTIDs\n"
    exit_code, (summary,) = diff(url(source), url(replica))
    assert (exit_code, summary["summary"]["transactions_a"], summary["summary"]["rows_a"]) == (0, 6, 5)
    assert summary["summary"]["matched_by"] == "gtid"

    replica.run_sql(STOP[is_mysql])
    tampered = next_gtid(source)
    source.run_sql("INSERT INTO d.t (id, name) VALUES (10, 'right')")
    run_as(replica, source, tampered, "INSERT INTO d.t (id, name) VALUES (10, 'wrong')")
    lacking = next_gtid(source)
    source.run_sql("INSERT INTO d.other VALUES (11); ")
    source.run_sql("ALTER TABLE d.other ADD COLUMN x INT")
    replica.run_sql("DELETE FROM d.t WHERE id = 1")

    found = missing(url(source), url(replica), "--format", "jsonl")
    record = json.loads(found.stdout)
    assert found.exit_code == 1
    assert (record["missing_count"], record["missing"].startswith(lacking)) == (2, True)
    uuid = replica.query("SELECT @@server_uuid")[0][0] if is_mysql else ""
    # In MariaDB only the last number is known that the replica wrote: which ones before it, its log has.
    assert record["errant"] == (f"{uuid}:1" if is_mysql else "0-2-1..0-2-8")
    assert missing(url(source), written_gtids(source)).exit_code == 0
    assert missing(written_gtids(source), url(source)).exit_code == 0

    exit_code, findings = diff(url(source), url(replica))
    kinds = [finding.get("finding", "summary") for finding in findings]
    assert exit_code == 1
    assert kinds == ["different", "only_in_a", "only_in_a", "only_in_b", "summary"]
    different, row, ddl, wrong, _ = findings
    assert different["gtid"] == tampered
    assert [row["after"]["name"] for row in different["rows_a"] + different["rows_b"]] == ["right", "wrong"]
    assert (row["gtid"], list(row["rows_a"][0]["after"].values())) == (lacking, [11])
    assert ddl["statements_a"] == ["ALTER TABLE d.other ADD COLUMN x INT"]
    assert wrong["rows_b"][0]["op"] == "delete"
    # The same from the files of both servers, and with filters.
    logs = [str(server.datadir / f"{server.options['log-bin']}.index") for server in (source, replica)]
    assert [finding.get("gtid") for finding in diff(*logs)[1]] == [finding.get("gtid") for finding in findings]
    assert diff(*logs, "--tables", "d.other", "--operations", "delete")[0] == 0
    assert diff(*logs, "--where", "name = 'wrong'")[1][0]["finding"] == "only_in_b"
    assert missing(*logs).exit_code == 1
    assert missing(url(source), logs[0]).exit_code == 0
