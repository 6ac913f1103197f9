"""Listed transactions as Arrow columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.gtid_intervals import is_in_gtids
from binspark.columns.list_fields import CHANGED, TRANSACTION_FIELDS
from binspark.columns.list_reader import int_array, strings_of, times_of
from binspark.columns.log_scan import Numbers
from binspark.columns.selection import Operations, Selection
from binspark.kernels.layout import Operation
from binspark.kernels.list_layout import NULL
from binspark.kernels.list_layout import ChangeNumber as C
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.position import log_name
from binspark.transactions.byte_tables import ENDINGS
from binspark.transactions.grammar import Ending

_MICROSECONDS = 1_000_000
_ENDINGS = pa.array([ending.value for ending in ENDINGS], pa.string())
_IS_COMPLETE = np.array([ending.complete for ending in ENDINGS])
_OPERATIONS = pa.array([operation.name.lower() for operation in Operation], pa.string())
_ALL = Selection()
Flags = npt.NDArray[np.bool_]


class TextNotes(Protocol):
    """What is text of a transaction."""

    texts: list[bytes]
    ddl: bytes | None
    xa: str | None
    tag: str | None


@dataclass(frozen=True, slots=True)
class ClosedTransactions:
    """The numbers of transactions that have ended, and what they refer to: valid until the reader continues.

    rows          numbers of transactions (`TransactionNumber`), one column each
    changes       numbers of the changes of tables (`ChangeNumber`), in the order of their transactions
    text_offsets  where the GTID of each transaction begins in `text`
    notes         texts of the few transactions that have any, by their number
    """

    rows: Numbers
    changes: Numbers
    text_offsets: npt.NDArray[np.int32]
    text: npt.NDArray[np.uint8]
    notes: Mapping[int, TextNotes]
    files: Sequence[str]
    tables: Sequence[tuple[str, str]]
    schemas: Sequence[str]

    @property
    def count(self) -> int:
        """How many transactions there are."""
        return int(self.rows.shape[1])

    @property
    def gtids(self) -> pa.Array:
        """The GTIDs; NULL for anonymous transactions."""
        offsets = self.text_offsets - self.text_offsets[0]
        text = self.text[self.text_offsets[0] : self.text_offsets[-1]].tobytes()
        named = np.diff(offsets) > 0
        bitmap = None if named.all() else pa.py_buffer(np.packbits(named, bitorder="little"))
        buffers = [bitmap, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(text)]
        return pa.Array.from_buffers(pa.string(), len(named), buffers)

    def taken(self, wanted: Flags, wanted_changes: Flags) -> ClosedTransactions:
        """Return some of the transactions, with some of their changes."""
        changes = self.changes[:, wanted_changes & wanted[self.changes[C.TRANSACTION]]]
        numbers = np.cumsum(wanted) - 1
        changes[C.TRANSACTION] = numbers[changes[C.TRANSACTION]]
        count = int(numbers[-1]) + 1 if len(numbers) else 0
        _, offsets, text = self.gtids.filter(pa.array(wanted)).buffers()
        return ClosedTransactions(
            self.rows[:, wanted],
            changes,
            np.frombuffer(offsets, dtype=np.int32)[: count + 1],
            np.frombuffer(text or b"", dtype=np.uint8),
            {int(numbers[at]): notes for at, notes in self.notes.items() if at < len(wanted) and wanted[at]},
            self.files,
            self.tables,
            self.schemas,
        )

    @property
    def complete(self) -> Flags:
        """Which of them are complete."""
        complete: Flags = _IS_COMPLETE[self.rows[N.ENDING]]
        return complete

    def schema_of(self, number: int) -> str:
        """Return the default schema of a transaction, empty if it has none."""
        schema = int(self.rows[N.SCHEMA, number])
        return "" if schema == NULL else self.schemas[schema]

    @property
    def endings(self) -> list[Ending]:
        """How each of them ended."""
        return [ENDINGS[number] for number in self.rows[N.ENDING].tolist()]

    @property
    def commit_times(self) -> Numbers:
        """When each was committed, in microseconds since 1970; where that is not logged, when it began."""
        immediate = self.rows[N.IMMEDIATE_COMMIT_TIMESTAMP]
        is_logged = (immediate != NULL) & (immediate != 0)
        times: Numbers = np.where(is_logged, immediate, self.rows[N.TIMESTAMP] * _MICROSECONDS)
        return times


class TransactionColumns:
    """Makes batches of the selected transactions, with columns of `TRANSACTION_FIELDS`: the named ones, or all."""

    def __init__(self, selection: Selection = _ALL, names: Collection[str] | None = None) -> None:
        self._selection = selection
        self._fields = [field for field in TRANSACTION_FIELDS if names is None or field.name in names]

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Yield transactions as a batch, unless none is selected."""
        arrays = [self._array(field, closed) for field in self._fields]
        batch = pa.RecordBatch.from_arrays(arrays, schema=pa.schema(self._fields))
        wanted = selected(self._selection, closed)
        if not wanted.all():
            batch = batch.filter(pa.array(wanted))
        if wanted.any():
            yield batch

    def _array(self, field: pa.Field, closed: ClosedTransactions) -> pa.Array:
        make = _COLUMNS.get(field.name)
        if make is not None:
            return make(closed)
        numbers = closed.rows[_NUMBERS[field.name]]
        return times_of(numbers, field.type) if pa.types.is_timestamp(field.type) else int_array(numbers, field.type)


