"""Python values as binary JSON, as servers write it."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any, NamedTuple

from binspark.errors import EncodeError
from binspark.wire import Writer
from binspark.wire.decimals import encode_packed_decimal
from binspark.wire.packed import encode_packed

SMALL, LARGE = 2, 4


class Opaque(NamedTuple):
    """A value of an SQL type."""

    type_code: int
    data: bytes


def encode_json(value: Any) -> bytes:
    """Encode a document in the small format if it fits, or else in the large one."""
    try:
        return encode_document(value, SMALL)
    except EncodeError:
        return encode_document(value, LARGE)


def encode_document(value: Any, width: int) -> bytes:
    """Encode a document whose arrays and objects are all of one format."""
    kind, data = _encode(value, width)
    return bytes((kind,)) + data


def encode_length(length: int) -> bytes:
    encoded = bytearray()
    while length >= 0x80:
        encoded.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes((*encoded, length))


def encode_opaque(type_code: int, data: bytes) -> bytes:
    """Encode a document that is one opaque value."""
    return encode_document(Opaque(type_code, data), SMALL)


def decimal_data(text: str) -> bytes:
    """Encode the data of an opaque decimal with exactly the digits of the text."""
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), f"{text} is not a finite number"
    scale = max(0, -exponent)
    precision = max(len(value.as_tuple().digits), scale, 1)
    return bytes((precision, scale)) + encode_packed_decimal(value, precision, scale)


def encode_diff(operation: int, path: str, value: bytes | None = None) -> bytes:
    """Encode one diff; without a value where it removes something."""
    encoded = path.encode()
    head = bytes((operation,)) + encode_packed(len(encoded)) + encoded
    return head if value is None else head + encode_packed(len(value)) + value


def _encode(value: Any, width: int) -> tuple[int, bytes]:
    match value:
        case None | bool():
            return 0x04, bytes(({None: 0, True: 1, False: 2}[value],))
        case int():
            return _encode_integer(value)
        case float():
            return 0x0B, struct.pack("<d", value)
        case str():
            raw = value.encode()
            return 0x0C, encode_length(len(raw)) + raw
        case Opaque():
            return 0x0F, bytes((value.type_code,)) + encode_length(len(value.data)) + value.data
        case list():
            return 0x02 + (width == LARGE), _encode_container([], value, width)
        case dict():
            members = sorted(((k.encode(), v) for k, v in value.items()), key=lambda m: (len(m[0]), m[0]))
            return (width == LARGE) + 0, _encode_container([k for k, _ in members], [v for _, v in members], width)
    raise AssertionError(value)


def _encode_integer(value: int) -> tuple[int, bytes]:
    for code, form in ((0x05, "<h"), (0x06, "<H"), (0x07, "<i"), (0x08, "<I"), (0x09, "<q")):
        try:
            return code, struct.pack(form, value)
        except struct.error:
            continue
    return 0x0A, struct.pack("<Q", value)


def _encode_container(keys: list[bytes], values: list[Any], width: int) -> bytes:
    header = 2 * width + len(keys) * (width + 2) + len(values) * (width + 1)
    entries, tail = Writer(), Writer()
    for key in keys:
        entries.uint(header + len(tail), width)
        entries.u16(len(key))
        tail.raw(key)
    for value in values:
        kind, data = _encode(value, width)
        entries.u8(kind)
        if kind in (0x04, 0x05, 0x06) or (width == LARGE and kind in (0x07, 0x08)):
            entries.raw(data.ljust(width, b"\0"))
        else:
            entries.uint(header + len(tail), width)
            tail.raw(data)
    counts = Writer()
    counts.uint(len(values), width)
    counts.uint(header + len(tail), width)
    return counts.take() + entries.take() + tail.take()
