"""Random JSON documents and changes of them, as SQL."""

from __future__ import annotations

import json
import struct
from random import Random
from typing import Any

CHARACTERS = 'ab z.$"\\/\b\t\n\f\r\0\x01\x1f\x7f*[]_09é\u00a0šℵ\u2003\u2028😀'

SQL_VALUES = (
    "CAST('2024-01-31' AS DATE)",
    "CAST('9999-12-31 23:59:59.999999' AS DATETIME(6))",
    "TIMESTAMP('1000-01-01 00:00:00.5')",
    "CAST('-838:59:59' AS TIME)",
    "CAST('12:34:56.000001' AS TIME(6))",
    "CAST(-123456789.000000001 AS DECIMAL(40, 20))",
    "CAST('-0.00' AS DECIMAL(3, 2))",
    "0." + "1" * 40,
    "9" * 81,
    "x'00ff'",
    "b'101'",
    "UNHEX(REPEAT('61', 57))",
    "UNHEX(REPEAT('62', 200))",
    "ST_GeomFromText('LINESTRING(1 2, -3.5 1e20)')",
    "CAST(1 AS UNSIGNED)",
    "CAST('[1, {\"x\": null}]' AS JSON)",
    "CAST('{}' AS JSON)",
)


def sql_string(text: str) -> str:
    """Spell a string as SQL, whatever is in it."""
    return f"CONVERT(x'{text.encode().hex()}' USING utf8mb4)"


def random_text(random: Random, longest: int = 8) -> str:
    return "".join(random.choices(CHARACTERS, k=random.randint(0, longest)))


def random_scalar(random: Random) -> str:
    """Return an SQL expression of a random scalar."""
    bits = random.randint(1, 63)
    return random.choice(
        (
            "NULL",
            "TRUE",
            "FALSE",
            str(random.randint(-(1 << bits), 1 << bits)),
            "18446744073709551615",
            repr(random_double(random)),
            sql_string(random_text(random, random.choice((0, 5, 150)))),
            random.choice(SQL_VALUES),
        )
    )


def random_double(random: Random) -> float:
    """Return a finite double: any bits, or few digits."""
    any_bits = struct.unpack("<d", struct.pack("<Q", random.getrandbits(52) | random.randint(0, 2046) << 52))[0]
    few_digits = float(f"{random.randint(-999, 999)}e{random.randint(-25, 25)}")
    return random.choice((any_bits, -any_bits, few_digits, random.uniform(-1e17, 1e17), float(random.getrandbits(60))))


def random_document(random: Random, depth: int = 4) -> str:
    """Return an SQL expression of a random document."""
    if depth == 0 or random.random() < 0.3:
        return random_scalar(random)
    parts = [random_document(random, depth - 1) for _ in range(random.randint(0, 6))]
    if random.random() < 0.5:
        return f"JSON_ARRAY({', '.join(parts)})"
    return f"JSON_OBJECT({', '.join(f'{sql_string(random_text(random))}, {part}' for part in parts)})"


def random_change(random: Random, document: Any) -> str:
    """Return an SQL expression that changes parts of `doc`, which is this document."""
    change = "doc"
    for _ in range(random.randint(1, 3)):
        function = random.choice(("JSON_SET", "JSON_REPLACE", "JSON_REMOVE"))
        paths = [random_path(random, document) for _ in range(random.randint(1, 3))]
        arguments = [sql_string(path) for path in paths]
        if function != "JSON_REMOVE":
            arguments = [f"{path}, {random_document(random, depth=2)}" for path in arguments]
        change = f"{function}({change}, {', '.join(arguments)})"
    return change


def random_path(random: Random, document: Any) -> str:
    """Return a path to a random value in a document, or to one that does not exist in it; never to the root."""
    path, node = "$", document
    while path == "$" or (isinstance(node, list | dict) and node and random.random() < 0.8):
        if isinstance(node, dict):
            key = random.choice([*node, *node, random_text(random)])
            path += f".{json.dumps(key, ensure_ascii=False)}"
            node = node.get(key)
        else:
            length = len(node) if isinstance(node, list) else 1
            index = random.randint(0, length)
            path += random.choice((f"[{index}]", f"[{index}]", f"[last-{index}]", "[last]"))
            node = node[index] if isinstance(node, list) and index < length else None
    return path
