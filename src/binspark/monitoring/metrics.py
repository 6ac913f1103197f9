"""The metrics: their names, what they mean, and how they are made of a status. This module loads no library for them.

Names follow Prometheus: a unit at the end, `_total` for what only grows. A status that lacks a figure has no sample of
it. Labels have few values: positions and GTIDs are numbers, and tables are limited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from binspark.errors import OptionError
from binspark.files.sources import log_order
from binspark.gtid import GtidSet
from binspark.monitoring.status import Status, TableStatus
from binspark.replication.gtids import parse_gtids
from binspark.version import __version__

MAX_TABLES = 200
"""The number of tables that have metrics of their own: those that are not current, then those with the most rows."""

MAX_GTID_SOURCES = 50
COMMAND = "command"
"""The label that all metrics have."""


class Kind(StrEnum):
    """What a metric is for Prometheus."""

    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric; `labels` are those that it has besides `command`."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """A value of a metric, and those of its labels."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()


def _gauge(name: str, text: str, *labels: str) -> Metric:
    return Metric(f"binspark_{name}", Kind.GAUGE, text, labels)


def _counter(name: str, text: str, *labels: str) -> Metric:
    return Metric(f"binspark_{name}_total", Kind.COUNTER, text, labels)


BUILD = _gauge("build_info", "Always 1: the version of binspark.", "version")
SOURCE = _gauge("source_info", "Always 1: the server that is read.", "address")
CONNECTED = _gauge("connected", "Whether the source is connected: 1 or 0.")
LAST_SUCCESS = _gauge("last_success_timestamp_seconds", "When the source sent something last, be it a heartbeat.")
LAG_BYTES = _gauge("lag_bytes", "How much of the log comes after the position.")
LAG_SECONDS = _gauge("lag_seconds", "How old what comes after the position is; 0 if there is nothing.")
FILE_NUMBER = _gauge("position_file_number", "The number of the log file that the position is in.")
OFFSET = _gauge("position_offset_bytes", "The offset of the position in its log file.")
GTID_NUMBER = _gauge(
    "last_gtid_number",
    "The highest number of the GTIDs before the position, by their source: UUID and tag, or MariaDB's domain.",
    "source",
)
BYTES = _counter("read_bytes", "Bytes of the log that were read.")
EVENTS = _counter("read_events", "Events of the log that were read.")
TRANSACTIONS = _counter("read_transactions", "Transactions of the log that were read.")
ROWS = _counter("rows", "Changed rows that were shown, or rows that were copied and changes that were applied.")
RECONNECTS = _counter("reconnects", "Connections that were lost, or could not be made, and were tried again.")
ERRORS = _counter("errors", "Errors after which the program continued, by their kind.", "kind")
CLIENTS = _gauge("clients", "Clients that are connected to serve.")
SESSIONS = _counter("sessions", "Clients that have connected to serve.")
SENT_BYTES = _counter("sent_bytes", "Bytes that serve has sent to its clients.")
TABLES = _gauge("tables", "Mirrored tables in each phase.", "phase")
TABLE_ROWS = _counter("table_rows", "Rows of a table that were copied, and changes that were applied.", "table")
TABLE_PHASE = _gauge("table_phase", "Always 1: the phase that a mirrored table is in.", "table", "phase")
TABLE_LAG_BYTES = _gauge("table_lag_bytes", "How much of the log comes after the position of a table.", "table")
TABLE_LAG_SECONDS = _gauge("table_lag_seconds", "How old what comes after the position of a table is.", "table")

METRICS: tuple[Metric, ...] = (
    *(BUILD, SOURCE, CONNECTED, LAST_SUCCESS, LAG_BYTES, LAG_SECONDS, FILE_NUMBER, OFFSET, GTID_NUMBER),
    *(BYTES, EVENTS, TRANSACTIONS, ROWS, RECONNECTS, ERRORS, CLIENTS, SESSIONS, SENT_BYTES),
    *(TABLES, TABLE_ROWS, TABLE_PHASE, TABLE_LAG_BYTES, TABLE_LAG_SECONDS),
)


def samples(status: Status) -> Iterator[Sample]:
    """Yield what a status says as samples of metrics."""
    yield Sample(BUILD, 1, (__version__,))
    if status.address:
        yield Sample(SOURCE, 1, (status.address,))
    is_sender = status.clients is not None
    for metric, value in (
        (CONNECTED, status.connected),
        (LAST_SUCCESS, status.last_success),
        (LAG_BYTES, status.lag_bytes),
        (LAG_SECONDS, status.lag_seconds),
        (SENT_BYTES if is_sender else BYTES, status.bytes),
        (EVENTS, status.events),
        (TRANSACTIONS, status.transactions),
        (ROWS, status.rows),
        (RECONNECTS, status.reconnects),
        (CLIENTS, status.clients),
        (SESSIONS, status.sessions),
    ):
        if value is not None:
            yield Sample(metric, value)
    yield from _positions(status)
    for kind, count in sorted(status.errors.items()):
        yield Sample(ERRORS, count, (kind,))
    yield from _tables(status)


def _positions(status: Status) -> Iterator[Sample]:
    file, colon, offset = status.position.rpartition(":")
    number = log_order(file)[1] if colon and offset.isdigit() else -1
    if number >= 0:
        yield Sample(FILE_NUMBER, number)
        yield Sample(OFFSET, int(offset))
    for source, last in _last_gtids(status.gtids)[:MAX_GTID_SOURCES]:
        yield Sample(GTID_NUMBER, last, (source,))


def _last_gtids(text: str) -> list[tuple[str, int]]:
    """Return the last number of each source."""
    try:
        gtids = parse_gtids(text)
    except OptionError:
        return []
    if isinstance(gtids, GtidSet):
        return [(f"{uuid}:{tag}" if tag else uuid, gtids.last(uuid, tag)) for uuid, tag in gtids.sources]
    return [(str(gtid.domain), gtid.sequence) for gtid in gtids]


def _tables(status: Status) -> Iterator[Sample]:
    for phase, count in sorted(Counter(str(table.phase) for table in status.tables).items()):
        yield Sample(TABLES, count, (phase,))
    for table in sorted(status.tables, key=_importance)[:MAX_TABLES]:
        name = str(table.name)
        yield Sample(TABLE_PHASE, 1, (name, str(table.phase)))
        yield Sample(TABLE_ROWS, table.rows, (name,))
        if table.lag_bytes is not None:
            yield Sample(TABLE_LAG_BYTES, table.lag_bytes, (name,))
        if table.lag_seconds is not None:
            yield Sample(TABLE_LAG_SECONDS, table.lag_seconds, (name,))


def _importance(table: TableStatus) -> tuple[bool, int, str]:
    return table.phase == "current", -table.rows, str(table.name)
