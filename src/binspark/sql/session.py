"""The settings of the session that a script runs in: for rows, and for statements as the log has them."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from binspark.errors import Unsupported
from binspark.event import Intvar, Query, Rand, UserVar
from binspark.event.event import Event
from binspark.event.rows import RowsFlag
from binspark.event.status_vars import AutoIncrement, Charsets, Flags2, StatusCode
from binspark.event.variables import IntvarKind
from binspark.frames import HeaderFlag
from binspark.frames.format import Family
from binspark.sql.quoting import hexadecimal, quoted_name, quoted_text
from binspark.values.charsets import charset_of
from binspark.wire.sql_modes import SqlMode

Settings = tuple[tuple[str, str], ...]
"""Variables of the session and their values, as far as they differ from `BASE`, in a fixed order."""

_LENIENT = "ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO"
BASE = {
    "sql_mode": f"'STRICT_ALL_TABLES,{_LENIENT}'",
    "time_zone": "'+00:00'",
    "foreign_key_checks": "1",
    "unique_checks": "1",
    "character_set_client": "utf8mb4",
    "collation_connection": "utf8mb4_bin",
}
"""What rows are applied with: dates that are not in the calendar are values, and 0 is not a new number."""

ROWS: Settings = ()
LENIENT: Settings = (("sql_mode", f"'{_LENIENT}'"),)

_DEFAULT = "DEFAULT"
_DELIMITER = "/*!*/;"
_CODES_OF_SWITCHES = (
    (StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP, "explicit_defaults_for_timestamp"),
    (StatusCode.SQL_REQUIRE_PRIMARY_KEY, "sql_require_primary_key"),
    (StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4, "default_collation_for_utf8mb4"),
    (StatusCode.LC_TIME_NAMES, "lc_time_names"),
)
_COMBINED = (
    SqlMode.POSTGRESQL | SqlMode.MSSQL | SqlMode.DB2 | SqlMode.MAXDB | SqlMode.ANSI | SqlMode.TRADITIONAL
    | SqlMode.NO_KEY_OPTIONS | SqlMode.NO_TABLE_OPTIONS | SqlMode.NO_FIELD_OPTIONS | SqlMode.MYSQL323 | SqlMode.MYSQL40
)  # fmt: skip
"""Names for several modes, whose bits are set, too; and modes that current servers no longer have."""

_OF_MARIADB = SqlMode.ORACLE | SqlMode.NO_AUTO_CREATE_USER
_TWO_MEANINGS = {
    SqlMode.NOT_USED_OR_IGNORE_BAD_TABLE_OPTIONS: ("", "IGNORE_BAD_TABLE_OPTIONS"),
    SqlMode.TIME_TRUNCATE_FRACTIONAL_OR_EMPTY_STRING_IS_NULL: ("TIME_TRUNCATE_FRACTIONAL", "EMPTY_STRING_IS_NULL"),
}
"""Bits that mean different modes in MySQL and MariaDB."""


def opening() -> str:
    """Return the statement that sets the session of a script."""
    listed = ", ".join(f"{name} = {value}" for name, value in BASE.items() if name not in _NAMES)
    return f"SET NAMES utf8mb4 COLLATE utf8mb4_bin;\nSET {listed}, sql_safe_updates = 0;\n"


_NAMES = ("character_set_client", "collation_connection")


def change_of_settings(current: Settings, wanted: Settings) -> str:
    """Return the statement that brings a session from some settings to others; empty if nothing differs."""
    if current == wanted:
        return ""
    old, new = dict(current), dict(wanted)
    changes = {name: BASE.get(name, _DEFAULT) for name in old if name not in new}
    changes |= {name: value for name, value in new.items() if old.get(name, BASE.get(name)) != value}
    listed = ", ".join(f"{name} = {value}" for name, value in changes.items())
    return f"SET {listed};\n" if listed else ""


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
    found: dict[str, str] = {}
    flags: int | None = query.status(StatusCode.FLAGS2)
    if flags is not None:
        found["foreign_key_checks"] = str(int(not flags & Flags2.NO_FOREIGN_KEY_CHECKS))
        found["unique_checks"] = str(int(not flags & Flags2.RELAXED_UNIQUE_CHECKS))
        if flags & Flags2.AUTO_IS_NULL:
            found["sql_auto_is_null"] = "1"
    mode: int | None = query.status(StatusCode.SQL_MODE)
    if mode is not None:
        found["sql_mode"] = f"'{sql_mode_text(mode, mariadb=event.frame.format.family is Family.MARIADB)}'"
    found |= _charsets(query)
    increment: AutoIncrement | None = query.status(StatusCode.AUTO_INCREMENT)
    if increment is not None and increment != (1, 1):
        found["auto_increment_increment"], found["auto_increment_offset"] = map(str, increment)
    zone: str | None = query.status(StatusCode.TIME_ZONE)
    if zone:
        found["time_zone"] = quoted_text(zone)
    for status, name in _CODES_OF_SWITCHES:
        value: int | None = query.status(status)
        if value is not None:
            found[name] = str(value)
    found["timestamp"] = _timestamp(event, query)
    return tuple((name, value) for name, value in found.items() if BASE.get(name) != value)


def sql_mode_text(bits: int, *, mariadb: bool) -> str:
    """Return the names of the modes in a number, for servers of the family that wrote it.

    >>> sql_mode_text(0x140004, mariadb=False)
    'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'
    """
    names = []
    for mode in SqlMode:
        if not bits & mode or mode & _COMBINED or (mode & _OF_MARIADB and not mariadb):
            continue
        name = _TWO_MEANINGS[mode][mariadb] if mode in _TWO_MEANINGS else mode.name
        if name:
            names.append(name)
    return ",".join(names)


def variable_sql(body: Intvar | Rand | UserVar) -> str:
    """Return the statement that sets what the next statement uses."""
    if isinstance(body, Intvar):
        return f"SET {'last_insert_id' if body.kind == IntvarKind.LAST_INSERT_ID else 'insert_id'} = {body.value};\n"
    if isinstance(body, Rand):
        return f"SET rand_seed1 = {body.seed1}, rand_seed2 = {body.seed2};\n"
    return f"SET @{quoted_name(body.name)} = {_user_value(body)};\n"


def statement_prefix(event: Event) -> str:
    """Return what comes before a statement: its thread, if it uses temporary tables, and its database."""
    query: Query = event.body
    text = ""
    if event.header.flags & HeaderFlag.THREAD_SPECIFIC:
        text = f"SET pseudo_thread_id = {query.thread_id};\n"
    if query.schema and not event.header.flags & HeaderFlag.SUPPRESS_USE:
        text += f"USE {quoted_name(query.schema)};\n"
    return text


def delimited(statement: bytes) -> bytes:
    """Return a statement with its end, for the client that reads the script."""
    text = statement.rstrip().rstrip(b";")
    if b";" in text:
        return f"DELIMITER {_DELIMITER}\n".encode() + text + f"\n{_DELIMITER}\nDELIMITER ;\n".encode()
    return text + (b"\n;\n" if b"--" in text or b"#" in text else b";\n")


def _charsets(query: Query) -> dict[str, str]:
    charsets: Charsets | None = query.status(StatusCode.CHARSET)
    if charsets is None:
        return {}
    found = {
        "character_set_client": str(charsets.client),
        "collation_connection": str(charsets.connection),
        "collation_server": str(charsets.server),
    }
    database: int | None = query.status(StatusCode.CHARSET_DATABASE)
    if database:
        found["collation_database"] = str(database)
    return found


def _timestamp(event: Event, query: Query) -> str:
    for status in (StatusCode.MICROSECONDS, StatusCode.HRNOW):
        fraction: int | None = query.status(status)
        if fraction:
            return f"{event.header.timestamp}.{fraction:06d}"
    return str(event.header.timestamp)


def _user_value(variable: UserVar) -> str:
    value = variable.value
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        try:
            charset = charset_of(variable.charset or 0)
        except Unsupported:
            charset = "binary"
        return f"_{charset} {hexadecimal(value)}"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return repr(value) if "e" in repr(value) else f"{value!r}E0"
    return str(value)
