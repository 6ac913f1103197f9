"""The tables that are known before a log begins, from a file with a dump."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

from binspark.os_errors import source_errors
from binspark.schema.dump import from_dump
from binspark.schema.history import SchemaHistory
from binspark.schema.notices import AboutRows, DoubtfulTable, SchemaNotice

log = logging.getLogger("binspark.files")

# A dump of a single database names it only in the comment at its top.
_DATABASE = re.compile(r"^-- Host: .*?Database: (\S+)\s*$", re.MULTILINE)
_HEADER = 2000

Schema = str | Path | SchemaHistory | None
"""A file with a dump (`mysqldump --no-data`), or a history that the caller made."""


def history_of(schema: Schema, on_notice: Callable[[SchemaNotice], None] | None = None) -> SchemaHistory:
    """Return the history of schemas that reading begins with. A file takes precedence over the DDL of the log."""
    if isinstance(schema, SchemaHistory):
        return schema
    if schema is None:
        return SchemaHistory(on_notice=on_notice)
    with source_errors(schema):
        sql = Path(schema).read_text(encoding="utf-8", errors="backslashreplace")
    database = _DATABASE.search(sql[:_HEADER])
    catalog = from_dump(sql, database[1] if database else "")
    catalog.override()
    return SchemaHistory(catalog, on_notice)


def log_statement(notice: SchemaNotice) -> None:
    """Log a warning of changes that a reader of rows does not find, or finds although they were rolled back.

    And of tables whose rows are read without their names, because their definitions contradict the log.
    """
    if isinstance(notice, AboutRows):
        log.warning("%s: %s", notice.position, notice)


def log_doubtful_table(notice: SchemaNotice) -> None:
    """Log a warning of a table whose definition contradicts the log: only who reads its rows finds that.

    For executors, whose driver has read the statements, and warned of them.
    """
    if isinstance(notice, DoubtfulTable):
        log_statement(notice)
