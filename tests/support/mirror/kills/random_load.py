"""A random workload for mirrors: rows of all types, moved keys, transactions over several tables, and DDL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from binspark.testing.servers import Server
from tests.support.mirror.kills.random_ddl import RandomDdl
from tests.support.mirror.kills.random_table import RandomTable
from tests.support.mirror.random_tables import all_kinds

_LOST_CONNECTION = frozenset((0, 1053, 2003, 2006, 2013))
_MODES = ("STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES", "ALLOW_INVALID_DATES", "")
_MAX_TABLES = 7


@dataclass
class LoadCount:
    """What a workload did: statements by kind, and what the server refused."""

    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    transactions: int = 0
    rows: int = 0

    def add(self, other: LoadCount) -> None:
        """Add what another workload did."""
        self.done.update(other.done)
        self.refused.update(other.refused)
        self.transactions += other.transactions
        self.rows += other.rows


class ServerLost(Exception):
    """The server went away in the middle of a statement."""


class RandomLoad:
    """Changes the tables of one database over one connection. The same numbers give the same statements.

    only_full   log all columns of rows, as versions of rows need them
    """

    def __init__(self, server: Server, rng: Random, database: str, *, only_full: bool = False) -> None:
        self.database = database
        self.tables: list[RandomTable] = []
        self.count = LoadCount()
        self._server = server
        self._rng = rng
        self._ddl = RandomDdl(rng, all_kinds(server), self.tables, self._try)
        self._images = ("FULL",) if only_full else ("FULL", "FULL", "MINIMAL", "NOBLOB")
        self._image = "FULL"
        self._is_open = False
        self._connection: Any = None

    def begin(self) -> None:
        """Create the database and a few tables with rows."""
        with self._server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4")
        self.connect()
        for _ in range(4):
            self._ddl.create()
        for _ in range(12):
            self._insert()

    def connect(self) -> None:
        """Open the connection, again after the server was restarted. A table that a crash left unclear is found out."""
        self._is_open, self._image = False, "FULL"
        self._connection = self._server.connect(database=self.database)
        self._execute("SET SESSION time_zone = '+00:00'")
        self._execute(f"SET SESSION sql_mode = '{_MODES[0]}'")
        present = {row[0] for row in self._rows("SHOW TABLES")}
        for table in list(self.tables):
            if table.name not in present:
                self.tables.remove(table)
            else:
                table.agree([row[0] for row in self._rows(f"SHOW COLUMNS FROM `{table.name}`")])

    def step(self) -> None:
        """Do one random thing."""
        often = [self._insert, self._insert, self._update, self._update_many, self._delete, self._move_keys]
        seldom: list[Callable[[], None]] = [self._set_image, self._set_mode, self._large, self._flush, self._replace]
        if not self.tables:
            self._ddl.create()
        elif self._rng.random() < 0.07:
            self._commit()
            self._ddl.step(may_create=len(self.tables) < _MAX_TABLES)
        else:
            self._rng.choice([*often * 4, *seldom, *[self._begin_or_commit] * 4])()

    def end(self) -> None:
        """Commit what is left, and close the connection."""
        self._commit()
        self._connection.close()

    # --- Rows ---------------------------------------------------------------------------------------------------------

    def _insert(self, rows: int | None = None, how: str = "INSERT IGNORE") -> None:
        table = self._table()
        names = list(table.columns)
        count = rows or self._rng.choice((1, 1, 3, 40))
        lines = (f"({', '.join(table.values(self._rng, names))})" for _ in range(count))
        self._try("insert", f"{how} INTO `{table.name}` ({_listed(names)}) VALUES {', '.join(lines)}")

    def _replace(self) -> None:
        self._insert(how="REPLACE")

    def _large(self) -> None:
        """A transaction that is larger than what is applied at a time."""
        self._commit()
        self._execute("BEGIN")
        for _ in range(self._rng.randint(2, 6)):
            self._insert(rows=250)
        self._is_open = True
        self._commit()

    def _update(self) -> None:
        table = self._table()
        names = self._rng.sample(table.others, k=min(len(table.others), self._rng.randint(1, 3)))
        if names:
            changes = ", ".join(
                f"`{name}` = {value}" for name, value in zip(names, table.values(self._rng, names), strict=True)
            )
            self._try("update", f"UPDATE IGNORE `{table.name}` SET {changes} WHERE {table.some(self._rng)}")

    def _update_many(self) -> None:
        table = self._table()
        if table.others:
            name = self._rng.choice(table.others)
            (value,) = table.values(self._rng, [name])
            limit = self._rng.randint(1, 300)
            self._try("update many", f"UPDATE IGNORE `{table.name}` SET `{name}` = {value} LIMIT {limit}")

    def _delete(self) -> None:
        table = self._table()
        limit = self._rng.choice((1, 5, 60))
        self._try("delete", f"DELETE FROM `{table.name}` WHERE {table.some(self._rng)} LIMIT {limit}")

    def _move_keys(self) -> None:
        table = self._table()
        if table.key:
            name = self._rng.choice(table.key)
            (value,) = table.values(self._rng, [name])
            self._try(
                "move a key", f"UPDATE IGNORE `{table.name}` SET `{name}` = {value} WHERE {table.some(self._rng)}"
            )

    def _table(self) -> RandomTable:
        """Choose a table. The rows of one without a key are logged in full, as mirrors need them."""
        table = self._rng.choice(self.tables)
        if not table.key and self._image != "FULL":
            self._commit()
            self._set("FULL")
        return table

    # --- The session --------------------------------------------------------------------------------------------------

    def _begin_or_commit(self) -> None:
        if self._is_open:
            self._commit(self._rng.choice(("COMMIT", "COMMIT", "ROLLBACK")))
        else:
            self._execute("BEGIN")
            self._is_open = True

    def _commit(self, how: str = "COMMIT") -> None:
        if self._is_open:
            self._execute(how)
            self.count.transactions += 1
        self._is_open = False

    def _set_image(self) -> None:
        self._commit()
        self._set(self._rng.choice(self._images))

    def _set(self, image: str) -> None:
        self._image = image
        self._try("set the row image", f"SET SESSION binlog_row_image = {image}")

    def _set_mode(self) -> None:
        self._try("set the SQL mode", f"SET SESSION sql_mode = '{self._rng.choice(_MODES)}'")

    def _flush(self) -> None:
        self._commit()
        self._try("rotate the log", "FLUSH BINARY LOGS")

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def _execute(self, sql: str) -> int:
        try:
            with self._connection.cursor() as cursor:
                return int(cursor.execute(sql))
        except Exception as error:
            if not error.args or error.args[0] in _LOST_CONNECTION:
                raise ServerLost(str(error)) from error
            raise

    def _try(self, kind: str, sql: str) -> bool:
        """Run a statement; return whether the server accepted it."""
        try:
            self.count.rows += max(0, self._execute(sql))
        except ServerLost:
            raise
        except Exception as error:
            self.count.refused[f"{kind}: {error.args[0]}"] += 1
            return False
        self.count.done[kind] += 1
        self.count.transactions += not self._is_open
        return True


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
