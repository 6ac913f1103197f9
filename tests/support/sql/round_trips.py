"""Random work on a server, the scripts of its log, and tables bit for bit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import binspark
from binspark.testing.servers import MySQL, Server
from tests.support.replay.random_workload import RandomTable, Settings, Workload

_SCRIPT = import_module("binspark.sql.script")
_SETTINGS = re.compile(rb"^SET [a-z_]+ = .*\n", re.MULTILINE)
_AS_BYTES = frozenset({"float", "double"})
Tables = dict[str, list[tuple[Any, ...]]]


def tables_of(server: Server, database: str) -> Tables:
    """Return all rows of a database, with values that are equal only if the stored ones are, and their checksums."""
    found: Tables = {}
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = 'BASE TABLE'",
            (database,),
        )
        for (table,) in sorted(cursor.fetchall()):
            cursor.execute(
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = %s"
                " AND table_name = %s ORDER BY ordinal_position",
                (database, table),
            )
            columns = list(cursor.fetchall())
            expressions = ", ".join(_expression(name, kind) for name, kind in columns)
            cursor.execute(f"SELECT {expressions} FROM `{database}`.`{table}`")
            found[table] = sorted(cursor.fetchall(), key=repr)
            if not any(kind == "json" for _, kind in columns):  # documents with the same values may differ in layout
                cursor.execute(f"CHECKSUM TABLE `{database}`.`{table}`")
                found[table].append(cursor.fetchall()[0][1:])
    return found


def _expression(name: str, kind: str) -> str:
    if kind in _AS_BYTES:
        return f"CONCAT(`{name}` + 0e0)"
    if kind == "json":
        return f"CAST(`{name}` AS CHAR), JSON_TYPE(`{name}`)"
    return f"HEX(CAST(`{name}` AS BINARY))"


@contextmanager
def logs_of(server: Server) -> Iterator[list[Path]]:
    """Yield a list that has, after the block, the logs of what was done in it."""
    server.query("FLUSH BINARY LOGS")
    earlier = set(server.log_files()[:-1])
    found: list[Path] = []
    yield found
    server.query("FLUSH BINARY LOGS")
    found += [log for log in server.log_files()[:-1] if log not in earlier]


def script_of(logs: list[Path], *, in_bulk: bool | None = None, **options: Any) -> bytes:
    """Return the script of logs. Its rows are written in bulk or one at a time; None is what pays."""
    paths = [str(log) for log in logs]
    if in_bulk is None:
        return b"".join(binspark.sql(paths, **options))
    with patch.object(_SCRIPT, "pays_in_bulk", lambda *_: in_bulk):
        return b"".join(binspark.sql(paths, **options))


def comparable(script: bytes) -> bytes:
    """Return a script without its settings: each block resets them, and blocks have different borders."""
    return _SETTINGS.sub(b"", script)


def checked_script(logs: list[Path], **options: Any) -> bytes:
    """Return the script of logs with rows written in bulk, which must be that of rows written one at a time."""
    in_bulk, by_row = (script_of(logs, in_bulk=bulk, **options) for bulk in (True, False))
    assert comparable(in_bulk) == comparable(by_row)
    return in_bulk


def run_script(server: Server, script: bytes, sql_mode: str = "") -> None:
    """Run a script in the server's client, in a session that has another sql_mode at first."""
    options = ("--no-defaults", f"--socket={server.socket}", "--user=root", f"--init-command=SET sql_mode='{sql_mode}'")
    done = server.programs.run(server.family.client, *options, stdin=script)
    assert not done.returncode, done.stderr.decode(errors="replace")[:2000]


class RowWorkload(Workload):
    """Random changes of rows alone, in tables with and without a key."""

    def __init__(self, server: Server, seed: int, database: str, *, partial_json: bool = False) -> None:
        rng = Random(seed)
        super().__init__(server, rng, database)
        compress = rng.random() < 0.3
        self.settings = Settings("FULL", "FULL", compress, partial_json and server.family is MySQL, "CRC32")

    def prepare(self, tables: int) -> None:
        """Create the tables and their first rows."""
        for statement in (
            f"DROP DATABASE IF EXISTS {self.database}",
            f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4",
            f"USE {self.database}",
            "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'",
            "SET SESSION time_zone = '+00:00'",
            *self.settings.statements(self.mysql),
        ):
            self.execute(statement)
        while len(self.tables) < tables:
            self._create_table()
        for _ in range(tables):
            self._insert()
        self.execute("FLUSH BINARY LOGS")

    def work(self, steps: int) -> None:
        """Change rows."""
        often = [self._insert, self._update, self._update_many, self._delete, self._change_key]
        for _ in range(steps):
            self._rng.choice([*often, self._update_document, self._begin_or_commit])()
        self.execute("COMMIT")
        self.execute("FLUSH BINARY LOGS")

    def execute(self, sql: str) -> None:
        """Run a statement."""
        self._cursor.execute(sql)

    def _create_table(self) -> None:
        """Create a table; every second one has no key."""
        table = RandomTable(self._new_name("t"))
        for _ in range(self._rng.randint(1, 12)):
            table.columns[self._new_name("c")] = self._rng.choice(self._kinds)
        columns = ", ".join(f"{name} {kind.sql} NULL" for name, kind in table.columns.items())
        key = "id INT PRIMARY KEY" if len(self.tables) % 2 == 0 else "id INT"
        if self._try(f"CREATE TABLE {table.name} ({key}, {columns}, touched INT NOT NULL DEFAULT 0)"):
            self.tables.append(table)
            self._insert()
