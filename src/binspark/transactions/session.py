"""The session that a statement needs to have the same result again: which variables the log has of it, and where.

The log has them beside each statement: the status variables of a QUERY, and INTVAR, RAND and USER_VAR events before it.
`SESSION_VARIABLES` is the one list of the first: `settings_of` reads it for statements that are executed again, and the
printers of `dump` for the text of the servers' own tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial, reduce
from operator import or_
from typing import Any

from binspark.errors import BinlogError, Unsupported
from binspark.event import Event, Intvar, Query, Rand, UserVar
from binspark.event.status_vars import AutoIncrement, Flags2, StatusCode
from binspark.event.variables import IntvarKind, UserVarFlag
from binspark.frames import HeaderFlag
from binspark.frames.format import Family, version_numbers
from binspark.schema.collations import collation_name, known_charset
from binspark.wire.sql_modes import SqlMode

_SIGN = 1 << 63
_INTVARS: dict[int, str] = {IntvarKind.LAST_INSERT_ID: "LAST_INSERT_ID", IntvarKind.INSERT_ID: "INSERT_ID"}
_KNOWN_MODES = reduce(or_, SqlMode)
REMOVED_MODES = 0x1003FF00
"""The modes that MySQL 8.0 no longer has, and refuses."""

_TWO_MEANINGS = {
    SqlMode.NOT_USED_OR_IGNORE_BAD_TABLE_OPTIONS: ("", "IGNORE_BAD_TABLE_OPTIONS"),
    SqlMode.TIME_TRUNCATE_FRACTIONAL_OR_EMPTY_STRING_IS_NULL: ("TIME_TRUNCATE_FRACTIONAL", "EMPTY_STRING_IS_NULL"),
}
"""Bits that mean different modes in MySQL and MariaDB."""


def quoted_identifier(name: str) -> str:
    """Return a name as it is written in a statement, in every sql_mode."""
    return "`" + name.replace("`", "``") + "`"


def _quoted(text: str) -> str:
    """Return text that needs no escapes, such as a time zone, as a string."""
    return "'" + text.replace("'", "''") + "'"


def sql_mode_text(bits: int, *, mariadb: bool) -> str:
    """Return the names of the modes in a number, for servers of the family that wrote it.

    >>> sql_mode_text(0x140004, mariadb=False)
    'ANSI_QUOTES,ANSI,NO_BACKSLASH_ESCAPES'
    """
    kept = bits if mariadb else bits & ~REMOVED_MODES
    names = [_TWO_MEANINGS.get(mode, (mode.name, mode.name))[mariadb] for mode in SqlMode if kept & mode]
    return ",".join(name for name in names if name)


def _mode(bits: int, *, mariadb: bool) -> str:
    """Return modes as a string of their names; as a number if one of them has no name here."""
    is_known = not bits & ~int(_KNOWN_MODES)
    return _quoted(sql_mode_text(bits, mariadb=mariadb)) if is_known else str(bits)


def _default_or_number(number: int) -> str:
    return str(number) if number else "DEFAULT"


def _collations(pairs: tuple[tuple[int, int], ...]) -> str:
    """Return MariaDB's default collations of character sets."""
    named = [(known_charset(charset), collation_name(collation, mariadb=True)) for charset, collation in pairs]
    if not all(map(all, named)):
        raise Unsupported(f"character_set_collations has a collation that is not known: {pairs}")
    return _quoted(",".join(f"{charset}={collation}" for charset, collation in named))


