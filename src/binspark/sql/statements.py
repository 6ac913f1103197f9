"""Changed rows of a table as statements: the change again, or its inverse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from binspark.changes.change import Change
from binspark.errors import CannotUndo, SchemaError
from binspark.event.rows import RowOperation
from binspark.position import Position
from binspark.schema.sql.create import SEQUENCE_COLUMNS
from binspark.schema.table import TableSchema
from binspark.sql.documents import diffs_sql, document_sql
from binspark.sql.literals import column_sql
from binspark.sql.quoting import quoted_name
from binspark.sql.versioned import Images, current_images, row_end_of
from binspark.values.column import Column
from binspark.values.value import ABSENT, Absent, BinaryDiffs, Row, Value

_SHOWN_COLUMNS = 5
_INEXACT = " /* of t"  # in the literal of a document with a value of a type that no expression has: see `documents`
_OF_SEQUENCES = tuple(name for name, _, _ in SEQUENCE_COLUMNS)


class RowStatement(NamedTuple):
    """A statement that changes one row.

    lenient   a strict server refuses one of its values
    counted   it must find its row
    """

    text: str
    lenient: bool = False
    counted: bool = False


class TableStatements:
    """Writes the changes of a table at one schema version.

    name      the name of the table, quoted
    columns   how values of each column are written
    settable  the indexes of the columns that statements may set
    key       the indexes of the columns of the key, none if there is no key
    guards    the indexes of the columns that an undo compares besides the key: that no other change is lost
    by_row    whether a change of a row is not always the statement of the same name
    """

    def __init__(self, table: TableSchema) -> None:
        self._table = table
        self.columns = tuple(map(column_sql, _named(table)))
        self.name = f"{quoted_name(table.schema)}.{quoted_name(table.table)}"
        self.key = key_of(table)
        self._row_end = row_end_of(table)
        self._is_sequence = table.column_names == _OF_SEQUENCES
        self.by_row = self._is_sequence or self._row_end is not None
        self.settable = [index for index, column in enumerate(self.columns) if column.settable]
        self.guards = [index for index in self.settable if index not in self.key or self.columns[index].is_inexact]

    def again(self, change: Change) -> RowStatement | None:
        """Return the statement that makes the change again; None if it changes nothing."""
        before, after = self._images(change)
        if before is None:
            return None if after is None else self._insert(after)
        if after is None:
            return self._delete(before)
        return self._update(before, after)

    def undo(self, change: Change, *, guarded: bool = True) -> RowStatement | None:
        """Return the statement that undoes the change; an error if the log does not have what it needs.

        A row that is `guarded` is found only if it is as the change left it. The numbers of a sequence remain used, as
        they do when a server rolls back.
        """
        before, after = self._undone(change)
        guards = self.guards if guarded else ()
        if before is not None and after is not None:
            current = self._identified(_merged(before, after), change)
            return _counted(self._update(current, _restored(before, after), before, guards))
        if after is not None:
            return _counted(self._delete(self._identified(after, change), guards))
        return None if before is None else self._insert(before)

    def merge(self, change: Change, changed_later: AbstractSet[int]) -> RowStatement | None:
        """Return the statement that restores the columns of an update that nobody has changed later."""
        before, after = self._undone(change)
        if before is None or after is None:
            return None
        current = self._identified(_merged(before, after), change)
        restored = tuple(
            ABSENT if index in changed_later else value for index, value in enumerate(_restored(before, after))
        )
        guards = [index for index in self.guards if _differs(current[index], restored[index])]
        return _counted(self._update(current, restored, before, guards))

    def overwrite(self, change: Change) -> RowStatement | None:
        """Return statements that give the row the values from before the change again, over later ones.

        Of an update, they are those of the columns that it changed, and all of them if the row was deleted later.
        """
        before, after = self._undone(change)
        if before is None:
            return None if after is None else self._delete(self._keyed(after, change))
        row = self._keyed(before, change)
        self._refuse(change, [index for index in self.settable if row[index] is ABSENT], "before")
        if after is None:
            key_alone = tuple(value if index in self.key else ABSENT for index, value in enumerate(row))
            update, moved = self._update(key_alone, row), False
        else:
            current = _merged(before, after)
            update = self._update(current, _restored(before, after))
            moved = any(_differs(current[index], row[index]) for index in self.key)
        made = [self._delete(row)] if moved else []  # a row that has taken its place
        made += [] if update is None else [update]
        made.append(self._insert(row, unless=self._condition(row)))
        return RowStatement(";\n".join(one.text for one in made), any(one.lenient for one in made))

    def images_left(self, change: Change) -> Images:
        """Return the row before a change, and all values that it has left; None if there is no such row."""
        before, after = self._undone(change)
        return before, after if before is None or after is None else _merged(before, after)

    def compared(self, image: Row) -> list[int]:
        """Return the columns that `comparison` compares."""
        return [index for index in self.guards if self.key and self._guard(index, image[index], image)]

    def comparison(self, number: int, image: Row) -> str:
        """Return the query for a row: a number, and a digit for each column of `compared`, 1 if it is equal."""
        digits = ", ".join(f"({self._guard(index, image[index], image)})" for index in self.compared(image))
        return f"(SELECT {number}, CONCAT({digits or repr('')}) FROM {self.name} WHERE {self._condition(image)})"  # noqa: S608

    def _undone(self, change: Change) -> Images:
        """Return the row before and after a change that is to be undone; an error if an old value is not in the log."""
        before, after = (None, None) if self._is_sequence else self._images(change)
        if before is not None:
            wanted = [index for index in self.settable if after is None or after[index] is not ABSENT]
            self._refuse(change, [index for index in wanted if before[index] is ABSENT], "before")
        return before, after

    def _keyed(self, image: Row, change: Change) -> Row:
        """Return a row image, which must have a key."""
        if not self._has_key(image):
            raise CannotUndo(
                f"cannot overwrite row {change.row} in {self._table.name}, which was changed later: the log has no key "
                "by which it could be found; use --on-conflict skip",
                Position(file=change.file, offset=change.pos),
            )
        return image

    def _images(self, change: Change) -> Images:
        """Return the row before and after a change; neither if no statement makes the change."""
        if self._row_end is None:
            return change.before_image, change.after_image
        return current_images(change.before_image, change.after_image, self._row_end)

    def _identified(self, image: Row, change: Change) -> Row:
        """Return a row image, which must identify the row: by its key, or by all of its values."""
        if not self._has_key(image):
            wanted = self.key or range(len(self.columns))
            missing = [index for index in wanted if image[index] is ABSENT and self.columns[index].settable]
            self._refuse(change, missing, "after" if change.op is RowOperation.INSERT else "before")
        return image

    def _insert(self, image: Row, unless: str = "") -> RowStatement:
        """Return an INSERT of the columns that an image has, `unless` a row meets a condition."""
        present = [index for index in self.settable if image[index] is not ABSENT]
        names = ", ".join(self.columns[index].name for index in present)
        values = ", ".join(self.columns[index].value(_known(image[index])) for index in present)
        text = f"INSERT INTO {self.name} ({names}) VALUES ({values})"  # noqa: S608 (everything is quoted)
        if unless:
            there = f"EXISTS (SELECT 1 FROM {self.name} WHERE {unless})"  # noqa: S608
            text = f"INSERT INTO {self.name} ({names}) SELECT {values} FROM DUAL WHERE NOT {there}"  # noqa: S608
        return RowStatement(text, self._is_lenient(image, present))

    def _delete(self, image: Row, guards: Sequence[int] = ()) -> RowStatement:
        return RowStatement(f"DELETE FROM {self.name} WHERE {self._condition(image, guards=guards)}")  # noqa: S608

    def _update(
        self, before: Row, after: Row, documents: Row | None = None, guards: Sequence[int] = ()
    ) -> RowStatement | None:
        """Return an UPDATE of what differs. `documents` has the documents that partial updates apply to."""
        changed = [index for index in self.settable if _differs(before[index], after[index])]
        if not changed:
            return None
        settings = [
            self._setting(index, after[index])
            if index in changed
            else f"{column.name} = {column.name}"  # otherwise the server may set it to the current time
            for index, column in enumerate(self.columns)
            if index in changed or column.keeps_time
        ]
        condition = self._condition(before, documents, guards)
        text = f"UPDATE {self.name} SET {', '.join(settings)} WHERE {condition}"  # noqa: S608
        return RowStatement(text, self._is_lenient(after, changed))

    def _setting(self, index: int, value: Value | Absent) -> str:
        column = self.columns[index]
        if isinstance(value, BinaryDiffs):
            return f"{column.name} = {diffs_sql(column.name, value.diffs)}"
        return f"{column.name} = {column.value(_known(value))}"

    def _has_key(self, image: Row) -> bool:
        return bool(self.key) and all(image[index] is not ABSENT for index in self.key)

    def _condition(self, image: Row, documents: Row | None = None, guards: Sequence[int] = ()) -> str:
        """Return the condition for a row: by its key if there is one, else by all values, for one of equal rows.

        `guards` are columns that are compared besides the key. A document that no expression equals is not compared.
        """
        if self._has_key(image):
            conditions = [self.columns[index].is_key(_known(image[index])) for index in self.key]
            conditions += (self._guard(index, image[index], documents) for index in guards)
            return " AND ".join(filter(None, conditions))
        every = range(len(self.columns))
        return (
            " AND ".join(filter(None, (self._equals(index, image[index], documents) for index in every))) + " LIMIT 1"
        )

    def _guard(self, index: int, value: Value | Absent, documents: Row | None) -> str:
        condition = self._equals(index, value, documents)
        return "" if self._table.columns[index].is_document and _INEXACT in condition else condition

    def _equals(self, index: int, value: Value | Absent, documents: Row | None) -> str:
        """Return the condition that a column has a value; empty if the value is not in the log, or not the column's."""
        column = self.columns[index]
        if isinstance(value, BinaryDiffs):
            return f"{column.name} <=> {diffs_sql(_document(documents, index), value.diffs)}"
        return column.equals(_known(value)) if value is not ABSENT and column.settable else ""

    def _is_lenient(self, image: Row, indexes: Iterable[int]) -> bool:
        columns = self.columns
        return any(columns[index].lenient is not None and image[index] == columns[index].lenient for index in indexes)

    def _refuse(self, change: Change, missing: Sequence[int], image: str) -> None:
        if not missing:
            return
        names = [self._table.column_names[index] for index in missing]
        listed = ", ".join(names[:_SHOWN_COLUMNS]) + (", …" if len(names) > _SHOWN_COLUMNS else "")
        kind = "column" if len(names) == 1 else "columns"
        raise CannotUndo(
            f"cannot undo the {change.op.value} of row {change.row} in {self._table.name}: the {image} image does not "
            f"contain {kind} {listed} (binlog_row_image is not FULL); take the old rows from a backup, to which "
            "`binspark restore` applies the logs up to this position",
            Position(file=change.file, offset=change.pos),
        )


