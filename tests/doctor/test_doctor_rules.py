"""The rules on built profiles: what each finds, and what the finding says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from binspark.doctor.page import rules_page
from binspark.doctor.rule import RESTART, Finding, Severity
from binspark.doctor.rules import RULES, find_problems
from binspark.doctor.server_profile import Grants, ServerProfile, TableProfile
from binspark.schema.table import TableName
from tests.support.doctor.profiles import ENOUGH, MYSQL_VARIABLES, healthy, with_tables, with_variables

NATIVE_KEYS = {**MYSQL_VARIABLES, "innodb_native_foreign_keys": "ON"}
OLDER_MYSQL = {name: value for name, value in MYSQL_VARIABLES.items() if name != "innodb_native_foreign_keys"}
REPLICA_WITHOUT_UPDATES = replace(with_variables("mysql", log_replica_updates="OFF"), is_replica=True)

CASES: list[tuple[str, ServerProfile]] = [
    ("log-bin", with_variables("mysql", log_bin="OFF")),
    ("binlog-format", with_variables("mysql", binlog_format="STATEMENT")),
    ("binlog-format", with_variables("mariadb", binlog_format="MIXED")),
    ("row-image", with_variables("mysql", binlog_row_image="MINIMAL")),
    ("row-image", with_variables("mysql", binlog_row_image="NOBLOB")),
    ("row-image", with_variables("mariadb", binlog_row_image="FULL_NODUP")),
    ("row-metadata", with_variables("mysql", binlog_row_metadata="MINIMAL")),
    ("row-metadata", with_variables("mariadb", binlog_row_metadata="NO_LOG")),
    ("no-row-metadata", with_variables("mariadb", without=("binlog_row_metadata",))),
    ("partial-json", with_variables("mysql", binlog_row_value_options="PARTIAL_JSON")),
    ("compression", with_variables("mysql", binlog_transaction_compression="ON")),
    ("event-compression", with_variables("mariadb", log_bin_compress="ON")),
    ("gtid-mode", with_variables("mysql", gtid_mode="OFF")),
    ("gtid-mode", with_variables("mysql", gtid_mode="OFF_PERMISSIVE")),
    ("gtid-permissive", with_variables("mysql", gtid_mode="ON_PERMISSIVE")),
    ("gtid-strict", with_variables("mariadb", gtid_strict_mode="OFF")),
    ("checksum", with_variables("mysql", binlog_checksum="NONE")),
    ("sync-binlog", with_variables("mysql", sync_binlog="1000")),
    ("flush-log", with_variables("mariadb", innodb_flush_log_at_trx_commit="2")),
    ("error-action", with_variables("mysql", binlog_error_action="IGNORE_ERROR")),
    ("retention-seconds", with_variables("mysql", binlog_expire_logs_seconds="3600")),
    ("retention-seconds", with_variables("mariadb", binlog_expire_logs_seconds="86400", expire_logs_days="1.000000")),
    ("retention-days", with_variables("mysql", binlog_expire_logs_seconds="0", expire_logs_days="2")),
    ("retention-days", with_variables("mariadb", ("binlog_expire_logs_seconds",), expire_logs_days="1")),
    ("retention-unlimited", with_variables("mysql", binlog_expire_logs_seconds="0")),
    ("retention-unlimited", with_variables("mariadb", ("binlog_expire_logs_seconds",), expire_logs_days="0")),
    ("auto-purge", with_variables("mysql", binlog_expire_logs_auto_purge="OFF", binlog_expire_logs_seconds="60")),
    ("retention-size", with_variables("mariadb", max_binlog_total_size="1000000")),
    ("small-logs", with_variables("mysql", max_binlog_size="4096")),
    ("replica-updates", REPLICA_WITHOUT_UPDATES),
    ("replica-updates", healthy("mariadb", is_replica=True)),
    ("server-id", with_variables("mysql", server_id="0")),
    ("do-db", healthy("mysql", do_db="shop")),
    ("ignore-db", healthy("mariadb", ignore_db="scratch,tmp")),
    ("rows-query", with_variables("mysql", binlog_rows_query_log_events="OFF")),
    ("rows-query", with_variables("mariadb", binlog_annotate_row_events="OFF")),
    ("encryption", with_variables("mysql", binlog_encryption="ON")),
    ("encryption", with_variables("mariadb", encrypt_binlog="ON")),
    ("storage-engine", with_variables("mariadb", binlog_storage_engine="innodb")),
    ("temporal-format", with_variables("mariadb", mysql56_temporal_format="OFF")),
    ("lower-case", with_variables("mysql", lower_case_table_names="1")),
    ("no-key", with_tables("mysql", without_key=2)),
    ("cascades", with_tables("mariadb", cascading=1)),
    ("cascades", with_tables("mysql", cascading=1, variables=OLDER_MYSQL)),
    ("native-foreign-keys", with_tables("mysql", cascading=1, variables=NATIVE_KEYS)),
    ("native-foreign-keys", healthy("mysql", variables=NATIVE_KEYS, tables=None)),
    ("old-times", with_tables("mariadb", old_times=1)),
    ("hidden-types", with_tables("mariadb", hidden_types=1)),
    ("replication-slave", healthy("mysql", grants=Grants(ENOUGH.privileges - {"REPLICATION SLAVE"}))),
    ("replication-client", healthy("mysql", grants=Grants(ENOUGH.privileges - {"REPLICATION CLIENT"}))),
    ("select", healthy("mysql", grants=Grants(ENOUGH.privileges - {"SELECT"}))),
    ("roles", healthy("mysql", grants=replace(ENOUGH, roles=("`r`@`%`",)))),
]

FINE: list[ServerProfile] = [
    healthy("mysql"),
    healthy("mariadb"),
    healthy("mysql", tables=None),
    healthy("mysql", is_replica=True),
    healthy("mysql", grants=Grants(frozenset({"ALL PRIVILEGES"}))),
    healthy("mariadb", grants=Grants(frozenset({"REPLICATION SLAVE", "BINLOG MONITOR", "SELECT"}))),
    healthy("mysql", grants=replace(ENOUGH, roles=("`r`@`%`",)), active_role=True),
    with_tables("mysql", cascading=3),
    healthy("mysql", variables=NATIVE_KEYS),
    with_variables("mysql", binlog_expire_logs_seconds="0", expire_logs_days="7"),
]


def only(profile: ServerProfile) -> Finding:
    (finding,) = find_problems(profile)
    return finding


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: f"{number}-{CASES[number][0]}")
def test_a_server_with_one_problem_has_one_finding(number: int) -> None:
    code, profile = CASES[number]
    assert only(profile).code == code


def test_every_rule_finds_something() -> None:
    assert {code for code, _ in CASES} == {rule.code for rule in RULES}


@pytest.mark.parametrize("number", range(len(FINE)))
def test_a_healthy_server_has_no_finding(number: int) -> None:
    assert find_problems(FINE[number]) == []


def test_codes_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: f"{number}-{CASES[number][0]}")
def test_a_fix_is_statements_and_comments(number: int) -> None:
    lines = only(CASES[number][1]).fix.splitlines()
    assert lines
    assert all(line.startswith("-- ") or line.endswith(";") for line in lines)
    assert not any("{" in line for line in lines)


def test_the_most_severe_finding_comes_first() -> None:
    profile = with_variables("mysql", binlog_rows_query_log_events="OFF", sync_binlog="0", binlog_format="MIXED")
    assert [finding.severity for finding in find_problems(profile)] == list(Severity)


def test_a_finding_has_the_current_value_and_the_reason() -> None:
    finding = only(with_variables("mysql", binlog_format="MIXED"))
    assert (finding.setting, finding.value) == ("binlog_format", "MIXED")
    assert "statements" in finding.reason
    assert not finding.restart


@pytest.mark.parametrize(
    ("profile", "first_line"),
    [
        (with_variables("mysql", sync_binlog="0"), "SET PERSIST sync_binlog = 1;"),
        (with_variables("mariadb", sync_binlog="0"), "SET GLOBAL sync_binlog = 1;"),
        (replace(with_variables("mysql", sync_binlog="0"), version="5.7.44-log"), "SET GLOBAL sync_binlog = 1;"),
    ],
    ids=["mysql", "mariadb", "mysql 5.7"],
)
def test_a_setting_is_fixed_in_the_way_of_its_server(profile: ServerProfile, first_line: str) -> None:
    assert only(profile).fix.splitlines()[0] == first_line


@pytest.mark.parametrize(
    ("profile", "first_line"),
    [
        (REPLICA_WITHOUT_UPDATES, "SET PERSIST_ONLY log_replica_updates = ON;"),
        (healthy("mariadb", is_replica=True), "-- in my.cnf, section [mysqld]: log_slave_updates = ON"),
    ],
    ids=["mysql", "mariadb"],
)
def test_a_setting_that_is_read_at_the_start_needs_a_restart(profile: ServerProfile, first_line: str) -> None:
    finding = only(profile)
    assert finding.fix.splitlines() == [first_line, RESTART]
    assert finding.restart


@pytest.mark.parametrize(("server", "restart"), [("mysql", False), ("mariadb", True)])
def test_only_mysql_stops_encrypting_while_it_runs(server: str, restart: bool) -> None:
    assert only(with_variables(server, binlog_encryption="ON", encrypt_binlog="ON")).restart is restart


def test_a_few_tables_are_named_and_all_are_counted() -> None:
    finding = only(with_tables("mysql", without_key=1234))
    assert finding.value == "missing in 1,234 tables: shop.t0, shop.t1, shop.t2, shop.t3, shop.t4 and 1,229 more"


def test_names_of_tables_are_quoted_in_statements() -> None:
    tables = TableProfile(without_key=(TableName("a`b", "{c} d"),))
    finding = only(healthy("mysql", tables=tables))
    assert finding.value == "missing in 1 table: a`b.{c} d"
    assert finding.fix.startswith("ALTER TABLE `a``b`.`{c} d` ADD COLUMN")


def test_a_missing_privilege_is_granted_to_the_account_that_the_server_sees() -> None:
    finding = only(healthy("mysql", grants=Grants(ENOUGH.privileges - {"REPLICATION SLAVE"})))
    assert finding.fix == "GRANT REPLICATION SLAVE ON *.* TO `reader`@`%`;"


def test_the_documentation_is_made_of_the_rules() -> None:
    kept = Path(__file__).parents[2] / "docs" / "doctor.md"
    assert kept.read_text(encoding="utf-8") == rules_page()
