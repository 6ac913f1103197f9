"""Which tables are worth a word, from information_schema."""

from __future__ import annotations

from binspark.client.connect import Connection
from binspark.doctor.facts import TableFacts, TableName
from binspark.frames.format import Family

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
