"""Rows of an undo that others have changed later: found in the rest of the logs, and on the server.

The logs are read once more, before the script is written: the rows that are undone, and all rows after them. One with
the key of a row that is undone, which is not itself undone, is a change by others. Memory has the rows of the undo and
what became of each of them, however large the logs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from binspark.changes.change import Change
from binspark.columns.metadata import Metadata
from binspark.columns.options import TimeFormat
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.errors import BinlogError, CannotUndo, DecodeError, SchemaError
from binspark.files.batches import source_batches
from binspark.files.condition_rows import make_readable_twice
from binspark.files.damage import Damage
from binspark.files.positions import NOWHERE
from binspark.files.sources import LogSource
from binspark.kernels import cache
from binspark.kernels.layout import Operation
from binspark.replication.chunk import LogChunk, read_chunks
from binspark.schema.history import SchemaHistory
from binspark.sql.keyed_rows import KeyedRows, Place
from binspark.sql.options import OnConflict
from binspark.sql.row_fields import Numbers
from binspark.sql.statements import RowStatement, statements_of

_NEVER: Place = (-1, 0, 0)
_NOW: Place = (1 << 62, 0, 0)
_MAX_ROWS = 20
_MAX_TRANSACTIONS = 3
_SELECTED = frozenset({Metadata.LOG_POS, Metadata.LOG_ROW})
_ROWS = _SELECTED | {Metadata.OP, Metadata.GTID}
_CHANGES = Operations.INSERT | Operations.UPDATE | Operations.DELETE
_ADVICE = (
    "Nothing was written. Undo these transactions, too, or use --on-conflict: skip leaves the rows as they are, merge "
    "restores the columns that nobody has changed later, overwrite restores the old values over the later ones"
)


@dataclass(slots=True, eq=False)
class UndoneRow:
    """A row that the undo changes, and what others have done with it.

    shown      the table and the key, for messages
    first      where it is undone first
    last       where others changed it last
    replaced   where others inserted or deleted a row of this key last, or changed the key
    columns    where others changed which column last; known if conflicts are merged
    by         the first transactions that changed it later, and what they did
    """

    shown: str
    first: Place
    last: Place = _NEVER
    replaced: Place = _NEVER
    columns: dict[int, Place] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)
    more: bool = False

    def touch(self, place: Place, columns: Iterable[int] | None = None) -> None:
        """Note a later change: of columns, or of the whole row."""
        self.last = max(self.last, place)
        if columns is None:
            self.replaced = max(self.replaced, place)
        for column in columns or ():
            self.columns[column] = max(self.columns.get(column, _NEVER), place)

    def note(self, by: str, operation: str) -> None:
        """Note who changed it later."""
        if len(self.by) < _MAX_TRANSACTIONS or by in self.by:
            self.by.setdefault(by, operation)
        else:
            self.more = True

    def __str__(self) -> str:
        listed = ", ".join(f"{operation} by {by}" for by, operation in self.by.items())
        return f"{self.shown}: {listed}{', …' if self.more else ''}"


class _Undone(NamedTuple):
    """A change that is undone.

    checked     the rows that others must not have changed later
    rows        the rows before and after it, which are changed for others if it is not undone
    is_update   whether it is an update of a row with a key
    """

    table: str
    checked: tuple[UndoneRow, ...]
    rows: tuple[UndoneRow, ...]
    is_update: bool


class Conflicts:
    """Collects the rows that an undo changes and what happened to them later; then decides on each conflict."""

    def __init__(self, selection: Selection, history: SchemaHistory, on_conflict: OnConflict) -> None:
        cache.enable()
        self._on_conflict = on_conflict
        self._selected_reader = BatchReader(_undone_rows(selection), _own(history))
        self._reader = BatchReader(_all_rows(selection), _own(history))
        self._files: dict[str, int] = {}
        self._rows: dict[tuple[int, int], UndoneRow] = {}
        self._first_words: set[int] = set()
        self._changes: dict[Place, _Undone] = {}
        self._columns: dict[str, tuple[str | None, ...]] = {}
        self._emptied: dict[str, tuple[Place, str]] = {}
        self._found: dict[Place, frozenset[int] | None] = {}
        self._events: dict[int, set[int]] = {}
        self._unread: list[BinlogError] = []
        self.rows: list[UndoneRow] = []
        """The rows of the undo that others have changed later."""

    def read_files(self, parts: Sequence[LogSource], later: Sequence[LogSource], *, skip_damaged: bool) -> None:
        """Read the parts of logs that are undone, then all of these logs and `later` ones: of tables with such rows."""
        on_damage = _ignore if skip_damaged else None
        tables: set[str] = set()
        selected = []
        for part in parts:
            make_readable_twice(part)
            selected.append(_numbers_of(source_batches(part, self._selected_reader, on_damage), tables))
        first = next((number for number, rows in enumerate(selected) if rows), None)
        if first is None:
            return
        of_tables = replace(self._reader.selection, tables=frozenset(tables))
        self._reader = BatchReader(of_tables, _own(self._reader.history))
        for number, part in enumerate(parts):
            source = replace(part, start=NOWHERE if number < first else part.start, stop=None)
            with self._unless(part.stop is None):
                self._take(part.name, selected[number], source_batches(source, self._reader, on_damage))
        for source in later:
            with self._unless(False):
                self._take(source.name, set(), source_batches(source, self._reader, on_damage))

    @contextmanager
    def _unless(self, is_undone: bool) -> Iterator[None]:
        """Note an error in a part of the logs after the undo; raise one in the undo itself."""
        try:
            yield
        except (DecodeError, SchemaError) as error:
            if is_undone:
                raise
            self._unread.append(error)

    def read_chunk(self, chunk: LogChunk) -> set[tuple[int, int]]:
        """Read a chunk of a server's log; return its selected rows."""
        selected = _numbers_of(read_chunks(self._selected_reader, iter([chunk])), set())
        self._take(chunk.file, selected, read_chunks(self._reader, iter([chunk])))
        return selected

    def rows_of(self, change: Change) -> tuple[UndoneRow, ...]:
        """Return the rows of a change that is undone, before and after it."""
        undone = self._changes.get(self._place(change))
        return () if undone is None else undone.rows

    def touch_now(self, row: UndoneRow, columns: Iterable[int] | None) -> None:
        """Note that a row of the server is not what the undo expects: in some columns, or all of it."""
        row.touch(_NOW, columns)
        row.note(
            "a change that is not in the log that was read", "changed" if columns is not None else "replaced or deleted"
        )

    def decide(self) -> None:
        """Decide on each conflict, when everything is read; an error if conflicts are refused."""
        listed: dict[UndoneRow, None] = {}
        for place in sorted(self._changes, reverse=True):
            undone = self._changes[place]
            emptied, by = self._emptied.get(undone.table, (_NEVER, ""))
            if emptied > place:
                for row in undone.checked:
                    row.touch(emptied)
                    row.note(by, "truncate")
            conflicting = [row for row in undone.checked if row.last > place]
            if conflicting:
                self._resolve(place, undone)
                listed |= dict.fromkeys(row for row in conflicting if row.by)
        self.rows = list(reversed(listed))
        if self.rows and self._on_conflict is OnConflict.REFUSE:
            raise CannotUndo("\n".join((f"cannot undo, because {self._summary}:", *self._listed(), _ADVICE)))

    def notices(self) -> Iterator[str]:
        """Yield what was found, and what becomes of it; and what could not be read."""
        for error in self._unread:
            yield f"{error}; whether rows of the undo were changed later is not known from there on"
        if self.rows:
            done = _DONE[self._on_conflict]
            yield "\n".join((f"{self._summary}; {done}:", *self._listed()))

    def has(self, change: Change) -> bool:
        """Return whether a change is in conflict with later ones."""
        return self._place(change) in self._found

    def resolved(self, change: Change) -> RowStatement | None:
        """Return the statement for a change that is in conflict with later ones; None if it is not undone."""
        statements = statements_of(change.table_schema)
        if self._on_conflict is OnConflict.OVERWRITE:
            return statements.overwrite(change)
        changed_later = self._found[self._place(change)]
        return None if changed_later is None else statements.merge(change, changed_later)

    def events_of(self, file: str) -> Numbers:
        """Return the positions of the events of a log that have such changes."""
        return np.array(sorted(self._events.get(self._files.get(file, -1), ())), dtype=np.int64)

    # --- reading ------------------------------------------------------------------------------------------------------

    def _place(self, change: Change) -> Place:
        return self._files.get(change.file, -1), change.pos, change.row

    def _take(self, file: str, selected: set[tuple[int, int]], batches: Iterable[TableBatch]) -> None:
        log = self._files.setdefault(file, len(self._files))
        for found in batches:
            positions, rows = (found.origin(name).to_pylist() for name in (Metadata.LOG_POS, Metadata.LOG_ROW))
            batch = KeyedRows(log, found, positions, rows)
            undone = [number for number, where in enumerate(zip(positions, rows, strict=True)) if where in selected]
            if undone or found.table.name in self._columns:
                self._take_batch(batch, undone)

    def _take_batch(self, batch: KeyedRows, undone: Sequence[int]) -> None:
        names = self._columns.setdefault(batch.table.name, batch.table.column_names)
        if undone:
            statements_of(batch.table)  # an error if the names of its columns are not known, nor its key therefore
        for number in undone:
            self._add(batch, number)
        known, changes = self._first_words, set(undone)
        for number, (old, new) in enumerate(zip(batch.old_words, batch.new_words, strict=True)):
            if batch.operations[number] == Operation.TRUNCATE:
                self._emptied[batch.table.name] = batch.place(number), batch.by(number)
            elif (old in known or new in known) and number not in changes:
                self._touch(batch, number, is_same=names == batch.table.column_names)

    def _add(self, batch: KeyedRows, number: int) -> None:
        """Add a change that is undone."""
        operation = batch.operations[number]
        old, new = batch.old_key(number), batch.new_key(number)
        place = batch.place(number)
        if not batch.has_key and operation == Operation.DELETE:  # it is inserted again, which no other row prevents
            known = self._rows.get(new)
            self._changes[place] = _Undone(batch.table.name, (), () if known is None else (known,), is_update=False)
            return
        after = self._row(batch, number, new, place)
        before = after if old == new else self._row(batch, number, old, place)
        rows = (after,) if before is after or operation != Operation.UPDATE else (before, after)
        is_update = batch.has_key and operation == Operation.UPDATE
        self._changes[place] = _Undone(batch.table.name, rows if batch.has_key else (after,), rows, is_update)

    def _row(self, batch: KeyedRows, number: int, key: tuple[int, int], place: Place) -> UndoneRow:
        self._first_words.add(key[0])
        return self._rows.setdefault(key, UndoneRow(batch.shown(number), place))

    def _touch(self, batch: KeyedRows, number: int, *, is_same: bool) -> None:
        """Note a change by others, if it is of a row that is undone before it."""
        operation, place = batch.operations[number], batch.place(number)
        old, new = batch.old_key(number), batch.new_key(number)
        if not batch.has_key:
            keys = [old] if operation != Operation.INSERT else []
        else:
            keys = [new] if old == new else [old, new]
        columns = None
        if operation == Operation.UPDATE and old == new and batch.has_key and is_same:
            columns = batch.changed(number) if self._on_conflict is OnConflict.MERGE else ()
        for key in keys:
            row = self._rows.get(key)
            if row is not None and place > row.first:
                row.touch(place, columns)
                row.note(batch.by(number), Operation(operation).name.lower())

    # --- decisions ----------------------------------------------------------------------------------------------------

    def _resolve(self, place: Place, undone: _Undone) -> None:
        """Decide what becomes of a change that others have changed rows of. It is asked for from the last one on.

        A change that is not undone counts as one of others for the changes before it.
        """
        *before, after = undone.rows
        self._found[place] = None
        self._events.setdefault(place[0], set()).add(place[1])
        if self._on_conflict is OnConflict.OVERWRITE:
            return
        is_merged = self._on_conflict is OnConflict.MERGE and undone.is_update and after.replaced <= place
        if not is_merged or any(row.last > place for row in before):
            for row in undone.rows:
                row.touch(place)
            return
        later = {column: where for column, where in after.columns.items() if where > place}
        self._found[place] = frozenset(later)
        for row in before:
            row.touch(after.last, later)

    @property
    def _summary(self) -> str:
        count = len(self.rows)
        return (
            f"{count} {'row was' if count == 1 else 'rows were'} changed later by others than the transactions that "
            "are undone"
        )

    def _listed(self) -> list[str]:
        rest = len(self.rows) - _MAX_ROWS
        more = [f"  … and {rest} more"] if rest > 0 else []
        return [*(f"  {row}" for row in self.rows[:_MAX_ROWS]), *more]


