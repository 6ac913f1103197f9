"""Every type of event: the class of its body, and the functions that read and write it. One row for each type code.

A row has the module and the names. A module is imported when an event of it is first read, because a log has few of the
types, and the classes of all of them take longer to load than a small log takes to read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from binspark.frames import EventCode as E

if TYPE_CHECKING:
    from binspark.event.context import Context
    from binspark.event.group import TransactionContext, ViewChange
    from binspark.event.gtid import GtidEvent, PreviousGtids
    from binspark.event.gtid_tagged import GtidTagged
    from binspark.event.heartbeat import Heartbeat, HeartbeatV2
    from binspark.event.incident import Ignorable, Incident
    from binspark.event.load import AppendBlock, BeginLoadQuery, CreateFile, DeleteFile, ExecLoad, Load
    from binspark.event.mariadb import BinlogCheckpoint, GtidList, MariadbGtidEvent, PartialRowData, StartEncryption
    from binspark.event.payload import LargeTransactionHeader, TransactionPayload
    from binspark.event.query import ExecuteLoadQuery, Query, QueryCompressed
    from binspark.event.rotate import Rotate, Slave
    from binspark.event.rows import Rows
    from binspark.event.rows_query import AnnotateRows, RowsQuery
    from binspark.event.start import FormatDescription, StartV3, Stop
    from binspark.event.table_map import TableMap
    from binspark.event.unknown import UnknownEvent
    from binspark.event.variables import Intvar, Rand, UserVar
    from binspark.event.xa import XaPrepare, Xid
    from binspark.wire import Cursor, Writer

__all__ = [
    "AnnotateRows",
    "AppendBlock",
    "BeginLoadQuery",
    "BinlogCheckpoint",
    "CreateFile",
    "DeleteFile",
    "ExecLoad",
    "ExecuteLoadQuery",
    "FormatDescription",
    "GtidEvent",
    "GtidList",
    "GtidTagged",
    "Heartbeat",
    "HeartbeatV2",
    "Ignorable",
    "Incident",
    "Intvar",
    "LargeTransactionHeader",
    "Load",
    "MariadbGtidEvent",
    "PartialRowData",
    "PreviousGtids",
    "Query",
    "QueryCompressed",
    "Rand",
    "Rotate",
    "Rows",
    "RowsQuery",
    "Slave",
    "StartEncryption",
    "StartV3",
    "Stop",
    "TableMap",
    "TransactionContext",
    "TransactionPayload",
    "UnknownEvent",
    "UserVar",
    "ViewChange",
    "XaPrepare",
    "Xid",
]
"""The classes of bodies, which `binspark.event` exports."""


class Codec:
    """The class of an event's body, its decoder and its encoder."""

    def __init__(self, module: str, body: str, decode: str, encode: str) -> None:
        self.module = module
        self.body_name = body
        self._decode = decode
        self._encode = encode

    @cached_property
    def body(self) -> type:
        """The class of the body."""
        kind: type = self._get(self.body_name)
        return kind

    @cached_property
    def decode(self) -> Callable[[Cursor, Context], Any]:
        """The function that reads a body."""
        function: Callable[[Cursor, Context], Any] = self._get(self._decode)
        return function

    @cached_property
    def encode(self) -> Callable[[Any, Writer, Context], None]:
        """The function that writes a body."""
        function: Callable[[Any, Writer, Context], None] = self._get(self._encode)
        return function

    def _get(self, name: str) -> Any:
        return getattr(import_module(f"binspark.event.{self.module}"), name)


_ROWS = Codec("rows", "Rows", "decode_rows", "encode_rows")
_GTID = Codec("gtid", "GtidEvent", "decode_gtid", "encode_gtid")
_LOAD = Codec("load", "Load", "decode_load", "encode_load")
UNKNOWN = Codec("unknown", "UnknownEvent", "decode_unknown", "encode_unknown")

