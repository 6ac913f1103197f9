"""The session that a statement needs to have the same result again, as SET statements.

The log has it beside each statement: the status variables of a QUERY, and INTVAR, RAND and USER_VAR events before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from binspark.event import Event, Intvar, Query, Rand, UserVar
from binspark.event.status_vars import AutoIncrement, Charsets, Flags2, StatusCode
from binspark.event.variables import IntvarKind, UserVarFlag
from binspark.frames import HeaderFlag
from binspark.frames.format import Family
from binspark.schema.collations import collation_name

_NO_CHECK_CONSTRAINT_CHECKS = 1 << 7
_EXPLICIT_DEFAULTS = 1 << 24
_SIGN = 1 << 63
_REMOVED_MODES = 0x1003FF00
"""The modes that MySQL 8.0 no longer has, and refuses."""

_NUMBERS = {
    StatusCode.LC_TIME_NAMES: "lc_time_names",
    StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP: "explicit_defaults_for_timestamp",
    StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4: "default_collation_for_utf8mb4",
    StatusCode.SQL_REQUIRE_PRIMARY_KEY: "sql_require_primary_key",
    StatusCode.DEFAULT_TABLE_ENCRYPTION: "default_table_encryption",
    StatusCode.ENABLE_CASCADE_TRIGGERS: "enable_cascade_triggers",
}
"""Variables whose values are numbers, as they are in the log."""


class SessionSql:
    """Knows the settings of a session, and writes the statements that change them to those of the next statement."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._known: dict[str, str] = {}
        self._schema = ""

    def begin(self, timestamp: int) -> list[bytes]:
        """Return what sets the time of a transaction of rows, which need nothing else."""
        return self._changed({"timestamp": str(timestamp)})

    def before(self, event: Event) -> list[bytes]:
        """Return the statements that give the session the schema and the settings of a statement."""
        query: Query = event.body
        statements = []
        uses_schema = not event.header.flags & HeaderFlag.SUPPRESS_USE  # CREATE DATABASE does not use what it creates
        if uses_schema and query.schema and query.schema != self._schema:
            statements.append(f"USE {quoted_identifier(query.schema)}".encode())
            self._schema = query.schema
        return statements + self._changed(dict(self._settings(query, event.header.timestamp)))

    def forget_schema(self) -> None:
        """Note that the default schema may be another one: it was dropped."""
        self._schema = ""

    def _changed(self, settings: dict[str, str]) -> list[bytes]:
        changed = {name: value for name, value in settings.items() if self._known.get(name) != value}
        self._known |= changed
        if not changed:
            return []
        return [b"SET " + ", ".join(f"@@session.{name}={value}" for name, value in changed.items()).encode()]

    def _settings(self, query: Query, timestamp: int) -> Iterator[tuple[str, str]]:
        microseconds = query.status(StatusCode.MICROSECONDS) or query.status(StatusCode.HRNOW)
        yield "timestamp", f"{timestamp}.{microseconds:06}" if microseconds else str(timestamp)
        yield "pseudo_thread_id", str(query.thread_id)
        flags = query.status(StatusCode.FLAGS2)
        if flags is not None:
            yield from self._flags(flags)
        mode = query.status(StatusCode.SQL_MODE)
        if mode is not None:
            yield "sql_mode", str(mode & ~_REMOVED_MODES if self._family is Family.MYSQL else mode)
        for code, name in _NUMBERS.items():
            value = query.status(code)
            if value is not None:
                yield name, str(int(value))
        increment: AutoIncrement = query.status(StatusCode.AUTO_INCREMENT) or AutoIncrement(1, 1)
        yield "auto_increment_increment", str(increment.increment)
        yield "auto_increment_offset", str(increment.offset)
        charsets: Charsets | None = query.status(StatusCode.CHARSET)
        if charsets is not None:
            yield "character_set_client", str(charsets.client)
            yield "collation_connection", str(charsets.connection)
            yield "collation_server", str(charsets.server)
        database = query.status(StatusCode.CHARSET_DATABASE)
        yield "collation_database", "DEFAULT" if database is None else str(database)
        zone = query.status(StatusCode.TIME_ZONE)
        if zone is not None:
            yield "time_zone", _quoted(zone)

    def _flags(self, flags: int) -> Iterator[tuple[str, str]]:
        yield "foreign_key_checks", _flag(not flags & Flags2.NO_FOREIGN_KEY_CHECKS)
        yield "sql_auto_is_null", _flag(flags & Flags2.AUTO_IS_NULL)
        yield "unique_checks", _flag(not flags & Flags2.RELAXED_UNIQUE_CHECKS)
        if self._family is Family.MARIADB:
            yield "check_constraint_checks", _flag(not flags & _NO_CHECK_CONSTRAINT_CHECKS)
            yield "sql_if_exists", _flag(flags & Flags2.IF_EXISTS)
            yield "explicit_defaults_for_timestamp", _flag(flags & _EXPLICIT_DEFAULTS)


def variable_statement(body: Intvar | Rand | UserVar) -> bytes:
    """Return the statement that sets what an event before a statement says."""
    if isinstance(body, Intvar):
        name = "LAST_INSERT_ID" if body.kind == IntvarKind.LAST_INSERT_ID else "INSERT_ID"
        return f"SET {name}={body.value}".encode()
    if isinstance(body, Rand):
        return f"SET @@RAND_SEED1={body.seed1}, @@RAND_SEED2={body.seed2}".encode()
    return f"SET @{quoted_identifier(body.name)}:={_value(body)}".encode()


def _value(variable: UserVar) -> str:
    value = variable.value
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        collation = "" if variable.charset is None else collation_name(variable.charset)
        if not collation:
            return f"X'{value.hex()}'"
        charset = collation.partition("_")[0]
        return f"_{charset} X'{value.hex()}' COLLATE {quoted_identifier(collation)}"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return f"{value!r}e0" if "e" not in repr(value) else repr(value)
    unsigned = variable.flags is not None and variable.flags & UserVarFlag.UNSIGNED
    return str(value + 2 * _SIGN if unsigned and value < 0 else value)


def quoted_identifier(name: str) -> str:
    """Return a name as it is written in a statement, whatever the sql_mode is."""
    return "`" + name.replace("`", "``") + "`"


def _quoted(text: str) -> str:
    """Return text that needs no escapes, such as a time zone, as a string."""
    return "'" + text.replace("'", "''") + "'"


def _flag(value: object) -> str:
    return "1" if value else "0"
