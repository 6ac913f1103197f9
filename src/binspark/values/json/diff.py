"""Partial updates of JSON: PARTIAL_UPDATE_ROWS logs what changed in a document instead of the new document.

A vector of diffs replaces the document, with its length before it as a document has. The diffs are applied in order:

bytes   field
1       operation: 0 replace, 1 insert, 2 remove
packed  length of the path
        path, see `binspark.values.json.path`
packed  length of the value    (replace, insert)
        value, binary JSON     (replace, insert)

A vector without diffs does not change the document.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from binspark.errors import Malformed
from binspark.values.json.binary import decode_json
from binspark.values.json.document import JsonNode, JsonObject, node_text
from binspark.values.json.path import Cell, Leg, Member, parse_path
from binspark.wire import Cursor


class JsonOperation(IntEnum):
    """What a diff does."""

    REPLACE = 0
    INSERT = 1
    REMOVE = 2


@dataclass(frozen=True, slots=True)
class JsonDiff:
    """One change of a document. `value` is binary JSON; there is none to remove something."""

    operation: JsonOperation
    path: str
    value: bytes | None


def apply_json_diffs(before_document: bytes, diff_vector: bytes) -> str:
    """Apply all diffs to a document and return the new document as the server prints it.

    The vector comes without the four bytes of its length.
    """
    document = decode_json(before_document)
    for diff in decode_json_diffs(diff_vector):
        _apply(document, diff)
    return node_text(document)


def decode_json_diffs(diff_vector: bytes) -> list[JsonDiff]:
    """Decode a vector of diffs, without the four bytes of its length."""
    cursor = Cursor(diff_vector)
    diffs: list[JsonDiff] = []
    while cursor.remaining:
        diffs.append(_decode_diff(cursor))
    return diffs


def _decode_diff(cursor: Cursor) -> JsonDiff:
    code = cursor.u8("operation")
    if code > JsonOperation.REMOVE:
        raise cursor.malformed(f"unknown JSON operation {code}, expected 0 (replace), 1 (insert) or 2 (remove)")
    operation = JsonOperation(code)
    path = cursor.text("path", cursor.packed("path_length"))
    if operation is JsonOperation.REMOVE:
        return JsonDiff(operation, path, None)
    return JsonDiff(operation, path, cursor.raw("value", cursor.packed("value_length")))


def _apply(document: JsonNode, diff: JsonDiff) -> None:
    legs = parse_path(diff.path)
    if not legs:
        raise Malformed("path of a JSON diff is the document itself")
    parent = document
    for leg in legs[:-1]:
        parent = _child(parent, leg, diff)
    match parent, legs[-1]:
        case JsonObject(), Member() as member:
            _change_member(parent, member, diff)
        case list(), Cell() as cell:
            _change_cell(parent, cell, diff)
        case _:
            raise _does_not_fit(diff)


def _child(node: JsonNode, leg: Leg, diff: JsonDiff) -> JsonNode:
    match node, leg:
        case JsonObject(), Member():
            index = node.find(leg.name)
            if index >= 0:
                return node.members[index][1]
        case list(), Cell():
            index, exists = leg.index_in(len(node))
            if exists:
                return node[index]
    raise _does_not_fit(diff)


def _change_member(parent: JsonObject, member: Member, diff: JsonDiff) -> None:
    index = parent.find(member.name)
    if (index >= 0) is (diff.operation is JsonOperation.INSERT):
        raise _does_not_fit(diff)
    match diff.operation:
        case JsonOperation.REPLACE:
            parent.members[index] = (member.name, decode_json(diff.value or b""))
        case JsonOperation.INSERT:
            parent.add(member.name, decode_json(diff.value or b""))
        case JsonOperation.REMOVE:
            del parent.members[index]


def _change_cell(parent: list[JsonNode], cell: Cell, diff: JsonDiff) -> None:
    index, exists = cell.index_in(len(parent))
    if diff.operation is not JsonOperation.INSERT and not exists:
        raise _does_not_fit(diff)
    match diff.operation:
        case JsonOperation.REPLACE:
            parent[index] = decode_json(diff.value or b"")
        case JsonOperation.INSERT:
            parent.insert(index, decode_json(diff.value or b""))
        case JsonOperation.REMOVE:
            del parent[index]


def _does_not_fit(diff: JsonDiff) -> Malformed:
    return Malformed(f"cannot {diff.operation.name.lower()} {diff.path[:80]!r} in this JSON document")
