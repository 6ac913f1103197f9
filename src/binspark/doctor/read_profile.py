"""The profile of a server, read from it. What the user may not read is empty; rules about privileges report that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.doctor.server_profile import (
    Grants,
    ServerProfile,
    TableProfile,
    parse_grants,
)
from binspark.errors import Authentication
from binspark.frames.format import Family, version_numbers
from binspark.schema.foreign_keys import read_foreign_keys
from binspark.schema.table import TableName
from binspark.server.connection import Connection
from binspark.server.info import server_family, server_variables

_USER_SCHEMAS = "table_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')"

# Constants only: no input is interpolated into these statements.
_TABLES = f"""SELECT table_schema, table_name FROM information_schema.tables
    WHERE {_USER_SCHEMAS} AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"""  # noqa: S608
_WITH_KEY = f"""SELECT table_schema, table_name FROM information_schema.statistics
    WHERE {_USER_SCHEMAS} AND non_unique = 0
    GROUP BY table_schema, table_name, index_name
    HAVING MAX(index_name = 'PRIMARY') = 1
    OR MAX(nullable = 'YES' OR sub_part IS NOT NULL OR column_name IS NULL OR index_type = 'HASH') = 0"""  # noqa: S608
_OLD_TIMES = f"""SELECT table_schema, table_name FROM information_schema.columns
    WHERE {_USER_SCHEMAS} AND column_type LIKE '%mariadb-5.3%' AND datetime_precision > 0"""  # noqa: S608
_HIDDEN_TYPES = f"""SELECT table_schema, table_name FROM information_schema.columns
    WHERE {_USER_SCHEMAS} AND data_type IN ('inet4', 'inet6', 'uuid')"""  # noqa: S608


def read_tables(connection: Connection, family: Family) -> TableProfile:
    """Read about the tables that the user may see."""
    without_key = _names(connection, _TABLES) - _names(connection, _WITH_KEY)
    is_mariadb = family is Family.MARIADB
    return TableProfile(
        without_key=tuple(sorted(without_key)),
        cascading=tuple(sorted({key.table for key in read_foreign_keys(connection.rows) if key.on})),
        old_times=tuple(sorted(_names(connection, _OLD_TIMES))) if is_mariadb else (),
        hidden_types=tuple(sorted(_names(connection, _HIDDEN_TYPES))) if is_mariadb else (),
    )


def _names(connection: Connection, sql: str) -> set[TableName]:
    return {TableName(str(schema), str(table)) for schema, table in connection.rows(sql)}


def read_profile(connection: Connection, *, check_tables: bool = True) -> ServerProfile:
    """Read the profile of a server. Needs no privilege; `check_tables` takes long if there are very many tables."""
    family, variables = server_family(connection), server_variables(connection)
    grants = parse_grants(str(row[0]) for row in connection.rows("SHOW GRANTS"))
    log_status = _allowed(connection, _log_status(connection, family))
    return ServerProfile(
        version=connection.server_version,
        family=family,
        account=connection.account,
        variables=variables,
        grants=grants,
        active_role=_has_active_role(connection, grants),
        is_replica=_is_replica(connection, family, variables),
        do_db=_first(log_status, "Binlog_Do_DB"),
        ignore_db=_first(log_status, "Binlog_Ignore_DB"),
        tables=read_tables(connection, family) if check_tables else None,
    )


def _has_active_role(connection: Connection, grants: Grants) -> bool:
    """Without a role, MySQL returns NONE and MariaDB NULL. Servers without roles do not have the function."""
    return bool(grants.roles) and connection.rows("SELECT CURRENT_ROLE()")[0][0] not in (None, "NONE")


def _is_replica(connection: Connection, family: Family, variables: Mapping[str, str]) -> bool:
    """Return whether a server replicates from another one.

    Galera's nodes are replicas of each other. In MariaDB the privileges for logs do not allow SHOW SLAVE STATUS, but
    everybody may read gtid_slave_pos, which is set on a replica.
    """
    if variables.get("wsrep_on") == "ON" or variables.get("gtid_slave_pos"):
        return True
    return bool(_allowed(connection, _replica_status(connection, family)))


def _log_status(connection: Connection, family: Family) -> str:
    """MySQL 8.2 renamed the statement, 8.4 removed the old name."""
    renamed = family is Family.MYSQL and version_numbers(connection.server_version) >= (8, 2, 0)
    return "SHOW BINARY LOG STATUS" if renamed else "SHOW MASTER STATUS"


def _replica_status(connection: Connection, family: Family) -> str:
    if family is Family.MARIADB:
        return "SHOW ALL SLAVES STATUS"
    renamed = version_numbers(connection.server_version) >= (8, 0, 22)
    return "SHOW REPLICA STATUS" if renamed else "SHOW SLAVE STATUS"


def _allowed(connection: Connection, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a statement; none if the user lacks the privilege."""
    try:
        return connection.records(sql)
    except Authentication:
        return []


def _first(records: list[dict[str, Any]], name: str) -> str:
    return str(records[0].get(name) or "") if records else ""
