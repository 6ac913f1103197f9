"""The status variables of a QUERY: the session settings that the statement depends on.

Each is a code of one byte and a value whose layout follows from the code. Values have no length, so that the list
cannot be read after an unknown code: its bytes and all that follow are kept as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, IntFlag
from functools import lru_cache
from typing import Any, NamedTuple

from binspark.errors import DecodeError
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import code, flags, note, quantity
from binspark.wire.sql_modes import SqlMode


class StatusCode(IntEnum):
    """The codes, with MySQL's meanings up to 21 and MariaDB's from 128."""

    FLAGS2 = 0
    SQL_MODE = 1
    CATALOG = 2
    AUTO_INCREMENT = 3
    CHARSET = 4
    TIME_ZONE = 5
    CATALOG_NZ = 6
    LC_TIME_NAMES = 7
    CHARSET_DATABASE = 8
    TABLE_MAP_FOR_UPDATE = 9
    MASTER_DATA_WRITTEN = 10
    INVOKER = 11
    UPDATED_DB_NAMES = 12
    MICROSECONDS = 13
    COMMIT_TS = 14
    COMMIT_TS2 = 15
    EXPLICIT_DEFAULTS_FOR_TIMESTAMP = 16
    DDL_LOGGED_WITH_XID = 17
    DEFAULT_COLLATION_FOR_UTF8MB4 = 18
    SQL_REQUIRE_PRIMARY_KEY = 19
    DEFAULT_TABLE_ENCRYPTION = 20
    ENABLE_CASCADE_TRIGGERS = 21
    HRNOW = 128
    XID = 129
    GTID_FLAGS3 = 130
    CHARACTER_SET_COLLATIONS = 131


class Flags2(IntFlag):
    """Session options that servers write with every statement; bits 15, 24, 28 and 30 are MariaDB's."""

    AUTO_IS_NULL = 1 << 14
    NO_CHECK_CONSTRAINT_CHECKS = 1 << 15
    NOT_AUTOCOMMIT = 1 << 19
    EXPLICIT_DEFAULTS = 1 << 24
    NO_FOREIGN_KEY_CHECKS = 1 << 26
    RELAXED_UNIQUE_CHECKS = 1 << 27
    IF_EXISTS = 1 << 28
    INSERT_HISTORY = 1 << 30


class AutoIncrement(NamedTuple):
    """auto_increment_increment and auto_increment_offset."""

    increment: int
    offset: int


class Charsets(NamedTuple):
    """The collations of character_set_client, collation_connection and collation_server."""

    client: int
    connection: int
    server: int


class Invoker(NamedTuple):
    """The user that CURRENT_USER() returns."""

    user: str
    host: str


class GtidFlags3(NamedTuple):
    """MariaDB: flags of a two-phase ALTER, and the sequence number of its start."""

    flags: int
    start_alter_sequence: int | None


class StatusVariable(NamedTuple):
    """One status variable. The type of `value` follows from the code; it is bytes for an unknown code."""

    code: int
    value: Any

    @property
    def name(self) -> str:
        """The name of its code in lower case, `unknown_N` for a code that is not known."""
        known = self.code in StatusCode._value2member_map_
        return StatusCode(self.code).name.lower() if known else f"unknown_{self.code}"


_TOO_MANY_DATABASES = 254
_MICROSECONDS_SIZE = 4
_DEFAULT_COLLATION_SIZE = 3
_CODE_MEANING = code(StatusCode)
_MICROSECONDS_MEANING = note("microseconds of the second in the header")
_DDL_XID_MEANING = note("transaction number of the DDL statement")
_COLLATION = note("number of the collation")
_FLAGS2_MEANING = flags(Flags2)
_SQL_MODE_MEANING = flags(SqlMode)
_ALTER_WITH_SEQUENCE = 0x04 | 0x08
_AUTO_INCREMENT = Layout(
    ("increment", "H", note("auto_increment_increment")), ("offset", "H", note("auto_increment_offset"))
)
_CHARSETS = Layout(
    ("client", "H", note("collation of character_set_client")),
    ("connection", "H", note("collation_connection")),
    ("server", "H", note("collation_server")),
)


def decode_status_vars(body: Cursor, length: int) -> tuple[StatusVariable, ...]:
    """Decode `length` bytes of status variables.

    Most statements of a session have the same bytes, so results are cached. A recording cursor reads every field.
    """
    if type(body) is not Cursor:
        return _read_all(body.sub("status_vars", length))
    start = body.offset
    raw = body.raw("status_vars", length)
    try:
        return _around_microseconds(raw) or _cached(raw)
    except DecodeError:  # read again for the offset of the error; the shortcut may also fail for valid bytes
        return _read_all(Cursor(body.data, start, start + length, body.encoding))


