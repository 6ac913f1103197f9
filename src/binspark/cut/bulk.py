"""Cut many transactions at a time, with `kernels.cut.transactions`. What the kernel refuses is cut event by event."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import addressof, c_char, c_int64
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING

from binspark.columns.gtid_intervals import packed_intervals
from binspark.columns.selection import Operations, Selection
from binspark.cut.clock import LogicalClock
from binspark.cut.gtids_before import GtidsBefore
from binspark.cut.output import OutputLog
from binspark.cut.reader import LogReader
from binspark.event import EventDecoder
from binspark.files.known_maps import KnownMaps, RowSizes, address_of, has_usual_layout
from binspark.files.sources import LogSource
from binspark.frames import Framer, LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels import cache
from binspark.kernels.compiler import Headway, is_kept
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.cut.layout import Cut, CutStop, Decision
from binspark.kernels.cut.transactions import cut_transactions
from binspark.kernels.list_layout import INTERVAL_LENGTH
from binspark.kernels.transaction_gtid import Interval
from binspark.transactions.transaction import commit_of

if TYPE_CHECKING:
    from binspark.cut.condition import SelectedRows
    from binspark.files.condition_rows import KnownRows

_MAX_TRANSACTION = 1 << 24  # a larger one is cut event by event
_MAX_INTERVALS = 1024
_BULK_BYTES = 1 << 20
_COMPILING_BYTES = 1 << 25
_UUID_WORDS = Struct("<qq")
_SIZE_AT, _SIZE_END = 9, 13
_NO_OFFSET = (1 << 63) - 1


def pays_in_bulk(size: int | None) -> bool:
    """Return whether loading the kernel, or even compiling it, takes less time than it saves in logs of a size."""
    if size is not None and size < _BULK_BYTES:
        return False
    cache.enable()
    return size is None or size >= _COMPILING_BYTES or is_kept(cut_transactions)


@dataclass(frozen=True, slots=True)
class BulkCut:
    """What was done: how many transactions are written, how many of them are empty, and how many are removed.

    opens   whether the next transaction is the first one that is kept, for which the new log must begin
    last    the header of the last event that is kept, empty for none
    """

    transactions: int
    emptied: int
    removed: int
    opens: bool
    last: bytes


class BulkCutter:
    """Cuts transactions of one log, as long as its format is the same."""

    def __init__(
        self,
        log: LogSource,
        log_format: LogFormat,
        selection: Selection,
        clock: LogicalClock,
        selected_rows: SelectedRows | None,
        *,
        by_table: bool,
        drop_empty: bool,
    ) -> None:
        cache.enable()
        self.format = log_format
        self._selection = selection
        self._usual = has_usual_layout(log_format)
        self._maps = KnownMaps(log_format, selection.wants, None if selected_rows is None else _row_sizes())
        self._selected_rows = selected_rows
        self._rows: KnownRows | None = None
        self._intervals = (c_int64 * (Interval.COUNT * _MAX_INTERVALS))()
        self._out = (c_char * 0)()
        self._decoder = EventDecoder(log.name)
        included, excluded = packed_intervals(selection.include_gtids), packed_intervals(selection.exclude_gtids)
        self._lists = included, excluded
        state = self._state = (c_int64 * Cut.COUNT)()
        state[Cut.STOP] = _NO_OFFSET if log.stop is None else log.stop
        state[Cut.CHECKSUM] = log_format.checksum_length > 0
        state[Cut.CRC_FUNCTION] = crc32_address()
        state[Cut.BY_TABLE], state[Cut.DROP_EMPTY] = by_table, drop_empty
        state[Cut.OPERATIONS] = _operation_bits(selection)
        state[Cut.START] = log.start
        state[Cut.START_TIME], state[Cut.STOP_TIME] = selection.start_time, selection.stop_time or 0
        state[Cut.SERVER] = -1 if selection.server_id is None else selection.server_id
        state[Cut.THREAD] = -1 if selection.thread_id is None else selection.thread_id
        state[Cut.COMMITTED_FROM] = selection.committed_from
        state[Cut.COMMITTED_BEFORE] = selection.committed_before or 0
        state[Cut.ASKS] = included is None or excluded is None
        for listed, field in ((included, Cut.INCLUDED), (excluded, Cut.EXCLUDED)):
            state[field] = 0 if listed is None else address_of(listed)
        is_included = selection.include_gtids is not None and included is not None
        state[Cut.INCLUDED_COUNT] = len(included or b"") // INTERVAL_LENGTH if is_included else -1
        state[Cut.EXCLUDED_COUNT] = len(excluded or b"") // INTERVAL_LENGTH
        state[Cut.CLOCK], state[Cut.MAPS] = clock.address, self._maps.address
        state[Cut.INTERVALS], state[Cut.INTERVAL_CAPACITY] = addressof(self._intervals), _MAX_INTERVALS

    def cut(self, reader: LogReader, output: OutputLog | None, gtids_before: GtidsBefore) -> BulkCut | None:
        """Cut what comes next in a log, at which no transaction is in progress; None if that is for Python.

        While there is no output yet, transactions are only removed, and their GTIDs noted.
        """
        if not self._usual or (output is not None and output.checksum_length != self.format.checksum_length):
            return None
        if not reader.fill(HEADER_LENGTH):
            return None
        self._prepare(reader, output)
        stop = self._run(reader)
        while stop == CutStop.MORE and self._state[Cut.AT] == self._start and self._enlarge(reader):
            self._prepare(reader, output)
            stop = self._run(reader)
        done = self._state[Cut.AT] - self._start
        if not done and stop != CutStop.OPEN:
            return None
        return self._finish(reader, done, output, gtids_before, opens=stop == CutStop.OPEN)

    def _prepare(self, reader: LogReader, output: OutputLog | None) -> None:
        state = self._state
        if len(self._out) < 2 * reader.available:  # the length of a transaction may take more bytes than before
            self._out = (c_char * (2 * len(reader.window)))()
        address = address_of(reader.window)
        self._start = address + reader.at
        state[Cut.AT], state[Cut.END] = self._start, address + len(reader.window)
        state[Cut.ORIGIN] = reader.offset - self._start
        state[Cut.OUT_AT] = addressof(self._out)
        state[Cut.OUT_OFFSET] = 0 if output is None else output.offset
        state[Cut.IS_OPEN] = output is not None
        state[Cut.DECISION] = Decision.NONE
        for number in (Cut.INTERVAL_COUNT, Cut.TRANSACTIONS, Cut.EMPTIED, Cut.REMOVED, Cut.LAST):
            state[number] = 0
        if self._selected_rows is not None:
            self._set_selected_rows(self._selected_rows, reader)

    def _set_selected_rows(self, selected_rows: SelectedRows, reader: LogReader) -> None:
        """Give the kernel the rows in memory that are selected."""
        state = self._state
        rows = self._rows = selected_rows.known(reader.offset, reader.offset + reader.available)
        state[Cut.BY_ROW] = 1
        state[Cut.SELECTED], state[Cut.SELECTED_NUMBERS] = rows.positions.ctypes.data, rows.rows.ctypes.data
        state[Cut.SELECTED_COUNT], state[Cut.SELECTED_LIMIT] = len(rows.positions), rows.limit
        state[Cut.SELECTED_AT] = 0

    def _run(self, reader: LogReader) -> int:
        """Run the kernel until it needs more than what is known of tables and GTIDs.

        It begins a transaction again after it has asked for a table. If it then asks for an earlier one, that was
        forgotten: one table id has two TABLE_MAPs, or there are too many tables. Such a transaction is for Python.
        """
        state, headway = self._state, Headway(allowed=0)
        while True:
            stop: int = cut_transactions(addressof(state))
            if stop == CutStop.TABLE_MAP:
                content, offset = self._event_at(reader, state[Cut.MAP_AT])
                if not headway.reaches(state[Cut.AT], state[Cut.MAP_AT]) or not self._maps.learn(
                    content, offset, state[Cut.MAP_ENTRY]
                ):
                    return CutStop.REFUSED
            elif stop == CutStop.GTID:
                content, offset = self._event_at(reader, state[Cut.AT])
                event = self._decoder.decode(next(Framer(self.format, offset).feed(content)))
                is_wanted = self._selection.wants_gtid(commit_of(event).gtid)
                state[Cut.DECISION] = Decision.KEEP if is_wanted else Decision.REMOVE
            else:
                return stop

    def _event_at(self, reader: LogReader, address: int) -> tuple[bytes, int]:
        """Return an event and its offset in the log."""
        start = reader.at + address - self._start
        size = int.from_bytes(reader.window[start + _SIZE_AT : start + _SIZE_END], "little")
        return reader.window[start : start + size], address + self._state[Cut.ORIGIN]

    def _enlarge(self, reader: LogReader) -> bool:
        """Bring more of a transaction into memory; return False if there is no more, or it is too large."""
        needed = self._state[Cut.NEEDED]
        if needed > _MAX_TRANSACTION:
            return False
        before = reader.available
        reader.fill(max(needed, min(2 * before, _MAX_TRANSACTION)))
        return reader.available >= needed

    def _finish(
        self, reader: LogReader, done: int, output: OutputLog | None, gtids_before: GtidsBefore, *, opens: bool
    ) -> BulkCut:
        state = self._state
        written = state[Cut.OUT_AT] - addressof(self._out)
        if output is not None and written:
            output.append(memoryview(self._out)[:written])
        for kind, source, start, stop in self._removed():
            gtids_before.note_interval(kind, source, start, stop)
        last = b""
        if state[Cut.LAST]:
            at = reader.at + state[Cut.LAST] - self._start
            last = reader.window[at : at + HEADER_LENGTH]
        reader.skip(done)
        return BulkCut(state[Cut.TRANSACTIONS], state[Cut.EMPTIED], state[Cut.REMOVED], opens, last)

    def _removed(self) -> Iterator[tuple[int, bytes, int, int]]:
        """Yield the GTIDs of transactions that were removed before the new log began."""
        for index in range(0, Interval.COUNT * self._state[Cut.INTERVAL_COUNT], Interval.COUNT):
            kind, source, rest, start, stop = self._intervals[index : index + Interval.COUNT]
            yield kind, _UUID_WORDS.pack(source, rest), start, stop


def _row_sizes() -> RowSizes:
    from binspark.columns.row_counts import row_sizes  # loads NumPy

    return row_sizes


def _operation_bits(selection: Selection) -> int:
    """Return a bit for each operation of rows events that is selected, in the order of their type codes."""
    kinds = (Operations.INSERT, Operations.UPDATE, Operations.DELETE)
    return sum(1 << number for number, kind in enumerate(kinds) if selection.operations & kind)
