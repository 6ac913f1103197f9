"""The facts of a server, asked for. What the user may not ask is left out: that it may not is a fact too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.doctor.facts import Facts, Grants, TableFacts, TableName, quoted_account, read_grants
from binspark.errors import Authentication
from binspark.frames.format import Family, version_numbers
from binspark.server.connection import Connection
from binspark.server.info import server_family, server_variables

_OURS = "table_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')"

# No input is in any of these.
_TABLES = f"""SELECT table_schema, table_name FROM information_schema.tables
    WHERE {_OURS} AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"""  # noqa: S608
_WITH_KEY = f"""SELECT table_schema, table_name FROM information_schema.statistics
    WHERE {_OURS} AND non_unique = 0
    GROUP BY table_schema, table_name, index_name
    HAVING MAX(index_name = 'PRIMARY') = 1
    OR MAX(nullable = 'YES' OR sub_part IS NOT NULL OR column_name IS NULL OR index_type = 'HASH') = 0"""  # noqa: S608
_CASCADING = """SELECT constraint_schema, table_name FROM information_schema.referential_constraints
    WHERE update_rule IN ('CASCADE', 'SET NULL') OR delete_rule IN ('CASCADE', 'SET NULL')"""
_OLD_TIMES = f"""SELECT table_schema, table_name FROM information_schema.columns
    WHERE {_OURS} AND column_type LIKE '%mariadb-5.3%' AND datetime_precision > 0"""  # noqa: S608
_HIDDEN_TYPES = f"""SELECT table_schema, table_name FROM information_schema.columns
    WHERE {_OURS} AND data_type IN ('inet4', 'inet6', 'uuid')"""  # noqa: S608


def ask_tables(connection: Connection, family: Family) -> TableFacts:
    """Look at the tables that the user may see."""
    keyless = _names(connection, _TABLES) - _names(connection, _WITH_KEY)
    is_mariadb = family is Family.MARIADB
    return TableFacts(
        keyless=tuple(sorted(keyless)),
        cascading=tuple(sorted(_names(connection, _CASCADING))),
        old_times=tuple(sorted(_names(connection, _OLD_TIMES))) if is_mariadb else (),
        hidden_types=tuple(sorted(_names(connection, _HIDDEN_TYPES))) if is_mariadb else (),
    )


def _names(connection: Connection, sql: str) -> set[TableName]:
    return {TableName(str(schema), str(table)) for schema, table in connection.rows(sql)}


def ask(connection: Connection, *, tables: bool = True) -> Facts:
    """Ask a server for its facts. Needs no privilege; looking at `tables` takes long where there are very many."""
    family, variables = server_family(connection), server_variables(connection)
    grants = read_grants(str(row[0]) for row in connection.rows("SHOW GRANTS"))
    log_status = _allowed(connection, _log_status(connection, family))
    return Facts(
        version=connection.server_version,
        family=family,
        account=quoted_account(str(connection.rows("SELECT CURRENT_USER()")[0][0])),
        variables=variables,
        grants=grants,
        active_role=_has_active_role(connection, grants),
        is_replica=_is_replica(connection, family, variables),
        do_db=_first(log_status, "Binlog_Do_DB"),
        ignore_db=_first(log_status, "Binlog_Ignore_DB"),
        tables=ask_tables(connection, family) if tables else None,
    )


def _has_active_role(connection: Connection, grants: Grants) -> bool:
    """MySQL says NONE where MariaDB says NULL. Servers without roles do not know the function."""
    return bool(grants.roles) and connection.rows("SELECT CURRENT_ROLE()")[0][0] not in (None, "NONE")


def _is_replica(connection: Connection, family: Family, variables: Mapping[str, str]) -> bool:
    """Galera's nodes are replicas of each other. MariaDB's privileges for logs do not allow to ask; what a replica has
    applied is shown to everybody."""
    if variables.get("wsrep_on") == "ON" or variables.get("gtid_slave_pos"):
        return True
    return bool(_allowed(connection, _replica_status(connection, family)))


def _log_status(connection: Connection, family: Family) -> str:
    """MySQL 8.2 renamed the statement, 8.4 took the old name away."""
    renamed = family is Family.MYSQL and version_numbers(connection.server_version) >= (8, 2, 0)
    return "SHOW BINARY LOG STATUS" if renamed else "SHOW MASTER STATUS"


def _replica_status(connection: Connection, family: Family) -> str:
    if family is Family.MARIADB:
        return "SHOW ALL SLAVES STATUS"
    renamed = version_numbers(connection.server_version) >= (8, 0, 22)
    return "SHOW REPLICA STATUS" if renamed else "SHOW SLAVE STATUS"


def _allowed(connection: Connection, sql: str) -> list[dict[str, Any]]:
    """Run a statement; no rows where the user may not."""
    try:
        return connection.records(sql)
    except Authentication:
        return []


def _first(records: list[dict[str, Any]], name: str) -> str:
    return str(records[0].get(name) or "") if records else ""
