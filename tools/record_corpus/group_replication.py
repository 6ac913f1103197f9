"""A replication group of two MySQL servers."""

from __future__ import annotations

import socket
import time

from binspark.testing.servers import Server
from tools.record_corpus.recorder import Options, Recorder

GROUP_OPTIONS: Options = {
    "plugin_load_add": "group_replication.so",
    "group_replication_group_name": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
    "group_replication_start_on_boot": "OFF",
    "relay_log": "relay",
    "relay_log_purge": 0,
    "report_host": "127.0.0.1",
    "performance_schema": "ON",
}
MEMBERS = "SELECT member_state FROM performance_schema.replication_group_members"
RECOVERY_USER = (
    "SET sql_log_bin=0; CREATE USER recovery@'127.0.0.1'; GRANT ALL ON *.* TO recovery@'127.0.0.1'; SET sql_log_bin=1;"
    "CHANGE REPLICATION SOURCE TO SOURCE_USER='recovery' FOR CHANNEL 'group_replication_recovery';"
    "SET GLOBAL group_replication_recovery_get_public_key=ON;"
)


def group_of_two(recorder: Recorder) -> None:
    """Form a group, add a second member, commit on the first, and keep the logs of both."""
    first, second = recorder.server, recorder.start_another({"server-id": 2, "log-bin": "second"})
    ports = _free_ports(2)
    for member, port in zip((first, second), ports, strict=True):
        _prepare(member, port, ports)
    first.run_sql(
        "SET GLOBAL group_replication_bootstrap_group=ON; START GROUP_REPLICATION;"
        "SET GLOBAL group_replication_bootstrap_group=OFF"
    )
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a VARCHAR(20))")
    second.run_sql("START GROUP_REPLICATION")
    _wait_until_both_are_online(first)
    recorder.sql("INSERT INTO shop.t VALUES (1, 'a'), (2, 'b'); UPDATE shop.t SET a = 'c'")
    _wait_for_rows(second)
    for member in (second, first):
        member.run_sql("STOP GROUP_REPLICATION")
    recorder.keep(*sorted(second.datadir.glob("relay-*.0*")))
    for member in (second, first):
        recorder.server = member
        recorder.keep_logs_after_stop()


def _prepare(member: Server, port: int, ports: list[int]) -> None:
    """Restart a member with the addresses of the group, which begins another log."""
    seeds = ",".join(f"127.0.0.1:{seed}" for seed in ports)
    member.restart(
        {
            "report-port": member.port,
            "group-replication-local-address": f"127.0.0.1:{port}",
            "group-replication-group-seeds": seeds,
        }
    )
    member.run_sql(RECOVERY_USER)


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _wait_until_both_are_online(member: Server) -> None:
    for _ in range(300):
        if member.query(MEMBERS) == [("ONLINE",), ("ONLINE",)]:
            return
        time.sleep(0.2)
    raise AssertionError("the second member did not come online")


def _wait_for_rows(member: Server) -> None:
    for _ in range(300):
        if member.query("SELECT COUNT(*) FROM shop.t WHERE a = 'c'") == [(2,)]:
            return
        time.sleep(0.1)
    raise AssertionError("the second member did not apply the rows")
