"""The settings that a statement's meaning depends on: who wrote it, and under which session variables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from binspark.event.query import Query
from binspark.event.status_vars import Charsets, StatusCode
from binspark.frames import LogFormat
from binspark.frames.format import Family
from binspark.schema.collations import (
    binary_collation,
    charset_name,
    collation_number,
    default_collation,
    known_charset,
)
from binspark.wire.sql_modes import SqlMode

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_MYSQL_WITH_EXPLICIT_TIMESTAMPS = 80002
_MARIADB_WITH_EXPLICIT_TIMESTAMPS = 101001
_UTF8MB4 = "utf8mb4"


@dataclass(frozen=True, slots=True)
class Session:
    """Settings of a session, as far as DDL depends on them.

    version              the server's, as 90704 for 9.7.4; None where nobody said
    collations           the collation that a character set means, where it is not the usual one
    server_collation     what a database gets that asks for nothing
    explicit_timestamps  whether TIMESTAMP columns can be NULL unless they say otherwise
    lower_case_names     whether the server keeps the names of tables and databases in lower case
    """

    mariadb: bool = False
    version: int | None = None
    sql_mode: int = 0
    client_collation: int | None = None
    server_collation: int | None = None
    collations: tuple[tuple[str, int], ...] = ()
    explicit_timestamps: bool = True
    lower_case_names: bool = False

    def has_mode(self, mode: SqlMode) -> bool:
        """Return whether `sql_mode` includes a mode."""
        return bool(self.sql_mode & mode)

    def collation_of_charset(self, charset: str) -> int | None:
        """Return the collation that a character set means in this session."""
        own = dict(self.collations).get(charset_name(charset))
        return own if own is not None else default_collation(charset)

    def collation(self, request: CharsetRequest, default: int | None) -> int | None:
        """Return the collation that a column, table or database gets; None where nothing tells."""
        charset = request.charset if request.charset and request.charset.upper() != "DEFAULT" else None
        name = request.collate if request.collate and request.collate.upper() != "DEFAULT" else None
        if name is not None:
            return self._collation_number(name, charset or known_charset(default))
        if charset is not None:
            return binary_collation(charset) if request.binary else self.collation_of_charset(charset)
        if request.collate:  # COLLATE DEFAULT
            return self.collation_of_charset(known_charset(default))
        return binary_collation(known_charset(default)) if request.binary else default

    def _collation_number(self, name: str, charset: str) -> int | None:
        """Find a collation by its full name, or by MariaDB's short one, which goes with any character set."""
        whole = collation_number(name, mariadb=self.mariadb)
        return whole if whole is not None else collation_number(f"{charset}_{name}", mariadb=self.mariadb)


@dataclass(frozen=True, slots=True)
class CharsetRequest:
    """What a statement asks for: CHARACTER SET, COLLATE, and the old attribute BINARY."""

    charset: str | None = None
    collate: str | None = None
    binary: bool = False

    def __bool__(self) -> bool:
        return bool(self.charset or self.collate or self.binary)


def session_of(query: Query, log_format: LogFormat) -> Session:
    """Return the session that a QUERY ran in."""
    mariadb = log_format.family is Family.MARIADB
    version = version_number(log_format.server_version)
    charsets: Charsets | None = query.status(StatusCode.CHARSET)
    return Session(
        mariadb=mariadb,
        version=version,
        sql_mode=query.status(StatusCode.SQL_MODE) or 0,
        client_collation=None if charsets is None else charsets.client,
        server_collation=None if charsets is None else charsets.server,
        collations=_collations(query),
        explicit_timestamps=_explicit_timestamps(query, mariadb, version),
    )


def version_number(text: str) -> int | None:
    """Return a version as servers compare it: 90704 for `9.7.4`, 101118 for `10.11.18-MariaDB`."""
    match = _VERSION.search(text.removeprefix("5.5.5-"))
    return None if match is None else int(match[1]) * 10000 + int(match[2]) * 100 + int(match[3])


def _collations(query: Query) -> tuple[tuple[str, int], ...]:
    utf8mb4: int | None = query.status(StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4)
    pairs: Any = query.status(StatusCode.CHARACTER_SET_COLLATIONS) or ()
    found = [(known_charset(charset), collation) for charset, collation in pairs]
    return tuple([*found, (_UTF8MB4, utf8mb4)] if utf8mb4 else found)


def _explicit_timestamps(query: Query, mariadb: bool, version: int | None) -> bool:
    said = query.status(StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP)
    if said is not None:
        return bool(said)
    since = _MARIADB_WITH_EXPLICIT_TIMESTAMPS if mariadb else _MYSQL_WITH_EXPLICIT_TIMESTAMPS
    return version is None or version >= since
