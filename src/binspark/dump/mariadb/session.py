"""The SET statements before a statement: what its session had set, as far as it differs from what was printed last."""

from __future__ import annotations

from functools import lru_cache

from binspark.dump.mariadb.heading import identifier
from binspark.event import Query
from binspark.event.status_vars import AutoIncrement, Charsets, Flags2, StatusCode
from binspark.frames import Frame, HeaderFlag
from binspark.frames.format import Family, version_numbers
from binspark.schema.collations import collation_name
from binspark.transactions.session import SESSION_VARIABLES, SessionVariable

END = b"/*!*/;\n"
"""What ends a statement in a dump: statements may contain semicolons."""

_SHORT_FORM_THREAD = 999_999_999
_MAX_MICROSECONDS = 999_999

_ALL_BITS = (1 << 32) - 1
_NOT_BY_VERSION = (Flags2.NO_CHECK_CONSTRAINT_CHECKS, Flags2.INSERT_HISTORY)
"""The bits that the tool prints for every version, although not every version logs them."""
_KEYWORDS = (b"BEGIN", b"COMMIT")


def is_transaction_keyword(query: bytes, *, in_xa: bool) -> bool:
    """Return whether a statement only begins, ends or marks a transaction, so that it belongs to no database."""
    if in_xa:
        return query[:3].upper() == b"XA "
    if any(keyword.startswith(query) for keyword in _KEYWORDS):
        return True
    return query[:9].upper() == b"SAVEPOINT" or query[:8].upper() == b"ROLLBACK"


class Session:
    """What the statements that were printed have set. Every log begins with nothing set."""

    def __init__(self, *, short_form: bool) -> None:
        self._short_form = short_form
        self.database = b""
        self.in_xa = False
        self._thread_id: int | None = None
        self._flags: int | None = None
        self._sql_mode: int | None = None
        self._auto_increment = AutoIncrement(0, 0)
        self._charsets: Charsets | None = None
        self._time_zone = b""
        self._lc_time_names: int | None = None
        self._charset_database: int | None = None

    def statements(self, frame: Frame, query: Query, database: bytes, *, suppress_use: bool) -> bytes:
        """Return the statements that bring a session into the state that a statement needs."""
        status = {variable.code: variable.value for variable in query.status_vars}
        parts = [self._use(query, database, suppress_use=suppress_use), _timestamp(frame, status)]
        parts.append(self._thread(query.thread_id, frame.header.flags))
        if StatusCode.FLAGS2 in status:
            parts.append(self._options(status[StatusCode.FLAGS2], _printed_flags(frame.format.server_version)))
        sql_mode = status.get(StatusCode.SQL_MODE)
        if sql_mode is not None and sql_mode != self._sql_mode:
            self._sql_mode = sql_mode
            parts.append(b"SET @@session.sql_mode=%d%b" % (sql_mode, END))
        parts.append(self._auto_increments(status.get(StatusCode.AUTO_INCREMENT, AutoIncrement(1, 1))))
        if StatusCode.CHARSET in status:
            parts.append(self._character_sets(status[StatusCode.CHARSET]))
        parts.append(self._zone_and_names(status))
        return b"".join(parts)

    def _use(self, query: Query, database: bytes, *, suppress_use: bool) -> bytes:
        if suppress_use:
            if not is_transaction_keyword(query.query, in_xa=self.in_xa):
                self.database = b""
            return b""
        changed, self.database = database != self.database, database
        return b"use %b%b" % (identifier(database), END) if changed and database else b""

    def _thread(self, thread_id: int, flags: int) -> bytes:
        known = self._thread_id
        if known is not None and not (flags & HeaderFlag.THREAD_SPECIFIC and thread_id != known):
            return b""
        self._thread_id = thread_id
        return b"SET @@session.pseudo_thread_id=%d%b" % (_SHORT_FORM_THREAD if self._short_form else thread_id, END)

    def _options(self, flags: int, printed: tuple[SessionVariable, ...]) -> bytes:
        changed = _ALL_BITS if self._flags is None else self._flags ^ flags
        self._flags = flags
        if not changed:
            return b""
        settings = [
            b"@@session.%b=%d" % (variable.names[0].encode(), variable.is_on(flags))
            for variable in printed
            if changed & variable.bit
        ]
        return b"SET %b%b" % (b", ".join(settings), END)

    def _auto_increments(self, value: AutoIncrement) -> bytes:
        if value == self._auto_increment:
            return b""
        self._auto_increment = value
        text = b"SET @@session.auto_increment_increment=%d, @@session.auto_increment_offset=%d%b"
        return text % (*value, END)

    def _character_sets(self, value: Charsets) -> bytes:
        if value == self._charsets:
            return b""
        self._charsets = value
        name = collation_name(value.client, mariadb=True).partition("_")[0].encode()
        numbers = (value.connection, value.server)
        collations = b"@@session.collation_connection=%d,@@session.collation_server=%d%b" % (*numbers, END)
        client = b"SET @@session.character_set_client=%b,%b" % (name or b"Unknown", collations)
        return b"/*!\\C %b */%b%b" % (name, END, client) if name else b"# Ignored (Unknown charset) " + client

    def _zone_and_names(self, status: dict[int, object]) -> bytes:
        parts = []
        zone = str(status.get(StatusCode.TIME_ZONE, "")).encode()
        if zone and zone != self._time_zone:
            self._time_zone = zone
            parts.append(b"SET @@session.time_zone='%b'%b" % (zone, END))
        names = status.get(StatusCode.LC_TIME_NAMES, 0)
        if names != self._lc_time_names and isinstance(names, int):
            self._lc_time_names = names
            parts.append(b"SET @@session.lc_time_names=%d%b" % (names, END))
        collation = status.get(StatusCode.CHARSET_DATABASE, 0)
        if collation != self._charset_database and isinstance(collation, int):
            self._charset_database = collation
            shown = b"%d" % collation if collation else b"DEFAULT"
            parts.append(b"SET @@session.collation_database=%b%b" % (shown, END))
        return b"".join(parts)


@lru_cache
def _printed_flags(server_version: str) -> tuple[SessionVariable, ...]:
    """Return the flags that the tool prints for a server of this version; other bits mean nothing."""
    version = version_numbers(server_version)
    return tuple(
        variable
        for variable in SESSION_VARIABLES
        if variable.bit and (variable.bit in _NOT_BY_VERSION or variable.is_logged(Family.MARIADB, version))
    )


def _timestamp(frame: Frame, status: dict[int, object]) -> bytes:
    fraction = status.get(StatusCode.HRNOW, 0)
    seconds = b"%d" % frame.header.timestamp
    if isinstance(fraction, int) and 0 < fraction <= _MAX_MICROSECONDS:
        seconds += b".%06d" % fraction
    return b"SET TIMESTAMP=%b%b" % (seconds, END)
