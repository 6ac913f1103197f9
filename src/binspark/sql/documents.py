"""JSON documents of MySQL as SQL expressions that store the same document again.

Most documents are text that is cast. Text has no dates, times, decimals, bytes and unsigned integers: documents with
such values are built by functions, as far down as they contain them.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from binspark.event.column_types import ColumnType
from binspark.sql.quoting import hexadecimal, quoted_text
from binspark.values.json.binary import decode_json, read_length
from binspark.values.json.diff import JsonDiff, JsonOperation
from binspark.values.json.document import JsonNode, JsonObject, node_text
from binspark.values.json.opaque import decode_opaque
from binspark.values.json.path import Cell, parse_path
from binspark.wire import Cursor

_UINT16, _UINT32, _UINT64, _OPAQUE = 0x06, 0x08, 0x0A, 0x0F
_MAX_SIGNED = (1 << 63) - 1
_MAX_PRECISION = 65
_AS_BYTES = ColumnType.VARCHAR
_CASTS = {
    ColumnType.DATE: "DATE",
    ColumnType.DATETIME: "DATETIME(6)",
    ColumnType.TIMESTAMP: "DATETIME(6)",
    ColumnType.TIME: "TIME(6)",
}


class _Expression(str):
    """An SQL expression for a value that no text of JSON has."""

    __slots__ = ()


def document_sql(document: bytes) -> str:
    """Return the expression for a document in binary format."""
    return _node_sql(decode_json(document, _SCALARS))


def diffs_sql(document: str, diffs: tuple[JsonDiff, ...]) -> str:
    """Return the expression for a document, itself an expression, after a partial update."""
    for diff in diffs:
        path = quoted_text(diff.path)
        value = "" if diff.value is None else document_sql(diff.value)
        if diff.operation is JsonOperation.REMOVE:
            document = f"JSON_REMOVE({document}, {path})"
        elif diff.operation is JsonOperation.REPLACE:
            document = f"JSON_REPLACE({document}, {path}, {value})"
        elif isinstance(parse_path(diff.path)[-1], Cell):
            document = f"JSON_ARRAY_INSERT({document}, {path}, {value})"
        else:
            document = f"JSON_INSERT({document}, {path}, {value})"
    return document


def _node_sql(node: JsonNode) -> str:
    if isinstance(node, _Expression):
        return f"CAST({node} AS JSON)"
    if not _has_expression(node):
        return f"CAST({quoted_text(node_text(node))} AS JSON)"
    return _built(node)


def _built(node: JsonNode) -> str:
    """Return the expression of an array or object with expressions in it, or of a value in it."""
    if isinstance(node, _Expression):
        return node
    if not _has_expression(node):
        return f"CAST({quoted_text(node_text(node))} AS JSON)"
    if isinstance(node, JsonObject):
        members = (f"{quoted_text(name)}, {_built(value)}" for name, value in node.members)
        return f"JSON_OBJECT({', '.join(members)})"
    assert isinstance(node, list)
    return f"JSON_ARRAY({', '.join(map(_built, node))})"


def _has_expression(node: JsonNode) -> bool:
    if isinstance(node, JsonObject):
        return any(_has_expression(value) for _, value in node.members)
    if isinstance(node, list):
        return any(map(_has_expression, node))
    return isinstance(node, _Expression)


def _unsigned(length: int) -> Callable[[Cursor], JsonNode]:
    def read(cursor: Cursor) -> JsonNode:
        number = cursor.uint("integer", length)
        return number if number > _MAX_SIGNED else _Expression(f"CAST({number} AS UNSIGNED)")

    return read


def _opaque(cursor: Cursor) -> JsonNode:
    """Read a value of an SQL type: its type, its length and its data."""
    type_code = cursor.u8("opaque_type")
    data = cursor.sub("opaque", read_length(cursor))
    raw = data.data[data.offset : data.end]
    value = decode_opaque(type_code, data)
    if isinstance(value, Decimal):
        precision, scale = min(raw[0], _MAX_PRECISION), raw[1]
        return _Expression(f"CAST('{value:f}' AS DECIMAL({precision},{scale}))")
    if type_code in _CASTS:
        return _Expression(f"CAST('{value}' AS {_CASTS[ColumnType(type_code)]})")
    if type_code == ColumnType.VAR_STRING:
        return str(value)
    was = "" if type_code == _AS_BYTES else f" /* of type {type_code}, becomes {int(_AS_BYTES)} */"
    return _Expression(f"CAST({hexadecimal(raw)} AS BINARY){was}")


_SCALARS: dict[int, Callable[[Cursor], JsonNode]] = {
    _UINT16: _unsigned(2),
    _UINT32: _unsigned(4),
    _UINT64: _unsigned(8),
    _OPAQUE: _opaque,
}
