"""What a program reports of itself while it runs: the same fields for all of them, as an object and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from binspark.replication.activity import Activity
from binspark.replication.position import BinlogPosition

if TYPE_CHECKING:
    from binspark.schema.table import TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatus:
    """The progress of a mirrored table.

    rows         how many rows were copied, or changes applied, in this run
    expected     about how many rows it has, while it is copied
    rate         rows a second, of late
    version      the version of the table in the target
    lag_bytes    how much of the log comes after its position; None if that is not known
    lag_seconds  how old the first change of that is; 0 if there is none, None if that is not known
    """

    name: TableName
    phase: str
    rows: int
    expected: int | None
    rate: float
    version: int
    position: str
    lag_bytes: int | None = None
    lag_seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {
            "table": str(self.name),
            "phase": str(self.phase),
            "rows": self.rows,
            "expected_rows": self.expected,
            "rows_per_second": round(self.rate),
            "version": self.version,
            "position": self.position,
            "lag_bytes": self.lag_bytes,
            "lag_seconds": _rounded(self.lag_seconds),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a program has done so far, and how far it is. What it does not know, or does not have, is None.

    command           archive, tail, mirror, serve, follow, or stream for a streaming query of Spark
    position          all before it is done: `binlog.000003:154`, or GTIDs where there is no file; empty before it began
    gtids             the GTIDs before it; empty if they are not known
    address           the server that is read
    connected         whether it is connected
    last_success      when it sent something last, be it a heartbeat, in seconds since 1970
    lag_bytes         how much of the log comes after the position
    lag_seconds       how old what comes after it is; 0 if there is nothing
    bytes, events, transactions, rows
                      what was read, or sent, since the start
    bytes_per_second  the rate since the last status line; in the last one, since the start
    reconnects        how often a connection was lost, or could not be made, and it was tried again
    errors            how often each kind of error came, by the name of its class
    error             the last error, if the program still tries to get over it
    clients, sessions the clients that are connected, and how many ever were
    tables            the mirrored tables
    ended             whether this is the last status
    """

    command: str
    position: str = ""
    gtids: str = ""
    address: str = ""
    connected: bool | None = None
    last_success: float | None = None
    lag_bytes: int | None = None
    lag_seconds: float | None = None
    bytes: int | None = None
    events: int | None = None
    transactions: int | None = None
    rows: int | None = None
    bytes_per_second: float | None = None
    reconnects: int | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None
    clients: int | None = None
    sessions: int | None = None
    tables: tuple[TableStatus, ...] = ()
    ended: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the status as JSON. The keys and their order are the same for all commands."""
        return {
            "command": self.command,
            "position": self.position,
            "gtids": self.gtids,
            "address": self.address,
            "connected": self.connected,
            "last_success": _rounded(self.last_success),
            "lag_bytes": self.lag_bytes,
            "lag_seconds": _rounded(self.lag_seconds),
            "bytes": self.bytes,
            "events": self.events,
            "transactions": self.transactions,
            "rows": self.rows,
            "bytes_per_second": None if self.bytes_per_second is None else round(self.bytes_per_second),
            "reconnects": self.reconnects,
            "errors": dict(self.errors),
            "error": self.error,
            "clients": self.clients,
            "sessions": self.sessions,
            "tables": [table.to_json() for table in self.tables],
            "ended": self.ended,
        }


GetStatus = Callable[[], Status]
"""Returns the status now. It is called by other threads than the one that does the work."""


def status_of(command: str, activity: Activity | None, position: BinlogPosition | None, **fields: Any) -> Status:
    """Return the status of a program that follows a server; without an activity, of one that reads files.

    `fields` are further ones, and win.
    """
    found: dict[str, Any] = {
        "position": "" if position is None else position.describe(),
        "gtids": "" if position is None or position.gtids is None else str(position.gtids),
    }
    return Status(command=command, **{**found, **activity_fields(activity), **fields})


def activity_fields(activity: Activity | None) -> dict[str, Any]:
    """Return the fields of a status that an activity has."""
    if activity is None:
        return {}
    has_begun = bool(activity.address or activity.errors)
    return {
        "address": activity.address,
        "connected": activity.is_connected if has_begun else None,
        "last_success": activity.heard_at or None,
        "bytes": activity.bytes,
        "events": activity.events,
        "transactions": activity.transactions,
        "reconnects": activity.reconnects,
        "errors": activity.errors.copy(),
        "error": activity.last_error or None,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
