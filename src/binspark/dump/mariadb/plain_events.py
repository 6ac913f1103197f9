"""Events whose text depends on nothing but themselves."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from binspark.dump.mariadb.heading import identifier
from binspark.dump.mariadb.session import END
from binspark.event import (
    AppendBlock,
    BinlogCheckpoint,
    DeleteFile,
    Event,
    GtidList,
    Incident,
    Intvar,
    MariadbGtidEvent,
    Rand,
    Rotate,
    StartEncryption,
    UserVar,
    XaPrepare,
    Xid,
)
from binspark.event.incident import IncidentKind
from binspark.event.mariadb import MariadbGtidExtraFlag, MariadbGtidFlag
from binspark.event.variables import IntvarKind
from binspark.frames import EventCode as E
from binspark.schema.collations import collation_name

_INTVARS: dict[int, bytes] = {IntvarKind.LAST_INSERT_ID: b"LAST_INSERT_ID", IntvarKind.INSERT_ID: b"INSERT_ID"}
_INCIDENTS: dict[int, bytes] = {IncidentKind.NONE: b"NOTHING", IncidentKind.LOST_EVENTS: b"LOST_EVENTS"}


def _rotate(event: Event) -> tuple[bytes, bytes]:
    body: Rotate = event.body
    return b"\tRotate to %b  pos: %d\n" % (body.next_file.encode(errors="surrogateescape"), body.position), b""


def _checkpoint(event: Event) -> tuple[bytes, bytes]:
    body: BinlogCheckpoint = event.body
    return b"\tBinlog checkpoint %b\n" % body.log_file.encode(errors="surrogateescape"), b""


def _gtid_list(event: Event) -> tuple[bytes, bytes]:
    body: GtidList = event.body
    gtids = sorted(body.gtids, key=lambda gtid: (gtid.domain, gtid.sequence))
    return b"\tGtid list [%b]\n" % b",\n# ".join(str(gtid).encode() for gtid in gtids), b""


def _stop(_event: Event) -> tuple[bytes, bytes]:
    return b"\tStop\n", b""


def _intvar(event: Event) -> tuple[bytes, bytes]:
    body: Intvar = event.body
    value = body.value - (1 << 64) if body.value >> 63 else body.value
    return b"\tIntvar\n", b"SET %b=%d%b" % (_INTVARS.get(body.kind, b"INVALID_INT"), value, END)


def _rand(event: Event) -> tuple[bytes, bytes]:
    body: Rand = event.body
    return b"\tRand\n", b"SET @@RAND_SEED1=%d, @@RAND_SEED2=%d%b" % (body.seed1, body.seed2, END)


def _user_var(event: Event) -> tuple[bytes, bytes]:
    body: UserVar = event.body
    name = identifier(body.name.encode(errors="surrogateescape"))
    return b"\tUser_var\n", b"SET @%b:=%b%b" % (name, _user_value(body), END)


def _user_value(variable: UserVar) -> bytes:
    match variable.value:
        case None:
            return b"NULL"
        case bytes() as text:
            collation = collation_name(variable.charset or 0, mariadb=True).encode()
            if not collation:
                return b"???"
            literal = b"X'%b'" % text.hex().upper().encode() if text else b'""'
            return b"_%b %b COLLATE `%b`" % (collation.partition(b"_")[0], literal, collation)
        case float() as number:
            return b"%.14g" % number
        case Decimal() as number:
            return f"{number:f}".encode()
        case number:
            return b"%d" % number


def _xid(event: Event) -> tuple[bytes, bytes]:
    body: Xid = event.body
    return b"\tXid = %d\n" % body.xid, b"COMMIT" + END


def _xa_prepare(event: Event) -> tuple[bytes, bytes]:
    body: XaPrepare = event.body
    name = body.name.encode()
    return b"\tXID = %b\n" % name, b"XA PREPARE %b\n%b" % (name, END)


def _incident(event: Event) -> tuple[bytes, bytes]:
    body: Incident = event.body
    name = _INCIDENTS.get(body.incident, b"")
    return b"\n# Incident: %b\nRELOAD DATABASE; # Shall generate syntax error\n" % name, b""


def _append_block(event: Event) -> tuple[bytes, bytes]:
    body: AppendBlock = event.body
    name = b"Begin_load_query" if event.type_code == E.BEGIN_LOAD_QUERY else b"Append_block"
    return b"\n#%b: file_id: %d  block_len: %d\n" % (name, body.file_id, len(body.block)), b""


def _delete_file(event: Event) -> tuple[bytes, bytes]:
    body: DeleteFile = event.body
    return b"\n#Delete_file: file_id=%d\n" % body.file_id, b""


def gtid_comment(event: Event) -> bytes:
    """Return what follows the heading of a GTID."""
    body: MariadbGtidEvent = event.body
    flags, extra = body.gtid_flags, body.extra_flags or 0
    parts = [b"\tGTID %d-%d-%d" % (body.domain_id, event.header.server_id, body.sequence_number)]
    if flags & MariadbGtidFlag.GROUP_COMMIT_ID:
        parts.append(b" cid=%d" % (body.commit_id or 0))
    if flags & MariadbGtidFlag.DDL:
        parts.append(b" ddl")
    if flags & MariadbGtidFlag.TRANSACTIONAL:
        parts.append(b" trans")
    if flags & MariadbGtidFlag.WAITED:
        parts.append(b" waited")
    if extra & MariadbGtidExtraFlag.START_ALTER:
        parts.append(b" START ALTER")
    if extra & MariadbGtidExtraFlag.COMMIT_ALTER:
        parts.append(b" COMMIT ALTER id= %d" % (body.start_alter_sequence or 0))
    if extra & MariadbGtidExtraFlag.ROLLBACK_ALTER:
        parts.append(b" ROLLBACK ALTER id= %d" % (body.start_alter_sequence or 0))
    return b"".join([*parts, b"\n"])


PLAIN: dict[int, Callable[[Event], tuple[bytes, bytes]]] = {
    E.ROTATE: _rotate,
    E.BINLOG_CHECKPOINT: _checkpoint,
    E.GTID_LIST: _gtid_list,
    E.STOP: _stop,
    E.INTVAR: _intvar,
    E.RAND: _rand,
    E.USER_VAR: _user_var,
    E.XID: _xid,
    E.XA_PREPARE: _xa_prepare,
    E.INCIDENT: _incident,
    E.APPEND_BLOCK: _append_block,
    E.BEGIN_LOAD_QUERY: _append_block,
    E.DELETE_FILE: _delete_file,
}
"""For each type, what follows its heading, which the short form omits, and its statements."""


def encryption_text(event: Event) -> bytes:
    """Return what is printed for START_ENCRYPTION, which has no heading."""
    body: StartEncryption = event.body
    text = b"# Encryption scheme: %d, key_version: %d, nonce: %b\n# The rest of the binlog is encrypted!\n"
    return text % (body.scheme, body.key_version, body.nonce.hex().encode())


TYPE_NAMES: dict[int, str] = {
    E.START_V3: "Start_v3",
    E.LOAD: "Load",
    E.NEW_LOAD: "New_load",
    E.SLAVE: "Slave",
    E.CREATE_FILE: "Create_file",
    E.EXEC_LOAD: "Exec_load",
    E.START_ENCRYPTION: "Start_encryption",
    E.IGNORABLE: "Ignorable log event",
    E.ROWS_QUERY: "MySQL Rows_query",
    E.GTID: "MySQL Gtid",
    E.ANONYMOUS_GTID: "MySQL Anonymous_Gtid",
    E.PREVIOUS_GTIDS: "MySQL Previous_gtids",
    E.TRANSACTION_CONTEXT: "Transaction_context",
    E.VIEW_CHANGE: "View_change",
    E.PARTIAL_UPDATE_ROWS: "MySQL Update_rows_partial",
    E.TRANSACTION_PAYLOAD: "MySQL Transaction_payload",
    E.HEARTBEAT: "Heartbeat",
}
"""What the tool calls types of which it prints only the name."""


def ignorable_text(type_code: int) -> bytes:
    """Return what follows the heading of an event that readers may ignore."""
    name: Any = TYPE_NAMES.get(type_code, "Unknown")
    return b"\tIgnorable\n# Ignorable event type %d (%b)\n" % (type_code, name.encode())
