"""The transactions of logs as columns: by a kernel, and by an `Assembler` for the events that it leaves to Python."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import string_at
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
import pyarrow as pa

from binspark.columns.list_reader import ListReader
from binspark.columns.log_scan import ROWS_POST_HEADERS, Numbers
from binspark.columns.mapped_tables import MappedTables
from binspark.columns.row_counts import count_rows
from binspark.columns.transaction_batch import ClosedTransactions
from binspark.event import Event, TableMap
from binspark.frames import EventCode
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.kernels.layout import Operation, State
from binspark.kernels.list_layout import NULL
from binspark.kernels.list_layout import ChangeNumber as C
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.kernels.transaction_list import find_change, list_transactions
from binspark.transactions.assembler import DEFAULT_TEXT_LIMIT, Assembler
from binspark.transactions.byte_tables import ENDING_NUMBERS, ENDINGS
from binspark.transactions.draft import Counts, Draft, FirstEvent
from binspark.transactions.grammar import Ending, Progress

_CAPACITY = 1 << 14
_CHANGES = 1 << 15
_TEXT_BYTES = 64 * _CAPACITY
_MAX_NOTE_BYTES = 8 << 20
_MAX_GTID_TEXT = 128
_LOADED = -1
_SIGNED = 1 << 63


class Target(Protocol):
    """What is made of transactions that have ended."""

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Take transactions, and yield what is complete."""
        ...


@dataclass(slots=True)
class Notes:
    """What is text of a transaction: its statements, the first one that defines something, its name in XA, a tag."""

    texts: list[bytes] = field(default_factory=list)
    text_left: int = DEFAULT_TEXT_LIMIT
    ddl: bytes | None = None
    xa: str | None = None
    tag: str | None = None

    @property
    def size(self) -> int:
        """How many bytes this is."""
        return sum(map(len, self.texts)) + len(self.ddl or b"")


