"""The transaction grammar: what every event means for the transaction around it. No other module decides that.

Role      the part that an event plays: by its type code, refined by its body where only the body says it
Progress  what is in progress after an event, given its role and what was in progress before
Boundary  a role, and why the transaction ended if nothing is in progress after the event

Three transactions as MySQL writes them, with what is in progress after each event:

    GTID        BEGIN  TABLE_MAP  WRITE_ROWS  XID
    IDENTIFIED  BEGUN  BEGUN      BEGUN       NONE

    GTID        CREATE TABLE        INTVAR    INSERT (an old log, without GTIDs)
    IDENTIFIED  NONE                PREPARED  NONE

`byte_tables` generates what kernels need from the tables below. This module imports no decoder: processes that only
copy a log load it, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from binspark.frames.codes import EventCode as E
from binspark.frames.codes import HeaderFlag

if TYPE_CHECKING:
    from binspark.event import Event


class Role(IntEnum):
    """The part that an event plays. The numbers are those of the byte tables.

    OUTSIDE        belongs to the log, never to a transaction
    JOINS          belongs to the transaction in progress, if there is one
    IDENTIFIES     a transaction begins, and this is its identifier
    OPENS          the same, and no BEGIN is needed: MariaDB's GTIDs, unless they announce a single statement
    BEGINS         a transaction begins; belongs to the identifier before it
    INSIDE         a transaction is in progress and continues
    PREPARES       belongs to the statement that follows
    STATEMENT      a statement; a complete transaction if none is in progress
    ROWS           the last rows of a statement; a complete transaction if neither GTID nor BEGIN came before
    WRAPS          the events inside are a transaction, or the rest of one
    ENDS           the transaction ends
    BREAKS         a log begins or ends: in a server's own log no transaction continues after it

    BY_STATEMENT   the text of the statement says which of these it is
    BY_ROWS_FLAGS  PREPARES or ROWS
    BY_GTID_FLAGS  IDENTIFIES or OPENS
    UNDECIDED      the bytes alone do not say it, or are too few: the event has to be decoded
    """

    OUTSIDE = 0
    JOINS = 1
    IDENTIFIES = 2
    OPENS = 3
    BEGINS = 4
    INSIDE = 5
    PREPARES = 6
    STATEMENT = 7
    ROWS = 8
    WRAPS = 9
    ENDS = 10
    BREAKS = 11
    BY_STATEMENT = 12
    BY_ROWS_FLAGS = 13
    BY_GTID_FLAGS = 14
    UNDECIDED = 15


class Progress(IntEnum):
    """What is in progress after an event.

    NONE        nothing: the log may be cut here
    PREPARED    events of a statement that is still to come
    IDENTIFIED  a GTID; BEGIN follows, or a statement that is a complete transaction
    ANNOUNCED   a GTID, and events of its statement
    OPENED      a GTID that needs no BEGIN; one may follow
    BEGUN       a transaction that only an explicit end ends
    """

    NONE = 0
    PREPARED = 1
    IDENTIFIED = 2
    ANNOUNCED = 3
    OPENED = 4
    BEGUN = 5


class Ending(StrEnum):
    """Why a transaction ended.

    XID             committed: an XID event, the commit of a transactional engine
    COMMIT          committed: a COMMIT statement, as after changes of nontransactional tables
    ROLLBACK        rolled back: only changes of nontransactional tables stay
    STATEMENT       a statement that commits itself: DDL, or any single statement of an old log
    STANDALONE      the same where MariaDB says so in its GTID
    START_ALTER     MariaDB begins a two-phase ALTER; a later transaction ends it
    COMMIT_ALTER    MariaDB commits a two-phase ALTER
    ROLLBACK_ALTER  MariaDB rolls back a two-phase ALTER
    XA_PREPARE      prepared: a later transaction commits it or rolls it back
    XA_ONE_PHASE    an XA transaction that was prepared and committed at once
    XA_COMMIT       what was prepared earlier is committed
    XA_ROLLBACK     what was prepared earlier is rolled back
    VIEW_CHANGE     Group Replication reports that the group has new members
    LOAD_FAILED     the file of a LOAD DATA was logged, then given up
    PAYLOAD         a compressed transaction whose events were not expanded
    INCIDENT        the server reports that events are missing
    INTERRUPTED     another transaction begins before this one ended
    CRASH           the log restarts, continues elsewhere or stops before this one ended
    UNFINISHED      there are no more events
    """

    XID = "xid"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    STATEMENT = "statement"
    STANDALONE = "standalone"
    START_ALTER = "start_alter"
    COMMIT_ALTER = "commit_alter"
    ROLLBACK_ALTER = "rollback_alter"
    XA_PREPARE = "xa_prepare"
    XA_ONE_PHASE = "xa_one_phase"
    XA_COMMIT = "xa_commit"
    XA_ROLLBACK = "xa_rollback"
    VIEW_CHANGE = "view_change"
    LOAD_FAILED = "load_failed"
    PAYLOAD = "payload"
    INCIDENT = "incident"
    INTERRUPTED = "interrupted"
    CRASH = "crash"
    UNFINISHED = "unfinished"

    @property
    def complete(self) -> bool:
        """Whether the log contains the transaction up to its end."""
        return self not in _CUT_SHORT


_CUT_SHORT = frozenset({Ending.INTERRUPTED, Ending.CRASH, Ending.UNFINISHED})


class Boundary(NamedTuple):
    """The role of an event, and the ending that it means if nothing is in progress after it."""

    role: Role
    ending: Ending | None = None


# --- Transitions ------------------------------------------------------------------------------------------------------

_NONE, _PREPARED, _IDENTIFIED, _ANNOUNCED, _OPENED, _BEGUN = Progress

# fmt: off
TRANSITIONS: dict[Role, tuple[Progress, ...]] = {
    # before:         NONE         PREPARED     IDENTIFIED   ANNOUNCED    OPENED       BEGUN
    Role.OUTSIDE:    (_NONE,       _PREPARED,   _IDENTIFIED, _ANNOUNCED,  _OPENED,     _BEGUN),
    Role.JOINS:      (_NONE,       _PREPARED,   _IDENTIFIED, _ANNOUNCED,  _OPENED,     _BEGUN),
    Role.IDENTIFIES: (_IDENTIFIED, _IDENTIFIED, _IDENTIFIED, _IDENTIFIED, _IDENTIFIED, _IDENTIFIED),
    Role.OPENS:      (_OPENED,     _OPENED,     _OPENED,     _OPENED,     _OPENED,     _OPENED),
    Role.BEGINS:     (_BEGUN,      _BEGUN,      _BEGUN,      _BEGUN,      _BEGUN,      _BEGUN),
    Role.INSIDE:     (_BEGUN,      _BEGUN,      _BEGUN,      _BEGUN,      _BEGUN,      _BEGUN),
    Role.PREPARES:   (_PREPARED,   _PREPARED,   _ANNOUNCED,  _ANNOUNCED,  _BEGUN,      _BEGUN),
    Role.STATEMENT:  (_NONE,       _NONE,       _NONE,       _NONE,       _BEGUN,      _BEGUN),
    # Under a GTID, rows end with an explicit end, whether there was a BEGIN or not.
    Role.ROWS:       (_NONE,       _NONE,       _BEGUN,      _BEGUN,      _BEGUN,      _BEGUN),
    Role.WRAPS:      (_NONE,       _NONE,       _NONE,       _NONE,       _NONE,       _NONE),
    Role.ENDS:       (_NONE,       _NONE,       _NONE,       _NONE,       _NONE,       _NONE),
    Role.BREAKS:     (_NONE,       _NONE,       _NONE,       _NONE,       _NONE,       _NONE),
}
# fmt: on
"""What is in progress after an event of each role, by what was in progress before it.