def key_of(table: TableSchema) -> tuple[int, ...]:
    """Return the indexes of the columns by which a row of a table is found, none if it has no key."""
    return tuple(index for index in table.primary_key or () if not table.columns[index].row_end)


def _counted(made: RowStatement | None) -> RowStatement | None:
    return None if made is None else made._replace(counted=True)


@lru_cache(maxsize=256)
def statements_of(table: TableSchema) -> TableStatements:
    """Return what writes the changes of a table."""
    return TableStatements(table)


def _named(table: TableSchema) -> tuple[Column, ...]:
    unnamed = [number for number, column in enumerate(table.columns, 1) if not column.name and not column.generated]
    if unnamed:
        raise SchemaError(
            f"{table.name}: the log does not have the names of the columns (binlog_row_metadata=FULL); use "
            "--schema-file with a dump of the tables (mysqldump --no-data), or read the server's log with --host"
        )
    return table.columns


def _known(value: Value | Absent) -> Value:
    assert not isinstance(value, Absent)
    return value


def _document(documents: Row | None, index: int) -> str:
    document = (documents or ())[index]
    assert isinstance(document, bytes)
    return document_sql(document)


def _differs(before: Value | Absent, after: Value | Absent) -> bool:
    """Return whether a column is to be set. Floats that are equal may be 0 and -0."""
    if after is ABSENT:
        return False
    if isinstance(after, float) and isinstance(before, float):
        return before != after or math.copysign(1, before) != math.copysign(1, after)
    return before != after


def _merged(before: Row, after: Row) -> Row:
    """Return the row after an update, with the values that the after image does not contain because they are old."""
    return tuple(old if new is ABSENT else new for old, new in zip(before, after, strict=True))


def _restored(before: Row, after: Row) -> Row:
    """Return the old values of the columns that an update has set."""
    return tuple(ABSENT if new is ABSENT else old for old, new in zip(before, after, strict=True))
