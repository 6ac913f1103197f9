"""Values of rows as mysqlbinlog prints them in comments, straight from their bytes.

mysqlbinlog does not know character sets and signs: it prints bytes as they are, and both readings of an integer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from binspark.errors import DecodeError
from binspark.event.column_types import ColumnType as T
from binspark.values.json.binary import decode_json
from binspark.values.json.document import JsonNode, node_text
from binspark.wire.decimals import decode_packed_decimal, packed_decimal_length

Print = Callable[[bytes], bytes]
"""Returns the text of a value, given its bytes (without those of its length)."""

_ESCAPES = {
    ord("\b"): rb"\b", ord("\f"): rb"\f", ord("\n"): rb"\n", ord("\r"): rb"\r", ord("\t"): rb"\t",
    ord("\\"): rb"\\", ord("'"): rb"\'",
}  # fmt: skip
_QUOTED = tuple(_ESCAPES.get(byte, b"\\x%02x" % byte if byte < 32 else bytes((byte,))) for byte in range(256))  # noqa: PLR2004
_PLAIN = bytes(byte for byte in range(256) if len(_QUOTED[byte]) == 1)
_SHORT_STRING = 256
_STRUCTURE_BITS = 0x30
_BLOB_NAMES = {1: "TINYBLOB/TINYTEXT", 2: "BLOB/TEXT", 3: "MEDIUMBLOB/MEDIUMTEXT", 4: "LONGBLOB/LONGTEXT"}
_HOUR_BIAS = 0x800000
_DATETIME_BIAS = 0x8000000000
_FRACTION_BYTES = (0, 1, 1, 2, 2, 3, 3)


def quoted(value: bytes) -> bytes:
    """Return bytes in quotes; control characters, quotes and backslashes are escaped."""
    if value.translate(None, _PLAIN):
        value = b"".join([_QUOTED[byte] for byte in value])
    return b"'%b'" % value


def document_bytes(node: JsonNode) -> bytes:
    """Return a JSON document; a string is not in quotes."""
    text = node if isinstance(node, str) else node_text(node)
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ColumnPrinter:
    """How the values of a column are printed.

    type_name      the type in the comments of -vv
    metadata       the number that these comments have
    size           the bytes of a value; None if it has a length
    length_bytes   how many bytes that length has
    print          None for a type that mysqlbinlog does not know
    """

    type_name: bytes
    metadata: int
    size: int
    length_bytes: int
    print: Print | None
    type_code: int
    is_json: bool = False

    def comment(self, *, nullable: bool, is_null: bool) -> bytes:
        """Return what -vv prints after a value."""
        return b" /* %b meta=%d nullable=%d is_null=%d */" % (self.type_name, self.metadata, nullable, is_null)


def column_printer(type_code: int, raw_metadata: int, dimensions: int) -> ColumnPrinter:
    """Return the printer for a column of a table map; a vector has dimensions."""
    metadata = _metadata(type_code, raw_metadata)
    name, size, length_bytes, printer = "", 0, 0, None
    real_type, length = _real_type(type_code, metadata)
    maker = _MAKERS.get(real_type)
    if maker is not None and _is_valid(real_type, metadata):
        name, size, length_bytes, printer = maker(metadata, dimensions if real_type == T.VECTOR else length)
    return ColumnPrinter(name.encode(), metadata, size, length_bytes, printer, real_type, real_type == T.JSON)


def _metadata(type_code: int, raw: int) -> int:
    """Return the metadata as mysqlbinlog reads it: high byte first for some types."""
    if type_code in (T.STRING, T.NEWDECIMAL):
        return (raw & 0xFF) << 8 | raw >> 8
    return raw


def _real_type(type_code: int, metadata: int) -> tuple[int, int]:
    """Return the type of a column that is stored as a string, and its length."""
    if type_code != T.STRING:
        return type_code, 0
    high, low = metadata >> 8, metadata & 0xFF
    if metadata < _SHORT_STRING:
        return type_code, metadata
    if high & _STRUCTURE_BITS != _STRUCTURE_BITS:
        return high | _STRUCTURE_BITS, low | ((high & _STRUCTURE_BITS) ^ _STRUCTURE_BITS) << 4
    return high, low


def _is_valid(real_type: int, metadata: int) -> bool:
    """Return whether values have a size: a damaged table map may have any metadata."""
    if real_type in (T.TIMESTAMP2, T.DATETIME2, T.TIME2):
        return metadata < len(_FRACTION_BYTES)
    return real_type != T.NEWDECIMAL or metadata & 0xFF <= metadata >> 8 > 0


_Made = tuple[str, int, int, Print | None]


def _integer(name: str, size: int) -> Callable[[int, int], _Made]:
    def text(value: bytes) -> bytes:
        signed = int.from_bytes(value, "little", signed=True)
        return b"%d" % signed if signed >= 0 else b"%d (%d)" % (signed, int.from_bytes(value, "little"))

    return lambda _metadata, _length: (name, size, 0, text)


def _decimal(metadata: int, _length: int) -> _Made:
    precision, scale = metadata >> 8, metadata & 0xFF

    def text(value: bytes) -> bytes:
        return f"{decode_packed_decimal(value, precision, scale):f}".encode()

    return f"DECIMAL({precision},{scale})", packed_decimal_length(precision, scale), 0, text


def _bits(value: bytes, count: int) -> bytes:
    digits = b"".join(b"%b" % f"{byte:08b}".encode() for byte in value)
    return b"b'%b'" % digits[len(digits) - count :]


def _bit(metadata: int, _length: int) -> _Made:
    count = (metadata >> 8) * 8 + (metadata & 0xFF)
    return f"BIT({count})", (count + 7) // 8, 0, lambda value: _bits(value, count)


def _set(metadata: int, _length: int) -> _Made:
    size = metadata & 0xFF
    return f"SET({size} bytes)", size, 0, lambda value: _bits(value, 8 * size)


def _enum(metadata: int, _length: int) -> _Made:
    size = metadata & 0xFF
    if size not in (1, 2):
        return "", 0, 0, lambda _value: b"!! Unknown ENUM packlen=%d" % size
    name = "ENUM(1 byte)" if size == 1 else "ENUM(2 bytes)"
    return name, size, 0, lambda value: b"%d" % int.from_bytes(value, "little")


def _fraction(value: bytes, digits: int) -> bytes:
    """Return the digits after the second."""
    number = int.from_bytes(value, "big") // (10 if digits % 2 else 1)
    return b".%0*d" % (digits, number) if digits else b""


def _timestamp2(metadata: int, _length: int) -> _Made:
    def text(value: bytes) -> bytes:
        return b"%d%b" % (int.from_bytes(value[:4], "big"), _fraction(value[4:], metadata))

    return f"TIMESTAMP({metadata})", 4 + _FRACTION_BYTES[metadata], 0, text


def _datetime2(metadata: int, _length: int) -> _Made:
    def text(value: bytes) -> bytes:
        packed = int.from_bytes(value[:5], "big") - _DATETIME_BIAS
        days, seconds = packed >> 17, packed & 0x1FFFF
        day = b"%04d-%02d-%02d" % ((days >> 5) // 13, (days >> 5) % 13, days & 0x1F)
        time = b"%02d:%02d:%02d" % (seconds >> 12, seconds >> 6 & 0x3F, seconds & 0x3F)
        return b"'%b %b%b'" % (day, time, _fraction(value[5:], metadata))

    return f"DATETIME({metadata})", 5 + _FRACTION_BYTES[metadata], 0, text


def _time2(metadata: int, _length: int) -> _Made:
    size = 3 + _FRACTION_BYTES[metadata]
    fraction_bits = 8 * (size - 3)
    bias = _HOUR_BIAS << fraction_bits

    def text(value: bytes) -> bytes:
        packed = int.from_bytes(value, "big") - bias
        sign, packed = (b"-", -packed) if packed < 0 else (b"", packed)
        seconds, fraction = packed >> fraction_bits, packed & (1 << fraction_bits) - 1
        time = b"%02d:%02d:%02d" % (seconds >> 12 & 0x3FF, seconds >> 6 & 0x3F, seconds & 0x3F)
        return b"'%b%b%b'" % (sign, time, _fraction(fraction.to_bytes(size - 3, "big"), metadata))

    return f"TIME({metadata})", size, 0, text


def _date(value: bytes) -> bytes:
    number = int.from_bytes(value, "little")
    return b"'%04d:%02d:%02d'" % (number >> 9, number >> 5 & 15, number & 31)


def _old_datetime(value: bytes) -> bytes:
    day, time = divmod(int.from_bytes(value, "little"), 1_000_000)
    return b"%04d-%02d-%02d %02d:%02d:%02d" % (*_pairs(day), *_pairs(time))


def _old_time(value: bytes) -> bytes:
    return b"'%02d:%02d:%02d'" % _pairs(int.from_bytes(value, "little"))


def _pairs(number: int) -> tuple[int, int, int]:
    return number // 10000, number % 10000 // 100, number % 100


def _vector(metadata: int, dimensions: int) -> _Made:
    def text(value: bytes) -> bytes:
        numbers = struct.unpack(f"<{len(value) // 4}f", value[: len(value) // 4 * 4])
        return b"[%b]" % b",".join(b"%.5e" % number for number in numbers)

    return f"VECTOR({dimensions})", 0, metadata, text


def _blob(metadata: int, _length: int) -> _Made:
    if metadata not in _BLOB_NAMES:
        return "", 0, 0, lambda _value: b"!! Unknown BLOB packlen=0"
    return _BLOB_NAMES[metadata], 0, metadata, quoted


def _string(name: str, length: int) -> _Made:
    return f"{name}({length})", 0, 1 if length < _SHORT_STRING else 2, quoted


def _json(metadata: int, _length: int) -> _Made:
    def text(value: bytes) -> bytes:
        try:
            return quoted(document_bytes(decode_json(value)))
        except DecodeError:
            return b"Invalid JSON\n"

    return "JSON", 0, metadata, text


def _fixed(name: str, size: int, text: Print) -> Callable[[int, int], _Made]:
    return lambda _metadata, _length: (name, size, 0, text)


_MAKERS: dict[int, Callable[[int, int], _Made]] = {
    T.TINY: _integer("TINYINT", 1),
    T.SHORT: _integer("SHORTINT", 2),
    T.INT24: _integer("MEDIUMINT", 3),
    T.LONG: _integer("INT", 4),
    T.LONGLONG: _integer("LONGINT", 8),
    T.NEWDECIMAL: _decimal,
    T.FLOAT: _fixed("FLOAT", 4, lambda value: b"%-20g" % struct.unpack("<f", value)[0]),
    T.DOUBLE: _fixed("DOUBLE", 8, lambda value: b"%.20g" % struct.unpack("<d", value)[0]),
    T.BIT: _bit,
    T.TIMESTAMP: _fixed("TIMESTAMP", 4, lambda value: b"%d" % int.from_bytes(value, "little", signed=True)),
    T.TIMESTAMP2: _timestamp2,
    T.DATETIME: _fixed("DATETIME", 8, _old_datetime),
    T.DATETIME2: _datetime2,
    T.TIME: _fixed("TIME", 3, _old_time),
    T.TIME2: _time2,
    T.DATE: _fixed("DATE", 3, _date),
    T.NEWDATE: _fixed("DATE", 3, _date),
    T.YEAR: _fixed("YEAR", 1, lambda value: b"%04d" % (value[0] + 1900)),
    T.ENUM: _enum,
    T.SET: _set,
    T.BLOB: _blob,
    T.VECTOR: _vector,
    T.VARCHAR: lambda metadata, _length: _string("VARSTRING", metadata),
    T.VAR_STRING: lambda metadata, _length: _string("VARSTRING", metadata),
    T.STRING: lambda _metadata, length: _string("STRING", length),
    T.JSON: _json,
}
