"""What a server's error means, and what to do about it."""

from __future__ import annotations

import re
from typing import NamedTuple

from binspark.errors import Authentication, ConnectionLost, Purged, Server, SourceError
from binspark.position import Position

ACCESS_DENIED = 1045
TABLE_ACCESS_DENIED = 1142
MISSING_PRIVILEGE = 1227
ANY_ACCOUNT = "the user"
_CLIENT_CODES = range(2000, 3000)
_ESCAPES = dict.fromkeys("\r\n\t", " ")
_MAX_TEXT = 500
"""What MySQL's own messages may take: MYSQL_ERRMSG_SIZE is 512 bytes."""


class _Advice(NamedTuple):
    """An error as binspark raises it: its class, and what to do."""

    kind: type[SourceError]
    what_to_do: str


_NEEDED = re.compile(r"\(at least one of\) the (.+?) privilege")
_DENIED = re.compile(r"(\w+(?: \w+)*) command denied to user .+ for table ['`]?(.+?)['`]?$")
_MORE_THAN_NEEDED = "SUPER"
_RETRIED = "the server is not ready, or went away"
_START_AGAIN = (
    "start from a newer position (earliest is the oldest that is left), from a backup, or keep logs longer "
    "(binlog_expire_logs_seconds)"
)

# By the server's error code.
_CODES: dict[int, _Advice] = {
    1040: _Advice(ConnectionLost, "the server has too many connections"),
    1044: _Advice(Authentication, "check user, password and grants"),
    ACCESS_DENIED: _Advice(Authentication, "check user and password"),
    1053: _Advice(ConnectionLost, _RETRIED),
    1077: _Advice(ConnectionLost, _RETRIED),
    1079: _Advice(ConnectionLost, _RETRIED),
    1129: _Advice(Authentication, "the server blocks this host after failed connections: FLUSH HOSTS"),
    1130: _Advice(Authentication, "the user may not connect from this host"),
    1158: _Advice(ConnectionLost, _RETRIED),
    1159: _Advice(ConnectionLost, _RETRIED),
    1160: _Advice(ConnectionLost, _RETRIED),
    1161: _Advice(ConnectionLost, _RETRIED),
    1203: _Advice(ConnectionLost, "the user has too many connections"),
    1251: _Advice(Authentication, "the server requires an authentication method that PyMySQL does not support"),
    1275: _Advice(Authentication, "the user's password is stored in a format that is too old"),
    1381: _Advice(Server, "the server writes no binary log: start it with log_bin"),
    1698: _Advice(Authentication, "the user may only log in through the socket, or with another plugin"),
    1862: _Advice(Authentication, "the password has expired: set a new one"),
    1927: _Advice(ConnectionLost, "the connection was killed on the server"),
    2002: _Advice(ConnectionLost, "no server listens there, or it cannot be reached"),
    2003: _Advice(ConnectionLost, "no server listens there, or it cannot be reached"),
    2006: _Advice(ConnectionLost, _RETRIED),
    2013: _Advice(ConnectionLost, _RETRIED),
    2026: _Advice(Authentication, "the server does not support TLS; ssl_mode preferred connects without it"),
    2055: _Advice(ConnectionLost, _RETRIED),
    2059: _Advice(Authentication, "PyMySQL does not support the authentication plugin of this user"),
    3032: _Advice(ConnectionLost, "the server is in offline mode"),
    3159: _Advice(Authentication, "the server accepts encrypted connections only: use ssl_mode required"),
    4031: _Advice(ConnectionLost, "the server closed a connection that was idle"),
}

