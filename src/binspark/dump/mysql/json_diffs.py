"""Partial updates of JSON documents as mysqlbinlog prints them: calls of JSON_REPLACE, JSON_INSERT and others."""

from __future__ import annotations

from typing import NamedTuple

from binspark.dump.mysql.row_values import document_bytes, quoted
from binspark.errors import DecodeError
from binspark.values.json.binary import decode_json
from binspark.values.json.document import JsonObject
from binspark.wire import Cursor

_REPLACE, _REMOVE = 0, 2
_SEPARATOR = b"\n###      "
_ARRAY_INDEX = b"]"


class _Diff(NamedTuple):
    function: bytes
    path: bytes
    value: bytes | None


def print_diffs(data: bytes, column: bytes) -> bytes:
    """Return the text of a list of diffs for a column such as `@3`."""
    try:
        diffs = _read(data)
    except DecodeError as error:
        return b"Error %b while printing JSON diff\n" % error.message.encode()
    functions = [diff.function for diff in diffs]
    outermost_first = [
        function
        for index, function in reversed(list(enumerate(functions)))
        if index == 0 or functions[index - 1] != function
    ]
    text = _SEPARATOR.join(b"%b(" % function for function in outermost_first) + column
    if not diffs:
        return text
    arguments = []
    for index, diff in enumerate(diffs):
        value = b"" if diff.value is None else b", %b" % diff.value
        is_last = index + 1 == len(diffs) or functions[index + 1] != diff.function
        arguments.append(quoted(diff.path) + value + (b")" if is_last else b""))
    return text + b", " + (b"," + _SEPARATOR).join(arguments)


def _read(data: bytes) -> list[_Diff]:
    cursor = Cursor(data)
    diffs: list[_Diff] = []
    while cursor.remaining:
        operation = cursor.u8("operation")
        path = cursor.raw("path", cursor.packed("path_length"))
        value = None if operation == _REMOVE else cursor.raw("value", cursor.packed("value_length"))
        diffs.append(_Diff(_function(operation, path), path, None if value is None else _value_text(value)))
    return diffs


def _function(operation: int, path: bytes) -> bytes:
    if operation == _REPLACE:
        return b"JSON_REPLACE"
    if operation == _REMOVE:
        return b"JSON_REMOVE"
    return b"JSON_ARRAY_INSERT" if path.endswith(_ARRAY_INDEX) else b"JSON_INSERT"


def _value_text(value: bytes) -> bytes:
    node = decode_json(value)
    text = document_bytes(node)
    if isinstance(node, list | JsonObject):
        return b"CAST(%b AS JSON)" % quoted(text)
    return quoted(text) if isinstance(node, str) else text
