"""The tables of servers, to compare a server with one that was recovered."""

from __future__ import annotations

from typing import Any

from binspark.testing.servers import Server

_SYSTEM = ("mysql", "sys", "information_schema", "performance_schema", "binspark_restore")


def contents(server: Server) -> dict[str, tuple[str, list[tuple[Any, ...]]]]:
    """Return the definition and the rows of every table that people created, rows in any order."""
    tables = server.query(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
    )
    found = {}
    with server.connect(conv={}, init_command="SET time_zone='+00:00'", use_unicode=False) as connection:
        cursor = connection.cursor()
        for schema, table in tables:
            if schema in _SYSTEM:
                continue
            cursor.execute(f"SHOW CREATE TABLE `{schema}`.`{table}`")
            definition = str(cursor.fetchall()[0][1])
            cursor.execute(f"SELECT * FROM `{schema}`.`{table}`")
            found[f"{schema}.{table}"] = (definition, sorted(cursor.fetchall(), key=repr))
    return found
