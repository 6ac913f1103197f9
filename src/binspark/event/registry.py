"""Every type of event: the class of its body, and the functions that read and write it. One row for each type code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from binspark.event import (
    group,
    gtid,
    gtid_tagged,
    heartbeat,
    incident,
    load,
    mariadb,
    payload,
    query,
    rotate,
    rows,
    rows_query,
    start,
    table_map,
    unknown,
    variables,
    xa,
)
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
from binspark.frames import EventCode as E
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


class Codec(NamedTuple):
    """The class of an event's body, its decoder and its encoder."""

    body: type
    decode: Callable[[Cursor, Context], Any]
    encode: Callable[[Any, Writer, Context], None]


_ROWS = Codec(Rows, rows.decode_rows, rows.encode_rows)
_GTID = Codec(GtidEvent, gtid.decode_gtid, gtid.encode_gtid)
_LOAD = Codec(Load, load.decode_load, load.encode_load)
UNKNOWN = Codec(UnknownEvent, unknown.decode_unknown, unknown.encode_unknown)

CODECS: dict[int, Codec] = {
    E.UNKNOWN: UNKNOWN,
    E.START_V3: Codec(StartV3, start.decode_start_v3, start.encode_start_v3),
    E.QUERY: Codec(Query, query.decode_query, query.encode_query),
    E.STOP: Codec(Stop, start.decode_stop, start.encode_stop),
    E.ROTATE: Codec(Rotate, rotate.decode_rotate, rotate.encode_rotate),
    E.INTVAR: Codec(Intvar, variables.decode_intvar, variables.encode_intvar),
    E.LOAD: _LOAD,
    E.SLAVE: Codec(Slave, rotate.decode_slave, rotate.encode_slave),
    E.CREATE_FILE: Codec(CreateFile, load.decode_create_file, load.encode_create_file),
    E.APPEND_BLOCK: Codec(AppendBlock, load.decode_append_block, load.encode_append_block),
    E.EXEC_LOAD: Codec(ExecLoad, load.decode_exec_load, load.encode_file_id),
    E.DELETE_FILE: Codec(DeleteFile, load.decode_delete_file, load.encode_file_id),
    E.NEW_LOAD: _LOAD,
    E.RAND: Codec(Rand, variables.decode_rand, variables.encode_rand),
    E.USER_VAR: Codec(UserVar, variables.decode_user_var, variables.encode_user_var),
    E.FORMAT_DESCRIPTION: Codec(FormatDescription, start.decode_format_description, start.encode_format_description),
    E.XID: Codec(Xid, xa.decode_xid, xa.encode_xid),
    E.BEGIN_LOAD_QUERY: Codec(BeginLoadQuery, load.decode_begin_load_query, load.encode_append_block),
    E.EXECUTE_LOAD_QUERY: Codec(ExecuteLoadQuery, query.decode_execute_load_query, query.encode_execute_load_query),
    E.TABLE_MAP: Codec(TableMap, table_map.decode_table_map, table_map.encode_table_map),
    E.PRE_GA_WRITE_ROWS: _ROWS,
    E.PRE_GA_UPDATE_ROWS: _ROWS,
    E.PRE_GA_DELETE_ROWS: _ROWS,
    E.WRITE_ROWS_V1: _ROWS,
    E.UPDATE_ROWS_V1: _ROWS,
    E.DELETE_ROWS_V1: _ROWS,
    E.INCIDENT: Codec(Incident, incident.decode_incident, incident.encode_incident),
    E.HEARTBEAT: Codec(Heartbeat, heartbeat.decode_heartbeat, heartbeat.encode_heartbeat),
    E.IGNORABLE: Codec(Ignorable, incident.decode_ignorable, incident.encode_ignorable),
    E.ROWS_QUERY: Codec(RowsQuery, rows_query.decode_rows_query, rows_query.encode_rows_query),
    E.WRITE_ROWS: _ROWS,
    E.UPDATE_ROWS: _ROWS,
    E.DELETE_ROWS: _ROWS,
    E.GTID: _GTID,
    E.ANONYMOUS_GTID: _GTID,
    E.PREVIOUS_GTIDS: Codec(PreviousGtids, gtid.decode_previous_gtids, gtid.encode_previous_gtids),
    E.TRANSACTION_CONTEXT: Codec(
        TransactionContext, group.decode_transaction_context, group.encode_transaction_context
    ),
    E.VIEW_CHANGE: Codec(ViewChange, group.decode_view_change, group.encode_view_change),
    E.XA_PREPARE: Codec(XaPrepare, xa.decode_xa_prepare, xa.encode_xa_prepare),
    E.PARTIAL_UPDATE_ROWS: _ROWS,
    E.TRANSACTION_PAYLOAD: Codec(
        TransactionPayload, payload.decode_transaction_payload, payload.encode_transaction_payload
    ),
    E.HEARTBEAT_V2: Codec(HeartbeatV2, heartbeat.decode_heartbeat_v2, heartbeat.encode_heartbeat_v2),
    E.GTID_TAGGED: Codec(GtidTagged, gtid_tagged.decode_gtid_tagged, gtid_tagged.encode_gtid_tagged),
    E.LARGE_TRANSACTION_HEADER: Codec(
        LargeTransactionHeader, payload.decode_large_transaction_header, payload.encode_large_transaction_header
    ),
    E.ANNOTATE_ROWS: Codec(AnnotateRows, rows_query.decode_annotate_rows, rows_query.encode_annotate_rows),
    E.BINLOG_CHECKPOINT: Codec(BinlogCheckpoint, mariadb.decode_binlog_checkpoint, mariadb.encode_binlog_checkpoint),
    E.MARIADB_GTID: Codec(MariadbGtidEvent, mariadb.decode_mariadb_gtid, mariadb.encode_mariadb_gtid),
    E.GTID_LIST: Codec(GtidList, mariadb.decode_gtid_list, mariadb.encode_gtid_list),
    E.START_ENCRYPTION: Codec(StartEncryption, mariadb.decode_start_encryption, mariadb.encode_start_encryption),
    E.QUERY_COMPRESSED: Codec(QueryCompressed, query.decode_query_compressed, query.encode_query_compressed),
    E.WRITE_ROWS_COMPRESSED_V1: _ROWS,
    E.UPDATE_ROWS_COMPRESSED_V1: _ROWS,
    E.DELETE_ROWS_COMPRESSED_V1: _ROWS,
    E.WRITE_ROWS_COMPRESSED: _ROWS,
    E.UPDATE_ROWS_COMPRESSED: _ROWS,
    E.DELETE_ROWS_COMPRESSED: _ROWS,
    E.PARTIAL_ROW_DATA: Codec(PartialRowData, mariadb.decode_partial_row_data, mariadb.encode_partial_row_data),
}
