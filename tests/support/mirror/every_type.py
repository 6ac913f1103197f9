"""A table with a column of every type, and statements that insert random values into it."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

from binspark.testing.servers import Family, MariaDB

_TEXTS = ["", "a", "abc  ", "grüße", "x" * 40]
_ANY_TEXTS = [*_TEXTS, "漢字", "😀 emoji", "line\\nbreak", "quote '' and \\\\"]


def _integer(low: int, high: int) -> Callable[[random.Random], str]:
    return lambda chance: str(chance.choice([low, high, 0, chance.randint(low, high)]))


def _text(texts: list[str], longest: int = 40) -> Callable[[random.Random], str]:
    return lambda chance: f"'{chance.choice(texts)[:longest]}'"


def _bytes(longest: int) -> Callable[[random.Random], str]:
    return lambda chance: f"X'{chance.randbytes(chance.randint(0, longest)).hex()}'"


def _decimal(before: int, after: int) -> Callable[[random.Random], str]:
    def write(chance: random.Random) -> str:
        digits = "".join(chance.choices("0123456789", k=chance.randint(0, before))) or "0"
        fraction = "".join(chance.choices("0123456789", k=after))
        return f"{chance.choice(['', '-'])}{digits}.{fraction}"

    return write


def _moment(first: int, last: int, digits: int) -> Callable[[random.Random], str]:
    def write(chance: random.Random) -> str:
        if chance.random() < 0.1:
            return chance.choice(["'0000-00-00 00:00:00'"] + ["'2024-00-15 01:02:03'"] * (first < 1970))
        span = (datetime(last, 1, 1) - datetime(first, 1, 2)).total_seconds()
        moment = datetime(first, 1, 2) + timedelta(microseconds=chance.randrange(int(span * 1_000_000)))
        return f"'{moment.isoformat(' ', 'microseconds')[: 19 + (digits and digits + 1)]}'"

    return write


def _time(digits: int) -> Callable[[random.Random], str]:
    def write(chance: random.Random) -> str:
        hours = chance.choice([0, 23, 838, chance.randint(0, 837)])
        text = f"{chance.choice(['', '-'])}{hours}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"
        fraction = f".{chance.randrange(1_000_000):06}" if hours < 838 else ""
        return f"'{(text + fraction)[: len(text) + (digits and digits + 1)]}'"

    return write


def _float(low: int, high: int) -> Callable[[random.Random], str]:
    return lambda chance: repr(
        chance.choice([0.0, 0.1, -1.5, chance.uniform(-1, 1) * 10.0 ** chance.randint(low, high)])
    )


def _json(chance: random.Random) -> str:
    documents = [
        "null",
        "[]",
        '{"b": 1, "a": [1.5, -0.1, 1e100, 5e-324], "long key": "text", "ü": "漢字 😀"}',
        '{"escape": "q\\\\"\\\\\\\\ \\\\n \\\\u0001 /", "": {}, "nested": [[[]]]}',
        "18446744073709551615",
        "-9223372036854775808",
        "12345678901234567890123",
        f"[{chance.random()}, {chance.random() * 10.0 ** chance.randint(-300, 300)!r}]",
    ]
    return f"'{chance.choice(documents)}'"


def _member(members: list[str], count: int) -> Callable[[random.Random], str]:
    return lambda chance: "'" + ",".join(chance.sample(members, chance.randint(0, count))) + "'"


_SET = [f"s{number}" for number in range(64)]

COLUMNS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "ti": ("TINYINT", _integer(-128, 127)),
    "tu": ("TINYINT UNSIGNED", _integer(0, 255)),
    "si": ("SMALLINT", _integer(-(1 << 15), (1 << 15) - 1)),
    "su": ("SMALLINT UNSIGNED", _integer(0, (1 << 16) - 1)),
    "mi": ("MEDIUMINT", _integer(-(1 << 23), (1 << 23) - 1)),
    "mu": ("MEDIUMINT UNSIGNED", _integer(0, (1 << 24) - 1)),
    "ii": ("INT", _integer(-(1 << 31), (1 << 31) - 1)),
    "iu": ("INT UNSIGNED", _integer(0, (1 << 32) - 1)),
    "iz": ("INT(8) ZEROFILL", _integer(0, (1 << 32) - 1)),
    "bi": ("BIGINT", _integer(-(1 << 63), (1 << 63) - 1)),
    "bu": ("BIGINT UNSIGNED", _integer(0, (1 << 64) - 1)),
    "f": ("FLOAT", _float(-37, 37)),
    "f2": ("FLOAT(9,3)", _float(0, 5)),
    "dd": ("DOUBLE", _float(-307, 307)),
    "d0": ("DECIMAL(5,0)", _decimal(5, 0)),
    "d1": ("DECIMAL(10,2)", _decimal(8, 2)),
    "d2": ("DECIMAL(38,10)", _decimal(28, 10)),
    "d3": ("DECIMAL(9,9)", _decimal(0, 9)),
    "d4": ("DECIMAL(27,18)", _decimal(9, 18)),
    "d5": ("DECIMAL(12,3) UNSIGNED ZEROFILL", lambda chance: _decimal(9, 3)(chance).lstrip("-")),
    "da": ("DATE", lambda chance: _moment(1000, 9999, 0)(chance)[:11] + "'"),
    "dt": ("DATETIME", _moment(1000, 9999, 0)),
    "dt1": ("DATETIME(1)", _moment(1000, 9999, 1)),
    "dt3": ("DATETIME(3)", _moment(1000, 9999, 3)),
    "dt6": ("DATETIME(6)", _moment(1000, 9999, 6)),
    "ts": ("TIMESTAMP NULL", _moment(1970, 2038, 0)),
    "ts2": ("TIMESTAMP(2) NULL", _moment(1970, 2038, 2)),
    "ts6": ("TIMESTAMP(6) NULL", _moment(1970, 2038, 6)),
    "t0": ("TIME", _time(0)),
    "t1": ("TIME(1)", _time(1)),
    "t4": ("TIME(4)", _time(4)),
    "t6": ("TIME(6)", _time(6)),
    "y": ("YEAR", lambda chance: str(chance.choice([0, 1901, 2155, 2024]))),
    "b1": ("BIT(1)", _integer(0, 1)),
    "b9": ("BIT(9)", _integer(0, 511)),
    "b64": ("BIT(64)", _integer(0, (1 << 64) - 1)),
    "e": ("ENUM('a','b','ü') CHARACTER SET latin1", _text(["a", "b", "ü", "no member"])),
    "st": ("SET('x','y','z')", _member(["x", "y", "z"], 3)),
    "st64": (f"SET({','.join(repr(member) for member in _SET)})", _member(_SET, 64)),
    "c": ("CHAR(10)", _text(_ANY_TEXTS, 10)),
    "cl": ("CHAR(200) CHARACTER SET utf8mb4", _text(_ANY_TEXTS)),
    "v1": ("VARCHAR(50) CHARACTER SET latin1", _text(_TEXTS)),
    "v8": ("VARCHAR(300) CHARACTER SET utf8mb4", _text(_ANY_TEXTS)),
    "v16": ("VARCHAR(50) CHARACTER SET utf16", _text(_ANY_TEXTS)),
    "vg": ("VARCHAR(50) CHARACTER SET gbk", _text(["漢字", "abc"])),
    "bn": ("BINARY(5)", _bytes(5)),
    "vb": ("VARBINARY(30)", _bytes(30)),
    "tt": ("TINYTEXT", _text(_ANY_TEXTS)),
    "tx": ("TEXT CHARACTER SET latin2", _text(["łódź", "abc"])),
    "mt": ("MEDIUMTEXT", lambda chance: f"REPEAT('{chance.choice(['é', 'z'])}', {chance.choice([10, 3000])})"),
    "bb": ("BLOB", _bytes(300)),
    "lb": ("LONGBLOB", _bytes(40)),
    "js": ("JSON", _json),
    "g": ("GEOMETRY", lambda chance: f"ST_GeomFromText('POINT({chance.randint(-9, 9)} {chance.random()})')"),
    "ls": ("LINESTRING", lambda chance: f"ST_GeomFromText('LINESTRING(0 0, 1 {chance.random()})', 4326)"),
}
"""The columns that both families have: their types, and how a random value is written."""

_INET6 = [
    *("::", "::1", "::ffff:1.2.3.4", "::1.2.3.4", "2001:db8::1:0:0:1", "1:0:2:3:4:5:6:7", "1:2:3:4:5:6:7:8"),
    *("1::", "fe80::1:0", "0:1:0:2:0:3:0:4", "1:0:0:2:3:0:0:4", "::ffff:0.0.0.0", "1:2:3:4:5:6:7:0", "::ffff:1:2"),
]
_UUIDS = ["00000000-0000-0000-0000-000000000000", "123e4567-e89b-12d3-a456-426655440000"]

_OF_MARIADB: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "u": ("UUID", _text(_UUIDS)),
    "n6": ("INET6", _text(_INET6)),
    "n4": ("INET4", _text(["0.0.0.0", "1.2.3.4", "255.255.255.255"])),
    "zv": ("VARCHAR(300) COMPRESSED", _text([*_ANY_TEXTS, "z" * 40])),
    "zt": ("TEXT COMPRESSED", lambda chance: f"REPEAT('é', {chance.choice([0, 10, 3000])})"),
    "zb": ("BLOB COMPRESSED", _bytes(200)),
}
_OF_MYSQL: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "ve": ("VECTOR(3)", lambda chance: f"STRING_TO_VECTOR('[{chance.random()}, -1, {chance.random()}]')"),
    "jd": ("JSON", lambda _chance: "CAST(CAST('2024-01-02 03:04:05.6' AS DATETIME(6)) AS JSON)"),
    "jx": ("JSON", lambda chance: f"JSON_OBJECT('b', {_bytes(9)(chance)}, 'd', CAST(1.50 AS DECIMAL(10, 2)))"),
}


def columns_of(family: Family) -> dict[str, tuple[str, Callable[[random.Random], str]]]:
    """Return the columns that servers of a family have."""
    return {**COLUMNS, **(_OF_MARIADB if family is MariaDB else _OF_MYSQL)}


def every_type(family: Family, rows: int, seed: int) -> str:
    """Return the statements that create the table `every_type` and fill it, a third of it with NULL."""
    columns, chance = columns_of(family), random.Random(seed)
    definitions = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
    lines = [
        f"CREATE TABLE every_type (id INT PRIMARY KEY, {definitions}) DEFAULT CHARSET utf8mb4;",
        "SET sql_mode = '', time_zone = '+00:00';",
    ]
    for number in range(rows):
        values = ["NULL" if chance.random() < 0.3 else write(chance) for _, write in columns.values()]
        lines.append(f"INSERT IGNORE INTO every_type VALUES ({number}, {', '.join(values)});")
    return "\n".join(lines)