@dataclass(frozen=True, slots=True)
class SessionVariable:
    """A session variable that the log has, or several with one status variable.

    names    of the variables, in the order of their values
    status   the status variable of a QUERY that has the values
    bit      the bit of the flags (FLAGS2) that has the value; 0 for other status variables
    is_off   whether a bit that is set means that the variable is OFF
    family   the servers that log it; None for both
    since    the releases since which they log it, oldest first; those after the last of them all do
    absent   the value of a statement without the status variable; None if it does not depend on the variable
    write    makes SQL of a value
    replays  whether a statement that is executed again needs it
    """

    names: tuple[str, ...]
    status: StatusCode
    bit: int = 0
    is_off: bool = False
    family: Family | None = None
    since: tuple[tuple[int, int, int], ...] = ()
    absent: Any = None
    write: Callable[[Any], str] = str
    replays: bool = True

    def is_logged(self, family: Family, version: tuple[int, int, int]) -> bool:
        """Return whether a server of a family and version logs it."""
        if self.family not in (None, family):
            return False
        same_series = [release for release in self.since if release[:2] == version[:2]]
        return not self.since or version >= (same_series[0] if same_series else self.since[-1])

    def is_on(self, flags: int) -> bool:
        """Return its value in the flags of a statement."""
        return bool(flags & self.bit) is not self.is_off

    def settings(self, status: dict[int, Any]) -> Iterator[tuple[str, str]]:
        """Yield each variable with its value as SQL, as far as the status variables of a statement say it."""
        value = status.get(self.status, self.absent)
        if value is None:
            return
        if self.bit:
            yield self.names[0], str(int(self.is_on(value)))
            return
        for name, each in zip(self.names, value if len(self.names) > 1 else (value,), strict=True):
            yield name, self.write(each)


def _flag(name: str, bit: Flags2, *, is_off: bool = False, **more: Any) -> SessionVariable:
    return SessionVariable((name,), StatusCode.FLAGS2, bit, is_off, **more)


def _of_mysql(name: str, status: StatusCode, since: tuple[int, int, int]) -> SessionVariable:
    return SessionVariable((name,), status, family=Family.MYSQL, since=(since,))


_MARIADB, _S = Family.MARIADB, StatusCode
_EXPLICIT_SINCE = ((10, 5, 17), (10, 6, 9), (10, 7, 5), (10, 8, 4), (10, 9, 2), (10, 10, 0))
SESSION_VARIABLES = (
    _flag("foreign_key_checks", Flags2.NO_FOREIGN_KEY_CHECKS, is_off=True),
    _flag("sql_auto_is_null", Flags2.AUTO_IS_NULL),
    _flag("unique_checks", Flags2.RELAXED_UNIQUE_CHECKS, is_off=True),
    _flag("autocommit", Flags2.NOT_AUTOCOMMIT, is_off=True, replays=False),
    _flag(
        "check_constraint_checks",
        Flags2.NO_CHECK_CONSTRAINT_CHECKS,
        is_off=True,
        family=_MARIADB,
        since=((10, 2, 1),),
    ),
    _flag("sql_if_exists", Flags2.IF_EXISTS, family=_MARIADB, since=((10, 5, 2),)),
    _flag("explicit_defaults_for_timestamp", Flags2.EXPLICIT_DEFAULTS, family=_MARIADB, since=_EXPLICIT_SINCE),
    _flag("system_versioning_insert_history", Flags2.INSERT_HISTORY, family=_MARIADB, since=((10, 11, 0),)),
    SessionVariable(("sql_mode",), _S.SQL_MODE, family=Family.MYSQL, write=partial(_mode, mariadb=False)),
    SessionVariable(("sql_mode",), _S.SQL_MODE, family=_MARIADB, write=partial(_mode, mariadb=True)),
    SessionVariable(
        ("auto_increment_increment", "auto_increment_offset"), _S.AUTO_INCREMENT, absent=AutoIncrement(1, 1)
    ),
    SessionVariable(("character_set_client", "collation_connection", "collation_server"), _S.CHARSET),
    SessionVariable(
        ("character_set_collations",),
        _S.CHARACTER_SET_COLLATIONS,
        family=_MARIADB,
        since=((11, 2, 1),),
        absent=(),
        write=_collations,
    ),
    SessionVariable(("time_zone",), _S.TIME_ZONE, write=_quoted),
    SessionVariable(("lc_time_names",), _S.LC_TIME_NAMES, absent=0),
    SessionVariable(("collation_database",), _S.CHARSET_DATABASE, absent=0, write=_default_or_number),
    _of_mysql("explicit_defaults_for_timestamp", _S.EXPLICIT_DEFAULTS_FOR_TIMESTAMP, (8, 0, 2)),
    _of_mysql("default_collation_for_utf8mb4", _S.DEFAULT_COLLATION_FOR_UTF8MB4, (8, 0, 11)),
    _of_mysql("sql_require_primary_key", _S.SQL_REQUIRE_PRIMARY_KEY, (8, 0, 13)),
    _of_mysql("default_table_encryption", _S.DEFAULT_TABLE_ENCRYPTION, (8, 0, 16)),
    _of_mysql("enable_cascade_triggers", _S.ENABLE_CASCADE_TRIGGERS, (9, 7, 0)),
)
"""All of them, in the order in which the servers' tools print them.

autocommit is never set again: a replica keeps its own, and a script ends each transaction where the log does.
"""


