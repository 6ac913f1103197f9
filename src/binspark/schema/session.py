"""The settings on which the meaning of a statement depends: the server and its session variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
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
from binspark.schema.text import exact_text, limited_text, member_text
from binspark.values.charsets import encode_text
from binspark.values.column import BINARY_COLLATION
from binspark.wire.sql_modes import SqlMode

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_MYSQL_WITH_EXPLICIT_TIMESTAMPS = 80002
_MARIADB_WITH_EXPLICIT_TIMESTAMPS = 101001
_UTF8MB4 = "utf8mb4"
_UTF8MB4_BIN = 46
_MARIADB_WITH_ATOMIC_DDL = 100600
_WRITTEN_BY_MARIADB = re.compile(rb"CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?[`\"][^\n]* \(\n  [`\"]")
_WRITTEN_BY_MYSQL = b"\n) START TRANSACTION"


@dataclass(frozen=True, slots=True)
class Session:
    """Settings of a session on which DDL depends.

    version              of the server, as 90704 for 9.7.4; None if it is not known
    client_collation     of the text of statements; binary if they are only bytes
    connection_collation of literals, into which servers convert them; None if it is not known
    collations           default collations of character sets, where they are not the usual ones
    server_collation     the default of a database without a character set
    explicit_timestamps  whether TIMESTAMP columns are NULL by default
    lower_case_names     whether the server stores the names of tables and databases in lower case
    """

    mariadb: bool = False
    version: int | None = None
    sql_mode: int = 0
    client_collation: int | None = None
    connection_collation: int | None = None
    server_collation: int | None = None
    collations: tuple[tuple[str, int], ...] = ()
    explicit_timestamps: bool = True
    lower_case_names: bool = False

    def has_mode(self, mode: SqlMode) -> bool:
        """Return whether `sql_mode` includes a mode."""
        return bool(self.sql_mode & mode)

    def collation_of_charset(self, charset: str) -> int | None:
        """Return the default collation of a character set in this session."""
        own = dict(self.collations).get(charset_name(charset))
        return own if own is not None else default_collation(charset)

    def collation(self, request: CharsetRequest, default: int | None) -> int | None:
        """Return the collation of a column, table or database; None if it is not known."""
        charset = request.charset if request.charset and request.charset.upper() != "DEFAULT" else None
        name = request.collate if request.collate and request.collate.upper() != "DEFAULT" else None
        if name is not None:
            return self._collation_number(name, charset or known_charset(default))
        if charset is not None:
            return binary_collation(charset) if request.binary else self.collation_of_charset(charset)
        if request.collate:  # COLLATE DEFAULT
            return self.collation_of_charset(known_charset(default))
        return binary_collation(known_charset(default)) if request.binary else default

    def stored_text(self, text: str) -> str | bytes:
        """Return what a string in a statement means; bytes if the connection's character set is binary.

        Servers convert strings from the character set of the client to that of the connection, unless one is binary.
        """
        connection = self.connection_collation
        if self.client_collation == BINARY_COLLATION:
            raw = text.encode("utf-8", "surrogateescape")
            return raw if connection == BINARY_COLLATION else member_text(raw, connection, mariadb=self.mariadb)
        if connection == BINARY_COLLATION:
            return text.encode() if self.client_collation is None else encode_text(text, self.client_collation)
        return text if connection is None else limited_text(text, connection)

    def _collation_number(self, name: str, charset: str) -> int | None:
        """Find a collation by its full name, or by MariaDB's short one, which any character set may have."""
        number = collation_number(name, mariadb=self.mariadb)
        if number is None:
            number = collation_number(f"{charset}_{name}", mariadb=self.mariadb)
        # A collation that a user added begins with the name of its character set, and this is what columns need.
        return number if number is not None else self.collation_of_charset(name.partition("_")[0])


@dataclass(frozen=True, slots=True)
class CharsetRequest:
    """The character set in a statement: CHARACTER SET, COLLATE, and the old attribute BINARY."""

    charset: str | None = None
    collate: str | None = None
    binary: bool = False

    def __bool__(self) -> bool:
        return bool(self.charset or self.collate or self.binary)


def read_text(raw: bytes, session: Session) -> tuple[str, Session]:
    """Return the text of a statement, and the session: that of a client that sends bytes if it is not valid text."""
    text, is_valid = exact_text(raw, session.client_collation)
    return text, session if is_valid else replace(session, client_collation=BINARY_COLLATION)


def session_of(query: Query, log_format: LogFormat) -> Session:
    """Return the session in which the statement of a QUERY ran."""
    mariadb = log_format.family is Family.MARIADB
    version = version_number(log_format.server_version)
    charsets: Charsets | None = query.status(StatusCode.CHARSET)
    if charsets is not None and _is_written_by_server(query, mariadb, version):
        charsets = charsets._replace(client=_UTF8MB4_BIN, connection=_UTF8MB4_BIN)
    return Session(
        mariadb=mariadb,
        version=version,
        sql_mode=query.status(StatusCode.SQL_MODE) or 0,
        client_collation=None if charsets is None else charsets.client,
        connection_collation=None
        if charsets is None or not known_charset(charsets.connection)
        else charsets.connection,
        server_collation=None if charsets is None else charsets.server,
        collations=_collations(query),
        explicit_timestamps=_explicit_timestamps(query, mariadb, version),
    )


def _is_written_by_server(query: Query, mariadb: bool, version: int | None) -> bool:
    """Return whether the server wrote a statement itself, in UTF-8 for any client: CREATE TABLE ... SELECT.

    MariaDB writes it like SHOW CREATE TABLE, as dumps are, but as part of a transaction, so without the XID of DDL.
    """
    if not mariadb:
        return _WRITTEN_BY_MYSQL in query.query
    has_xids = (version or 0) >= _MARIADB_WITH_ATOMIC_DDL
    is_plain = query.status(StatusCode.XID) is not None
    return has_xids and not is_plain and _WRITTEN_BY_MARIADB.match(query.query) is not None


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
    logged = query.status(StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP)
    if logged is not None:
        return bool(logged)
    since = _MARIADB_WITH_EXPLICIT_TIMESTAMPS if mariadb else _MYSQL_WITH_EXPLICIT_TIMESTAMPS
    return version is None or version >= since