def selected(selection: Selection, closed: ClosedTransactions) -> Flags:
    """Return which transactions are selected: by server, thread, commit time, GTID, and the tables that they change."""
    wanted = selected_by_origin(selection, closed)
    if selects_changes(selection):
        wanted &= has_changes(closed, selected_changes(selection, closed))
    return wanted


def selected_by_origin(selection: Selection, closed: ClosedTransactions) -> Flags:
    """Return which transactions are selected by server, thread, commit time and GTID."""
    wanted: Flags = np.ones(closed.count, dtype=np.bool_)
    if selection.server_id is not None:
        wanted &= closed.rows[N.SERVER] == selection.server_id
    if selection.thread_id is not None:
        wanted &= closed.rows[N.THREAD] == selection.thread_id
    times = closed.commit_times
    wanted &= times >= selection.committed_from
    if selection.committed_before:
        wanted &= times < selection.committed_before
    if selection.include_gtids is not None:
        wanted &= is_in_gtids(closed.gtids, selection.include_gtids)
    if selection.exclude_gtids is not None:
        wanted &= ~is_in_gtids(closed.gtids, selection.exclude_gtids)
    return wanted


def has_changes(closed: ClosedTransactions, chosen: Flags) -> Flags:
    """Return which transactions have some of the chosen changes."""
    has: Flags = np.bincount(closed.changes[C.TRANSACTION][chosen], minlength=closed.count) > 0
    return has


def transaction_numbers(closed: ClosedTransactions) -> dict[str, Numbers]:
    """Return where transactions are, when and on which server they began: `file`, `start`, `end`, `time`, `server`."""
    rows = closed.rows
    names = {"file": N.FILE, "start": N.START, "end": N.END, "time": N.TIMESTAMP, "server": N.SERVER}
    return {name: rows[number] for name, number in names.items()}


def transaction_contents(closed: ClosedTransactions) -> dict[str, Numbers]:
    """Return how much is in transactions: `length` in bytes, `statements`, `rows` as far as they can be counted."""
    changes = closed.changes
    counted = np.where(changes[C.ROWS] >= 0, changes[C.ROWS], 0)
    rows = np.bincount(changes[C.TRANSACTION], counted, closed.count).astype(np.int64)
    return {"length": closed.rows[N.LENGTH], "statements": closed.rows[N.STATEMENTS], "rows": rows}


def changed_tables(closed: ClosedTransactions, chosen: Flags) -> set[str]:
    """Return the tables whose rows some of the transactions change."""
    changes = closed.changes
    numbers = np.unique(changes[C.TABLE][chosen[changes[C.TRANSACTION]]])
    return {".".join(closed.tables[number]) for number in numbers.tolist()}


def selects_changes(selection: Selection) -> bool:
    """Return whether some tables or operations are not selected."""
    return selection.tables is not None or bool(selection.excluded) or selection.operations is not Operations.ALL


def selected_changes(selection: Selection, closed: ClosedTransactions) -> Flags:
    """Return which changes are selected, by their table and operation."""
    changes = closed.changes
    tables = np.zeros(len(closed.tables) + 1, dtype=np.bool_)
    for number in np.unique(changes[C.TABLE]).tolist():
        tables[number] = selection.wants(".".join(closed.tables[number]))
    chosen: Flags = tables[changes[C.TABLE]] & ((selection.operations >> changes[C.OPERATION]) & 1).astype(np.bool_)
    return chosen


def _file(row: N) -> Callable[[ClosedTransactions], pa.Array]:
    def make(closed: ClosedTransactions) -> pa.Array:
        return strings_of(closed.rows[row], pa.array([log_name(file) for file in closed.files], pa.string()))

    return make


