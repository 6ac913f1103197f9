"""Collations and character sets by name, as DDL writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from binspark.errors import Unsupported
from binspark.schema.collation_rows import CHARSET_ROWS, MARIADB_OWN_NUMBERS, UCA1400_TAILORINGS
from binspark.values.charsets import charset_of
from binspark.values.column import BINARY_COLLATION

_UCA1400_FIRST = 2048
_UCA1400_CHARSETS = ("utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32")
_FIRST_OF_MARIADB = 576
_ONLY_IN_MYSQL = (76, *range(248, _FIRST_OF_MARIADB))
_SAME_NAME = "croatian_ci"
"""A name that both families use for different collations. MariaDB calls MySQL's croatian_mysql561_ci."""

_UCA1400 = re.compile(r"uca1400(?:_(?P<language>[a-z0-9]+?))??(?P<nopad>_nopad)?_(?P<accents>ai|as)_(?P<case>ci|cs)$")


def charset_name(name: str) -> str:
    """Return the current name of a character set: `utf8` is `utf8mb3`."""
    lower = name.lower()
    return "utf8mb3" if lower == "utf8" else lower


def known_charset(collation: int | None) -> str:
    """Return the character set of a collation, empty if it is not known."""
    try:
        return "" if collation is None else charset_of(collation)
    except Unsupported:
        return ""


def max_character_bytes(collation: int | None) -> int:
    """Return the maximum bytes of a character in the character set of a collation, 0 if it is not known."""
    row = CHARSET_ROWS.get(known_charset(collation))
    return 0 if row is None else row.max_bytes


def default_collation(charset: str) -> int | None:
    """Return the default collation of a character set, None if it is not known.

    For utf8mb4 that is utf8mb4_general_ci; statements of servers with another default contain it.
    """
    name = charset_name(charset)
    return next(iter(_numbers(name).values())) if name in CHARSET_ROWS else None


def binary_collation(charset: str) -> int | None:
    """Return the collation of a character set that compares bytes, as the attribute BINARY means."""
    name = charset_name(charset)
    return BINARY_COLLATION if name == "binary" else collation_number(f"{name}_bin")


def collation_number(name: str, *, mariadb: bool = False) -> int | None:
    """Return the number of a collation, None if it is not known.

    >>> collation_number("utf8_bin"), collation_number("utf8mb4_uca1400_swedish_as_ci")
    (83, 2370)
    """
    lower = name.lower()
    if mariadb and lower in MARIADB_OWN_NUMBERS:
        return MARIADB_OWN_NUMBERS[lower]
    if lower == "binary":
        return BINARY_COLLATION
    first, _, suffix = lower.partition("_")
    charset = charset_name(first)
    if charset not in CHARSET_ROWS:
        return None
    return _numbers(charset).get(suffix) or _uca1400_number(charset, suffix)


@cache
def _numbers(charset: str) -> dict[str, int]:
    pairs = (entry.split(":") for entry in CHARSET_ROWS[charset].collations.split())
    return {suffix: int(number) for suffix, number in pairs}


def _uca1400_number(charset: str, suffix: str) -> int | None:
    """Return the number of one of MariaDB's UCA 14.0.0 collations.

    bits   meaning
    8-10   character set, from 2048 on
    3-7    language
    2      NO PAD
    1      accents count
    0      case counts
    """
    match = _UCA1400.match(suffix)
    language = "" if match is None else match["language"] or ""
    if match is None or charset not in _UCA1400_CHARSETS or language not in UCA1400_TAILORINGS:
        return None
    number = _UCA1400_CHARSETS.index(charset) << 8 | UCA1400_TAILORINGS.index(language) << 3
    return (
        _UCA1400_FIRST
        + number
        + (bool(match["nopad"]) << 2 | (match["accents"] == "as") << 1 | (match["case"] == "cs"))
    )


def collation_name(number: int, *, mariadb: bool = False) -> str:
    """Return the name of a collation of MySQL or of MariaDB, empty if it is not known.

    >>> collation_name(255), collation_name(63), collation_name(608, mariadb=True)
    ('utf8mb4_0900_ai_ci', 'binary', 'utf8mb4_croatian_ci')
    """
    return (_mariadb_names() if mariadb else _mysql_names()).get(number, "")


def _names() -> Iterator[tuple[int, str]]:
    for charset in CHARSET_ROWS:
        for suffix, number in _numbers(charset).items():
            yield number, charset if suffix == "=" else f"{charset}_{suffix}"


@cache
def _mysql_names() -> dict[int, str]:
    own = [(number, name) for number, name in _names() if number < _FIRST_OF_MARIADB]
    return dict(reversed(own))  # the first name of a number is MySQL's, others are MariaDB's


@cache
def _mariadb_names() -> dict[int, str]:
    names = dict(_names())
    for charset in _UCA1400_CHARSETS:
        number = collation_number(f"{charset}_{_SAME_NAME}")
        if number is not None:
            names[number] = f"{charset}_croatian_mysql561_ci"
    for charset, *rest in product(_UCA1400_CHARSETS, UCA1400_TAILORINGS, ("", "nopad"), ("ai", "as"), ("ci", "cs")):
        name = "_".join([charset, "uca1400", *filter(None, rest)])
        number = collation_number(name)
        if number is not None:
            names[number] = name
    names |= {number: name for name, number in MARIADB_OWN_NUMBERS.items()}
    return {number: name for number, name in names.items() if number not in _ONLY_IN_MYSQL}