A payload (WRAPS) contains the end of its transaction. For readers of the events inside it changes nothing.
"""

_INTERRUPTED_BY_BEGIN = frozenset({_PREPARED, _ANNOUNCED, _BEGUN})


def progress_after(role: Role, before: Progress) -> Progress:
    """Return what is in progress after an event of a role."""
    return TRANSITIONS[role][before]


def begins_another(role: Role, before: Progress) -> bool:
    """Whether an event cannot belong to the transaction in progress, because it begins another one."""
    if role is Role.BEGINS:
        return before in _INTERRUPTED_BY_BEGIN
    return role is Role.IDENTIFIES or role is Role.OPENS


def breaks_transaction(event: Event, *, in_relay_log: bool) -> bool:
    """Whether an event whose role is BREAKS ends the transaction in progress.

    In a server's own log it does. In a relay log transactions continue over files; there, only a source that
    restarted (its format description has a creation time) does not send the rest.
    """
    if event.header.flags & (HeaderFlag.ARTIFICIAL | HeaderFlag.RELAY_LOG):
        return False
    return not in_relay_log or getattr(event.body, "create_timestamp", 0) != 0


# --- Statements -------------------------------------------------------------------------------------------------------


class StatementForm(NamedTuple):
    """A statement that begins, continues or ends a transaction: its first word, and a pattern for what follows it."""

    word: bytes
    rest: bytes
    boundary: Boundary


_END_OF_STATEMENT = rb"(?:\s+WORK)?\s*(?:;|/\*|\#|--|\Z)"

STATEMENT_FORMS = (
    StatementForm(b"BEGIN", _END_OF_STATEMENT, Boundary(Role.BEGINS)),
    StatementForm(b"START", rb"\s+TRANSACTION" + _END_OF_STATEMENT, Boundary(Role.BEGINS)),
    StatementForm(b"COMMIT", _END_OF_STATEMENT, Boundary(Role.ENDS, Ending.COMMIT)),
    StatementForm(b"ROLLBACK", rb"\s+(?:WORK\s+)?TO\b", Boundary(Role.INSIDE)),
    StatementForm(b"ROLLBACK", rb"\b", Boundary(Role.ENDS, Ending.ROLLBACK)),
    StatementForm(b"SAVEPOINT", rb"\b", Boundary(Role.INSIDE)),
    StatementForm(b"RELEASE", rb"\s+SAVEPOINT\b", Boundary(Role.INSIDE)),
    StatementForm(b"XA", rb"\s+(?:START|BEGIN)\b", Boundary(Role.BEGINS)),
    StatementForm(b"XA", rb"\s+END\b", Boundary(Role.INSIDE)),
    StatementForm(b"XA", rb"\s+PREPARE\b", Boundary(Role.ENDS, Ending.XA_PREPARE)),
    StatementForm(b"XA", rb"\s+COMMIT\b[^\r\n]{0,400}\bONE\s+PHASE\b", Boundary(Role.ENDS, Ending.XA_ONE_PHASE)),
    StatementForm(b"XA", rb"\s+COMMIT\b", Boundary(Role.ENDS, Ending.XA_COMMIT)),
    StatementForm(b"XA", rb"\s+ROLLBACK\b", Boundary(Role.ENDS, Ending.XA_ROLLBACK)),
)
"""The first form that a text begins with counts; a text of none of these forms is a plain statement."""

_STATEMENT = Boundary(Role.STATEMENT, Ending.STATEMENT)
_ANY_FORM = re.compile(
    rb"\s*(?:" + rb"|".join(rb"(" + form.word + form.rest + rb")" for form in STATEMENT_FORMS) + rb")", re.IGNORECASE
)
STATEMENT_HEAD = 1024
"""How many bytes of a statement are looked at: statements of megabytes are common, none of these forms is long."""


def _classified(text: bytes) -> Boundary:
    match = _ANY_FORM.match(text[:STATEMENT_HEAD])
    return _STATEMENT if match is None or match.lastindex is None else STATEMENT_FORMS[match.lastindex - 1].boundary


EXACT_STATEMENTS = {text: _classified(text) for text in (b"BEGIN", b"COMMIT")}
"""The texts that servers write around rows, byte by byte: by far the most frequent ones."""


def boundary_of_text(text: bytes) -> Boundary:
    """Return what a statement means for its transaction: begins it, ends it, or is one of its statements.

    >>> boundary_of_text(b"commit ;").ending
    <Ending.COMMIT: 'commit'>
    >>> boundary_of_text(b"ROLLBACK TO `before`").role
    <Role.INSIDE: 5>
    """
    return EXACT_STATEMENTS.get(text) or _classified(text)


# --- Events -----------------------------------------------------------------------------------------------------------

ROWS_ENDS_STATEMENT = 0x01
"""The flag of a rows event that is the last one of its statement."""

GTID_STANDALONE = 0x01
"""The flag of a MariaDB GTID that is followed by a single statement instead of a transaction."""

GTID_XA = 0x40 | 0x80
"""The flags of a MariaDB GTID whose transaction is prepared, or that ends one which was prepared."""

_ROWS_CODES = (
    *(E.PRE_GA_WRITE_ROWS, E.PRE_GA_UPDATE_ROWS, E.PRE_GA_DELETE_ROWS),
    *(E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1),
    *(E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS, E.PARTIAL_UPDATE_ROWS),
    *(E.WRITE_ROWS_COMPRESSED_V1, E.UPDATE_ROWS_COMPRESSED_V1, E.DELETE_ROWS_COMPRESSED_V1),
    *(E.WRITE_ROWS_COMPRESSED, E.UPDATE_ROWS_COMPRESSED, E.DELETE_ROWS_COMPRESSED),
)
_JOINS = Boundary(Role.JOINS)
_IDENTIFIES = Boundary(Role.IDENTIFIES)
_OPENS = Boundary(Role.OPENS)
_PREPARES = Boundary(Role.PREPARES)
_ROWS = Boundary(Role.ROWS, Ending.STATEMENT)
_OUTSIDE = Boundary(Role.OUTSIDE)

BOUNDARIES: dict[int, Boundary] = {
    **dict.fromkeys((E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED), _IDENTIFIES),
    E.MARIADB_GTID: Boundary(Role.BY_GTID_FLAGS),
    **dict.fromkeys((E.QUERY, E.QUERY_COMPRESSED), Boundary(Role.BY_STATEMENT)),
    **dict.fromkeys(_ROWS_CODES, Boundary(Role.BY_ROWS_FLAGS)),
    **dict.fromkeys((E.TABLE_MAP, E.PARTIAL_ROW_DATA, E.ROWS_QUERY, E.ANNOTATE_ROWS), _PREPARES),
    **dict.fromkeys((E.INTVAR, E.RAND, E.USER_VAR), _PREPARES),
    **dict.fromkeys((E.BEGIN_LOAD_QUERY, E.APPEND_BLOCK, E.CREATE_FILE), _PREPARES),
    **dict.fromkeys((E.EXECUTE_LOAD_QUERY, E.LOAD, E.NEW_LOAD, E.EXEC_LOAD), _STATEMENT),
    E.DELETE_FILE: Boundary(Role.STATEMENT, Ending.LOAD_FAILED),
    E.VIEW_CHANGE: Boundary(Role.STATEMENT, Ending.VIEW_CHANGE),
    E.TRANSACTION_PAYLOAD: Boundary(Role.WRAPS),
    E.XID: Boundary(Role.ENDS, Ending.XID),
    E.XA_PREPARE: Boundary(Role.ENDS, Ending.XA_PREPARE),
    E.INCIDENT: Boundary(Role.ENDS, Ending.INCIDENT),
    **dict.fromkeys((E.UNKNOWN, E.IGNORABLE, E.TRANSACTION_CONTEXT), _JOINS),
    **dict.fromkeys((E.PREVIOUS_GTIDS, E.GTID_LIST, E.BINLOG_CHECKPOINT), _OUTSIDE),
    **dict.fromkeys((E.HEARTBEAT, E.HEARTBEAT_V2, E.START_ENCRYPTION, E.SLAVE), _OUTSIDE),
    E.LARGE_TRANSACTION_HEADER: _OUTSIDE,
    **dict.fromkeys((E.FORMAT_DESCRIPTION, E.START_V3, E.ROTATE, E.STOP), Boundary(Role.BREAKS)),
}
"""What each type of event means. An event of an unknown type joins the transaction in progress."""


def _by_statement(body: Any) -> Boundary:
    return boundary_of_text(body.query)


def _by_rows_flags(body: Any) -> Boundary:
    return _ROWS if body.flags & ROWS_ENDS_STATEMENT else _PREPARES


def _by_gtid_flags(body: Any) -> Boundary:
    return _IDENTIFIES if body.gtid_flags & GTID_STANDALONE else _OPENS


def _xa_prepare(body: Any) -> Boundary:
    return Boundary(Role.ENDS, Ending.XA_ONE_PHASE if body.one_phase else Ending.XA_PREPARE)


_BY_BODY: dict[int, Callable[[Any], Boundary]] = {
    **dict.fromkeys((E.QUERY, E.QUERY_COMPRESSED), _by_statement),
    **dict.fromkeys(_ROWS_CODES, _by_rows_flags),
    E.MARIADB_GTID: _by_gtid_flags,
    E.XA_PREPARE: _xa_prepare,
}


def boundary_of(event: Event) -> Boundary:
    """Return what an event means for the transaction around it."""
    code = event.frame.type_code
    by_body = _BY_BODY.get(code)
    return BOUNDARIES.get(code, _JOINS) if by_body is None else by_body(event.body)