@lru_cache(maxsize=64)
def logged_variables(family: Family, server_version: str) -> tuple[SessionVariable, ...]:
    """Return the variables that a server of a family and version logs."""
    version = version_numbers(server_version)
    return tuple(variable for variable in SESSION_VARIABLES if variable.is_logged(family, version))


def settings_of(event: Event) -> dict[str, str]:
    """Return the variables of the session in which the statement of a QUERY ran, with their values as SQL."""
    query: Query = event.body
    log_format = event.frame.format
    status = {variable.code: variable.value for variable in query.status_vars}
    found: dict[str, str] = {}
    try:
        for variable in logged_variables(log_format.family, log_format.server_version):
            if variable.replays:
                found.update(variable.settings(status))
    except BinlogError as error:
        raise error.at(event.position) from None
    seconds = str(event.header.timestamp)
    fraction = status.get(StatusCode.MICROSECONDS) or status.get(StatusCode.HRNOW)
    found["timestamp"] = f"{seconds}.{fraction:06}" if fraction else seconds
    return found


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
            use = f"USE {quoted_identifier(query.schema)}".encode(errors="surrogateescape")
            statements += [*self.names(query.schema), use]
            self._schema = query.schema
        return statements + self._changed({"pseudo_thread_id": str(query.thread_id), **settings_of(event)})

    def variable(self, body: Intvar | Rand | UserVar) -> list[bytes]:
        """Return the statements that set a variable for the next statement."""
        return [*(self.names(body.name) if isinstance(body, UserVar) else ()), variable_statement(body, self._family)]

    def names(self, name: str) -> list[bytes]:
        """Return what lets the session read a name in UTF-8; in the character set of a statement it is another one."""
        return [] if name.isascii() else self._changed({"character_set_client": "utf8mb4"})

    def forget_schema(self) -> None:
        """Note that the default schema may be another one: it was dropped."""
        self._schema = ""

    def _changed(self, settings: dict[str, str]) -> list[bytes]:
        changed = {name: value for name, value in settings.items() if self._known.get(name) != value}
        self._known |= changed
        if not changed:
            return []
        return [b"SET " + ", ".join(f"@@session.{name}={value}" for name, value in changed.items()).encode()]


def variable_statement(body: Intvar | Rand | UserVar, family: Family) -> bytes:
    """Return the statement that sets what an event before a statement says."""
    if isinstance(body, Intvar):
        if body.kind not in _INTVARS:
            raise Unsupported(f"INTVAR sets a variable of the unknown kind {body.kind}: only 1 and 2 are known")
        return f"SET {_INTVARS[body.kind]}={body.value}".encode()
    if isinstance(body, Rand):
        return f"SET @@RAND_SEED1={body.seed1}, @@RAND_SEED2={body.seed2}".encode()
    return f"SET @{quoted_identifier(body.name)}:={_value(body, family)}".encode(errors="surrogateescape")


def _value(variable: UserVar, family: Family) -> str:
    value = variable.value
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        collation = collation_name(variable.charset or 0, mariadb=family is Family.MARIADB)
        charset = known_charset(variable.charset) or "binary"
        named = f" COLLATE {quoted_identifier(collation)}" if collation else ""
        return f"_{charset} X'{value.hex()}'{named}"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return f"{value!r}e0" if "e" not in repr(value) else repr(value)
    unsigned = variable.flags is not None and variable.flags & UserVarFlag.UNSIGNED
    return str(value + 2 * _SIGN if unsigned and value < 0 else value)
