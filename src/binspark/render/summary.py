"""The contents of an event in one short line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from binspark.event import (
    AnnotateRows,
    AppendBlock,
    BeginLoadQuery,
    BinlogCheckpoint,
    CreateFile,
    DeleteFile,
    Event,
    ExecLoad,
    ExecuteLoadQuery,
    FormatDescription,
    GtidEvent,
    GtidList,
    GtidTagged,
    Heartbeat,
    HeartbeatV2,
    Incident,
    Intvar,
    LargeTransactionHeader,
    Load,
    MariadbGtidEvent,
    PartialRowData,
    PreviousGtids,
    Query,
    QueryCompressed,
    Rand,
    Rotate,
    Rows,
    RowsQuery,
    Slave,
    StartEncryption,
    StartV3,
    TableMap,
    TransactionContext,
    TransactionPayload,
    UnknownEvent,
    UserVar,
    ViewChange,
    XaPrepare,
    Xid,
)
from binspark.event.rows import RowOperation
from binspark.event.variables import IntvarKind
from binspark.hidden_secrets import hide_secrets
from binspark.options import values
from binspark.options.option import EVERYWHERE, Option, Surface
from binspark.render.json_values import readable

_MAX_LENGTH = 100
_IN_WORDS = {
    RowOperation.INSERT: "insert into",
    RowOperation.UPDATE: "update of",
    RowOperation.DELETE: "delete from",
}
_SPACE = re.compile(r"[ \t\r\n]+")


SHOW_SECRETS = Option(
    name="show_secrets", parse=values.flag, metavar="", default="false", surfaces=EVERYWHERE - {Surface.SPARK},
    help="Show passwords and their hashes in statements such as CREATE USER, instead of ***.",
)  # fmt: skip


def summarize(event: Event, *, show_secrets: bool = False) -> str:
    """Return the contents of an event in one short line, empty if there is nothing to add to its type."""
    if isinstance(event.body, _STATEMENTS):
        schema = getattr(event.body, "schema", "")
        return (f"[{schema}] " if schema else "") + one_line(event.body.query, show_secrets=show_secrets)
    summary = _SUMMARIES.get(type(event.body))
    return summary(event.body, event) if summary else ""


def one_line(raw: bytes, *, show_secrets: bool = False) -> str:
    """Return a statement on one line, shortened."""
    text = readable(raw[: 4 * _MAX_LENGTH])
    text = _SPACE.sub(" ", text if show_secrets else hide_secrets(text)).strip()
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def _gtid(body: Any, _event: Event) -> str:
    clock = "" if body.sequence_number is None else f"  {body.last_committed} → {body.sequence_number}"
    return f"{body.gtid or 'anonymous'}{clock}"


def _mariadb_gtid(body: Any, event: Event) -> str:
    group = "" if body.commit_id is None else f"  group {body.commit_id}"
    return f"{body.gtid(event.header.server_id)}{group}"


def _rows(body: Any, _event: Event) -> str:
    return f"{_IN_WORDS[body.operation]} table {body.table_id}, {len(body.rows)} bytes of rows"


def _payload(body: Any, _event: Event) -> str:
    return f"{len(body.payload)} bytes, {body.uncompressed_size or len(body.payload)} expanded"


def _user_var(body: Any, _event: Event) -> str:
    value = one_line(body.value) if isinstance(body.value, bytes) else body.value
    return f"@{body.name} = {'NULL' if value is None else value}"


def _intvar(body: Any, _event: Event) -> str:
    known = body.kind in IntvarKind._value2member_map_
    return f"{IntvarKind(body.kind).name if known else body.kind} = {body.value}"


def _load(body: Any, _event: Event) -> str:
    return f"LOAD DATA {body.file_name} INTO {body.schema}.{body.table}"


def _file(body: Any, _event: Event) -> str:
    return f"file {body.file_id}"


def _block(body: Any, _event: Event) -> str:
    return f"file {body.file_id}, {len(body.block)} bytes"


_STATEMENTS = (AnnotateRows, ExecuteLoadQuery, Query, QueryCompressed, RowsQuery)
_SUMMARIES: dict[type, Callable[[Any, Event], str]] = {
    AppendBlock: _block,
    BeginLoadQuery: _block,
    BinlogCheckpoint: lambda body, _: body.log_file,
    CreateFile: _load,
    DeleteFile: _file,
    ExecLoad: _file,
    FormatDescription: lambda body, _: f"binlog v{body.binlog_version}, server {body.server_version}",
    GtidEvent: _gtid,
    GtidList: lambda body, _: ", ".join(map(str, body.gtids)) or "empty",
    GtidTagged: _gtid,
    Heartbeat: lambda body, _: body.log_file,
    HeartbeatV2: lambda body, _: f"{body.log_file}:{body.log_position}",
    Incident: lambda body, _: body.message,
    Intvar: _intvar,
    LargeTransactionHeader: lambda body, _: f"ends at {body.terminating_event_offset}",
    Load: _load,
    MariadbGtidEvent: _mariadb_gtid,
    PartialRowData: lambda body, _: f"fragment {body.sequence_number} of {body.total_fragments}",
    PreviousGtids: lambda body, _: str(body.gtid_set) or "empty",
    Rand: lambda body, _: f"seeds {body.seed1}, {body.seed2}",
    Rotate: lambda body, _: f"{body.next_file}:{body.position}",
    Rows: _rows,
    Slave: lambda body, _: f"{body.master_host}:{body.master_port} {body.master_log}:{body.master_position}",
    StartEncryption: lambda body, _: f"scheme {body.scheme}, key version {body.key_version}",
    StartV3: lambda body, _: f"binlog v{body.binlog_version}, server {body.server_version}",
    TableMap: lambda body, _: f"{body.schema}.{body.table} is table {body.table_id}, {body.column_count} columns",
    TransactionContext: lambda body, _: f"{len(body.write_set)} writes, {len(body.read_set)} reads",
    TransactionPayload: _payload,
    UnknownEvent: lambda body, _: f"{len(body.body)} bytes",
    UserVar: _user_var,
    ViewChange: lambda body, _: body.view_id,
    XaPrepare: lambda body, _: body.name,
    Xid: lambda body, _: str(body.xid),
}
