"""Rows of recorded logs and of running servers, for tests of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from binspark.event import Event, Rows, TableMap
from binspark.files import read_events
from binspark.schema.table import TableSchema
from binspark.schema.table_map import from_table_map
from binspark.testing.servers import Server
from binspark.values import Column, Row, RowChange, rows_of


class TableRows(NamedTuple):
    """A rows event, the table it belongs to, and its decoded rows."""

    event: Event
    schema: TableSchema
    changes: list[RowChange]

    @property
    def images(self) -> list[Row]:
        """The row images in the order of the log."""
        return [image for change in self.changes for image in change if image is not None]


def rows_in(log: Path, *, mariadb: bool, reshape: Callable[[Column], Column] = lambda c: c) -> Iterator[TableRows]:
    """Yield every rows event of a log, decoded with the columns that the log describes, changed by `reshape`."""
    tables: dict[int, TableSchema] = {}
    for event in read_events(log):
        match event.body:
            case TableMap() as table_map:
                schema = from_table_map(table_map, mariadb=mariadb)
                tables[table_map.table_id] = replace(schema, columns=tuple(map(reshape, schema.columns)))
            case Rows() as rows:
                schema = tables[rows.table_id]
                yield TableRows(event, schema, list(rows_of(event, schema.columns)))


def is_mariadb(log: Path) -> bool:
    return "mariadb" in log.parts


def logged_by(server: Server, script: str) -> list[TableRows]:
    """Run a script on a server in a log of its own, and return the rows that it logged."""
    server.run_sql(f"FLUSH BINARY LOGS; {script}", "--default-character-set=utf8mb4")
    return list(rows_in(server.log_files()[-1], mariadb=server.family.title == "MariaDB"))
