"""A part of a table: the rows between two keys."""

from __future__ import annotations

import json
from dataclasses import dataclass

from binspark.errors import SchemaError
from binspark.mirror.snapshot.select import Literals


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows of a table after one key, up to and including another; None for the first and the last chunk.

    The values of keys are SQL literals. The order is that of the server.
    """

    low: Literals | None = None
    high: Literals | None = None

    @property
    def is_last(self) -> bool:
        """Whether no chunk follows."""
        return self.high is None

    def to_json(self) -> str:
        """Return the chunk as JSON."""
        return json.dumps([self.low, self.high], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Chunk:
        """Return the chunk of a JSON text."""
        try:
            low, high = json.loads(text)
            return cls(_literals(low), _literals(high))
        except (ValueError, TypeError) as error:
            raise SchemaError(f"not a chunk of a snapshot: {text!r} ({error})") from None


COMPLETE = Chunk()
"""All rows of a table."""


def _literals(values: list[str] | None) -> Literals | None:
    if values is None:
        return None
    if not all(isinstance(value, str) for value in values):
        raise TypeError("expected a list of SQL literals")
    return tuple(values)
