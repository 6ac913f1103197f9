"""Transactions that consist of rows alone, many at a time: found by a kernel, and written by another.

They are most of a log. Nothing of them is decoded but the numbers that their comments have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import string_at
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from binspark.documents.texts import words_of
from binspark.event.rows import RowsFlag
from binspark.event.rows_query import shown_statement
from binspark.frames import ChecksumAlgorithm, LogFormat
from binspark.frames.codes import EventCode as E
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.objects.layout import SLACK
from binspark.kernels.sql.layout import RowsEvent, RowsTransaction, Walk, WalkStop
from binspark.kernels.sql.layout import Script as S
from binspark.kernels.sql.transactions import find_transactions, write_transactions
from binspark.sql.options import ScriptOptions
from binspark.sql.row_fields import Numbers
from binspark.sql.row_texts import EventTexts
from binspark.sql.session import Settings, change_of_settings, settings_of_rows
from binspark.sql.transactions import UNDO_ENDING, one_line, shown_log

_CAPACITY = 1 << 14
_FOREIGN = RowsFlag.NO_FOREIGN_KEY_CHECKS | RowsFlag.USE_SQL_FOREIGN_KEY_ON_DELETE_CASCADE
_SETTINGS: tuple[Settings, ...] = tuple(
    settings_of_rows(foreign * RowsFlag.NO_FOREIGN_KEY_CHECKS | unique * RowsFlag.RELAXED_UNIQUE_CHECKS)
    for unique in (0, 1)
    for foreign in (0, 1)
)
_CHANGES = words_of([change_of_settings(current, wanted) for current in _SETTINGS for wanted in _SETTINGS])
_MAX_HEADING = 512  # bytes of a comment, GTID, BEGIN and COMMIT, besides the name of the log and the time
_POST_HEADERS = {
    E.QUERY: 13,
    E.TABLE_MAP: 8,
    **dict.fromkeys((E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1), 8),
    **dict.fromkeys((E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS), 10),
}


class WrittenTransactions(NamedTuple):
    """Consecutive transactions as text, and the settings of the session before and after it."""

    text: bytes
    before: Settings
    after: Settings


class RowsTransactions:
    """Finds and writes the transactions of one log."""

    def __init__(self, file: str, options: ScriptOptions, moment: Callable[[int], str]) -> None:
        self._options, self._moment = options, moment
        self._texts = words_of([f"{shown_log(file)}:", *UNDO_ENDING])
        self._transactions = np.zeros((_CAPACITY, RowsTransaction.WIDTH), dtype=np.int64)
        self._events = np.zeros((_CAPACITY, RowsEvent.WIDTH), dtype=np.int64)
        self._walk = walk = np.zeros(Walk.WIDTH, dtype=np.int64)
        walk[Walk.TRANSACTIONS], walk[Walk.EVENTS] = self._transactions.ctypes.data, self._events.ctypes.data
        walk[Walk.TRANSACTION_CAPACITY] = walk[Walk.EVENT_CAPACITY] = _CAPACITY
        walk[Walk.CRC_FUNCTION] = crc32_address()

    def find(self, address: int, end: int, offset: int, log_format: LogFormat) -> WalkStop:
        """Find what is between two addresses, the first of which is that of an offset of the log."""
        walk = self._walk
        walk[Walk.AT], walk[Walk.END], walk[Walk.ORIGIN] = address, end, offset - address
        walk[Walk.CHECKSUM] = log_format.checksum is ChecksumAlgorithm.CRC32
        walk[Walk.TRANSACTION_COUNT] = walk[Walk.EVENT_COUNT] = 0
        return WalkStop(find_transactions(walk.ctypes.data))

    @property
    def found(self) -> Numbers:
        """The transactions that were found."""
        return self._transactions[: int(self._walk[Walk.TRANSACTION_COUNT])]

    @property
    def offsets(self) -> Numbers:
        """The offsets of their rows events."""
        return self._events[: int(self._walk[Walk.EVENT_COUNT]), RowsEvent.OFFSET]

    def of_events(self, events: Numbers) -> Numbers:
        """Return the numbers of the transactions that some of the events belong to, in order."""
        return np.unique(np.searchsorted(self.found[:, RowsTransaction.EVENTS_END], events, side="right"))

    def written(self, first: int, last: int, texts: EventTexts) -> Iterator[WrittenTransactions]:
        """Yield some of the transactions as text: one, or none if nothing of them is selected."""
        chosen, undo = self._transactions[first:last], self._options.undo
        begin, end = int(chosen[0, RowsTransaction.FIRST_EVENT]), int(chosen[-1, RowsTransaction.EVENTS_END])
        events, lengths = self._events[begin:end], texts.lengths[begin:end]
        selected = np.flatnonzero(lengths)
        if not len(selected):
            return
        events[:, RowsEvent.TEXT], events[:, RowsEvent.TEXT_LENGTH] = texts.addresses[begin:end], lengths
        flags = events[:, RowsEvent.FLAGS]
        is_relaxed = flags & int(RowsFlag.RELAXED_UNIQUE_CHECKS) != 0
        events[:, RowsEvent.SETTINGS] = (flags & int(_FOREIGN) != 0) + 2 * is_relaxed
        before = int(events[selected[-1 if undo else 0], RowsEvent.SETTINGS])
        times, chosen[:, RowsTransaction.MOMENT] = np.unique(chosen[:, RowsTransaction.TIMESTAMP], return_inverse=True)
        moments = words_of([self._moment(int(time)) for time in times])
        notes = words_of(self._note_statements(events))
        numbers = np.zeros(S.WIDTH, dtype=np.int64)
        numbers[S.TRANSACTIONS], numbers[S.COUNT] = chosen.ctypes.data, len(chosen)
        numbers[S.EVENTS], numbers[S.UNDO], numbers[S.SETTINGS] = self._events.ctypes.data, undo, before
        numbers[S.CHANGES], numbers[S.MOMENTS] = _CHANGES.words.ctypes.data, moments.words.ctypes.data
        numbers[S.NOTES] = notes.words.ctypes.data
        numbers[S.HAS_COMMENTS], numbers[S.KEEPS_GTIDS] = not self._options.no_comments, self._options.keep_gtids
        numbers[S.FILE : S.WIDTH] = self._texts.words.reshape(-1)
        heading = _MAX_HEADING + 2 * self._texts.bytes + int(moments.lengths.max())
        around_event = int(notes.lengths.max(initial=0)) + 2 * int(_CHANGES.lengths.max())
        size = int(lengths.sum()) + heading * len(chosen) + around_event * len(selected)
        target = pa.allocate_buffer(size + SLACK)
        numbers[S.AT] = target.address
        write_transactions(numbers.ctypes.data)
        text = target.slice(0, int(numbers[S.AT]) - target.address).to_pybytes()
        yield WrittenTransactions(text, _SETTINGS[before], _SETTINGS[numbers[S.SETTINGS]])

    def _note_statements(self, events: Numbers) -> list[str]:
        """Note for each event the number of the comment with its statement; return the comments."""
        events[:, RowsEvent.NOTE] = -1
        known = np.flatnonzero(events[:, RowsEvent.STATEMENT])
        if self._options.no_comments or not len(known):
            return []
        comments: dict[str, int] = {}
        last, number = (0, 0), -1
        for event in known.tolist():
            where = (int(events[event, RowsEvent.STATEMENT]), int(events[event, RowsEvent.STATEMENT_LENGTH]))
            if where != last:
                number = comments.setdefault(shown_statement(string_at(*where)), len(comments))
                last = where
            events[event, RowsEvent.NOTE] = number
        return [f"--   {one_line(text)}\n" for text in comments]


def has_usual_layout(log_format: LogFormat) -> bool:
    """Return whether transactions of rows can be found in a log of this format: since MySQL 5.1, most can."""
    return (
        log_format.is_v4
        and log_format.header_length == HEADER_LENGTH
        and log_format.event_codes is None
        and log_format.checksum is not ChecksumAlgorithm.UNDEFINED
        and all(log_format.post_header_length(code) == length for code, length in _POST_HEADERS.items())
    )