_DONE = {
    OnConflict.SKIP: "such rows stay as they are",
    OnConflict.MERGE: "of updates, the columns that nobody has changed later are restored; deleted rows stay deleted",
    OnConflict.OVERWRITE: "the script restores the old values over the later ones",
}


def _undone_rows(selection: Selection) -> Selection:
    """Return what finds the rows that are undone, without their values."""
    operations = selection.operations & _CHANGES
    return replace(
        selection, columns=(), metadata_columns=_SELECTED, in_windows=True, diffs=True, operations=operations, seen=None
    )


def _all_rows(selection: Selection) -> Selection:
    """Return what reads all rows of the tables of a selection, with exact values."""
    everything = Selection(tables=selection.tables, excluded=selection.excluded, options=selection.options)
    wanted = replace(everything.with_complete_rows(), origins=False, metadata_columns=_ROWS)
    return replace(wanted, options=replace(wanted.options, exact=True, time=TimeFormat.STRING))


def _own(history: SchemaHistory) -> SchemaHistory:
    return SchemaHistory(history.base, lower_case_names=history.lower_case_names)


def _numbers_of(batches: Iterable[TableBatch], tables: set[str]) -> set[tuple[int, int]]:
    """Return where rows are; add the names of their tables."""
    found: set[tuple[int, int]] = set()
    for batch in batches:
        tables.add(batch.table.name)
        positions, rows = (batch.origin(name).to_pylist() for name in (Metadata.LOG_POS, Metadata.LOG_ROW))
        found.update(zip(positions, rows, strict=True))
    return found


def _ignore(_damage: Damage) -> None:
    """Leave it to the reader of the script to report damage."""
