"""Which tables a statement names: enough to select statements by table, not to execute them."""

from __future__ import annotations

import re

_HEAD = 8192
"""How many bytes of a statement are looked at."""

_NAME = rb"(?:`(?:[^`]|``)+`|[\w$\x80-\xff]+)"
_QUALIFIED = rb"%b(?:\s*\.\s*%b)?" % (_NAME, _NAME)
_TABLES = re.compile(
    rb"\b(?:INTO|UPDATE|FROM|JOIN|TABLES?|TRUNCATE|REPLACE|INSERT|ON|TO|LIKE|VIEW|TRIGGER)\s+"
    rb"(?:(?:IF|NOT|EXISTS|IGNORE|LOW_PRIORITY|DELAYED|QUICK|ONLY|TABLE|INTO)\s+)*"
    rb"(%b(?:\s*,\s*%b)*)" % (_QUALIFIED, _QUALIFIED),
    re.IGNORECASE,
)
_PART = re.compile(_NAME)


def statement_tables(statement: bytes, schema: str) -> set[str]:
    """Return the tables that a statement names, as `schema.table`; `schema` is that of names without one.

    Words after FROM, INTO, TABLE and the like count as tables, so that a few are returned that are none.

    >>> sorted(statement_tables(b"INSERT INTO orders SELECT * FROM `old shop`.orders", "shop"))
    ['old shop.orders', 'shop.orders']
    """
    found: set[str] = set()
    for match in _TABLES.finditer(statement[:_HEAD]):
        for name in match[1].split(b","):
            parts = [_unquoted(part) for part in _PART.findall(name)]
            found.add(".".join(parts if len(parts) > 1 else [schema, *parts]))
    return found


def _unquoted(name: bytes) -> str:
    plain = name[1:-1].replace(b"``", b"`") if name.startswith(b"`") else name
    return plain.decode(errors="backslashreplace")