class TransactionReader(ListReader):
    """Lists the transactions of one log after the other, in batches with columns of `TRANSACTION_FIELDS`.

    A transaction is listed when it has ended; `finish` lists the one that is still in progress.

    target           what is made of transactions: `TransactionColumns`, or `TableCounts`
    expand_payloads  whether the events inside payloads are read
    """

    post_headers: ClassVar = {EventCode.QUERY: 13, EventCode.XID: 0, **ROWS_POST_HEADERS}

    def __init__(
        self,
        target: Target,
        *,
        expand_payloads: bool = True,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(_CAPACITY, expand_payloads=expand_payloads, limits=limits)
        self._target = target
        self._rows = np.zeros((N.COUNT, _CAPACITY), dtype=np.int64)
        self._changes = np.zeros((C.COUNT, _CHANGES), dtype=np.int64)
        self._text_offsets = np.zeros(_CAPACITY + 1, dtype=np.int32)
        self._text = np.zeros(_TEXT_BYTES, dtype=np.uint8)
        self._tables = MappedTables(self.state)
        self._assembler = Assembler(count_rows=count_rows, tables=self._tables)
        self._notes: dict[int, Notes] = {}
        self._note_bytes = 0
        self.state[State.TEXT_CAPACITY] = _TEXT_BYTES
        self.state[State.CHANGE_CAPACITY] = _CHANGES

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Yield what is left: there are no more logs."""
        draft = self._assembler.draft = self._load()
        for ended in self._assembler.end():
            self._end(ended.draft, draft, ended.ending)
        yield from self._flush()

    def _closed(self) -> ClosedTransactions | None:
        """Return the transactions that have ended, None if there are none."""
        count = self._closed_count
        if not count:
            return None
        used = int(np.searchsorted(self._changes[C.TRANSACTION, : int(self.state[State.CHANGES])], count))
        return ClosedTransactions(
            self._rows[:, :count],
            self._changes[:, :used],
            self._text_offsets[: count + 1],
            self._text,
            self._notes,
            self.files,
            self._tables.tables,
            self._tables.schemas,
        )

    @property
    def _closed_count(self) -> int:
        return int(self.state[State.LISTED]) - (1 if self.state[State.TRANSACTION] >= 0 else 0)

    def _run_kernel(self) -> int:
        tables = self._tables
        stop: int = list_transactions(
            self.state,
            self._rows,
            self._changes,
            tables.change_of,
            tables.ids,
            tables.stamps,
            tables.maps,
            tables.names,
            int(self._text_offsets.ctypes.data),
            int(self._text.ctypes.data),
        )
        return stop

    def _take(self, event: Event) -> Iterator[pa.RecordBatch]:
        """Feed an event to the assembler: load the transaction in progress, and store the result."""
        if not self._has_room():
            yield from self._make_room()
        if isinstance(event.body, TableMap):
            self._tables.body = event.frame.body
        loaded = self._assembler.draft = self._load()
        for ended in self._assembler.step(event):
            self._end(ended.draft, loaded, ended.ending)
        draft, self._assembler.draft = self._assembler.draft, None
        if draft is not None:
            row = self._row_of(draft, loaded)
            self._store(row, draft)
            self.state[State.TRANSACTION] = row

    def _has_room(self) -> bool:
        """Return whether there is room for all that one event can add."""
        state = self.state
        return bool(
            state[State.LISTED] + 2 <= _CAPACITY
            and state[State.TEXT_USED] + 2 * _MAX_GTID_TEXT <= _TEXT_BYTES
            and state[State.CHANGES] < state[State.CHANGE_CAPACITY]
            and self._note_bytes < _MAX_NOTE_BYTES
        )

    def _make_room(self) -> Iterator[pa.RecordBatch]:
        yield from self._flush()
        if 2 * int(self.state[State.CHANGES]) >= self._changes.shape[1]:  # one transaction changes very many tables
            self._changes = np.concatenate([self._changes, np.zeros_like(self._changes)], axis=1)
            self.state[State.CHANGE_CAPACITY] = self._changes.shape[1]

    def _load(self) -> Draft | None:
        """Return the transaction in progress as a draft."""
        row = int(self.state[State.TRANSACTION])
        if row < 0:
            return None
        numbers = self._rows[:, row]
        file = self.files[numbers[N.FILE]]
        first = FirstEvent(file, int(numbers[N.START]), int(numbers[N.SERVER]), int(numbers[N.TIMESTAMP]))
        draft = Draft(_LOADED, first, DEFAULT_TEXT_LIMIT, self._tables, count_rows)
        draft.end_file, draft.end = self.files[numbers[N.END_FILE]], int(numbers[N.END])
        draft.progress = Progress(int(numbers[N.PROGRESS]))
        draft.payload_closed, draft.compressed = bool(numbers[N.PAYLOAD_CLOSED]), bool(numbers[N.COMPRESSED])
        draft.statement_ending = ENDINGS[numbers[N.STATEMENT_ENDING]]
        draft.length, draft.events = int(numbers[N.LENGTH]), int(numbers[N.EVENTS])
        draft.statements = int(numbers[N.STATEMENTS])
        draft.xid = int(numbers[N.XID]) % (1 << 64) if numbers[N.HAS_XID] else None
        draft.thread_id = None if numbers[N.THREAD] == NULL else int(numbers[N.THREAD])
        draft.schema = None if numbers[N.SCHEMA] == NULL else self._tables.schemas[numbers[N.SCHEMA]]
        draft.overhead = int(self.state[State.OVERHEAD])
        notes = self._notes.get(row)
        if notes is not None:
            draft.texts, draft.text_left, draft.ddl, draft.xa = notes.texts, notes.text_left, notes.ddl, notes.xa
        return draft

    def _row_of(self, draft: Draft, loaded: Draft | None) -> int:
        """Return the row of a draft, a new one unless it was loaded."""
        return int(self.state[State.LISTED]) - 1 if draft is loaded else self._append(draft)

    def _end(self, draft: Draft, loaded: Draft | None, ending: Ending) -> None:
        row = self._row_of(draft, loaded)
        self._store(row, draft)
        self._rows[N.ENDING, row] = ENDING_NUMBERS[ending]
        self.state[State.TRANSACTION] = -1

    def _append(self, draft: Draft) -> int:
        """Add a row for a transaction that has begun."""
        row = int(self.state[State.LISTED])
        self.state[State.LISTED] = row + 1
        identity = draft.identity
        numbers = self._rows[:, row]
        numbers[:] = NULL
        numbers[N.FILE], numbers[N.START] = self._file_number(draft.file), draft.start
        numbers[N.TIMESTAMP], numbers[N.SERVER] = draft.timestamp, draft.server_id
        numbers[N.IMMEDIATE_COMMIT_TIMESTAMP] = _number(identity.immediate_commit_timestamp)
        numbers[N.ORIGINAL_COMMIT_TIMESTAMP] = _number(identity.original_commit_timestamp)
        numbers[N.DECLARED_LENGTH] = _number(identity.declared_length)
        numbers[N.LAST_COMMITTED] = _number(identity.last_committed)
        numbers[N.SEQUENCE_NUMBER] = _number(identity.sequence_number)
        numbers[N.GTID_FLAGS], numbers[N.DOMAIN] = _number(identity.gtid_flags), _number(identity.domain_id)
        numbers[N.HAS_COMMIT_ID] = identity.commit_id is not None
        numbers[N.COMMIT_ID] = _bits(identity.commit_id)
        self._write_gtid(row, (identity.gtid or "").encode())
        if identity.tag:
            self._notes.setdefault(row, Notes()).tag = identity.tag
        return row

    def _write_gtid(self, row: int, gtid: bytes) -> None:
        used = int(self.state[State.TEXT_USED])
        self._text[used : used + len(gtid)] = np.frombuffer(gtid, dtype=np.uint8)
        self._text_offsets[row + 1] = used + len(gtid)
        self.state[State.TEXT_USED] = used + len(gtid)

    def _store(self, row: int, draft: Draft) -> None:
        """Store a draft in its row."""
        numbers = self._rows[:, row]
        numbers[N.END_FILE], numbers[N.END] = self._file_number(draft.end_file), draft.end
        numbers[N.LENGTH], numbers[N.EVENTS], numbers[N.STATEMENTS] = draft.length, draft.events, draft.statements
        numbers[N.COMPRESSED], numbers[N.PAYLOAD_CLOSED] = draft.compressed, draft.payload_closed
        numbers[N.PROGRESS] = draft.progress
        numbers[N.STATEMENT_ENDING] = ENDING_NUMBERS[draft.statement_ending]
        numbers[N.HAS_XID], numbers[N.XID] = draft.xid is not None, _bits(draft.xid)
        numbers[N.THREAD] = _number(draft.thread_id)
        numbers[N.SCHEMA] = NULL if draft.schema is None else self._tables.schema_number(draft.schema)
        for (schema, table, operation), counts in draft.changes.items():
            number = self._tables.number(schema, table)
            self._add_change(row, number, Operation[operation.name], counts)
        self.state[State.OVERHEAD] = draft.overhead
        if draft.texts or draft.ddl is not None or draft.xa is not None:
            notes = self._notes.setdefault(row, Notes())
            before = notes.size
            notes.texts, notes.text_left, notes.ddl, notes.xa = draft.texts, draft.text_left, draft.ddl, draft.xa
            self._note_bytes += max(0, notes.size - before) + 1

    def _add_change(self, row: int, table: int, operation: int, counts: Counts) -> None:
        change = find_change(self.state, self._changes, self._tables.change_of, table, operation, row)
        numbers = self._changes[:, change]
        numbers[C.EVENTS] += counts.events
        numbers[C.BYTES] += counts.bytes
        numbers[C.OVERHEAD] += counts.overhead
        numbers[C.ROWS] = -1 if counts.rows is None or numbers[C.ROWS] < 0 else numbers[C.ROWS] + counts.rows

    def _file_number(self, file: str) -> int:
        number = int(self.state[State.FILE])
        return number if self.files[number] == file else self.files.index(file)

    def _flush(self) -> Iterator[pa.RecordBatch]:
        """Yield the transactions that have ended, and keep the one in progress."""
        closed = self._closed()
        if closed is not None:
            yield from self._target.batches(closed)
        self._forget(self._closed_count)

    def _forget(self, count: int) -> None:
        """Forget the first transactions; the one in progress moves to the front."""
        state = self.state
        if count == 0:
            return
        used = int(state[State.CHANGES])
        first = int(np.searchsorted(self._changes[C.TRANSACTION, :used], count))
        self._changes[:, : used - first] = self._changes[:, first:used].copy()
        self._changes[C.TRANSACTION, : used - first] = 0
        state[State.CHANGES] = used - first
        state[State.UUID_TEXT] = state[State.TEXT_USED] = 0
        notes = self._notes.get(count)
        self._notes, self._note_bytes = {}, 0
        state[State.LISTED] = 0
        if state[State.TRANSACTION] >= 0:
            start, end = int(self._text_offsets[count]), int(self._text_offsets[count + 1])
            gtid = string_at(int(self._text.ctypes.data) + start, end - start)
            self._rows[:, 0] = self._rows[:, count]
            self._write_gtid(0, gtid)
            state[State.LISTED], state[State.TRANSACTION] = 1, 0
            if notes is not None:
                self._notes[0], self._note_bytes = notes, notes.size
        if self._tables.is_large:
            self._forget_names()
        self._point_to_changes()

    def _forget_names(self) -> None:
        """Forget the names that the transaction in progress does not need."""
        changes = self._changes[:, : int(self.state[State.CHANGES])]
        row = self._rows[:, 0]
        schemas = [int(row[N.SCHEMA])] if self.state[State.LISTED] and row[N.SCHEMA] != NULL else []
        tables, moved = self._tables.forget(np.unique(changes[C.TABLE]).tolist(), schemas)
        changes[C.TABLE] = [tables[number] for number in changes[C.TABLE].tolist()]
        if schemas:
            row[N.SCHEMA] = moved[schemas[0]]

    def _point_to_changes(self) -> None:
        """Give kernels the new address of the changes of the transaction in progress."""
        count = int(self.state[State.CHANGES])
        where: Numbers = len(Operation) * self._changes[C.TABLE, :count] + self._changes[C.OPERATION, :count]
        self._tables.change_of[where] = np.arange(count)


def _number(value: int | None) -> int:
    """Return a number that may be missing, for a column of signed ones."""
    return NULL if value is None or value >= _SIGNED else value


def _bits(value: int | None) -> int:
    """Return an unsigned number as the signed one with the same bits."""
    if value is None:
        return NULL
    return value - 2 * _SIGNED if value >= _SIGNED else value
