"""The settings of the session that a dump has set so far: a setting is printed where it changes."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.status_vars import AutoIncrement, Charsets, Flags2, StatusCode, StatusVariable
from binspark.schema.collations import known_charset

_REMOVED_MODES = 0x1003FF00
_UNKNOWN = -1
_ALL = 0xFFFFFFFF
_OPTIONS = (
    (Flags2.NO_FOREIGN_KEY_CHECKS, b"@@session.foreign_key_checks", False),
    (Flags2.AUTO_IS_NULL, b"@@session.sql_auto_is_null", True),
    (Flags2.RELAXED_UNIQUE_CHECKS, b"@@session.unique_checks", False),
    (Flags2.NOT_AUTOCOMMIT, b"@@session.autocommit", False),
)


@dataclass
class Session:
    """What the session has been set to. Negative numbers and None are: not set yet."""

    database: bytes = b""
    thread_id: int | None = None
    flags2: int | None = None
    sql_mode: int | None = None
    auto_increment: tuple[int, int] = (0, 0)
    charsets: Charsets | None = None
    time_zone: bytes = b""
    lc_time_names: int = _UNKNOWN
    charset_database: int = _UNKNOWN
    default_collation: int = _UNKNOWN
    cascade_triggers: int = 0

    def changes(self, variables: tuple[StatusVariable, ...]) -> list[bytes]:
        """Return the statements that set what a statement needs and the session does not have, and remember them."""
        values = {variable.code: variable.value for variable in variables}
        lines: list[bytes] = []
        self._set_flags(values.get(StatusCode.FLAGS2), lines)
        self._set_mode(values.get(StatusCode.SQL_MODE), lines)
        increment = values.get(StatusCode.AUTO_INCREMENT, AutoIncrement(1, 1))
        if increment != self.auto_increment:
            lines.append(
                b"SET @@session.auto_increment_increment=%d, @@session.auto_increment_offset=%d" % tuple(increment)
            )
            self.auto_increment = increment
        self._set_charsets(values.get(StatusCode.CHARSET), lines)
        zone = values.get(StatusCode.TIME_ZONE, "").encode()
        if zone and zone != self.time_zone:
            lines.append(b"SET @@session.time_zone='%b'" % zone)
            self.time_zone = zone
        self._set_locale(values, lines)
        _set_always(values, lines)
        cascade = values.get(StatusCode.ENABLE_CASCADE_TRIGGERS, 0)
        if cascade != self.cascade_triggers:
            lines.append(b"/*!90700 SET @@session.enable_cascade_triggers=%d*/" % cascade)
            self.cascade_triggers = cascade
        return lines

    def _set_flags(self, flags: int | None, lines: list[bytes]) -> None:
        if flags is None:
            return
        changed = _ALL if self.flags2 is None else self.flags2 ^ flags
        if changed:
            settings = [
                b"%b=%d" % (name, bool(flags & bit) is is_positive)
                for bit, name, is_positive in _OPTIONS
                if changed & bit
            ]
            lines.append(b"SET " + b", ".join(settings))
            self.flags2 = flags

    def _set_mode(self, mode: int | None, lines: list[bytes]) -> None:
        if mode is None or mode == self.sql_mode:
            return
        mask = b"/*!80005 &~0x1003ff00*/" if mode & _REMOVED_MODES else b""
        lines.append(b"SET @@session.sql_mode=%d%b" % (mode, mask))
        self.sql_mode = mode

    def _set_charsets(self, charsets: Charsets | None, lines: list[bytes]) -> None:
        if charsets is None or charsets == self.charsets:
            return
        lines.extend(charset_statements(charsets))
        self.charsets = charsets

    def _set_locale(self, values: dict[int, int], lines: list[bytes]) -> None:
        locale = values.get(StatusCode.LC_TIME_NAMES, 0)
        if locale != self.lc_time_names:
            lines.append(b"SET @@session.lc_time_names=%d" % locale)
            self.lc_time_names = locale
        collation = values.get(StatusCode.CHARSET_DATABASE, 0)
        if collation != self.charset_database:
            lines.append(b"SET @@session.collation_database=%b" % (b"%d" % collation if collation else b"DEFAULT"))
            self.charset_database = collation
        explicit = values.get(StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP)
        if explicit is not None:
            lines.append(b"SET @@session.explicit_defaults_for_timestamp=%d" % bool(explicit))
        default = values.get(StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4, 0)
        if default != self.default_collation:
            if default:
                lines.append(b"/*!80011 SET @@session.default_collation_for_utf8mb4=%d*/" % default)
            self.default_collation = default


def charset_statements(charsets: Charsets) -> list[bytes]:
    """Return the statements that set the character sets of a session: for the client, and for the server."""
    name = known_charset(charsets.client)
    statement = (
        b"SET @@session.character_set_client=%d,@@session.collation_connection=%d,@@session.collation_server=%d"
        % tuple(charsets)
    )
    return [b"/*!\\C %b */" % name.encode(), statement] if name else [statement]


def _set_always(values: dict[int, int], lines: list[bytes]) -> None:
    """Add settings that are printed with every statement that has them."""
    primary_key = values.get(StatusCode.SQL_REQUIRE_PRIMARY_KEY)
    if primary_key is not None:
        lines.append(b"/*!80013 SET @@session.sql_require_primary_key=%d*/" % primary_key)
    encryption = values.get(StatusCode.DEFAULT_TABLE_ENCRYPTION)
    if encryption is not None:
        lines.append(b"/*!80016 SET @@session.default_table_encryption=%d*/" % encryption)
