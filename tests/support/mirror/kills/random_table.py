"""A table of a random workload: its columns, its key, and random values for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.support.replay.random_types import Kind, quoted

_NULLS = 0.12
INT_KEY = Kind("INT NOT NULL", lambda rng: str(rng.randint(1, 400)), int)
KEYS: tuple[tuple[Kind, ...], ...] = (
    (INT_KEY,),
    (INT_KEY,),
    (Kind("BIGINT UNSIGNED NOT NULL", lambda rng: str((1 << 64) - rng.randint(1, 300)), int),),
    (Kind("VARCHAR(30) NOT NULL", lambda rng: quoted(f"{rng.choice('aAzZäö ')}{rng.randint(1, 150)}"), str),),
    (
        Kind("VARBINARY(9) NOT NULL", lambda rng: f"X'{rng.randint(1, 40):04x}'", bytes),
        Kind("DATE NOT NULL", lambda rng: f"'2024-02-{rng.randint(1, 28):02}'", str),
    ),
    (Kind("DECIMAL(12,3) NOT NULL", lambda rng: f"{rng.randint(-200, 200)}.125", str), INT_KEY),
    (),
)


@dataclass
class RandomTable:
    """A table, with its columns in order and the names of those in its key."""

    name: str
    columns: dict[str, Kind] = field(default_factory=dict)
    key: tuple[str, ...] = ()

    @property
    def others(self) -> list[str]:
        """The columns that are not in the key."""
        return [name for name in self.columns if name not in self.key]

    def definition(self) -> str:
        """Return what CREATE TABLE has in parentheses."""
        parts = [f"`{name}` {kind.sql}{'' if name in self.key else ' NULL'}" for name, kind in self.columns.items()]
        if self.key:
            parts.append(f"PRIMARY KEY ({', '.join(f'`{name}`' for name in self.key)})")
        return ", ".join(parts)

    def values(self, rng: Random, names: Sequence[str]) -> list[str]:
        """Return random literals for columns."""
        return [
            "NULL" if name not in self.key and rng.random() < _NULLS else self.columns[name].literal(rng)
            for name in names
        ]

    def some(self, rng: Random) -> str:
        """Return a condition that some rows fulfil."""
        if not self.key:
            return f"RAND({rng.randint(0, 999)}) < 0.05"
        name = self.key[0]
        (value,) = self.values(rng, [name])
        (other,) = self.values(rng, [name])
        return rng.choice((f"`{name}` = {value}", f"`{name}` BETWEEN {value} AND {other}"))

    def agree(self, present: Sequence[str]) -> None:
        """Take the columns that the server has: a statement may have been finished when the connection was lost."""
        self.columns = {name: self.columns[name] for name in present if name in self.columns}
        self.key = tuple(name for name in self.key if name in self.columns)
