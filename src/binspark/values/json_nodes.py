"""A JSON document in memory: Python values, with objects that keep their members as they were stored."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

MAX_DEPTH = 100
"""Servers neither store nor print documents of more nested arrays and objects than this."""


@dataclass(slots=True)
class JsonObject:
    """Members in the order in which they are stored. Servers order keys by length, then by bytes."""

    members: list[tuple[str, JsonNode]]

    def find(self, key: str) -> int:
        """Return where a key stands among the members, or -1."""
        return next((index for index, (name, _) in enumerate(self.members) if name == key), -1)

    def add(self, key: str, value: JsonNode) -> None:
        """Add a member at the place where a server keeps it."""
        rank = _key_rank(key)
        greater = (index for index, (name, _) in enumerate(self.members) if _key_rank(name) > rank)
        self.members.insert(next(greater, len(self.members)), (key, value))


JsonNode: TypeAlias = bool | int | float | Decimal | str | list["JsonNode"] | JsonObject | None
"""Dates, times and other values that JSON does not know are the strings that servers print for them."""


def _key_rank(key: str) -> tuple[int, bytes]:
    encoded = key.encode()
    return len(encoded), encoded
