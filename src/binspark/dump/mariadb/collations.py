"""The names of MariaDB's collations, by their numbers, and of their character sets."""

from __future__ import annotations

from functools import cache
from itertools import product

from binspark.schema.collation_rows import CHARSET_ROWS, MARIADB_OWN_NUMBERS, UCA1400_TAILORINGS
from binspark.schema.collations import collation_number

_ONLY_IN_MYSQL = (76, *range(248, 576))
_SAME_NAME = "croatian_ci"
"""A name that both families use for different collations. MariaDB calls MySQL's croatian_mysql561_ci."""

_UNICODE = tuple(name.partition("_")[0] for name in MARIADB_OWN_NUMBERS)


def collation_name(number: int) -> str | None:
    """Return the name of a collation, None if MariaDB has none of this number."""
    return _names().get(number)


def charset_name(number: int) -> str | None:
    """Return the name of the character set of a collation, None if MariaDB has no collation of this number."""
    name = _names().get(number)
    return None if name is None else name.partition("_")[0]


def character_width(charset: str) -> int:
    """Return how many bytes a character of a character set takes at most."""
    return CHARSET_ROWS[charset].max_bytes


@cache
def _names() -> dict[int, str]:
    names = {}
    for charset, row in CHARSET_ROWS.items():
        for suffix, text in (entry.split(":") for entry in row.collations.split()):
            names[int(text)] = charset if suffix == "=" else f"{charset}_{suffix}"
    for charset in _UNICODE:
        number = collation_number(f"{charset}_{_SAME_NAME}")
        if number is not None:
            names[number] = f"{charset}_croatian_mysql561_ci"
    for parts in product(_UNICODE, UCA1400_TAILORINGS, ("", "nopad"), ("ai", "as"), ("ci", "cs")):
        charset, *rest = parts
        name = "_".join([charset, "uca1400", *filter(None, rest)])
        number = collation_number(name)
        if number is not None:
            names[number] = name
    names |= {number: name for name, number in MARIADB_OWN_NUMBERS.items()}
    return {number: name for number, name in names.items() if number not in _ONLY_IN_MYSQL}
