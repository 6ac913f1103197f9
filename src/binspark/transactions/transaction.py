"""What is known of a transaction, and what its GTID event says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from binspark.event import Event, GtidEvent, GtidTagged, MariadbGtidEvent, RowOperation
from binspark.event.context import SqlText
from binspark.gtid import Gtid, MariadbGtid
from binspark.hidden_secrets import hide_in_bytes
from binspark.html_table import html_fields, html_table
from binspark.transactions.grammar import Ending


@dataclass(frozen=True, slots=True)
class TableChanges:
    """How often a transaction changes a table in one way: rows events, and their bytes in the log.

    A rows event whose table the log did not name before has an empty schema, and `#` with the table's id as its table.
    `rows` is None where rows were not counted, or cannot be: the log does not contain how large a value is. `overhead`
    are the bytes of the table maps and statements (ROWS_QUERY, ANNOTATE_ROWS) before them; those of several tables
    count for the one whose rows come first.
    """

    schema: str
    table: str
    operation: RowOperation
    events: int
    bytes: int
    rows: int | None = None
    overhead: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the event says that identifies a transaction. Nothing where a log has no such events.

    gtid                        `uuid:n`, `uuid:tag:n`, MariaDB's `domain-server-n`; None if anonymous
    immediate_commit_timestamp  microseconds since 1970, on the server that wrote the log
    original_commit_timestamp   the same on the server where the transaction originated
    declared_length             the transaction's bytes as its GTID event announces them
    last_committed              may begin when all up to this sequence number of the file are done
    commit_id                   MariaDB: transactions with the same one committed together
    gtid_flags                  flags of the GTID event, `GtidFlag` or `MariadbGtidFlag`
    """

    gtid: str | None = None
    tag: str | None = None
    domain_id: int | None = None
    immediate_commit_timestamp: int | None = None
    original_commit_timestamp: int | None = None
    declared_length: int | None = None
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_id: int | None = None
    gtid_flags: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction(Identity):
    """A transaction: a group of events that a replica applies as a unit.

    number        how many came before it from the same assembler
    file, start   where its first event begins
    end_file, end where its last event ends; the file is another one only in relay logs
    server_id     the server where it originated
    timestamp     of its first event, seconds since 1970
    length        bytes of its events in the log; `declared_length` should be the same
    events        number of its events; a payload counts, and so does each event inside
    changes       rows events for each table and operation, in the order of their first appearance
    statements    number of its statements as text, without BEGIN, COMMIT and the like
    texts         the first of these statements, cut off where together they become too long
    ddl           its first statement that defines something, cut off likewise
    compressed    whether any of it is compressed in the log
    """

    number: int
    file: str
    start: int
    end_file: str
    end: int
    server_id: int
    timestamp: int
    length: int
    events: int
    changes: tuple[TableChanges, ...]
    statements: int
    texts: tuple[SqlText, ...]
    ddl: SqlText | None
    xid: int | None
    xa: str | None
    thread_id: int | None
    schema: str | None
    compressed: bool
    ending: Ending

    @property
    def complete(self) -> bool:
        """Whether the log contains the transaction up to its end."""
        return self.ending.complete

    def _repr_html_(self) -> str:
        """Return the transaction as a table of its fields, for notebooks."""
        names = (item.name for item in fields(self) if item.name not in {"changes", "texts"})
        shown = {name: getattr(self, name) for name in names}
        if self.ddl is not None:
            shown["ddl"] = hide_in_bytes(self.ddl)
        rows = (
            (f"{change.schema}.{change.table}", change.operation.value, "?" if change.rows is None else change.rows)
            for change in self.changes
        )
        title = f"transaction {self.gtid or 'without a GTID'} at {self.file}:{self.start}"
        return html_fields(title, shown.items()) + html_table(("table", "operation", "rows"), rows)


ANONYMOUS = Identity()
_MICROSECONDS = 1_000_000


def identity_of(event: Event) -> Identity:
    """Return what an event identifies its transaction as; any event but a GTID identifies nothing."""
    reader = _READERS.get(type(event.body))
    return ANONYMOUS if reader is None else reader(event)


class Commit(NamedTuple):
    """Which transaction a GTID event begins (None: an anonymous one), and when it committed, in µs since 1970.

    The time is that of the server that wrote the log; before MySQL 8.0 and in MariaDB, that of the event.
    """

    gtid: Gtid | MariadbGtid | None
    time: int


def commit_of(event: Event) -> Commit:
    """Return what a GTID event, of either family, says of the commit of its transaction."""
    body: GtidEvent | GtidTagged | MariadbGtidEvent = event.body
    time = event.header.timestamp * _MICROSECONDS
    if isinstance(body, MariadbGtidEvent):
        return Commit(body.gtid(event.header.server_id), time)
    return Commit(body.gtid, body.immediate_commit_timestamp or time)


def _mysql(event: Event) -> Identity:
    body: GtidEvent | GtidTagged = event.body
    gtid = body.gtid
    return Identity(
        gtid=None if gtid is None else str(gtid),
        tag=None if gtid is None else gtid.tag or None,
        immediate_commit_timestamp=body.immediate_commit_timestamp,
        original_commit_timestamp=body.original_commit_timestamp,
        declared_length=body.transaction_length,
        last_committed=body.last_committed,
        sequence_number=body.sequence_number,
        gtid_flags=body.gtid_flags,
    )


def _mariadb(event: Event) -> Identity:
    body: MariadbGtidEvent = event.body
    return Identity(
        gtid=str(body.gtid(event.header.server_id)),
        domain_id=body.domain_id,
        commit_id=body.commit_id,
        gtid_flags=body.gtid_flags,
    )


_READERS: dict[type, Callable[[Event], Identity]] = {
    GtidEvent: _mysql,
    GtidTagged: _mysql,
    MariadbGtidEvent: _mariadb,
}
