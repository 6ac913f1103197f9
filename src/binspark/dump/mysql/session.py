"""The settings of the session that a dump has set so far: a setting is printed where it changes."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.status_vars import AutoIncrement, Charsets, StatusCode, StatusVariable
from binspark.frames.format import Family
from binspark.schema.collations import collation_name
from binspark.transactions.session import REMOVED_MODES, SESSION_VARIABLES

_UNKNOWN = -1
_ALL = 0xFFFFFFFF
_FLAGS = tuple(variable for variable in SESSION_VARIABLES if variable.bit and variable.family is None)
_NUMBERS = {variable.status: variable for variable in SESSION_VARIABLES if variable.family is Family.MYSQL}


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
            lines.append(_since(StatusCode.ENABLE_CASCADE_TRIGGERS, cascade))
            self.cascade_triggers = cascade
        return lines

    def _set_flags(self, flags: int | None, lines: list[bytes]) -> None:
        if flags is None:
            return
        changed = _ALL if self.flags2 is None else self.flags2 ^ flags
        if changed:
            settings = [
                b"@@session.%b=%d" % (variable.names[0].encode(), variable.is_on(flags))
                for variable in _FLAGS
                if changed & variable.bit
            ]
            lines.append(b"SET " + b", ".join(settings))
            self.flags2 = flags

    def _set_mode(self, mode: int | None, lines: list[bytes]) -> None:
        if mode is None or mode == self.sql_mode:
            return
        mask = b"/*!80005 &~0x1003ff00*/" if mode & REMOVED_MODES else b""
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
                lines.append(_since(StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4, default))
            self.default_collation = default


def charset_statements(charsets: Charsets) -> list[bytes]:
    """Return the statements that set the character sets of a session: for the client, and for the server."""
    name = collation_name(charsets.client).partition("_")[0]
    statement = (
        b"SET @@session.character_set_client=%d,@@session.collation_connection=%d,@@session.collation_server=%d"
        % tuple(charsets)
    )
    return [b"/*!\\C %b */" % name.encode(), statement] if name else [statement]


def _since(status: StatusCode, value: int) -> bytes:
    """Return the statement that sets a variable, for servers that have it."""
    variable = _NUMBERS[status]
    major, minor, patch = variable.since[0]
    return b"/*!%d%02d%02d SET @@session.%b=%d*/" % (major, minor, patch, variable.names[0].encode(), value)


def _set_always(values: dict[int, int], lines: list[bytes]) -> None:
    """Add settings that are printed with every statement that has them."""
    always = (StatusCode.SQL_REQUIRE_PRIMARY_KEY, StatusCode.DEFAULT_TABLE_ENCRYPTION)
    lines.extend(_since(status, values[status]) for status in always if status in values)
