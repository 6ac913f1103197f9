"""Frames into events: one class for each type, and one registry that knows them all."""

from binspark.events.codec import decode_body, decode_event, encode_body, inner_events
from binspark.events.context import Context
from binspark.events.event import Event
from binspark.events.group import TransactionContext, ViewChange
from binspark.events.gtid import GtidEvent, PreviousGtids
from binspark.events.gtid_tagged import GtidTagged
from binspark.events.heartbeat import Heartbeat, HeartbeatV2
from binspark.events.incident import Ignorable, Incident
from binspark.events.load import AppendBlock, BeginLoadQuery, CreateFile, DeleteFile, ExecLoad, Load
from binspark.events.mariadb import BinlogCheckpoint, GtidList, MariadbGtidEvent, PartialRowData, StartEncryption
from binspark.events.payload import LargeTransactionHeader, TransactionPayload
from binspark.events.query import ExecuteLoadQuery, Query, QueryCompressed
from binspark.events.rotate import Rotate, Slave
from binspark.events.rows import RowOperation, Rows
from binspark.events.rows_query import AnnotateRows, RowsQuery
from binspark.events.start import FormatDescription, StartV3, Stop
from binspark.events.table_map import TableMap
from binspark.events.unknown import UnknownEvent
from binspark.events.variables import Intvar, Rand, UserVar
from binspark.events.xa import XaPrepare, Xid

__all__ = [
    "AnnotateRows",
    "AppendBlock",
    "BeginLoadQuery",
    "BinlogCheckpoint",
    "Context",
    "CreateFile",
    "DeleteFile",
    "Event",
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