# By the text of the error that ends a dump: nearly all of them have the same code, 1236.
_DUMP_TEXTS: tuple[tuple[str, _Advice], ...] = (
    (
        r"purged required binary logs|state is too old|have been purged|purged binary logs containing GTIDs",
        _Advice(Purged, f"the requested transactions are no longer in the server's logs; {_START_AGAIN}"),
    ),
    (
        r"could not find first log|could not find next log",
        _Advice(Purged, f"the server has no log of this name: it was purged or reset; {_START_AGAIN}"),
    ),
    (
        r"position > file size|impossible position",
        _Advice(
            Purged,
            "the log ends before this position: it was reset, or the server crashed before it was on disk "
            f"(sync_binlog=1 prevents that); {_START_AGAIN}",
        ),
    ),
    (
        r"has more GTIDs than the (master|source)",
        _Advice(
            Purged,
            "the server has lost transactions of its own that were read before: its logs were reset, or it is an older "
            "copy. Start from its gtid_executed, or compare the data",
        ),
    ),
    (
        r"which is not in the master's binlog|is missing the GTID",
        _Advice(
            Purged,
            "the server does not have this GTID: it was purged, was never there, or the servers have diverged. "
            "Start from its gtid_binlog_pos, or from a file",
        ),
    ),
    (
        r"GTID_MODE",
        _Advice(Server, "GTIDs are off there: start from a file and position, or set gtid_mode=ON"),
    ),
    (
        r"the same server_uuid/server_id|same server_id is already connected",
        _Advice(Server, "another replica uses this server id: give each reader a connection_server_id of its own"),
    ),
    (
        r"binary log is not open",
        _Advice(Server, "the server writes no binary log: start it with log_bin"),
    ),
    (
        r"server_id is 0|server id is not set",
        _Advice(Server, "the server has no server id: set server_id to a number above 0"),
    ),
    (
        r"can not handle replication events with the checksum",
        _Advice(Server, "the server did not accept that binspark reads checksums"),
    ),
    (
        r"I/O error reading log event",
        _Advice(ConnectionLost, "the log was reset under the reader, or its disk fails"),
    ),
    (
        r"bogus data|truncated in the middle|max_allowed_packet|did not pass|corrupt|log read failed|read error",
        _Advice(
            Server,
            "either no event begins at the requested position, or the server's log is damaged there: "
            "try a position that `SHOW BINLOG EVENTS` lists",
        ),
    ),
)


def explain_error(code: int, message: str, position: Position, account: str = ANY_ACCOUNT) -> SourceError:
    """Return the error that a server's error code and text mean; `account` is whose session it was, for GRANT."""
    advice = _CODES.get(code)
    if code in (MISSING_PRIVILEGE, TABLE_ACCESS_DENIED):
        advice = _grant_advice(message, account, "REPLICATION CLIENT")
    return _with_advice(advice, code, message, position)


def explain_dump_error(code: int, message: str, position: Position, account: str = ANY_ACCOUNT) -> SourceError:
    """Return the same for the commands of a dump: a user who is logged in is refused these for lack of a privilege."""
    if code in (MISSING_PRIVILEGE, ACCESS_DENIED):
        advice: _Advice | None = _grant_advice(message, account, "REPLICATION SLAVE")
    else:
        advice = _CODES.get(code) or _dump_advice(message)
    return _with_advice(advice, code, message, position)


def _grant_advice(message: str, account: str, default: str) -> _Advice:
    """Return which privilege is missing, as the server says it: `default` where it does not."""
    privilege, scope = default, "*.*"
    if needed := _NEEDED.search(message):
        names = [name.strip() for name in needed[1].split(",")]
        privilege = next((name for name in names if name != _MORE_THAN_NEEDED), names[0])
    elif denied := _DENIED.match(message):
        privilege, scope = denied[1], denied[2]
    return _Advice(Authentication, f"a privilege is missing: GRANT {privilege} ON {scope} TO {account}")


def _with_advice(advice: _Advice | None, code: int, message: str, position: Position) -> SourceError:
    text = printable(message)
    reported = f"{text} (error {code})" if code else text
    if advice is None:
        return Server(reported, position)
    reporter = "PyMySQL" if code in _CLIENT_CODES else "The server"
    return advice.kind(f"{advice.what_to_do}. {reporter} reports: {reported}", position)


def printable(text: str) -> str:
    """Return a server's text for a message: on one line, not longer than a few, without what a terminal obeys."""
    shown = text.strip()[:_MAX_TEXT]
    letters = (letter if letter.isprintable() else _ESCAPES.get(letter, f"\\u{ord(letter):04x}") for letter in shown)
    return "".join(letters) + ("…" if len(text.strip()) > _MAX_TEXT else "")


def _dump_advice(message: str) -> _Advice | None:
    found = (advice for pattern, advice in _DUMP_TEXTS if re.search(pattern, message, re.IGNORECASE))
    return next(found, None)