def _around_microseconds(raw: bytes) -> tuple[StatusVariable, ...] | None:
    """Read variables with microseconds among them; return None if there are none.

    They differ in every statement and would make the cache useless, so the bytes before and after them are cached.
    Servers write them last, or before the default collation. The code found there is really that of the microseconds
    exactly if the bytes before it are complete variables with known codes.
    """
    last = len(raw) - _MICROSECONDS_SIZE
    for start in (last - _DEFAULT_COLLATION_SIZE, last):
        if start >= 0 and raw[start] == StatusCode.MICROSECONDS:
            before = _cached(raw[:start])
            if not before or before[-1].code in _READERS:
                end = start + _MICROSECONDS_SIZE
                microseconds = int.from_bytes(raw[start + 1 : end], "little")
                return (*before, StatusVariable(StatusCode.MICROSECONDS, microseconds), *_cached(raw[end:]))
    return None


@lru_cache(maxsize=1024)
def _cached(raw: bytes) -> tuple[StatusVariable, ...]:
    return _read_all(Cursor(raw))


def _read_all(block: Cursor) -> tuple[StatusVariable, ...]:
    variables: list[StatusVariable] = []
    while block.remaining:
        block.enter("status_vars", len(variables))
        kind = block.u8("code", _CODE_MEANING)
        reader = _READERS.get(kind)
        value = block.rest("unknown") if reader is None else reader(block)
        variables.append(StatusVariable(kind, value))
        block.leave()
    return tuple(variables)


def encode_status_vars(variables: tuple[StatusVariable, ...], encoding: str) -> bytes:
    """Return the bytes of status variables."""
    writer = Writer(encoding)
    for variable in variables:
        writer.u8(variable.code)
        _WRITERS.get(variable.code, Writer.raw)(writer, variable.value)
    return writer.take()


def _read_text(block: Cursor, name: str) -> str:
    return block.text(name, block.u8(f"{name}_length"))


def _write_text(writer: Writer, value: str) -> None:
    raw = writer.encode_text(value)
    writer.u8(len(raw))
    writer.raw(raw)


def _read_catalog(block: Cursor) -> str:
    """Read a catalog of MySQL 5.0.0 to 5.0.3, which has a length and also a terminating zero byte."""
    catalog = _read_text(block, "catalog")
    block.zero("catalog_end")
    return catalog


def _write_catalog(writer: Writer, value: str) -> None:
    _write_text(writer, value)
    writer.zero()


def _read_invoker(block: Cursor) -> Invoker:
    return Invoker(_read_text(block, "user"), _read_text(block, "host"))


def _write_invoker(writer: Writer, value: Invoker) -> None:
    _write_text(writer, value.user)
    _write_text(writer, value.host)


def _read_databases(block: Cursor) -> tuple[str, ...] | None:
    """Read the databases that the statement changes; None if there are too many to list."""
    count = block.u8("count")
    if count == _TOO_MANY_DATABASES:
        return None
    return tuple(block.until_zero("database") for _ in range(count))


def _write_databases(writer: Writer, value: tuple[str, ...] | None) -> None:
    writer.u8(_TOO_MANY_DATABASES if value is None else len(value))
    for database in value or ():
        writer.text(database)
        writer.zero()


def _read_gtid_flags(block: Cursor) -> GtidFlags3:
    flags3 = block.u8("flags")
    return GtidFlags3(flags3, block.u64("start_alter_sequence") if flags3 & _ALTER_WITH_SEQUENCE else None)


def _write_gtid_flags(writer: Writer, value: GtidFlags3) -> None:
    writer.u8(value.flags)
    if value.start_alter_sequence is not None:
        writer.u64(value.start_alter_sequence)


def _read_collations(block: Cursor) -> tuple[tuple[int, int], ...]:
    """Read MariaDB's default collations of character sets, where the session changed them."""
    return tuple((block.u16("charset"), block.u16("collation")) for _ in range(block.u8("count")))


def _write_collations(writer: Writer, value: tuple[tuple[int, int], ...]) -> None:
    writer.u8(len(value))
    for charset, collation in value:
        writer.u16(charset)
        writer.u16(collation)


def _on_or_off(value: int) -> str:
    return {0: "OFF", 1: "ON"}.get(value, "")


