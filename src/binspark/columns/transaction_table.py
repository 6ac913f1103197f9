"""Who the transactions are that rows belong to: identifiers and commit times, kept for the rows of open batches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.layout import State
from binspark.columns.layout import Transactions as X
from binspark.columns.types import TIMESTAMP

_CAPACITY = 1 << 16
_TEXT_CAPACITY = 64 * _CAPACITY


class TransactionTable:
    """Arrays that the scan writes, and columns made of them. A row knows the number of its transaction, -1 for none."""

    def __init__(self, state: npt.NDArray[np.int64]) -> None:
        self._state = state
        self.numbers = np.zeros((_CAPACITY, X.WIDTH), dtype=np.int64)
        self._offsets = np.zeros(_CAPACITY + 1, dtype=np.int32)
        self._text = np.zeros(_TEXT_CAPACITY, dtype=np.uint8)
        state[State.TRANSACTION] = -1
        state[State.TRANSACTION_CAPACITY] = _CAPACITY
        state[State.TEXT_CAPACITY] = _TEXT_CAPACITY

    @property
    def offsets_address(self) -> int:
        return int(self._offsets.ctypes.data)

    @property
    def text_address(self) -> int:
        return int(self._text.ctypes.data)

    def begin(self, gtid: str, commit_time: int, server_id: int) -> None:
        """Keep a transaction that Python saw."""
        state = self._state
        number, used = int(state[State.TRANSACTIONS]), int(state[State.TEXT_USED])
        raw = gtid.encode()
        self._text[used : used + len(raw)] = np.frombuffer(raw, dtype=np.uint8)
        self._offsets[number + 1] = used + len(raw)
        self.numbers[number, X.COMMIT_TIME] = commit_time
        self.numbers[number, X.SERVER] = server_id
        state[State.TEXT_USED] = used + len(raw)
        state[State.TRANSACTION], state[State.TRANSACTIONS] = number, number + 1
        state[State.TX_ROW] = 0

    @property
    def full(self) -> bool:
        state = self._state
        return bool(
            state[State.TRANSACTIONS] >= state[State.TRANSACTION_CAPACITY]
            or state[State.TEXT_USED] + 256 > state[State.TEXT_CAPACITY]
        )

    def forget(self) -> None:
        """Forget all but the current transaction. No open batch may have rows."""
        state = self._state
        current = int(state[State.TRANSACTION])
        state[State.TRANSACTIONS] = state[State.TEXT_USED] = state[State.UUID_TEXT] = 0
        if current < 0:
            return
        text = self._text[self._offsets[current] : self._offsets[current + 1]].tobytes().decode()
        numbers = self.numbers[current].copy()
        tx_row = int(state[State.TX_ROW])
        self.begin(text, int(numbers[X.COMMIT_TIME]), int(numbers[X.SERVER]))
        state[State.TX_ROW] = tx_row

    def columns(self, numbers: npt.NDArray[np.int32]) -> tuple[pa.Array, pa.Array]:
        """Return the identifiers (as a dictionary) and commit times of rows."""
        if len(numbers) == 0 or numbers.max() < 0:
            empty = pa.nulls(len(numbers), pa.string()).dictionary_encode()
            return empty.cast(pa.dictionary(pa.int32(), pa.string())), pa.nulls(len(numbers), TIMESTAMP)
        known = numbers >= 0
        first, last = int(numbers[known].min()), int(numbers.max())
        lengths = np.diff(self._offsets[first : last + 2])
        named = known & (lengths[np.maximum(numbers - first, 0)] > 0)
        indexes = pa.array(numbers - first, mask=None if named.all() else ~named)
        identifiers = pa.DictionaryArray.from_arrays(indexes, self._texts(first, last + 1))
        times = self.numbers[np.maximum(numbers, 0), X.COMMIT_TIME]
        return identifiers, pa.array(times, mask=(times == 0) | ~known).cast(TIMESTAMP)

    def _texts(self, first: int, last: int) -> pa.Array:
        """Return the identifiers of a run of transactions. No row refers to the empty one of an anonymous one."""
        offsets = self._offsets[first : last + 1]
        text = self._text[offsets[0] : offsets[-1]].tobytes()
        moved = (offsets - offsets[0]).astype(np.int32)
        return pa.Array.from_buffers(pa.string(), last - first, [None, pa.py_buffer(moved), pa.py_buffer(text)])
