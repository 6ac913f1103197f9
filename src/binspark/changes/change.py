"""One changed row."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.rows import RowOperation
from binspark.schema.table import TableSchema
from binspark.values.value import Absent, Row, Value

Named = dict[str, Value]
"""Values by the names of their columns; `@1`, `@2`, ... where nothing tells the names."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one row.

    file, pos       the log, and the offset of the rows event in it (inside a payload: of the payload)
    row             the number of the row in its event; inside a payload through all of its events and tables
    gtid            of the transaction, None where it has none
    timestamp       of the event, in seconds since 1970
    op              `insert`, `update` or `delete`
    table_schema    the shape of the table at that time
    before_image    the old row, a value for each column of the table; None for an insert
    after_image     the new row; None for a delete

    `before`, `after` and `key` are the same by name: a column that the image leaves out is left out.
    """

    file: str
    pos: int
    row: int
    gtid: str | None
    timestamp: int
    server_id: int
    op: RowOperation
    table_schema: TableSchema
    before_image: Row | None
    after_image: Row | None

    @property
    def schema(self) -> str:
        return self.table_schema.schema

    @property
    def table(self) -> str:
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
        """The values of the primary key in the key's order, from before the change where there was a row.

        None where the table has no primary key, nothing tells whether it has one, or the image leaves part of it out.
        """
        image = self.after_image if self.before_image is None else self.before_image
        indexes = self.table_schema.primary_key
        if image is None or not indexes:
            return None
        key = tuple(image[index] for index in indexes)
        return None if any(isinstance(value, Absent) for value in key) else key

    @property
    def key(self) -> Named | None:
        """The values of the primary key by name, see `key_image`."""
        key, indexes, names = self.key_image, self.table_schema.primary_key, self.table_schema.column_names
        if key is None or indexes is None:
            return None
        return {names[index]: value for index, value in zip(indexes, key, strict=True) if not isinstance(value, Absent)}


def _named(image: Row | None, schema: TableSchema) -> Named | None:
    if image is None:
        return None
    return {
        name: value for name, value in zip(schema.column_names, image, strict=True) if not isinstance(value, Absent)
    }
