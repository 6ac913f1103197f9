"""Column types, random values of them as SQL literals, and how to read what a client selects."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

_EPOCH = date(1970, 1, 1).toordinal()
_DAY, _SECOND = 86_400_000_000, 1_000_000
_WORDS = ("", "a", "order", "Größe", "naïve", "x" * 120, "日本語", "ｶﾅ", "emoji 🙂", "it's", "tab\t", "€")
_ZERO_MOMENTS = ("0000-00-00", "2024-00-15", "2023-02-30")

Literal = Callable[[Random], str]


@dataclass(frozen=True)
class Kind:
    """A column type: its SQL, a random literal, and how to convert what a server selects (never NULL).

    select    the expression that selects the value, with the column name for `{}`
    replayed  makes a value from the log comparable
    """

    sql: str
    literal: Literal
    read: Callable[[Any], Any]
    select: str = "{}"
    replayed: Callable[[Any], Any] = lambda value: value

    @property
    def is_text(self) -> bool:
        return self.read is str

    @property
    def is_bytes(self) -> bool:
        """Whether a server converts its values to text of any character set without checking them."""
        return not self.is_text and self.read not in (int, float, Decimal, _days, _moment, _span, _members)


def quoted(text: str) -> str:
    """Return a string literal, written in hex so that nothing needs to be escaped."""
    return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)"


def _integer(name: str, bits: int) -> list[Kind]:
    low, high = -(1 << bits - 1), (1 << bits) - 1
    signed = Kind(name, lambda rng: str(rng.choice((low, -1, 0, high >> 1, rng.randint(low, high >> 1)))), int)
    unsigned = Kind(f"{name} UNSIGNED", lambda rng: str(rng.choice((0, high, rng.randint(0, high)))), int)
    return [signed, unsigned]


def _decimal(precision: int, scale: int) -> Kind:
    def literal(rng: Random) -> str:
        digits = rng.choice((rng.randint(0, 10**precision - 1), 10**precision - 1, 0, rng.randint(0, 99)))
        text = str(digits).rjust(scale + 1, "0")
        integer, fraction = (text, "") if not scale else (text[:-scale], text[-scale:])
        return f"{rng.choice(('', '-'))}{integer}.{fraction or 0}"

    return Kind(f"DECIMAL({precision},{scale})", literal, Decimal, replayed=Decimal)


def _days(text: str) -> int | None:
    year, month, day = map(int, text.split("-"))
    try:
        return date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None


def _clock(text: str) -> int:
    hours, minutes, seconds = text.split(":")
    integer, _, fraction = seconds.partition(".")
    return (int(hours) * 3600 + int(minutes) * 60 + int(integer)) * _SECOND + int(fraction.ljust(6, "0"))


def _moment(text: str) -> int | None:
    day, clock = text.split(" ")
    days = _days(day)
    return None if days is None else days * _DAY + _clock(clock)


def _span(text: str) -> int:
    return -_clock(text[1:]) if text.startswith("-") else _clock(text)


def _random_clock(rng: Random, hours: int) -> str:
    return f"{rng.randint(0, hours):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}.{rng.randint(0, 999_999):06}"


def _random_date(rng: Random) -> str:
    return rng.choice(
        (*_ZERO_MOMENTS, "9999-12-31", f"{rng.randint(1000, 9998)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}")
    )


def _temporals(digits: int) -> list[Kind]:
    stamp: Literal = lambda rng: f"'20{rng.randint(10, 36)}-{rng.randint(1, 12):02}-15 {_random_clock(rng, 23)}'"  # noqa: E731
    return [
        Kind(f"DATETIME({digits})", lambda rng: f"'{_random_date(rng)} {_random_clock(rng, 22)}'", _moment),
        Kind(f"TIME({digits})", lambda rng: f"'{rng.choice(('', '-'))}{_random_clock(rng, 837)}'", _span),
        Kind(f"TIMESTAMP({digits})", lambda rng: rng.choice((stamp(rng), "'0000-00-00 00:00:00'")), _moment),
    ]


def _word(rng: Random) -> str:
    return quoted(" ".join(rng.choices(_WORDS, k=rng.randint(1, 3))))


def _texts(charset: str) -> list[Kind]:
    types = ("CHAR(20)", "VARCHAR(60)", "VARCHAR(400)", "TINYTEXT", "TEXT", "LONGTEXT")
    return [Kind(f"{sql} CHARACTER SET {charset}", _word, str) for sql in types]


def _bytes_literal(most: int) -> Literal:
    return lambda rng: f"X'{rng.randbytes(rng.choice((0, 1, most))).hex()}'"


def _bit(length: int) -> Kind:
    return Kind(f"BIT({length})", lambda rng: str(rng.getrandbits(length)), lambda raw: int.from_bytes(raw, "big"))


def _members(text: str) -> list[str]:
    return text.split(",") if text else []


def _document(rng: Random, depth: int = 2) -> Any:
    scalars = (None, True, rng.randint(-(1 << 40), 1 << 40), rng.random(), rng.choice(_WORDS), "y" * 300)
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(scalars)
    if rng.random() < 0.5:
        return [_document(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    return {f"k{number}": _document(rng, depth - 1) for number in range(rng.randint(0, 4))}


def _geometry(raw: bytes) -> dict[str, Any]:
    return {"srid": int.from_bytes(raw[:4], "little"), "wkb": raw[4:]}


def _vector(in_hex: str) -> list[float]:
    raw = bytes.fromhex(in_hex)
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


COMMON: tuple[Kind, ...] = (
    *_integer("TINYINT", 8),
    *_integer("SMALLINT", 16),
    *_integer("MEDIUMINT", 24),
    *_integer("INT", 32),
    *_integer("BIGINT", 64),
    *(_decimal(precision, scale) for precision, scale in ((5, 2), (18, 9), (30, 30), (38, 10), (65, 30), (1, 0))),
    Kind("FLOAT", lambda rng: repr(rng.uniform(-1e30, 1e30)), float, "{} + 0e0"),
    Kind("DOUBLE", lambda rng: repr(rng.uniform(-1e300, 1e300)), float, "{} + 0e0"),
    Kind("DATE", lambda rng: f"'{_random_date(rng)}'", _days),
    *(kind for digits in (0, 1, 3, 6) for kind in _temporals(digits)),
    Kind("YEAR", lambda rng: str(rng.randint(1901, 2155)), int),
    *(kind for charset in ("utf8mb4", "latin1", "sjis", "utf16", "koi8r") for kind in _texts(charset)),
    Kind("BINARY(12)", _bytes_literal(12), bytes),
    Kind("VARBINARY(300)", _bytes_literal(300), bytes),
    Kind("BLOB", _bytes_literal(2000), bytes),
    Kind("LONGBLOB", _bytes_literal(9000), bytes),
    *map(_bit, (1, 8, 13, 63, 64)),
    Kind("ENUM('a','ö','it''s','')", lambda rng: str(rng.randint(1, 4)), str),
    Kind("SET('x','y','zz','ä')", lambda rng: str(rng.randint(0, 15)), _members),
    Kind("POINT", lambda rng: f"ST_GeomFromText('POINT({rng.randint(-9, 9)} {rng.randint(-9, 9)})')", _geometry),
)
MYSQL_ONLY: tuple[Kind, ...] = (
    *[Kind("JSON", lambda rng: f"CAST({quoted(json.dumps(_document(rng)))} AS JSON)", str)] * 6,
    Kind("VECTOR(3)", lambda rng: f"STRING_TO_VECTOR('[{rng.random()}, {rng.randint(-9, 9)}, 0]')", _vector, "HEX({})"),
)
MARIADB_ONLY: tuple[Kind, ...] = (
    Kind("JSON", lambda rng: quoted(json.dumps(_document(rng))), str),
    Kind("TEXT COMPRESSED", _word, str),
    Kind("VARCHAR(300) COMPRESSED", _word, str),
    Kind("BLOB COMPRESSED", _bytes_literal(500), bytes),
    Kind("VECTOR(3)", lambda rng: f"VEC_FromText('[{rng.random()}, {rng.randint(-9, 9)}, 0]')", _vector, "HEX({})"),
)
