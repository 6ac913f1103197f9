"""How rows are written as lines. Light: who writes few rows needs no kernels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, tzinfo
from enum import StrEnum


class LineFormat(StrEnum):
    """What lines are."""

    TEXT = "text"
    JSON = "jsonl"


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How rows are written.

    format           JSON, or text for people
    max_value        maximum characters of a value in text, 0 for no limit
    max_statement    the same for the statement in a heading
    zone             the time zone of times in text
    """

    format: LineFormat
    max_value: int = 0
    max_statement: int = 0
    zone: tzinfo = UTC

    @property
    def has_headings(self) -> bool:
        """Whether there is a heading before the rows of each transaction and statement."""
        return self.format is LineFormat.TEXT


@dataclass(slots=True)
class Heading:
    """The last heading that was written. It is not repeated for rows to which it applies, too."""

    last: bytes = b""


def quoted(text: str) -> str:
    """Return text as JSON."""
    return json.dumps(text, ensure_ascii=False)


def statement_json(statement: str, max_length: int = 0) -> str:
    """Return a statement as JSON, cut off where it is longer than a number of characters; 0 for no limit."""
    if max_length and len(statement) > max_length:
        statement = statement[: max_length - 1] + "…"
    return quoted(statement)


def encoded(text: str) -> bytes:
    """Return text as UTF-8; bytes of a log that are not text come back as they were."""
    return text.encode("utf-8", "surrogateescape")