def _write_uint(length: int) -> Callable[[Writer, int], None]:
    return lambda writer, value: writer.uint(value, length)


_READERS: dict[int, Callable[[Cursor], Any]] = {
    StatusCode.FLAGS2: lambda block: block.u32("flags2", _FLAGS2_MEANING),
    StatusCode.SQL_MODE: lambda block: block.u64("sql_mode", _SQL_MODE_MEANING),
    StatusCode.CATALOG: _read_catalog,
    StatusCode.AUTO_INCREMENT: lambda block: AutoIncrement._make(block.fields(_AUTO_INCREMENT)),
    StatusCode.CHARSET: lambda block: Charsets._make(block.fields(_CHARSETS)),
    StatusCode.TIME_ZONE: lambda block: _read_text(block, "time_zone"),
    StatusCode.CATALOG_NZ: lambda block: _read_text(block, "catalog"),
    StatusCode.LC_TIME_NAMES: lambda block: block.u16("lc_time_names", note("number of the locale")),
    StatusCode.CHARSET_DATABASE: lambda block: block.u16("charset_database", note("collation_database")),
    StatusCode.TABLE_MAP_FOR_UPDATE: lambda block: block.u64("table_map_for_update", hex),
    StatusCode.MASTER_DATA_WRITTEN: lambda block: block.u32("master_data_written", quantity("byte")),
    StatusCode.INVOKER: _read_invoker,
    StatusCode.UPDATED_DB_NAMES: _read_databases,
    StatusCode.MICROSECONDS: lambda block: block.uint("microseconds", 3, _MICROSECONDS_MEANING),
    StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP: lambda block: block.u8("explicit_defaults_for_timestamp", _on_or_off),
    StatusCode.DDL_LOGGED_WITH_XID: lambda block: block.u64("ddl_xid", _DDL_XID_MEANING),
    StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4: lambda block: block.u16("default_collation_for_utf8mb4", _COLLATION),
    StatusCode.SQL_REQUIRE_PRIMARY_KEY: lambda block: block.u8("sql_require_primary_key", _on_or_off),
    StatusCode.DEFAULT_TABLE_ENCRYPTION: lambda block: block.u8("default_table_encryption", _on_or_off),
    StatusCode.ENABLE_CASCADE_TRIGGERS: lambda block: block.u8("enable_cascade_triggers", _on_or_off),
    StatusCode.HRNOW: lambda block: block.uint("microseconds", 3, _MICROSECONDS_MEANING),
    StatusCode.XID: lambda block: block.u64("xid"),
    StatusCode.GTID_FLAGS3: _read_gtid_flags,
    StatusCode.CHARACTER_SET_COLLATIONS: _read_collations,
}

_WRITERS: dict[int, Callable[[Writer, Any], None]] = {
    StatusCode.FLAGS2: _write_uint(4),
    StatusCode.SQL_MODE: _write_uint(8),
    StatusCode.CATALOG: _write_catalog,
    StatusCode.AUTO_INCREMENT: lambda writer, value: writer.fields(_AUTO_INCREMENT, *value),
    StatusCode.CHARSET: lambda writer, value: writer.fields(_CHARSETS, *value),
    StatusCode.TIME_ZONE: _write_text,
    StatusCode.CATALOG_NZ: _write_text,
    StatusCode.LC_TIME_NAMES: _write_uint(2),
    StatusCode.CHARSET_DATABASE: _write_uint(2),
    StatusCode.TABLE_MAP_FOR_UPDATE: _write_uint(8),
    StatusCode.MASTER_DATA_WRITTEN: _write_uint(4),
    StatusCode.INVOKER: _write_invoker,
    StatusCode.UPDATED_DB_NAMES: _write_databases,
    StatusCode.MICROSECONDS: _write_uint(3),
    StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP: _write_uint(1),
    StatusCode.DDL_LOGGED_WITH_XID: _write_uint(8),
    StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4: _write_uint(2),
    StatusCode.SQL_REQUIRE_PRIMARY_KEY: _write_uint(1),
    StatusCode.DEFAULT_TABLE_ENCRYPTION: _write_uint(1),
    StatusCode.ENABLE_CASCADE_TRIGGERS: _write_uint(1),
    StatusCode.HRNOW: _write_uint(3),
    StatusCode.XID: _write_uint(8),
    StatusCode.GTID_FLAGS3: _write_gtid_flags,
    StatusCode.CHARACTER_SET_COLLATIONS: _write_collations,
}
