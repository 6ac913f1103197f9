"""What is known of tables before a log begins: a dump in a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from binspark.os_errors import source_errors
from binspark.schema.dump import from_dump
from binspark.schema.history import SchemaHistory, UnreadableDdl

_DATABASE = re.compile(r"^-- Host: .*?Database: (\S+)\s*$", re.MULTILINE)
_HEADER = 2000

Schema = str | Path | SchemaHistory | None
"""A file with a dump, or a history of one's own."""


def history_of(schema: Schema, on_unreadable: Callable[[UnreadableDdl], None] | None = None) -> SchemaHistory:
    """Return the history that a log begins with. A dump of one database says only in its first lines which it is."""
    if isinstance(schema, SchemaHistory):
        return schema
    if schema is None:
        return SchemaHistory(on_unreadable=on_unreadable)
    with source_errors(schema):
        sql = Path(schema).read_text(encoding="utf-8", errors="backslashreplace")
    database = _DATABASE.search(sql[:_HEADER])
    return SchemaHistory(from_dump(sql, database[1] if database else ""), on_unreadable)
