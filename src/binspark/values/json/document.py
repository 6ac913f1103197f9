"""JSON as servers print it: `{"a": 1, "b": [1.0, "x"]}`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from binspark.errors import Malformed

MAX_DEPTH = 100
"""The maximum depth of nested arrays and objects that servers store and print."""


@dataclass(slots=True)
class JsonObject:
    """Members in the order in which they are stored. Servers order keys by length, then by bytes."""

    members: list[tuple[str, JsonNode]]

    def find(self, key: str) -> int:
        """Return the index of a key among the members, or -1."""
        return next((index for index, (name, _) in enumerate(self.members) if name == key), -1)

    def add(self, key: str, value: JsonNode) -> None:
        """Insert a member in the order of the server."""
        rank = _key_rank(key)
        greater = (index for index, (name, _) in enumerate(self.members) if _key_rank(name) > rank)
        self.members.insert(next(greater, len(self.members)), (key, value))


JsonNode: TypeAlias = bool | int | float | Decimal | str | list["JsonNode"] | JsonObject | None
"""Dates, times and other values that JSON does not have are the strings that servers print for them."""


def _key_rank(key: str) -> tuple[int, bytes]:
    encoded = key.encode()
    return len(encoded), encoded


_MAX_POINT_WITHOUT_EXPONENT = 15
_MIN_POINT_WITHOUT_EXPONENT = -14

_SPECIAL = re.compile(r'[\x00-\x1f"\\]')
_SHORT_ESCAPES = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def node_text(node: JsonNode) -> str:
    """Return a document as the server prints it."""
    parts: list[str] = []
    _print(node, parts, 0)
    return "".join(parts)


def _print(node: JsonNode, parts: list[str], depth: int) -> None:
    if not isinstance(node, list | JsonObject):
        parts.append(_scalar_text(node))
        return
    if depth >= MAX_DEPTH:
        raise Malformed(f"JSON document has more than {MAX_DEPTH} levels")
    if isinstance(node, list):
        _print_array(node, parts, depth + 1)
    else:
        _print_object(node, parts, depth + 1)


def _print_array(array: list[JsonNode], parts: list[str], depth: int) -> None:
    separator = "["
    for element in array:
        parts.append(separator)
        _print(element, parts, depth)
        separator = ", "
    parts.append("]" if array else "[]")


def _print_object(node: JsonObject, parts: list[str], depth: int) -> None:
    separator = "{"
    for key, value in node.members:
        parts.append(f"{separator}{quoted(key)}: ")
        _print(value, parts, depth)
        separator = ", "
    parts.append("}" if node.members else "{}")


def _scalar_text(scalar: bool | int | float | Decimal | str | None) -> str:
    match scalar:
        case None:
            return "null"
        case bool():
            return "true" if scalar else "false"
        case int():
            return str(scalar)
        case float():
            return double_text(scalar)
        case Decimal():
            return f"{scalar:f}"
    return quoted(scalar)


def double_text(value: float) -> str:
    """Return a double as the server prints it in JSON: the shortest digits that read back to the same number.

    It has an exponent from 1e15 on, unless there are digits after the decimal point, and below 1e-15.
    """
    sign, digit_tuple, exponent = Decimal(repr(value)).as_tuple()
    point = len(digit_tuple) + int(exponent)  # digits before the decimal point
    digits = "".join(map(str, digit_tuple)).rstrip("0") or "0"
    return ("-" if sign else "") + _with_point(digits, point if value else 1)


def _with_point(digits: str, point: int) -> str:
    if _MIN_POINT_WITHOUT_EXPONENT <= point <= 0:
        return f"0.{'0' * -point}{digits}"
    if 0 < point < len(digits):
        return f"{digits[:point]}.{digits[point:]}"
    if 0 < point <= _MAX_POINT_WITHOUT_EXPONENT:
        return f"{digits.ljust(point, '0')}.0"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1}"


def quoted(text: str) -> str:
    """Return a string in quotes; only quotes, backslashes and control characters below U+0020 are escaped."""
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"