def _unsigned(row: N, has: N) -> Callable[[ClosedTransactions], pa.Array]:
    """Return how unsigned numbers of 64 bits become decimals."""

    def make(closed: ClosedTransactions) -> pa.Array:
        words = np.zeros((closed.count, 2), dtype=np.uint64)
        words[:, 0] = closed.rows[row].astype(np.uint64)
        valid = closed.rows[has] == 1
        bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.Array.from_buffers(pa.decimal128(20, 0), closed.count, [bitmap, pa.py_buffer(words)])

    return make


def _changes(closed: ClosedTransactions) -> pa.Array:
    changes = closed.changes
    counts = np.bincount(changes[C.TRANSACTION], minlength=closed.count)
    offsets = np.zeros(closed.count + 1, dtype=np.int32)
    np.cumsum(counts, out=offsets[1:])
    rows = changes[C.ROWS]
    children = [
        strings_of(changes[C.TABLE], pa.array([schema for schema, _ in closed.tables], pa.string())),
        strings_of(changes[C.TABLE], pa.array([table for _, table in closed.tables], pa.string())),
        strings_of(changes[C.OPERATION], _OPERATIONS),
        int_array(changes[C.EVENTS], pa.int64()),
        int_array(changes[C.BYTES], pa.int64()),
        int_array(np.where(rows < 0, NULL, rows), pa.int64()),
    ]
    structs = pa.StructArray.from_arrays(children, fields=list(CHANGED))
    return pa.ListArray.from_arrays(pa.array(offsets), structs)


def _texts(closed: ClosedTransactions) -> pa.Array:
    if not closed.notes:
        return pa.ListArray.from_arrays(pa.array(np.zeros(closed.count + 1, dtype=np.int32)), pa.array([], pa.string()))
    found = (closed.notes.get(number) for number in range(closed.count))
    return pa.array([[] if notes is None else [_readable(text) for text in notes.texts] for notes in found], _STRINGS)


def _note(name: str) -> Callable[[ClosedTransactions], pa.Array]:
    def make(closed: ClosedTransactions) -> pa.Array:
        values: list[str | None] = [None] * closed.count
        for number, notes in closed.notes.items():
            value = getattr(notes, name)
            if number < closed.count:
                values[number] = _readable(value) if isinstance(value, bytes) else value
        return pa.array(values, pa.string())

    return make


def _readable(raw: bytes) -> str:
    r"""Return text with every byte that is not UTF-8 written as `\xNN`."""
    return raw.decode(errors="backslashreplace")


_STRINGS = pa.list_(pa.string())
_COLUMNS: dict[str, Callable[[ClosedTransactions], pa.Array]] = {
    "file": _file(N.FILE),
    "end_file": _file(N.END_FILE),
    "gtid": lambda closed: closed.gtids,
    "tag": _note("tag"),
    "timestamp": lambda closed: times_of(closed.rows[N.TIMESTAMP] * _MICROSECONDS, _type("timestamp")),
    "rows": _changes,
    "xid": _unsigned(N.XID, N.HAS_XID),
    "commit_id": _unsigned(N.COMMIT_ID, N.HAS_COMMIT_ID),
    "xa": _note("xa"),
    "ddl": _note("ddl"),
    "texts": _texts,
    "end": lambda closed: strings_of(closed.rows[N.ENDING], _ENDINGS),
    "complete": lambda closed: pa.array(_IS_COMPLETE[closed.rows[N.ENDING]]),
    "compressed": lambda closed: pa.array(closed.rows[N.COMPRESSED] == 1),
    "schema": lambda closed: strings_of(closed.rows[N.SCHEMA], pa.array(closed.schemas, pa.string())),
}
_NUMBERS = {
    "pos": N.START,
    "end_pos": N.END,
    "server_id": N.SERVER,
    "immediate_commit_timestamp": N.IMMEDIATE_COMMIT_TIMESTAMP,
    "original_commit_timestamp": N.ORIGINAL_COMMIT_TIMESTAMP,
    "length": N.LENGTH,
    "last_committed": N.LAST_COMMITTED,
    "sequence_number": N.SEQUENCE_NUMBER,
    "events": N.EVENTS,
    "declared_length": N.DECLARED_LENGTH,
    "gtid_flags": N.GTID_FLAGS,
    "statements": N.STATEMENTS,
    "thread_id": N.THREAD,
}


def _type(name: str) -> pa.DataType:
    return next(field.type for field in TRANSACTION_FIELDS if field.name == name)
