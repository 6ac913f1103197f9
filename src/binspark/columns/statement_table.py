"""The statements that rows belong to, kept for the rows of open batches; and what else the log says of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from binspark.kernels.layout import KEPT_STATEMENT_BYTES, State

_CAPACITY = 1 << 14
_TEXT_CAPACITY = 4 << 20


@dataclass(frozen=True, slots=True, eq=False)
class RowOrigins:
    """Where the rows of a batch come from, besides what their metadata columns have.

    times       the time of the event of each row, in seconds since 1970
    threads     the thread that changed each row, NO_THREAD if not known
    statements  which of `texts` caused each row, -1 for none
    texts       statements, as `binspark.event.rows_query.shown_statement` takes them
    """

    times: npt.NDArray[np.uint32]
    threads: npt.NDArray[np.uint32]
    statements: npt.NDArray[np.int32]
    texts: tuple[bytes, ...]

    def taken(self, rows: npt.NDArray[np.int64]) -> RowOrigins:
        """Return the origins of some of the rows."""
        return RowOrigins(self.times[rows], self.threads[rows], self.statements[rows], self.texts)


class StatementTable:
    """Arrays that the scan writes. A row has the number of its statement, -1 for none."""

    def __init__(self, state: npt.NDArray[np.int64]) -> None:
        self._state = state
        self._offsets = np.zeros(_CAPACITY + 1, dtype=np.int32)
        self._text = np.zeros(_TEXT_CAPACITY, dtype=np.uint8)
        state[State.ROWS_QUERY] = -1
        state[State.ROWS_QUERY_CAPACITY] = _CAPACITY
        state[State.ROWS_QUERY_TEXT_CAPACITY] = _TEXT_CAPACITY
        state[State.ROWS_QUERY_OFFSETS] = self._offsets.ctypes.data
        state[State.ROWS_QUERY_TEXT] = self._text.ctypes.data

    @property
    def full(self) -> bool:
        """Whether no other statement can be kept."""
        state = self._state
        return bool(
            state[State.ROWS_QUERIES] >= _CAPACITY
            or state[State.ROWS_QUERY_TEXT_USED] + KEPT_STATEMENT_BYTES > _TEXT_CAPACITY
        )

    def begin(self, text: bytes) -> None:
        """Keep a statement that Python read."""
        state, raw = self._state, text[:KEPT_STATEMENT_BYTES]
        number, used = int(state[State.ROWS_QUERIES]), int(state[State.ROWS_QUERY_TEXT_USED])
        self._text[used : used + len(raw)] = np.frombuffer(raw, dtype=np.uint8)
        self._offsets[number + 1] = state[State.ROWS_QUERY_TEXT_USED] = used + len(raw)
        state[State.ROWS_QUERY], state[State.ROWS_QUERIES] = number, number + 1

    def forget(self) -> None:
        """Forget all but the current statement. No open batch may have rows."""
        state = self._state
        current = int(state[State.ROWS_QUERY])
        text = self._at(current) if current >= 0 else None
        state[State.ROWS_QUERIES] = state[State.ROWS_QUERY_TEXT_USED] = 0
        if text is not None:
            self.begin(text)

    def texts_of(self, statements: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], tuple[bytes, ...]]:
        """Return the texts of the statements of rows, and which of them each row has."""
        if len(statements) == 0 or (last := int(statements.max())) < 0:
            return statements, ()
        first = int(statements[statements >= 0].min())
        moved = np.where(statements < 0, statements, statements - first).astype(np.int32)
        return moved, tuple(self._at(number) for number in range(first, last + 1))

    def _at(self, number: int) -> bytes:
        return self._text[self._offsets[number] : self._offsets[number + 1]].tobytes()
