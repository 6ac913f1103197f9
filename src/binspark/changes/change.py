"""A changed row."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, cast

from binspark.event.rows import RowOperation
from binspark.html_table import html_table
from binspark.schema.table import TableSchema
from binspark.values.as_json import row_json
from binspark.values.value import Absent, PartialRow, Row, Value

Named = dict[str, Value]
"""Values by the names of their columns: `@1`, `@2`, ... if the names are not known."""


class Change(NamedTuple):
    """A changed row.

    file, pos       the log file, and the position of the rows event in it (inside a payload: of the payload)
    row             the number of the row in its event; inside a payload, counted over all its events and tables
    gtid            the GTID of the transaction, None if it has none
    timestamp       the time of the event, in seconds since 1970
    server_id       the server that the change was made on
    thread_id       the thread that made it, None if the log does not have it
    statement       the statement that made it, if the log has it (ROWS_QUERY, ANNOTATE_ROWS): its first 1000 bytes
    op              `insert`, `update` or `delete`; `truncate` for all rows of the table, by TRUNCATE or DROP TABLE
    table_schema    the schema of the table at that position
    before_image    the old row, one value for each column of the table; None for an insert and a truncation
    after_image     the new row; None for a delete and a truncation

    `before`, `after` and `key` have the same values by name, without columns that are absent from the row image.
    """

    file: str
    pos: int
    row: int
    gtid: str | None
    timestamp: int
    server_id: int
    thread_id: int | None
    statement: str | None
    op: RowOperation
    table_schema: TableSchema
    before_image: Row | None
    after_image: Row | None

    @property
    def schema(self) -> str:
        """The database of the table."""
        return self.table_schema.schema

    @property
    def table(self) -> str:
        """The name of the table, without its database."""
        return self.table_schema.table

    @property
    def before(self) -> Named | None:
        """The old row; None for an insert."""
        return _named(self.before_image, self.table_schema)

    @property
    def after(self) -> Named | None:
        """The new row; None for a delete."""
        return _named(self.after_image, self.table_schema)

    @property
    def key_image(self) -> Row | None:
        """The values of the primary key, in the key's order: those of the old row, or of the new row for an insert.

        None if the table has no primary key, if its key is not known, or if a part of it is absent from the row image.
        """
        image = self.after_image if self.before_image is None else self.before_image
        indexes = self.table_schema.primary_key
        if image is None or not indexes:
            return None
        key = tuple(image[index] for index in indexes)
        return None if any(isinstance(value, Absent) for value in key) else key

    @property
    def key(self) -> Named | None:
        """The values of the primary key by name; see `key_image`."""
        key, indexes, names = self.key_image, self.table_schema.primary_key, self.table_schema.column_names
        if key is None or indexes is None:
            return None
        return {names[index]: value for index, value in zip(indexes, key, strict=True) if not isinstance(value, Absent)}

    def _repr_html_(self) -> str:
        """Return the change as a table of its columns, for notebooks."""
        before, after = self.before or {}, self.after or {}
        rows = ((name, before.get(name, ""), after.get(name, "")) for name in {**before, **after})
        title = f"{self.op} {self.schema}.{self.table} at {self.file}:{self.pos}+{self.row}"
        return html_table(("column", "before", "after"), rows, title)


def _named(image: Row | None, schema: TableSchema) -> Named | None:
    if image is None:
        return None
    named = dict(zip(schema.column_names, image, strict=True))
    if isinstance(image, PartialRow):
        named = {name: value for name, value in named.items() if not isinstance(value, Absent)}
    return cast(Named, named)


def key_json(change: Change) -> str:
    """Return the values of the primary key as a JSON object; `null` if the key is not known."""
    key, table = change.key_image, change.table_schema
    if key is None:
        return "null"
    columns = [replace(table.columns[index], name=table.column_names[index]) for index in table.primary_key or ()]
    return row_json(key, columns)


def image_json(image: Row | None, table: TableSchema) -> str:
    """Return a row image as a JSON object; `null` if there is none."""
    return "null" if image is None else row_json(image, table.columns)
