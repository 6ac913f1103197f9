"""Random workloads on a server: tables of all types; inserts, updates and deletes, with DDL in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from binspark.testing.servers import MySQL, Server
from tests.support.replay.random_types import COMMON, MARIADB_ONLY, MYSQL_ONLY, Kind

_ERRORS_OF_CHANCE = frozenset(
    (1062, 1071, 1074, 1118, 1170, 1267, 1292, 1366, 1406, 1416, 1690, 3140, 3037, 1265, 1054, 3144, 4025, 4161, 6136)
)
"""What random DDL and values run into: keys that are there, rows that are too large, values that do not convert,
types that a server of an earlier version does not have."""


@dataclass
class RandomTable:
    """A table and its columns other than `id`, the key, and `touched`."""

    name: str
    columns: dict[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """The settings of what a server logs."""

    image: str
    metadata: str
    compress: bool
    partial_json: bool
    checksum: str

    def statements(self, mysql: bool) -> list[str]:
        """Return the statements that apply the settings; global ones stay until the next settings."""
        common = [
            f"SET GLOBAL binlog_checksum = {self.checksum}",
            f"SET GLOBAL binlog_row_metadata = {self.metadata}",
            f"SET SESSION binlog_row_image = {self.image}",
        ]
        if mysql:
            options = "PARTIAL_JSON" if self.partial_json else ""
            compression = f"SET SESSION binlog_transaction_compression = {int(self.compress)}"
            return [*common, compression, f"SET SESSION binlog_row_value_options = '{options}'"]
        return [
            *common,
            f"SET GLOBAL log_bin_compress = {int(self.compress)}",
            "SET GLOBAL log_bin_compress_min_len = 10",
        ]


def random_settings(rng: Random, mysql: bool) -> Settings:
    """Choose settings; most often full images, for which the bulk reader is made."""
    image = rng.choice(("FULL", "FULL", "MINIMAL", "NOBLOB"))
    return Settings(
        image=image,
        metadata=rng.choice(("MINIMAL", "FULL") if mysql else ("MINIMAL", "FULL", "NO_LOG")),
        compress=rng.random() < 0.4,
        partial_json=rng.random() < 0.5 and image == "FULL",
        checksum=rng.choice(("CRC32", "CRC32", "NONE")),
    )


class Workload:
    """Runs a random workload in a new database, over one connection."""

    def __init__(self, server: Server, rng: Random, database: str) -> None:
        self.mysql = server.family is MySQL
        self.database = database
        self.settings = random_settings(rng, self.mysql)
        self.tables: list[RandomTable] = []
        self._rng = rng
        self._kinds = COMMON + (MYSQL_ONLY if self.mysql else MARIADB_ONLY)
        self._names = 0
        self._last_id = 0
        self._connection = server.connect(autocommit=True, charset="utf8mb4")
        self._cursor = self._connection.cursor()

    def run(self, steps: int) -> None:
        """Begin a log, create tables, and do this many steps."""
        for statement in (
            f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4",
            f"USE {self.database}",
            "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'",
            "SET SESSION time_zone = '+00:00'",
            *self.settings.statements(self.mysql),
            "FLUSH BINARY LOGS",
            "CREATE TABLE ignored (a INT PRIMARY KEY)",
        ):
            self._execute(statement)
        wanted = self._rng.randint(1, 3)
        while len(self.tables) < wanted:
            self._create_table()
        for _ in range(steps):
            self._rng.choice(self._steps())()
        self._try("ROLLBACK" if self._rng.random() < 0.2 else "COMMIT")
        self._connection.close()

    def _steps(self) -> list[Callable[[], None]]:
        often = [self._insert, self._insert, self._update, self._update_many, self._delete, self._change_key]
        now_and_then = [self._alter, self._rename_table, self._truncate, self._begin_or_commit, self._statement]
        return often * 3 + [self._update_document] * 2 + now_and_then + [self._alter, self._create_table]

    def _create_table(self) -> None:
        table = RandomTable(self._new_name("t"))
        for _ in range(self._rng.randint(1, 12)):
            table.columns[self._new_name("c")] = self._rng.choice(self._kinds)
        columns = ", ".join(f"{name} {kind.sql} NULL" for name, kind in table.columns.items())
        if self._try(f"CREATE TABLE {table.name} (id INT PRIMARY KEY, {columns}, touched INT NOT NULL DEFAULT 0)"):
            self.tables.append(table)
            self._insert()

    def _insert(self) -> None:
        table = self._rng.choice(self.tables)
        names = ["id", "touched", *table.columns]
        rows = []
        for _ in range(self._rng.choice((1, 1, 3, 40))):
            self._last_id += 1
            values = [str(self._last_id), "0", *map(self._value, table.columns.values())]
            rows.append(f"({', '.join(values)})")
        self._try(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {', '.join(rows)}")

    def _update(self) -> None:
        table = self._rng.choice(self.tables)
        chosen = self._rng.sample(list(table.columns), k=min(len(table.columns), self._rng.randint(1, 3)))
        changes = ", ".join(
            [*(f"{name} = {self._value(table.columns[name])}" for name in chosen), "touched = touched + 1"]
        )
        self._try(f"UPDATE {table.name} SET {changes} WHERE id = {self._some_id()}")

    def _update_many(self) -> None:
        table = self._rng.choice(self.tables)
        modulus = self._rng.randint(1, 7)
        self._try(f"UPDATE {table.name} SET touched = touched + 1 WHERE id % {modulus} = 0")

    def _update_document(self) -> None:
        """Change parts of documents: with PARTIAL_JSON only those are logged."""
        found = [(t.name, c) for t in self.tables for c, kind in t.columns.items() if kind.sql == "JSON"]
        if found:
            name, column = self._rng.choice(found)
            change = self._rng.choice(
                (
                    f"JSON_SET({column}, '$.k0', {self._rng.randint(0, 999)})",
                    f"JSON_REMOVE({column}, '$.k1')",
                    f"JSON_SET({column}, '$[1]', 'new')",
                )
            )
            self._try(f"UPDATE {name} SET {column} = {change} WHERE id % {self._rng.randint(1, 4)} = 0")

    def _delete(self) -> None:
        table = self._rng.choice(self.tables)
        condition = self._rng.choice((f"id = {self._some_id()}", f"id % 11 = {self._rng.randint(0, 10)}"))
        self._try(f"DELETE FROM {table.name} WHERE {condition}")

    def _change_key(self) -> None:
        self._last_id += 1
        self._try(f"UPDATE {self._rng.choice(self.tables).name} SET id = {self._last_id} WHERE id = {self._some_id()}")

    def _alter(self) -> None:
        """Add, drop, modify or rename a column. Afterwards every row is logged again with the new schema."""
        table = self._rng.choice(self.tables)
        old = self._rng.choice(list(table.columns))
        kind, new = self._rng.choice(self._kinds), self._new_name("c")
        columns = dict(table.columns)
        how = self._rng.choice(("add", "add", "drop", "modify", "rename"))
        if how == "add":
            step, columns[new] = f"ADD COLUMN {new} {kind.sql} NULL", kind
        elif how == "drop" and len(columns) > 1:
            step = f"DROP COLUMN {old}"
            del columns[old]
        elif how == "modify" and not (columns[old].is_bytes and kind.is_text):
            step, columns[old] = f"MODIFY COLUMN {old} {kind.sql} NULL", kind
        else:
            step, columns[new] = f"RENAME COLUMN {old} TO {new}", columns.pop(old)
        if self._try(f"ALTER TABLE {table.name} {step}"):
            table.columns = columns
            self._log_anew(table)

    def _log_anew(self, table: RandomTable) -> None:
        self._execute(f"CREATE TEMPORARY TABLE kept AS SELECT * FROM {table.name}")
        self._execute(f"DELETE FROM {table.name}")
        self._execute(f"INSERT INTO {table.name} SELECT * FROM kept")
        self._execute("DROP TEMPORARY TABLE kept")

    def _rename_table(self) -> None:
        table = self._rng.choice(self.tables)
        new = self._new_name("t")
        self._execute(f"RENAME TABLE {table.name} TO {new}")
        table.name = new
        self._log_anew(table)

    def _truncate(self) -> None:
        table = self._rng.choice(self.tables)
        self._execute(f"DELETE FROM {table.name}")
        self._execute(f"TRUNCATE TABLE {table.name}")

    def _begin_or_commit(self) -> None:
        self._execute(self._rng.choice(("BEGIN", "COMMIT", "ROLLBACK")))

    def _statement(self) -> None:
        """Log a statement that changes no row."""
        self._execute("COMMIT")
        self._execute("SET SESSION binlog_format = STATEMENT")
        self._try(f"INSERT INTO ignored VALUES ({self._rng.randint(0, 99)})")
        self._execute("SET SESSION binlog_format = ROW")

    def _value(self, kind: Kind) -> str:
        return "NULL" if self._rng.random() < 0.15 else kind.literal(self._rng)

    def _some_id(self) -> int:
        return self._rng.randint(max(1, self._last_id - 60), self._last_id + 1)

    def _new_name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def _execute(self, sql: str) -> None:
        self._cursor.execute(sql)

    def _try(self, sql: str) -> bool:
        """Run a statement; return whether the server accepted it."""
        try:
            self._execute(sql)
        except Exception as error:
            code: Any = error.args[0]
            if code not in _ERRORS_OF_CHANCE:
                raise
            return False
        return True
