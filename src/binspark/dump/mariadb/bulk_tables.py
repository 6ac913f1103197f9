"""The tables whose maps were printed, as the kernel of a dump finds them in memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from binspark.dump.mariadb.rows import VERBS, TableForm
from binspark.dump.mariadb.rows_printer import RowsPrinter
from binspark.dump.mariadb.values import ValueForm
from binspark.event import Event, RowOperation, TableMap
from binspark.event.column_types import ColumnType as T
from binspark.kernels.mariadb_binlog.layout import Column, Kind, Table

_MAX_TABLES = 256
_PADDING = 64
_MAX_DIGITS = 38
_MAX_COLUMNS = 1024
_INTEGERS = {T.TINY: 1, T.SHORT: 2, T.INT24: 3, T.LONG: 4, T.LONGLONG: 8}
_TEMPORAL = {T.TIMESTAMP2: Kind.TIMESTAMP, T.DATETIME2: Kind.DATETIME, T.TIME2: Kind.TIME}

_FIXED: dict[int, tuple[int, int, int]] = {
    T.FLOAT: (Kind.FLOAT, 0, 0),
    T.DOUBLE: (Kind.DOUBLE, 0, 0),
    T.DATE: (Kind.DATE, 0, 0),
    T.NEWDATE: (Kind.DATE, 0, 0),
    T.YEAR: (Kind.UNSIGNED, 1, 1900),
}


class KnownTables:
    """The last tables that were printed, each in a slot."""

    def __init__(self) -> None:
        self._slots = np.zeros(_MAX_TABLES * Table.WIDTH, np.int64)
        self._slot_of: dict[int, int] = {}
        self._kept: dict[int, list[np.ndarray]] = {}
        self._next = 0

    @property
    def address(self) -> int:
        """The address of the first slot."""
        return int(self._slots.ctypes.data)

    @property
    def count(self) -> int:
        """How many slots are used."""
        return len(self._slot_of)

    def add(self, event: Event, printer: RowsPrinter) -> None:
        """Add the table of a table map that was printed, unless its rows are not."""
        body: TableMap = event.body
        form = printer.table_form(body.table_id)
        if form is None or body.column_count > _MAX_COLUMNS:
            self._forget(body.table_id)
            return
        slot = self._slot(body.table_id)
        kept: list[np.ndarray] = []
        numbers = [0] * Table.WIDTH
        numbers[Table.ID], numbers[Table.COUNT] = body.table_id, body.column_count
        numbers[Table.MAP], numbers[Table.MAP_LENGTH] = _keep(event.frame.body, kept)
        numbers[Table.TEXT], numbers[Table.TEXT_LENGTH] = _keep(printer.map_text(body), kept)
        sizes = _sizes(form)
        if sizes is not None:
            kept.append(sizes)
            numbers[Table.SIZES] = int(sizes.ctypes.data)
        columns = _columns(body, form, printer.verbose, kept)
        numbers[Table.COLUMNS] = 0 if columns is None else int(columns.ctypes.data)
        for index, operation in enumerate((RowOperation.INSERT, RowOperation.UPDATE, RowOperation.DELETE)):
            verb, clause = VERBS[operation]
            at = Table.VERBS + 2 * index
            numbers[at], numbers[at + 1] = _keep(b"### %b %b\n%b" % (verb, form.name, clause), kept)
        self._kept[slot] = kept
        self._slots[slot * Table.WIDTH : (slot + 1) * Table.WIDTH] = numbers

    def _slot(self, table_id: int) -> int:
        slot = self._slot_of.get(table_id)
        if slot is not None:
            return slot
        if len(self._slot_of) < _MAX_TABLES:
            slot = len(self._slot_of)
        else:
            slot, self._next = self._next, (self._next + 1) % _MAX_TABLES
            self._slot_of = {known: at for known, at in self._slot_of.items() if at != slot}
        self._slot_of[table_id] = slot
        return slot

    def _forget(self, table_id: int) -> None:
        slot = self._slot_of.get(table_id)
        if slot is not None:
            self._slots[slot * Table.WIDTH + Table.MAP_LENGTH] = -1
            self._slots[slot * Table.WIDTH + Table.COUNT] = -1


def _keep(text: bytes, kept: list[np.ndarray]) -> tuple[int, int]:
    """Keep a text in memory; return its address and length."""
    memory = np.frombuffer(text + bytes(_PADDING), np.uint8)
    kept.append(memory)
    return int(memory.ctypes.data), len(text)


def _sizes(form: TableForm) -> npt.NDArray[np.int64] | None:
    """Return the bytes of the length field and the fixed size of each column; None if rows cannot be counted."""
    sizes = np.zeros(2 * len(form.columns) + 2, np.int64)
    for index, column in enumerate(form.columns):
        if column is None or not column.is_counted:
            return None
        sizes[2 * index : 2 * index + 2] = column.length_bytes, 0 if column.length_bytes else column.size(b"", 0)
    return sizes


def _columns(body: TableMap, form: TableForm, verbose: int, kept: list[np.ndarray]) -> npt.NDArray[np.int64] | None:
    """Return how the columns are printed, None if the kernel does not know the type of one."""
    if not verbose:
        return None
    numbers = np.zeros(Column.WIDTH * body.column_count + 1, np.int64)
    for index, (code, column) in enumerate(zip(body.column_types, form.columns, strict=True)):
        kind = None if column is None else _kind(code, column)
        if column is None or kind is None:
            return None
        start, end, null = form.around_value(index, verbose)
        fields = (*kind, *_keep(start, kept), *_keep(end, kept), *_keep(null, kept))
        numbers[Column.WIDTH * index : Column.WIDTH * (index + 1)] = fields
    kept.append(numbers)
    return numbers


def _kind(code: int, column: ValueForm) -> tuple[int, int, int] | None:
    """Return the kind of a column's values with its two numbers, None if the kernel does not print them."""
    metadata = column.metadata
    if column.length_bytes:
        return Kind.TEXT, column.length_bytes, 0
    if code in _INTEGERS:
        return Kind.SIGNED, _INTEGERS[T(code)], 0
    if code in _TEMPORAL:
        return _TEMPORAL[T(code)], metadata, 0
    if code == T.NEWDECIMAL:
        whole, fraction = (metadata >> 8) - (metadata & 0xFF), metadata & 0xFF
        return (Kind.DECIMAL, whole, fraction) if whole >= 0 and whole + fraction <= _MAX_DIGITS else None
    if code == T.BIT:
        return Kind.BITS, (metadata >> 8) * 8 + (metadata & 0xFF), 0
    if column.type_name.startswith((b"ENUM(", b"SET(")):
        length = metadata & 0xFF
        return (Kind.UNSIGNED, length, 0) if column.type_name.startswith(b"ENUM(") else (Kind.BITS, 8 * length, 0)
    return _FIXED.get(code)
