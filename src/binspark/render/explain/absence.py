"""What it means that a field is absent, or that a flag is clear."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from binspark.event import GtidEvent, GtidTagged, MariadbGtidEvent, Rows, TableMap
from binspark.event.gtid import GtidFlag
from binspark.event.mariadb import MariadbGtidExtraFlag, MariadbGtidFlag
from binspark.event.rows import RowsFlag
from binspark.event.table_map import TableMapFlag
from binspark.frames import EventCode, HeaderFlag


class AbsentField(NamedTuple):
    """A field that an event does not have."""

    name: str
    meaning: str


_SINCE_5_7 = "a server before 5.7 wrote it: it has no logical clock"
_SINCE_8_0_1 = "a server before 8.0.1 wrote it"
_SINCE_8_0_14 = "a server before 8.0.14 wrote it"
_IMMEDIATE = "the same as the immediate one: the transaction originated on the server that wrote the log"

_ABSENT: dict[type, dict[str, str]] = {
    GtidEvent: {
        "last_committed": _SINCE_5_7,
        "sequence_number": _SINCE_5_7,
        "immediate_commit_timestamp": _SINCE_8_0_1,
        "original_commit_timestamp": _IMMEDIATE,
        "transaction_length": _SINCE_8_0_1,
        "immediate_server_version": _SINCE_8_0_14,
        "original_server_version": _IMMEDIATE,
    },
    GtidTagged: {
        "original_commit_timestamp": _IMMEDIATE,
        "original_server_version": _IMMEDIATE,
    },
    MariadbGtidEvent: {
        "commit_id": "the transaction was not part of a group commit",
        "xid": "it is not an XA transaction",
        "extra_flags": "a server before 10.6 wrote it, or it has nothing to say",
        "thread_id": "the server does not log the connection of a transaction",
    },
}

_CLEAR_IN_HEADER: dict[int, dict[HeaderFlag, str]] = {
    EventCode.FORMAT_DESCRIPTION: {HeaderFlag.BINLOG_IN_USE: "the log was closed in order"},
    EventCode.QUERY: {
        HeaderFlag.SUPPRESS_USE: "the statement needs its schema as current database",
        HeaderFlag.THREAD_SPECIFIC: "it does not depend on temporary tables of its connection",
    },
}

_CLEAR: dict[type, tuple[str, dict[Any, str]]] = {
    Rows: (
        "flags",
        {
            RowsFlag.STMT_END: "more rows events of the statement follow",
            RowsFlag.NO_FOREIGN_KEY_CHECKS: "foreign keys are checked",
            RowsFlag.RELAXED_UNIQUE_CHECKS: "unique keys are checked",
        },
    ),
    TableMap: ("flags", {TableMapFlag.HAS_TRIGGERS: "no trigger that a replica would have to run"}),
    GtidEvent: ("gtid_flags", {GtidFlag.MAY_HAVE_SBR: "the transaction has only rows, no statement that changes any"}),
    MariadbGtidEvent: (
        "gtid_flags",
        {
            MariadbGtidFlag.STANDALONE: "the transaction ends with COMMIT or XID",
            MariadbGtidFlag.GROUP_COMMIT_ID: "it was committed alone",
            MariadbGtidFlag.TRANSACTIONAL: "it cannot be rolled back",
            MariadbGtidFlag.ALLOW_PARALLEL: "a replica must not apply it in parallel with those before it",
            MariadbGtidFlag.DDL: "it is not DDL",
        },
    ),
}
_CLEAR_EXTRA = {MariadbGtidExtraFlag.THREAD_ID: "no thread id follows"}


def absent_fields(body: Any, present: Collection[str]) -> Iterator[AbsentField]:
    """Yield the optional fields that the bytes of an event do not have, with what that means.

    `present` are the names of those that they have. If the immediate field is absent, too, the original one has no
    meaning of its own.
    """
    known = {name.partition(".")[0].partition("[")[0] for name in present}
    for name, meaning in _ABSENT.get(type(body), {}).items():
        immediate = name.replace("original", "immediate")
        if name not in known and (immediate == name or immediate in known):
            yield AbsentField(name, meaning)


def clear_flags(type_code: int, body: Any, field: str, value: Any) -> str:
    """Return what the flags of a field mean that are clear; empty if they mean nothing."""
    if not isinstance(value, int):
        return ""
    meanings: dict[Any, str] = {}
    if body is None:
        meanings = dict(_CLEAR_IN_HEADER.get(type_code, {})) if field == "flags" else {}
    elif field == "extra_flags":
        meanings = dict(_CLEAR_EXTRA)
    else:
        name, known = _CLEAR.get(type(body), ("", {}))
        meanings = known if name == field else {}
    return "; ".join(f"not {flag.name}: {meaning}" for flag, meaning in meanings.items() if not value & flag)
