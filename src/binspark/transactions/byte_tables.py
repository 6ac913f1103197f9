"""The transaction grammar for readers of bytes: tables and constants generated from `grammar`, one byte an entry.

Kernels use what is here as constants. `role_in_bytes` is what `kernels.roles` does, in plain Python.
"""

from __future__ import annotations

from binspark.frames.codes import EventCode as E
from binspark.transactions.grammar import (
    BOUNDARIES,
    EXACT_STATEMENTS,
    GTID_STANDALONE,
    ROWS_ENDS_STATEMENT,
    STATEMENT_FORMS,
    TRANSITIONS,
    Ending,
    Progress,
    Role,
    begins_another,
)

Bytes = bytes | memoryview

# --- By type code -----------------------------------------------------------------------------------------------------


def _codes_of(*roles: Role) -> tuple[int, ...]:
    return tuple(int(code) for code, boundary in sorted(BOUNDARIES.items()) if boundary.role in roles)


ROLES = bytes(BOUNDARIES[code].role if code in BOUNDARIES else Role.JOINS for code in range(256))
"""The role of each type code."""

IDENTIFYING_CODES = _codes_of(Role.IDENTIFIES, Role.BY_GTID_FLAGS)
"""Events that begin a transaction and identify it."""

OUTSIDE_CODES = _codes_of(Role.OUTSIDE, Role.BREAKS)
"""Events that belong to no transaction, wherever they are."""

EXECUTED_GTIDS_CODES = (int(E.PREVIOUS_GTIDS), int(E.GTID_LIST))
"""Events that say which GTIDs come before a file."""

# --- By role ----------------------------------------------------------------------------------------------------------

PROGRESS_COUNT = len(Progress)
PROGRESS_AFTER = bytes(after for role in sorted(TRANSITIONS) for after in TRANSITIONS[role])
"""What is in progress after an event: at `PROGRESS_COUNT * role + what was in progress before`."""

INTERRUPTED_BY_BEGIN = tuple(int(before) for before in Progress if begins_another(Role.BEGINS, before))
"""What must not be in progress for a BEGIN to belong to it."""

ENDINGS = tuple(Ending)
ENDING_NUMBERS = {ending: number for number, ending in enumerate(ENDINGS)}
"""The numbers of endings in columns of numbers."""

STARTS_NOTHING = (int(Role.OUTSIDE), int(Role.JOINS))
"""Roles of events that begin no transaction where none is in progress."""

# --- By body ----------------------------------------------------------------------------------------------------------
# Where bodies say the role, in events of version 4: offsets in the body, and the length that a body has at least.

ROWS_FLAGS_AT, ROWS_LENGTH = 6, 8
GTID_FLAGS_AT, GTID_LENGTH = 12, 13
QUERY_SCHEMA_LENGTH_AT, QUERY_STATUS_LENGTH_AT, QUERY_LENGTH = 8, 11, 13

EXACT_TEXTS = tuple(
    (len(text), int.from_bytes(text, "little"), int(boundary.role)) for text, boundary in EXACT_STATEMENTS.items()
)
"""Statements that need no look at their words: length, bytes as a little-endian number, role."""

MAX_EXACT_LENGTH = max(length for length, _, _ in EXACT_TEXTS)
BEGIN_LENGTHS = tuple(length for length, _, role in EXACT_TEXTS if role == Role.BEGINS)

LETTERS = 2
LOWER_CASE = 0x2020
FIRST_LETTERS = tuple(sorted({int.from_bytes(form.word[:LETTERS], "little") | LOWER_CASE for form in STATEMENT_FORMS}))
"""The first two letters, in lower case, of statements that may be more than plain statements."""

MAX_SPACE = 0x20
"""The largest byte that may be white space before a statement."""


def role_in_bytes(role: int, body: Bytes) -> int:
    """Refine the role of a type code by a body without its checksum; UNDECIDED where that takes a decoder."""
    if role == Role.BY_STATEMENT:
        return _role_of_statement(body)
    if role == Role.BY_ROWS_FLAGS:
        if len(body) < ROWS_LENGTH:
            return Role.UNDECIDED
        return Role.ROWS if body[ROWS_FLAGS_AT] & ROWS_ENDS_STATEMENT else Role.PREPARES
    if role == Role.BY_GTID_FLAGS:
        if len(body) < GTID_LENGTH:
            return Role.UNDECIDED
        return Role.IDENTIFIES if body[GTID_FLAGS_AT] & GTID_STANDALONE else Role.OPENS
    return role


def statement_text(body: Bytes) -> Bytes | None:
    """Return the text of a QUERY without decoding it; None if the body is too short to say where it is."""
    if len(body) < QUERY_LENGTH:
        return None
    status_length = body[QUERY_STATUS_LENGTH_AT] | body[QUERY_STATUS_LENGTH_AT + 1] << 8
    return body[QUERY_LENGTH + status_length + body[QUERY_SCHEMA_LENGTH_AT] + 1 :]


def exact_role(text: Bytes) -> int:
    """Return the role of a statement that is one of the exact ones, BY_STATEMENT of any other."""
    boundary = EXACT_STATEMENTS.get(bytes(text)) if len(text) <= MAX_EXACT_LENGTH else None
    return Role.BY_STATEMENT if boundary is None else boundary.role


def _role_of_statement(body: Bytes) -> int:
    text = statement_text(body)
    if text is None or len(text) < LETTERS:
        return Role.UNDECIDED
    role = exact_role(text)
    if role != Role.BY_STATEMENT:
        return role
    first_letters = (text[0] | text[1] << 8) | LOWER_CASE
    return Role.UNDECIDED if text[0] <= MAX_SPACE or first_letters in FIRST_LETTERS else Role.STATEMENT
