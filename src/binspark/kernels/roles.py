"""The role of an event in its transaction, from its bytes: `transactions.byte_tables.role_in_bytes`, compiled."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import Header
from binspark.kernels.memory import load8, load16
from binspark.transactions.byte_tables import (
    EXACT_TEXTS,
    FIRST_LETTERS,
    GTID_FLAGS_AT,
    GTID_LENGTH,
    LETTERS,
    LOWER_CASE,
    MAX_EXACT_LENGTH,
    MAX_SPACE,
    QUERY_LENGTH,
    QUERY_SCHEMA_LENGTH_AT,
    QUERY_STATUS_LENGTH_AT,
    ROWS_FLAGS_AT,
    ROWS_LENGTH,
)
from binspark.transactions.grammar import GTID_STANDALONE, ROWS_ENDS_STATEMENT, Role


@kernel
def role_in_event(role: int, event: int, end: int) -> int:
    """Refine the role of a type code by the body of an event, which ends before its checksum."""
    body = event + Header.LENGTH
    if role == Role.BY_STATEMENT:
        return role_of_statement(event, end)
    if role == Role.BY_ROWS_FLAGS:
        if end - body < ROWS_LENGTH:
            return Role.UNDECIDED
        return Role.ROWS if load8(body + ROWS_FLAGS_AT) & ROWS_ENDS_STATEMENT else Role.PREPARES
    if role == Role.BY_GTID_FLAGS:
        if end - body < GTID_LENGTH:
            return Role.UNDECIDED
        return Role.IDENTIFIES if load8(body + GTID_FLAGS_AT) & GTID_STANDALONE else Role.OPENS
    return role


@kernel
def role_of_statement(event: int, end: int) -> int:
    """Return the role of a QUERY event."""
    text, length = statement_text(event, end)
    if length < LETTERS:
        return Role.UNDECIDED
    role = exact_role(text, length)
    if role != Role.BY_STATEMENT:
        return role
    if load8(text) <= MAX_SPACE or (load16(text) | LOWER_CASE) in FIRST_LETTERS:
        return Role.UNDECIDED
    return Role.STATEMENT


@kernel
def statement_text(event: int, end: int) -> tuple[int, int]:
    """Return the address of a statement's text, and its length; a negative one if the event is too short for it."""
    body = event + Header.LENGTH
    if end - body < QUERY_LENGTH:
        return body, -1
    text = body + QUERY_LENGTH + load16(body + QUERY_STATUS_LENGTH_AT) + load8(body + QUERY_SCHEMA_LENGTH_AT) + 1
    return text, end - text


@kernel
def exact_role(text: int, length: int) -> int:
    """Return the role of a statement that is one of the exact ones, BY_STATEMENT of any other."""
    if length > MAX_EXACT_LENGTH:
        return Role.BY_STATEMENT
    word = 0
    for index in range(length):
        word |= load8(text + index) << 8 * index
    for exact_length, exact_word, role in EXACT_TEXTS:
        if length == exact_length and word == exact_word:
            return role
    return Role.BY_STATEMENT
