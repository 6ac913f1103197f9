"""The facts of a server, asked for. What the user may not ask is left out: that it may not is a fact too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.client.connect import Connection
from binspark.client.facts import server_family, server_variables
from binspark.doctor.facts import Facts
from binspark.doctor.grants import Grants, quoted_account, read_grants
from binspark.doctor.tables import ask_tables
from binspark.errors import Authentication
from binspark.frames.format import Family, version_numbers


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
