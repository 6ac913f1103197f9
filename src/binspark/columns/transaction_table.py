"""The transactions that rows belong to: GTIDs and commit times, kept for the rows of open batches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arrow import number_array, text_array
from binspark.columns.types import TIMESTAMP
from binspark.kernels.layout import State
from binspark.kernels.layout import Transactions as X

_CAPACITY = 1 << 16
_TEXT_CAPACITY = 64 * _CAPACITY
_MAX_GTID_LENGTH = 256


class TransactionTable:
    """Arrays that the scan writes, and columns made of them. A row has the number of its transaction, -1 for none."""

    def __init__(self, state: npt.NDArray[np.int64]) -> None:
        self._state = state
        self.numbers = np.empty((_CAPACITY, X.WIDTH), dtype=np.int64)
        self._offsets = np.zeros(_CAPACITY + 1, dtype=np.int32)
        self._text = np.empty(_TEXT_CAPACITY, dtype=np.uint8)
        state[State.TRANSACTION] = -1
        state[State.TRANSACTION_CAPACITY] = _CAPACITY
        state[State.TEXT_CAPACITY] = _TEXT_CAPACITY

    @property
    def offsets_address(self) -> int:
        """The address of the offsets of GTIDs in their text."""
        return int(self._offsets.ctypes.data)

    @property
    def text_address(self) -> int:
        """The address of the text of GTIDs."""
        return int(self._text.ctypes.data)

    def begin(self, gtid: str, commit_time: int, server_id: int) -> None:
        """Keep a transaction that Python read."""
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
        """Whether no other transaction can be kept."""
        state = self._state
        return bool(
            state[State.TRANSACTIONS] >= state[State.TRANSACTION_CAPACITY]
            or state[State.TEXT_USED] + _MAX_GTID_LENGTH > state[State.TEXT_CAPACITY]
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
        """Return the GTIDs (as a dictionary) and commit times of rows.

        Rows without a transaction have neither, those of an anonymous one no GTID, and some commit times are not known.
        """
        if len(numbers) == 0 or numbers.max() < 0:
            nothing = number_array(np.zeros(len(numbers), dtype=np.int32), valid=np.zeros(len(numbers), dtype=np.bool_))
            return pa.DictionaryArray.from_arrays(nothing, text_array([])), pa.nulls(len(numbers), TIMESTAMP)
        low, last = int(numbers.min()), int(numbers.max())
        known = None if low >= 0 else numbers >= 0
        first = low if known is None else int(numbers[known].min())
        indexes = numbers - np.int32(first)
        are_named = np.diff(self._offsets[first : last + 2]) > 0
        named = number_array(indexes, valid=_of_rows(are_named, indexes, known))
        identifiers = pa.DictionaryArray.from_arrays(named, self._texts(first, last + 1), safe=False)
        times = self.numbers[first : last + 1, X.COMMIT_TIME].copy()
        moments = times.take(indexes, mode="clip")
        return identifiers, number_array(moments, TIMESTAMP, _of_rows(times != 0, indexes, known))

    def _texts(self, first: int, last: int) -> pa.Array:
        """Return the GTIDs of consecutive transactions. No row refers to the empty one of an anonymous transaction."""
        offsets = self._offsets[first : last + 1]
        text = self._text[offsets[0] : offsets[-1]].tobytes()
        moved = (offsets - offsets[0]).astype(np.int32)
        return pa.Array.from_buffers(pa.string(), last - first, [None, pa.py_buffer(moved), pa.py_buffer(text)])


def _of_rows(
    transactions: npt.NDArray[np.bool_], indexes: npt.NDArray[np.int32], known: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_] | None:
    """Return for each row whether its transaction has something; None if all rows have it."""
    if transactions.all():
        return known
    found = transactions.take(indexes, mode="clip")
    return found if known is None else found & known
