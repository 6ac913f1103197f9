"""The context that a statement needs to have the same result on a replica: INTVAR, RAND, USER_VAR."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum, IntFlag

from binspark.errors import Malformed
from binspark.event.context import Context
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.decimals import (
    MAX_PRECISION,
    MAX_SCALE,
    decode_packed_decimal,
    encode_packed_decimal,
    packed_decimal_length,
)
from binspark.wire.meaning import code, flags, note


class IntvarKind(IntEnum):
    """The variables that an INTVAR sets."""

    INVALID = 0
    LAST_INSERT_ID = 1
    INSERT_ID = 2


@dataclass(frozen=True, slots=True)
class Intvar:
    """INTVAR: the value of LAST_INSERT_ID or of the next AUTO_INCREMENT."""

    kind: int
    value: int


@dataclass(frozen=True, slots=True)
class Rand:
    """RAND: the seeds of RAND() in the next statement."""

    seed1: int
    seed2: int


class UserVarType(IntEnum):
    """How the value of a user variable is stored."""

    STRING = 0
    REAL = 1
    INT = 2
    ROW = 3
    DECIMAL = 4


class UserVarFlag(IntFlag):
    """Flags of a user variable, since MySQL 5.5."""

    UNSIGNED = 1


@dataclass(frozen=True, slots=True)
class UserVar:
    """USER_VAR: the value of a user variable that the next statement uses.

    `value` is None, bytes (in `charset`), int, float or Decimal. A Decimal has its scale; `precision` is the precision
    that it was stored with. `flags` is None if the server did not write any.
    """

    name: str
    type: int | None
    charset: int | None
    value: bytes | int | float | Decimal | None
    precision: int | None = None
    flags: int | None = None


_IS_NULL = note("1: the value is NULL, and the event ends here")
_INTVAR = Layout(("kind", "B", code(IntvarKind)), ("value", "Q"))
_RAND = Layout(("seed1", "Q"), ("seed2", "Q"))
_VALUE_HEADER = Layout(
    ("type", "B", code(UserVarType)), ("charset", "I", note("number of the collation")), ("value_length", "I")
)


def decode_intvar(body: Cursor, context: Context) -> Intvar:
    """Decode INTVAR.

    offset  bytes  field
    0       1      1: LAST_INSERT_ID, 2: INSERT_ID
    1       8      value
    """
    body.raw("post_header", context.post_header_length)
    return Intvar(*body.fields(_INTVAR))


def encode_intvar(event: Intvar, writer: Writer, context: Context) -> None:
    """Encode INTVAR: the inverse of `decode_intvar`."""
    writer.raw(bytes(context.post_header_length))
    writer.fields(_INTVAR, event.kind, event.value)


def decode_rand(body: Cursor, context: Context) -> Rand:
    """Decode RAND: two seeds of 8 bytes."""
    body.raw("post_header", context.post_header_length)
    return Rand(*body.fields(_RAND))


def encode_rand(event: Rand, writer: Writer, context: Context) -> None:
    """Encode RAND: the inverse of `decode_rand`."""
    writer.raw(bytes(context.post_header_length))
    writer.fields(_RAND, event.seed1, event.seed2)


def decode_user_var(body: Cursor, context: Context) -> UserVar:
    """Decode USER_VAR.

    offset  bytes  field
    0       4      length of the name
    4       n      name
    4+n     1      1 if the value is NULL, and the event ends here
    5+n     1      type: 0 string, 1 real, 2 integer, 4 decimal
    6+n     4      character set (collation id)
    10+n    4      length of the value
    14+n    m      value
    14+n+m  1      flags; 1: unsigned   (since 5.5)
    """
    body.raw("post_header", context.post_header_length)
    name = body.text("name", body.u32("name_length"))
    if body.u8("is_null", _IS_NULL):
        return UserVar(name, None, None, None)
    value_type, charset, length = body.fields(_VALUE_HEADER)
    raw = body.raw("value", length, lambda value: _value_meaning(value, value_type, body))
    value_flags = body.u8("flags", flags(UserVarFlag)) if body.remaining else None
    unsigned = bool((value_flags or 0) & UserVarFlag.UNSIGNED)
    value, precision = _read_value(raw, value_type, unsigned)
    return UserVar(name, value_type, charset, value, precision, value_flags)


def encode_user_var(event: UserVar, writer: Writer, context: Context) -> None:
    """Encode USER_VAR: the inverse of `decode_user_var`."""
    writer.raw(bytes(context.post_header_length))
    name = writer.encode_text(event.name)
    writer.u32(len(name))
    writer.raw(name)
    writer.u8(event.value is None)
    if event.value is None:
        return
    raw = _write_value(event)
    writer.fields(_VALUE_HEADER, event.type, event.charset, len(raw))
    writer.raw(raw)
    if event.flags is not None:
        writer.u8(event.flags)


def _read_value(raw: bytes, value_type: int, unsigned: bool) -> tuple[bytes | int | float | Decimal, int | None]:
    match value_type:
        case UserVarType.STRING:
            return raw, None
        case UserVarType.REAL if len(raw) == 8:
            return struct.unpack("<d", raw)[0], None
        case UserVarType.INT if len(raw) == 8:
            return int.from_bytes(raw, "little", signed=not unsigned), None
        case UserVarType.DECIMAL:
            return _read_decimal(raw), raw[0]
    raise Malformed(f"user variable has type {value_type} and a value of {len(raw)} bytes")


def _read_decimal(raw: bytes) -> Decimal:
    """Read precision and scale, one byte each, then the packed digits."""
    precision, scale = raw[:2] if len(raw) > 2 else (0, 0)
    if not 0 < precision <= MAX_PRECISION or scale > min(MAX_SCALE, precision):
        raise Malformed(f"user variable has the invalid decimal value 0x{raw.hex()}")
    if len(raw) != 2 + packed_decimal_length(precision, scale):
        raise Malformed(f"user variable of type DECIMAL({precision},{scale}) has a value of {len(raw)} bytes")
    return decode_packed_decimal(raw[2:], precision, scale)


def _value_meaning(raw: bytes, value_type: int, rest: Cursor) -> str:
    """Spell out a value. Whether an integer is signed depends on the flags after it, which are not yet read."""
    unsigned = rest.remaining > 0 and bool(rest.data[rest.offset] & UserVarFlag.UNSIGNED)
    value, precision = _read_value(raw, value_type, unsigned)
    if isinstance(value, Decimal):
        return f"{value:f}, precision {precision}"
    return repr(value.decode(errors="backslashreplace")) if isinstance(value, bytes) else str(value)


def _write_value(event: UserVar) -> bytes:
    match event.value:
        case bytes():
            return event.value
        case float():
            return struct.pack("<d", event.value)
        case Decimal():
            return _write_decimal(event.value, event.precision or MAX_PRECISION)
        case int():
            return (event.value % (1 << 64)).to_bytes(8, "little")
    raise Malformed(f"a user variable cannot have the value {event.value!r}")


def _write_decimal(value: Decimal, precision: int) -> bytes:
    scale = max(0, -int(value.as_tuple().exponent))
    return bytes((precision, scale)) + encode_packed_decimal(value, precision, scale)