CODECS: dict[int, Codec] = {
    E.UNKNOWN: UNKNOWN,
    E.START_V3: Codec("start", "StartV3", "decode_start_v3", "encode_start_v3"),
    E.QUERY: Codec("query", "Query", "decode_query", "encode_query"),
    E.STOP: Codec("start", "Stop", "decode_stop", "encode_stop"),
    E.ROTATE: Codec("rotate", "Rotate", "decode_rotate", "encode_rotate"),
    E.INTVAR: Codec("variables", "Intvar", "decode_intvar", "encode_intvar"),
    E.LOAD: _LOAD,
    E.SLAVE: Codec("rotate", "Slave", "decode_slave", "encode_slave"),
    E.CREATE_FILE: Codec("load", "CreateFile", "decode_create_file", "encode_create_file"),
    E.APPEND_BLOCK: Codec("load", "AppendBlock", "decode_append_block", "encode_append_block"),
    E.EXEC_LOAD: Codec("load", "ExecLoad", "decode_exec_load", "encode_file_id"),
    E.DELETE_FILE: Codec("load", "DeleteFile", "decode_delete_file", "encode_file_id"),
    E.NEW_LOAD: _LOAD,
    E.RAND: Codec("variables", "Rand", "decode_rand", "encode_rand"),
    E.USER_VAR: Codec("variables", "UserVar", "decode_user_var", "encode_user_var"),
    E.FORMAT_DESCRIPTION: Codec("start", "FormatDescription", "decode_format_description", "encode_format_description"),
    E.XID: Codec("xa", "Xid", "decode_xid", "encode_xid"),
    E.BEGIN_LOAD_QUERY: Codec("load", "BeginLoadQuery", "decode_begin_load_query", "encode_append_block"),
    E.EXECUTE_LOAD_QUERY: Codec("query", "ExecuteLoadQuery", "decode_execute_load_query", "encode_execute_load_query"),
    E.TABLE_MAP: Codec("table_map", "TableMap", "decode_table_map", "encode_table_map"),
    E.PRE_GA_WRITE_ROWS: _ROWS,
    E.PRE_GA_UPDATE_ROWS: _ROWS,
    E.PRE_GA_DELETE_ROWS: _ROWS,
    E.WRITE_ROWS_V1: _ROWS,
    E.UPDATE_ROWS_V1: _ROWS,
    E.DELETE_ROWS_V1: _ROWS,
    E.INCIDENT: Codec("incident", "Incident", "decode_incident", "encode_incident"),
    E.HEARTBEAT: Codec("heartbeat", "Heartbeat", "decode_heartbeat", "encode_heartbeat"),
    E.IGNORABLE: Codec("incident", "Ignorable", "decode_ignorable", "encode_ignorable"),
    E.ROWS_QUERY: Codec("rows_query", "RowsQuery", "decode_rows_query", "encode_rows_query"),
    E.WRITE_ROWS: _ROWS,
    E.UPDATE_ROWS: _ROWS,
    E.DELETE_ROWS: _ROWS,
    E.GTID: _GTID,
    E.ANONYMOUS_GTID: _GTID,
    E.PREVIOUS_GTIDS: Codec("gtid", "PreviousGtids", "decode_previous_gtids", "encode_previous_gtids"),
    E.TRANSACTION_CONTEXT: Codec(
        "group", "TransactionContext", "decode_transaction_context", "encode_transaction_context"
    ),
    E.VIEW_CHANGE: Codec("group", "ViewChange", "decode_view_change", "encode_view_change"),
    E.XA_PREPARE: Codec("xa", "XaPrepare", "decode_xa_prepare", "encode_xa_prepare"),
    E.PARTIAL_UPDATE_ROWS: _ROWS,
    E.TRANSACTION_PAYLOAD: Codec(
        "payload", "TransactionPayload", "decode_transaction_payload", "encode_transaction_payload"
    ),
    E.HEARTBEAT_V2: Codec("heartbeat", "HeartbeatV2", "decode_heartbeat_v2", "encode_heartbeat_v2"),
    E.GTID_TAGGED: Codec("gtid_tagged", "GtidTagged", "decode_gtid_tagged", "encode_gtid_tagged"),
    E.LARGE_TRANSACTION_HEADER: Codec(
        "payload", "LargeTransactionHeader", "decode_large_transaction_header", "encode_large_transaction_header"
    ),
    E.ANNOTATE_ROWS: Codec("rows_query", "AnnotateRows", "decode_annotate_rows", "encode_annotate_rows"),
    E.BINLOG_CHECKPOINT: Codec("mariadb", "BinlogCheckpoint", "decode_binlog_checkpoint", "encode_binlog_checkpoint"),
    E.MARIADB_GTID: Codec("mariadb", "MariadbGtidEvent", "decode_mariadb_gtid", "encode_mariadb_gtid"),
    E.GTID_LIST: Codec("mariadb", "GtidList", "decode_gtid_list", "encode_gtid_list"),
    E.START_ENCRYPTION: Codec("mariadb", "StartEncryption", "decode_start_encryption", "encode_start_encryption"),
    E.QUERY_COMPRESSED: Codec("query", "QueryCompressed", "decode_query_compressed", "encode_query_compressed"),
    E.WRITE_ROWS_COMPRESSED_V1: _ROWS,
    E.UPDATE_ROWS_COMPRESSED_V1: _ROWS,
    E.DELETE_ROWS_COMPRESSED_V1: _ROWS,
    E.WRITE_ROWS_COMPRESSED: _ROWS,
    E.UPDATE_ROWS_COMPRESSED: _ROWS,
    E.DELETE_ROWS_COMPRESSED: _ROWS,
    E.PARTIAL_ROW_DATA: Codec("mariadb", "PartialRowData", "decode_partial_row_data", "encode_partial_row_data"),
}

_CODEC_OF = {codec.body_name: codec for codec in (*CODECS.values(), UNKNOWN)}


def __getattr__(name: str) -> Any:
    if name not in _CODEC_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _CODEC_OF[name].body
