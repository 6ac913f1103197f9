"""Which events begin, continue and end transactions: one row a class of event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from binspark import event as events
from binspark.transactions.roles import Boundary, Role
from binspark.transactions.statements import STATEMENT, boundary_of_text
from binspark.transactions.transaction import Ending

_IDENTIFIES = Boundary(Role.IDENTIFIES)
_PREPARES = Boundary(Role.PREPARES)
_JOINS = Boundary(Role.JOINS)
_OUTSIDE = Boundary(Role.OUTSIDE)
_BREAKS = Boundary(Role.BREAKS)

# The most frequent statements by far.
_BEGIN = boundary_of_text(b"BEGIN")
_COMMIT = boundary_of_text(b"COMMIT")


def _query(query: events.Query) -> Boundary:
    if query.query == b"BEGIN":
        return _BEGIN
    if query.query == b"COMMIT":
        return _COMMIT
    return boundary_of_text(query.query)


def _rows(rows: events.Rows) -> Boundary:
    return STATEMENT if rows.ends_statement else _PREPARES


def _xa_prepare(prepare: events.XaPrepare) -> Boundary:
    return Boundary(Role.ENDS, Ending.XA_ONE_PHASE if prepare.one_phase else Ending.XA_PREPARE)


BOUNDARIES: dict[type, Boundary | Callable[[Any], Boundary]] = {
    events.GtidEvent: _IDENTIFIES,
    events.GtidTagged: _IDENTIFIES,
    events.MariadbGtidEvent: _IDENTIFIES,
    events.Query: _query,
    events.QueryCompressed: _query,
    events.ExecuteLoadQuery: STATEMENT,
    events.Xid: Boundary(Role.ENDS, Ending.XID),
    events.XaPrepare: _xa_prepare,
    events.Incident: Boundary(Role.ENDS, Ending.INCIDENT),
    events.ViewChange: Boundary(Role.STATEMENT, Ending.VIEW_CHANGE),
    events.Rows: _rows,
    events.TableMap: _PREPARES,
    events.PartialRowData: _PREPARES,
    events.RowsQuery: _PREPARES,
    events.AnnotateRows: _PREPARES,
    events.Intvar: _PREPARES,
    events.Rand: _PREPARES,
    events.UserVar: _PREPARES,
    events.BeginLoadQuery: _PREPARES,
    events.AppendBlock: _PREPARES,
    events.CreateFile: _PREPARES,
    events.Load: STATEMENT,
    events.ExecLoad: STATEMENT,
    events.DeleteFile: Boundary(Role.STATEMENT, Ending.LOAD_FAILED),
    events.TransactionPayload: Boundary(Role.WRAPS),
    events.TransactionContext: _JOINS,
    events.Ignorable: _JOINS,
    events.UnknownEvent: _JOINS,
    events.LargeTransactionHeader: _OUTSIDE,
    events.PreviousGtids: _OUTSIDE,
    events.GtidList: _OUTSIDE,
    events.BinlogCheckpoint: _OUTSIDE,
    events.Heartbeat: _OUTSIDE,
    events.HeartbeatV2: _OUTSIDE,
    events.StartEncryption: _OUTSIDE,
    events.Slave: _OUTSIDE,
    events.FormatDescription: _BREAKS,
    events.StartV3: _BREAKS,
    events.Rotate: _BREAKS,
    events.Stop: _BREAKS,
}


def boundary_of(event: events.Event) -> Boundary:
    """Return what an event means for the transaction around it."""
    known = BOUNDARIES.get(type(event.body), _JOINS)
    return known if isinstance(known, Boundary) else known(event.body)
