"""Profiles of servers without problems, to be changed one setting at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.doctor.server_profile import Grants, ServerProfile, TableProfile
from binspark.frames.format import Family
from binspark.schema.table import TableName

MYSQL_VARIABLES = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
    "binlog_row_value_options": "",
    "binlog_transaction_compression": "OFF",
    "binlog_rows_query_log_events": "ON",
    "binlog_checksum": "CRC32",
    "binlog_encryption": "OFF",
    "binlog_error_action": "ABORT_SERVER",
    "binlog_expire_logs_seconds": "2592000",
    "binlog_expire_logs_auto_purge": "ON",
    "gtid_mode": "ON",
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_native_foreign_keys": "OFF",
    "log_replica_updates": "ON",
    "log_slave_updates": "ON",
    "lower_case_table_names": "0",
    "max_binlog_size": "1073741824",
    "server_id": "1",
    "sync_binlog": "1",
}
MARIADB_VARIABLES = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
    "binlog_annotate_row_events": "ON",
    "binlog_checksum": "CRC32",
    "binlog_expire_logs_seconds": "864000",
    "binlog_storage_engine": "",
    "encrypt_binlog": "OFF",
    "expire_logs_days": "10.000000",
    "gtid_strict_mode": "ON",
    "innodb_flush_log_at_trx_commit": "1",
    "log_bin_compress": "OFF",
    "log_slave_updates": "OFF",
    "lower_case_table_names": "0",
    "max_binlog_size": "1073741824",
    "max_binlog_total_size": "0",
    "mysql56_temporal_format": "ON",
    "server_id": "1",
    "sync_binlog": "1",
}
ENOUGH = Grants(frozenset({"REPLICATION SLAVE", "REPLICATION CLIENT", "SELECT"}))

SERVERS: Mapping[str, tuple[str, Family, Mapping[str, str]]] = {
    "mysql": ("9.7.4", Family.MYSQL, MYSQL_VARIABLES),
    "mariadb": ("11.8.2-MariaDB-log", Family.MARIADB, MARIADB_VARIABLES),
}


def healthy(server: str, **changes: Any) -> ServerProfile:
    """Return the profile of a server without problems, with changes."""
    version, family, variables = SERVERS[server]
    profile: dict[str, Any] = {
        "version": version,
        "family": family,
        "account": "`reader`@`%`",
        "variables": variables,
        "grants": ENOUGH,
        "tables": TableProfile(),
    }
    return ServerProfile(**{**profile, **changes})


def with_variables(server: str, without: tuple[str, ...] = (), **variables: str) -> ServerProfile:
    """Return the profile of a server without problems, with other variables, and without some."""
    all_variables = {**SERVERS[server][2], **variables}
    return healthy(server, variables={name: value for name, value in all_variables.items() if name not in without})


def with_tables(server: str, *, variables: Mapping[str, str] | None = None, **kinds: int) -> ServerProfile:
    """Return the profile of a server without problems except for tables of these kinds."""
    named = {kind: tuple(TableName("shop", f"t{i}") for i in range(count)) for kind, count in kinds.items()}
    return healthy(server, variables=variables or SERVERS[server][2], tables=TableProfile(**named))
