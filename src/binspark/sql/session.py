"""The settings of the session that a script runs in: for rows, and for statements as the log has them."""

from __future__ import annotations

from functools import lru_cache

from binspark.event import Query
from binspark.event.event import Event
from binspark.event.rows import RowsFlag
from binspark.event.status_vars import Charsets, StatusCode
from binspark.frames import HeaderFlag
from binspark.schema.collations import known_charset
from binspark.sql.quoting import quoted_name
from binspark.transactions.session import settings_of

Settings = tuple[tuple[str, str], ...]
"""Variables of the session and their values, as far as they differ from `BASE`, in a fixed order."""

CLIENT = "\\C"
"""Not a variable: the character set in which the client that reads the script splits it into statements."""

_LENIENT = "ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO"
_NAMES = {"character_set_client": "utf8mb4", "collation_connection": "utf8mb4_bin"}
_CHECKS = "check_constraint_checks"
BASE = {
    "sql_mode": f"'STRICT_ALL_TABLES,{_LENIENT}'",
    "time_zone": "'+00:00'",
    "foreign_key_checks": "1",
    "unique_checks": "1",
    "autocommit": "1",
    "sql_auto_is_null": "0",
    "auto_increment_increment": "1",
    "auto_increment_offset": "1",
    "lc_time_names": "0",
    _CHECKS: "0",
    CLIENT: "utf8mb4",
    **_NAMES,
}
"""What rows are applied with: dates that are not in the calendar are values, and 0 is not a new number.

Rows that a server has are not checked again: MariaDB has constraints that a session can turn off, MySQL has not. What
the log omits while it has its common value is here, too: the server that runs a script may have other defaults.
"""

ROWS: Settings = ()
LENIENT: Settings = (("sql_mode", f"'{_LENIENT}'"),)

_DEFAULT = "DEFAULT"
_DELIMITER = "/*!*/;"
_NEEDS_BINARY_MODE = b"SET sql_mode = IF(LENGTH('\r\n') = 2, @@sql_mode, 'run this script with --binary-mode');\n"
_ASCII_IN_CHARACTERS = frozenset({"big5", "cp932", "gb18030", "gbk", "sjis"})
"""Character sets in which the last byte of a character may be that of a backslash or a backtick."""


def opening() -> str:
    """Return what sets the session of a script: a command for the client, and statements."""
    return _client_charset(BASE[CLIENT]) + "".join(f"{statement};\n" for statement in session_statements())


def session_statements() -> tuple[str, str]:
    """Return the statements that set the session of a script; MySQL takes what only MariaDB has for a comment."""
    listed = ", ".join(f"{name} = {value}" for name, value in BASE.items() if name not in (*_NAMES, _CHECKS, CLIENT))
    checks = f"/*M!100201 , {_CHECKS} = {BASE[_CHECKS]} */"
    return "SET NAMES utf8mb4 COLLATE utf8mb4_bin", f"SET {listed}, sql_safe_updates = 0 {checks}"


def _client_charset(charset: str) -> str:
    """Return the command that lets the client read in a character set; its server gets it as SET NAMES."""
    return f"/*!{CLIENT} {charset} */;\n"


def change_of_settings(current: Settings, wanted: Settings) -> str:
    """Return the statement that brings a session from some settings to others; empty if nothing differs."""
    if current == wanted:
        return ""
    old, new = dict(current), dict(wanted)
    changes = {name: BASE.get(name, _DEFAULT) for name in old if name not in new}
    changes |= {name: value for name, value in new.items() if old.get(name, BASE.get(name)) != value}
    charset = changes.pop(CLIENT, None)
    if charset is not None:
        changes |= {name: new.get(name, base) for name, base in _NAMES.items()}
    listed = ", ".join(f"{name} = {value}" for name, value in changes.items())
    return ("" if charset is None else _client_charset(charset)) + (f"SET {listed};\n" if listed else "")


@lru_cache(maxsize=256)
def settings_of_rows(flags: int) -> Settings:
    """Return what the rows of an event with these flags are applied with.

    Where a server logs what foreign keys change in other tables, that must not happen again.
    """
    found = []
    if flags & (RowsFlag.NO_FOREIGN_KEY_CHECKS | RowsFlag.USE_SQL_FOREIGN_KEY_ON_DELETE_CASCADE):
        found.append(("foreign_key_checks", "0"))
    if flags & RowsFlag.RELAXED_UNIQUE_CHECKS:
        found.append(("unique_checks", "0"))
    return tuple(found)


def settings_of_statement(event: Event) -> Settings:
    """Return the settings of the session in which the statement of a QUERY ran."""
    query: Query = event.body
    found = settings_of(event)
    charsets: Charsets | None = query.status(StatusCode.CHARSET)
    charset = "" if charsets is None else known_charset(charsets.client)
    if charset in _ASCII_IN_CHARACTERS and not query.query.isascii():
        found[CLIENT] = charset
    return tuple((name, value) for name, value in found.items() if BASE.get(name, _DEFAULT) != value)


def begin_sql(settings: Settings) -> bytes:
    """Return the statement that begins a transaction; in MariaDB's sql_mode ORACLE, BEGIN begins a block."""
    return b"START TRANSACTION;\n" if "ORACLE" in dict(settings).get("sql_mode", "") else b"BEGIN;\n"


def for_names(settings: Settings) -> Settings:
    """Return settings in which the server reads names in UTF-8, in which the log has them."""
    return tuple((name, value) for name, value in settings if name not in (*_NAMES, CLIENT))


def statement_prefix(event: Event) -> bytes:
    """Return what comes before a statement: its thread, if it uses temporary tables, and its database."""
    query: Query = event.body
    text = ""
    if event.header.flags & HeaderFlag.THREAD_SPECIFIC:
        text = f"SET pseudo_thread_id = {query.thread_id};\n"
    if query.schema and not event.header.flags & HeaderFlag.SUPPRESS_USE:
        text += f"USE {quoted_name(query.schema)};\n"
    return text.encode(errors="surrogateescape")


def delimited(statement: bytes) -> bytes:
    """Return a statement with its end, for the client that reads the script.

    A client without --binary-mode reads CR LF as LF, which would be another statement. So a mode that does not exist is
    set before it in this case, and the client stops.
    """
    return (_NEEDS_BINARY_MODE if b"\r\n" in statement else b"") + _delimited(statement)


def _delimited(statement: bytes) -> bytes:
    text = statement.rstrip().rstrip(b";")
    if b";" in text:
        return f"DELIMITER {_DELIMITER}\n".encode() + text + f"\n{_DELIMITER}\nDELIMITER ;\n".encode()
    return text + (b"\n;\n" if b"--" in text or b"#" in text else b";\n")
