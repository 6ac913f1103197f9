"""The statement that rows belong to: its text, as ROWS_QUERY and MariaDB's ANNOTATE_ROWS have it before the rows."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.events import body_end
from binspark.kernels.layout import KEPT_STATEMENT_BYTES, Header, State, Stop
from binspark.kernels.memory import copy_bytes, load8, store32
from binspark.transactions.byte_tables import ROWS_FLAGS_AT, ROWS_LENGTH
from binspark.transactions.grammar import ROWS_ENDS_STATEMENT


@kernel
def keep_statement(state: np.ndarray, at: int, size: int, skipped: int) -> int:
    """Keep the text of a statement, which the rows that follow refer to. `skipped` bytes come before it."""
    if state[State.KEEP_ORIGINS] == 0:
        return 0
    number = state[State.ROWS_QUERIES]
    used = state[State.ROWS_QUERY_TEXT_USED]
    if (
        number >= state[State.ROWS_QUERY_CAPACITY]
        or used + KEPT_STATEMENT_BYTES > state[State.ROWS_QUERY_TEXT_CAPACITY]
    ):
        return Stop.TRANSACTIONS_FULL
    start = at + Header.LENGTH + skipped
    length = min(body_end(state, at, size) - start, KEPT_STATEMENT_BYTES)
    if length < 0:
        return Stop.REFUSED
    copy_bytes(state[State.ROWS_QUERY_TEXT] + used, start, length)
    store32(state[State.ROWS_QUERY_OFFSETS] + 4 * (number + 1), used + length)
    state[State.ROWS_QUERY_TEXT_USED] = used + length
    state[State.ROWS_QUERY] = number
    state[State.ROWS_QUERIES] = number + 1
    return 0


@kernel
def end_statement(state: np.ndarray, at: int, size: int) -> None:
    """Forget the statement after the last of its rows events."""
    body = at + Header.LENGTH
    if body_end(state, at, size) - body >= ROWS_LENGTH and load8(body + ROWS_FLAGS_AT) & ROWS_ENDS_STATEMENT:
        state[State.ROWS_QUERY] = -1
