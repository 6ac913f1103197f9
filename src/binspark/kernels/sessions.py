"""The session of a BEGIN or COMMIT: its thread, its schema, and status variables of which a transaction needs none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import Header
from binspark.kernels.list_layout import NULL, NameNumber
from binspark.kernels.memory import byte_table, load8, load16, load32
from binspark.transactions.byte_tables import QUERY_LENGTH, QUERY_SCHEMA_LENGTH_AT, QUERY_STATUS_LENGTH_AT

if TYPE_CHECKING:
    import numpy as np

UNREADABLE = -1
"""What `session_schema` returns for a statement that only Python reads."""

_FOR_PYTHON, _TEXT, _TWO_TEXTS, _DATABASES, _COLLATIONS = 255, 254, 253, 252, 251
_MAX_FIXED = 250
_TOO_MANY_DATABASES = 254
_BYTE = 0x80

# The size of each status variable by its code, or how it is found. Those with a transaction number, those of very old
# servers, and codes that are not known are for Python.
_FIXED = {0: 4, 1: 8, 3: 4, 4: 6, 7: 2, 8: 2, 9: 8, 10: 4, 13: 3, 16: 1, 18: 2, 19: 1, 20: 1, 21: 1, 128: 3}
_FOUND = {5: _TEXT, 6: _TEXT, 11: _TWO_TEXTS, 12: _DATABASES, 131: _COLLATIONS}
_size_of = byte_table(bytes({**_FIXED, **_FOUND}.get(code, _FOR_PYTHON) for code in range(256)))


@kernel
def session_schema(names: np.ndarray, event: int, end: int) -> int:
    """Return the number of the schema of a statement, NULL if it has none, UNREADABLE if only Python can read it."""
    body = event + Header.LENGTH
    status = body + QUERY_LENGTH
    schema = status + load16(body + QUERY_STATUS_LENGTH_AT)
    length = load8(body + QUERY_SCHEMA_LENGTH_AT)
    if schema + length + 1 > end or load8(schema + length) != 0 or not are_plain(status, schema):
        return UNREADABLE
    if length == 0:
        return NULL
    entry = find_name(names, schema, length)
    return UNREADABLE if names[entry, NameNumber.HASH] == -1 else names[entry, NameNumber.NUMBER]


@kernel
def thread_of(event: int) -> int:
    """Return the id of the thread that ran a statement."""
    return load32(event + Header.LENGTH)


@kernel
def are_plain(at: int, end: int) -> bool:
    """Return whether status variables are complete, and a transaction needs none of them."""
    while at < end:
        size = _size_of(load8(at))
        at += 1
        if size == _FOR_PYTHON:
            return False
        if size <= _MAX_FIXED:
            at += size
        elif size == _COLLATIONS:
            at += 1 + 4 * load8(at)
        elif size == _DATABASES:
            at = after_databases(at, end)
        else:
            at = after_text(at, end)
            if size == _TWO_TEXTS:
                at = after_text(at, end)
        if at > end:
            return False
    return True


@kernel
def after_text(at: int, end: int) -> int:
    """Return the address after a text in ASCII, an address after the end if it is another one."""
    if at >= end:
        return end + 1
    length = load8(at)
    at += 1
    if at + length > end or not is_ascii(at, length):
        return end + 1
    return at + length


@kernel
def is_ascii(at: int, length: int) -> bool:
    """Return whether a text is ASCII."""
    offset = 0
    while offset < length and load8(at + offset) < _BYTE:
        offset += 1
    return offset == length


@kernel
def after_databases(at: int, end: int) -> int:
    """Return the address after a list of names in ASCII, an address after the end if it is another one."""
    if at >= end:
        return end + 1
    count = load8(at)
    at += 1
    if count == _TOO_MANY_DATABASES:
        return at
    for _ in range(count):
        while at < end and load8(at) != 0:
            if load8(at) >= _BYTE:
                return end + 1
            at += 1
        at += 1
    return at


@kernel
def hash_name(address: int, length: int) -> int:
    """Return a number for a name, which is not negative."""
    value = length
    for offset in range(length):
        value = (value * 31 + load8(address + offset)) & 0xFFFFFFFF
    return value


@kernel
def find_name(names: np.ndarray, address: int, length: int) -> int:
    """Return the entry of a name, or the empty entry where it belongs. The hash table is never full."""
    mask = len(names) - 1
    value = hash_name(address, length)
    entry = value & mask
    while names[entry, NameNumber.HASH] != -1:
        if names[entry, NameNumber.HASH] == value and names[entry, NameNumber.LENGTH] == length:
            known = names[entry, NameNumber.ADDRESS]
            offset = 0
            while offset < length and load8(known + offset) == load8(address + offset):
                offset += 1
            if offset == length:
                return entry
        entry = (entry + 1) & mask
    return entry
