"""Random work on a table: rows come, change, move to other keys and go, all at once at times."""

from __future__ import annotations

import random
from typing import Any

from pyspark.sql import DataFrame

from binspark.testing.servers import Server

DEFINITION = "(id INT, part INT, item VARCHAR(40), amount INT, PRIMARY KEY (id, part))"
NAMES = ("id", "part", "item", "amount")


class RandomWork:
    """Statements about one table, the same ones for a seed."""

    def __init__(self, table: str, seed: int) -> None:
        self._table = table
        self._random = random.Random(seed)
        self._last = 0

    def create(self, server: Server) -> None:
        server.query(f"CREATE TABLE {self._table} {DEFINITION}")

    def run(self, server: Server, statements: int) -> None:
        for _ in range(statements):
            for statement in self._statements():
                server.query(statement)

    def _statements(self) -> list[str]:
        table, chance = self._table, self._random
        some = f"id % {chance.randint(2, 5)} = {chance.randint(0, 4)}"
        step = chance.randint(1, 3) * 1000
        inserts = [f"INSERT INTO {table} VALUES {self._values()}"]
        choices: list[tuple[float, list[str]]] = [
            (8, inserts),
            (6, [f"UPDATE {table} SET amount = {self._amount()} WHERE {some}"]),
            (4, [f"UPDATE {table} SET item = IF(amount > 5, NULL, 'other'), amount = 1 WHERE {some}"]),
            (3, [f"DELETE FROM {table} WHERE {some} ORDER BY id LIMIT 3"]),
            (2, [f"UPDATE {table} SET id = id + {step} WHERE {some} ORDER BY id DESC"]),
            (1, [f"UPDATE {table} SET part = -part, item = 'moved' WHERE {some}"]),
            (0.4, [f"TRUNCATE TABLE {table}"]),
            (0.3, [f"DROP TABLE {table}", f"CREATE TABLE {table} {DEFINITION}"]),
        ]
        weights, statements = zip(*choices, strict=True)
        return list(chance.choices(statements, weights)[0])

    def _values(self) -> str:
        rows = []
        for _ in range(self._random.randint(1, 6)):
            self._last += 1
            rows.append(f"({self._last}, {self._random.randint(1, 3)}, 'item {self._last}', {self._amount()})")
        return ", ".join(rows)

    def _amount(self) -> str:
        return self._random.choice(("NULL", "3", "7", "9"))


def stored(server: Server, table: str) -> list[tuple[Any, ...]]:
    """Return the rows that a server has."""
    return sorted(server.query(f"SELECT {', '.join(NAMES)} FROM {table}"))


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a DataFrame."""
    return sorted(tuple(row[name] for name in NAMES) for row in frame.collect())
