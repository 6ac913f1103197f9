"""Frames into events: one class for each type, and one registry that knows them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.event.codec import EventDecoder, decode_body, decode_event, encode_body, inner_events
    from binspark.event.context import Context
    from binspark.event.event import Event
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
    from binspark.event.rows import RowOperation, Rows
    from binspark.event.rows_query import AnnotateRows, RowsQuery
    from binspark.event.start import FormatDescription, StartV3, Stop
    from binspark.event.table_map import TableMap
    from binspark.event.unknown import UnknownEvent
    from binspark.event.variables import Intvar, Rand, UserVar
    from binspark.event.xa import XaPrepare, Xid

__all__ = [
    "AnnotateRows",
    "AppendBlock",
    "BeginLoadQuery",
    "BinlogCheckpoint",
    "Context",
    "CreateFile",
    "DeleteFile",
    "Event",
    "EventDecoder",
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
    "RowOperation",
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
    "decode_body",
    "decode_event",
    "encode_body",
    "inner_events",
]

__getattr__ = names_in(
    __name__,
    {
        "codec": "EventDecoder decode_body decode_event encode_body inner_events",
        "context": "Context",
        "event": "Event",
        "group": "TransactionContext ViewChange",
        "gtid": "GtidEvent PreviousGtids",
        "gtid_tagged": "GtidTagged",
        "heartbeat": "Heartbeat HeartbeatV2",
        "incident": "Ignorable Incident",
        "load": "AppendBlock BeginLoadQuery CreateFile DeleteFile ExecLoad Load",
        "mariadb": "BinlogCheckpoint GtidList MariadbGtidEvent PartialRowData StartEncryption",
        "payload": "LargeTransactionHeader TransactionPayload",
        "query": "ExecuteLoadQuery Query QueryCompressed",
        "rotate": "Rotate Slave",
        "rows": "RowOperation Rows",
        "rows_query": "AnnotateRows RowsQuery",
        "start": "FormatDescription StartV3 Stop",
        "table_map": "TableMap",
        "unknown": "UnknownEvent",
        "variables": "Intvar Rand UserVar",
        "xa": "XaPrepare Xid",
    },
)
