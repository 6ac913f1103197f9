"""Which functions read and write each type of event: one row a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from binspark.event import group as group_replication
from binspark.event import (
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
from binspark.frames import EventCode as E
from binspark.wire import Cursor, Writer


class Codec(NamedTuple):
    """How an event is read and written."""

    decode: Callable[[Cursor, Context], Any]
    encode: Callable[[Any, Writer, Context], None]


_ROWS = Codec(rows.decode_rows, rows.encode_rows)
_GTID = Codec(gtid.decode_gtid, gtid.encode_gtid)
_LOAD = Codec(load.decode_load, load.encode_load)
UNKNOWN = Codec(unknown.decode_unknown, unknown.encode_unknown)

CODECS: dict[int, Codec] = {
    E.UNKNOWN: UNKNOWN,
    E.START_V3: Codec(start.decode_start_v3, start.encode_start_v3),
    E.QUERY: Codec(query.decode_query, query.encode_query),
    E.STOP: Codec(start.decode_stop, start.encode_stop),
    E.ROTATE: Codec(rotate.decode_rotate, rotate.encode_rotate),
    E.INTVAR: Codec(variables.decode_intvar, variables.encode_intvar),
    E.LOAD: _LOAD,
    E.SLAVE: Codec(rotate.decode_slave, rotate.encode_slave),
    E.CREATE_FILE: Codec(load.decode_create_file, load.encode_create_file),
    E.APPEND_BLOCK: Codec(load.decode_append_block, load.encode_append_block),
    E.EXEC_LOAD: Codec(load.decode_exec_load, load.encode_file_id),
    E.DELETE_FILE: Codec(load.decode_delete_file, load.encode_file_id),
    E.NEW_LOAD: _LOAD,
    E.RAND: Codec(variables.decode_rand, variables.encode_rand),
    E.USER_VAR: Codec(variables.decode_user_var, variables.encode_user_var),
    E.FORMAT_DESCRIPTION: Codec(start.decode_format_description, start.encode_format_description),
    E.XID: Codec(xa.decode_xid, xa.encode_xid),
    E.BEGIN_LOAD_QUERY: Codec(load.decode_begin_load_query, load.encode_append_block),
    E.EXECUTE_LOAD_QUERY: Codec(query.decode_execute_load_query, query.encode_execute_load_query),
    E.TABLE_MAP: Codec(table_map.decode_table_map, table_map.encode_table_map),
    E.PRE_GA_WRITE_ROWS: _ROWS,
    E.PRE_GA_UPDATE_ROWS: _ROWS,
    E.PRE_GA_DELETE_ROWS: _ROWS,
    E.WRITE_ROWS_V1: _ROWS,
    E.UPDATE_ROWS_V1: _ROWS,
    E.DELETE_ROWS_V1: _ROWS,
    E.INCIDENT: Codec(incident.decode_incident, incident.encode_incident),
    E.HEARTBEAT: Codec(heartbeat.decode_heartbeat, heartbeat.encode_heartbeat),
    E.IGNORABLE: Codec(incident.decode_ignorable, incident.encode_ignorable),
    E.ROWS_QUERY: Codec(rows_query.decode_rows_query, rows_query.encode_rows_query),
    E.WRITE_ROWS: _ROWS,
    E.UPDATE_ROWS: _ROWS,
    E.DELETE_ROWS: _ROWS,
    E.GTID: _GTID,
    E.ANONYMOUS_GTID: _GTID,
    E.PREVIOUS_GTIDS: Codec(gtid.decode_previous_gtids, gtid.encode_previous_gtids),
    E.TRANSACTION_CONTEXT: Codec(
        group_replication.decode_transaction_context, group_replication.encode_transaction_context
    ),
    E.VIEW_CHANGE: Codec(group_replication.decode_view_change, group_replication.encode_view_change),
    E.XA_PREPARE: Codec(xa.decode_xa_prepare, xa.encode_xa_prepare),
    E.PARTIAL_UPDATE_ROWS: _ROWS,
    E.TRANSACTION_PAYLOAD: Codec(payload.decode_transaction_payload, payload.encode_transaction_payload),
    E.HEARTBEAT_V2: Codec(heartbeat.decode_heartbeat_v2, heartbeat.encode_heartbeat_v2),
    E.GTID_TAGGED: Codec(gtid_tagged.decode_gtid_tagged, gtid_tagged.encode_gtid_tagged),
    E.LARGE_TRANSACTION_HEADER: Codec(payload.decode_large_transaction_header, payload.encode_large_transaction_header),
    E.ANNOTATE_ROWS: Codec(rows_query.decode_annotate_rows, rows_query.encode_annotate_rows),
    E.BINLOG_CHECKPOINT: Codec(mariadb.decode_binlog_checkpoint, mariadb.encode_binlog_checkpoint),
    E.MARIADB_GTID: Codec(mariadb.decode_mariadb_gtid, mariadb.encode_mariadb_gtid),
    E.GTID_LIST: Codec(mariadb.decode_gtid_list, mariadb.encode_gtid_list),
    E.START_ENCRYPTION: Codec(mariadb.decode_start_encryption, mariadb.encode_start_encryption),
    E.QUERY_COMPRESSED: Codec(query.decode_query_compressed, query.encode_query_compressed),
    E.WRITE_ROWS_COMPRESSED_V1: _ROWS,
    E.UPDATE_ROWS_COMPRESSED_V1: _ROWS,
    E.DELETE_ROWS_COMPRESSED_V1: _ROWS,
    E.WRITE_ROWS_COMPRESSED: _ROWS,
    E.UPDATE_ROWS_COMPRESSED: _ROWS,
    E.DELETE_ROWS_COMPRESSED: _ROWS,
    E.PARTIAL_ROW_DATA: Codec(mariadb.decode_partial_row_data, mariadb.encode_partial_row_data),
}
