"""Recovered servers: the command, archives of servers, and the tables of a server to compare."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from binspark.cli.restore import restore_command
from binspark.testing.servers import Family, Server
from tests.support.replicas import reset_logs
from tests.support.servers import StartServer

_SYSTEM = ("mysql", "sys", "information_schema", "performance_schema", "binspark_restore")


def options_of(server: Server) -> list[str]:
    """Return the options with which commands reach a server."""
    return ["--host", "127.0.0.1", "--port", str(server.port), "--user", "root", "--no-defaults"]


def restore(archive: Path, target: Server, *options: str) -> Result:
    """Run the command."""
    result = CliRunner().invoke(restore_command, [str(archive), *options_of(target), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def apply(archive: Path, target: Server, *options: str) -> None:
    """Run the command, which must apply its plan."""
    result = restore(archive, target, "--apply", *options)
    assert result.exit_code == 0, result.output


def plan(archive: Path, target: Server, *options: str) -> dict[str, Any]:
    """Return the plan."""
    result = restore(archive, target, "--format", "jsonl", *options)
    found: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (1 if found["obstacles"] else 0)
    return found


def archived(server: Server, folder: Path) -> Path:
    """Copy the logs of a server."""
    server.run_sql("FLUSH BINARY LOGS")
    folder.mkdir()
    for log in server.log_files()[:-1]:
        shutil.copy(log, folder)
    return folder


def pair(
    family: Family,
    start_server: StartServer,
    source: dict[str, Any] | None = None,
    target: dict[str, Any] | None = None,
) -> tuple[Server, Server]:
    """Start a server to archive and a server to recover, both without history."""
    started = (
        start_server(family, {"server-id": 1, **(source or {})}),
        start_server(family, {"server-id": 2, "local-infile": 1, **(target or {})}),
    )
    for server in started:
        reset_logs(server)
    return started


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


def drop_all(server: Server) -> None:
    """Drop what people created, prepared transactions included, and begin the logs anew."""
    for format_id, gtrid_length, _, data in server.query("XA RECOVER"):
        raw = data if isinstance(data, bytes) else data.encode()
        xid = f"X'{raw[:gtrid_length].hex()}',X'{raw[gtrid_length:].hex()}',{format_id}"
        server.query(f"XA ROLLBACK {xid}")
    for (schema,) in server.query("SHOW DATABASES"):
        if schema not in _SYSTEM[:-1]:
            server.query(f"DROP DATABASE `{schema}`")
    reset_logs(server)
