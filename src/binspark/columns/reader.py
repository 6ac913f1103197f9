"""Logs into batches: by kernels where they can, by Python for the rest, in log order for each table."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.columns.arena import thread_arena
from binspark.columns.batches import OpenBatches, TableBatch
from binspark.columns.log_scan import ROWS_POST_HEADERS, SMALL_WINDOW, LogScan, Span
from binspark.columns.scan_memory import REWRITTEN
from binspark.columns.selection import Selection
from binspark.columns.sequence import NO_EPOCH
from binspark.columns.slow_path import SlowPath
from binspark.columns.tables import Tables
from binspark.frames import Frame
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.kernels.compiler import is_kept
from binspark.kernels.layout import State, Stop
from binspark.kernels.scan import scan
from binspark.schema.history import SchemaHistory

__all__ = ["BatchReader", "Span", "TableBatch", "is_decoder_compiled"]


class BatchReader(LogScan[TableBatch]):
    """Turns one log after the other into batches. Schemas, tables and memory are shared between them."""

    post_headers = ROWS_POST_HEADERS

    def __init__(
        self, selection: Selection, history: SchemaHistory | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.selection = selection
        self.history = history or SchemaHistory()
        self._batches = OpenBatches(selection.decoded(), thread_arena(), selection)
        super().__init__(self._batches.state, SMALL_WINDOW if selection.in_windows else None)
        self._slow_path = SlowPath(self._batches, self.history, self._scan_bytes, limits)
        self._select()

    @property
    def tables(self) -> Tables:
        """The tables that were read so far."""
        return self._batches.tables

    @property
    def decoded_bytes(self) -> int:
        """How many bytes of rows events were decoded, not skipped."""
        return int(self.state[State.DECODED])

    @property
    def transaction_rows(self) -> int:
        """How many rows of the last transaction were counted."""
        return int(self.state[State.TX_ROW])

    @property
    def disagreements(self) -> int:
        """How often a kernel refused what the reference decodes: a mistake in a kernel, which costs only time."""
        return self._slow_path.disagreements

    def _begin_part(self, file: str) -> None:
        self._batches.file = file
        self._batches.sequence = NO_EPOCH if self._span is None else self._span.sequence
        self._slow_path.begin_log(file, self._framer)
        if self._span is not None:
            self._slow_path.forget_transaction()

    def _first_frame(self, frame: Frame) -> Iterator[TableBatch]:
        self._slow_path.read_first_event(frame)
        return iter(())

    def _frame_for_python(self, frame: Frame) -> Iterator[TableBatch]:
        return self._slow_path.read_frame(frame)

    def _run_kernel(self) -> int:
        tables, transactions = self._batches.tables, self._batches.transactions
        stop: int = scan(
            self.state,
            tables.numbers,
            tables.columns_address,
            tables.ids,
            transactions.numbers,
            transactions.offsets_address,
            transactions.text_address,
        )
        return stop

    def _flush(self) -> Iterator[TableBatch]:
        return self._batches.flush()

    def _leave_bytes(self) -> Iterator[TableBatch]:
        return iter(()) if self.state[State.INNER] == REWRITTEN else self._batches.end_window()

    def _stopped(self, stop: int) -> Iterator[TableBatch]:
        """Do what kernels need before they can continue."""
        batches, table = self._batches, int(self.state[State.TABLE])
        if stop in (Stop.FULL, Stop.CHECK) and batches.cut_at_wrong_text(table):
            yield from self._slow_path.read_event(refused=True)
        elif stop == Stop.FULL:
            yield from batches.make_room(table)
        elif stop == Stop.CHECK:
            self._slow_path.skip_rows_event()
        elif stop == Stop.TRANSACTIONS_FULL:
            yield from batches.flush()
        elif stop == Stop.IMAGE:
            yield from self._slow_path.keep_image()
        else:
            yield from self._slow_path.read_event(refused=stop == Stop.REFUSED)

    def _select(self) -> None:
        state, selection = self.state, self.selection.decoded()
        state[State.START_TIME] = selection.start_time
        state[State.STOP_TIME] = selection.stop_time or 0
        state[State.SERVER] = -1 if selection.server_id is None else selection.server_id
        state[State.COMMITTED_FROM] = selection.committed_from
        state[State.COMMITTED_BEFORE] = selection.committed_before or 0
        state[State.KEEP_IMAGES] = selection.images
        state[State.KEEP_ORIGINS] = selection.origins
        state[State.COUNT_ALL] = selection.tx_rows
        by_gtid = selection.include_gtids is not None or selection.exclude_gtids is not None
        state[State.SELECT_BY_THREAD] = selection.thread_id is not None
        state[State.SELECT_BY_GTID] = by_gtid or selection.thread_id is not None


def is_decoder_compiled() -> bool:
    """Return whether the kernel that decodes logs is on disk: compiling it takes half a minute."""
    return is_kept(scan)
