"""A transaction that has begun and not yet ended: counts, never events."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

from binspark import event as events
from binspark.event.mariadb import MariadbGtidExtraFlag
from binspark.event.rows import RowOperation
from binspark.event.status_vars import StatusCode
from binspark.schema.text import first_word
from binspark.transactions.grammar import STATEMENT_HEAD, Ending, Progress, Role
from binspark.transactions.transaction import ANONYMOUS, Identity, TableChanges, Transaction, identity_of

_IDENTITY_FIELDS = tuple(field.name for field in fields(Identity))
_ALTERS = {
    MariadbGtidExtraFlag.START_ALTER: Ending.START_ALTER,
    MariadbGtidExtraFlag.COMMIT_ALTER: Ending.COMMIT_ALTER,
    MariadbGtidExtraFlag.ROLLBACK_ALTER: Ending.ROLLBACK_ALTER,
}
_XA = re.compile(
    rb"\s*XA\s+(?:START|BEGIN|END|PREPARE|COMMIT|ROLLBACK)\s+(.{0,400}?)(?:\s+ONE\s+PHASE)?[\s;]*\Z", re.IGNORECASE
)
_DEFINES = re.compile(r"(?:CREATE|ALTER|DROP|RENAME|TRUNCATE|GRANT|REVOKE)\b", re.IGNORECASE)


class FirstEvent(NamedTuple):
    """Where a transaction begins: what its first event says of it."""

    file: str
    start: int
    server_id: int
    timestamp: int

    @classmethod
    def of(cls, event: events.Event) -> FirstEvent:
        """Return what an event says of the transaction that begins with it."""
        return cls(event.file, event.offset, event.header.server_id, event.header.timestamp)


class Counts(NamedTuple):
    """How many rows events there are for a table, their bytes, and their rows: None once those of one are unknown.

    overhead   bytes of the table maps and statements before them
    """

    events: int
    bytes: int
    rows: int | None
    overhead: int = 0

    def plus(self, size: int, rows: int | None, overhead: int) -> Counts:
        """Return the counts with one more event."""
        known = None if rows is None or self.rows is None else self.rows + rows
        return Counts(self.events + 1, self.bytes + size, known, self.overhead + overhead)


NO_ROWS = Counts(0, 0, 0)

CountRows = Callable[[events.Event, events.TableMap], int | None]
"""Returns how many rows a rows event has, whose table a TABLE_MAP describes; None if that is not known."""


class MappedTables(Protocol):
    """Which table an id means, up to the end of the statement."""

    def get(self, table_id: int, /) -> events.TableMap | None:
        """Return the last TABLE_MAP with an id, None if there is none in the statement."""
        ...

    def __setitem__(self, table_id: int, table: events.TableMap, /) -> None: ...

    def clear(self) -> None:
        """Forget all: the statement ends."""
        ...


class Draft:
    """Adds up the events of one transaction.

    progress         what is in progress after its last event
    payload_closed   whether its last event is a payload, and no event from inside came since
    changes          rows events, their bytes and their rows, by schema, table and operation
    text_left        how many more bytes of statements are kept
    overhead         bytes of the table maps and statements since the last rows event
    """

    def __init__(
        self,
        number: int,
        first: FirstEvent,
        text_limit: int,
        tables: MappedTables | None = None,
        count_rows: CountRows | None = None,
    ) -> None:
        self.number = number
        self.file, self.start, self.server_id, self.timestamp = first
        self.end_file, self.end = self.file, self.start
        self.progress = Progress.NONE
        self.payload_closed = self.compressed = False
        self.identity = ANONYMOUS
        self.statement_ending = Ending.STATEMENT
        self.length = self.events = self.statements = 0
        self.texts: list[bytes] = []
        self.ddl: bytes | None = None
        self.xid: int | None = None
        self.xa: str | None = None
        self.thread_id: int | None = None
        self.schema: str | None = None
        self.text_left = text_limit
        self.overhead = 0
        self.changes: dict[tuple[str, str, RowOperation], Counts] = {}
        self._text_limit = text_limit
        self._tables: MappedTables = {} if tables is None else tables
        self._count_rows = count_rows

    def add(self, event: events.Event, role: Role) -> None:
        """Count an event in."""
        self.events += 1
        self.end_file, self.end = event.file, event.end_offset
        if event.inner is None:
            self.length += len(event.frame.data)
        else:
            self.payload_closed = False
        note = _NOTES.get(type(event.body))
        if note is not None:
            note(self, event, role)

    def finished(self, ending: Ending) -> Transaction:
        """Return the transaction, ended."""
        return Transaction(
            **{name: getattr(self.identity, name) for name in _IDENTITY_FIELDS},
            number=self.number,
            file=self.file,
            start=self.start,
            end_file=self.end_file,
            end=self.end,
            server_id=self.server_id,
            timestamp=self.timestamp,
            length=self.length,
            events=self.events,
            changes=tuple(
                TableChanges(*key, counts.events, counts.bytes, counts.rows, counts.overhead)
                for key, counts in self.changes.items()
            ),
            statements=self.statements,
            texts=tuple(self.texts),
            ddl=self.ddl,
            xid=self.xid,
            xa=self.xa,
            thread_id=self.thread_id,
            schema=self.schema,
            compressed=self.compressed,
            ending=ending,
        )

    def identify(self, event: events.Event, _role: Role) -> None:
        """Take the identity of the transaction from its GTID."""
        self.identity = identity_of(event)
        self.statement_ending = _ending_of_statement(event.body)
        if isinstance(event.body, events.MariadbGtidEvent):
            self.thread_id = event.body.thread_id
            self.xa = event.body.xid.name if event.body.xid else None

    def note_query(self, event: events.Event, role: Role) -> None:
        """Note a statement: its session, and its text unless it only begins or ends something."""
        query: events.Query = event.body
        self._note_session(query.thread_id, query.schema)
        self.compressed |= isinstance(query, events.QueryCompressed)
        for code in (StatusCode.DDL_LOGGED_WITH_XID, StatusCode.XID):
            self.xid = query.status(code) if self.xid is None else self.xid
        if role is Role.STATEMENT:
            self._note_text(query.query)
        elif self.xa is None:
            self.xa = xa_name(query.query)

    def note_load(self, event: events.Event, _role: Role) -> None:
        """Note LOAD DATA of an old log, which is not text but is a statement."""
        load: events.Load = event.body
        self._note_session(load.thread_id, load.schema)
        self.statements += 1

    def note_table(self, event: events.Event, _role: Role) -> None:
        """Note which table an id means, up to the end of the statement."""
        table: events.TableMap = event.body
        self._tables[table.table_id] = table
        self.note_overhead(event, _role)

    def note_overhead(self, event: events.Event, _role: Role) -> None:
        """Count the bytes of an event that comes before rows."""
        self.overhead += len(event.frame.data)

    def note_rows(self, event: events.Event, _role: Role) -> None:
        """Count a rows event for its table and operation."""
        rows: events.Rows = event.body
        self.compressed |= rows.compressed is not None
        if rows.rows:  # one without rows only ends its statement
            table = self._tables.get(rows.table_id)
            name = ("", f"#{rows.table_id}") if table is None else (table.schema, table.table)
            count = None if table is None or self._count_rows is None else self._count_rows(event, table)
            key = (*name, rows.operation)
            self.changes[key] = self.changes.get(key, NO_ROWS).plus(len(event.frame.data), count, self.overhead)
            self.overhead = 0
        if rows.ends_statement:
            self._tables.clear()

    def note_payload(self, _event: events.Event, _role: Role) -> None:
        """Note a payload, whose events may follow."""
        self.compressed = self.payload_closed = True

    def note_xid(self, event: events.Event, _role: Role) -> None:
        """Note the XID of a commit."""
        self.xid = event.body.xid

    def note_xa_prepare(self, event: events.Event, _role: Role) -> None:
        """Note the name of an XA transaction."""
        self.xa = event.body.name

    def _note_session(self, thread_id: int, schema: str) -> None:
        if self.thread_id is None:
            self.thread_id = thread_id
        self.schema = self.schema or schema or None

    def _note_text(self, text: bytes) -> None:
        self.statements += 1
        if self.ddl is None and is_ddl(text):
            self.ddl = text[: self._text_limit]
        if self.text_left > 0:
            self.texts.append(text[: self.text_left])
            self.text_left -= max(len(text), 1)


_NOTES: dict[type, Callable[[Draft, Any, Role], None]] = {
    events.GtidEvent: Draft.identify,
    events.GtidTagged: Draft.identify,
    events.MariadbGtidEvent: Draft.identify,
    events.Query: Draft.note_query,
    events.QueryCompressed: Draft.note_query,
    events.ExecuteLoadQuery: Draft.note_query,
    events.Load: Draft.note_load,
    events.CreateFile: Draft.note_load,
    events.TableMap: Draft.note_table,
    events.RowsQuery: Draft.note_overhead,
    events.AnnotateRows: Draft.note_overhead,
    events.Rows: Draft.note_rows,
    events.TransactionPayload: Draft.note_payload,
    events.Xid: Draft.note_xid,
    events.XaPrepare: Draft.note_xa_prepare,
}


def _ending_of_statement(body: Any) -> Ending:
    """Return the ending that a single statement means under this GTID."""
    if not isinstance(body, events.MariadbGtidEvent):
        return Ending.STATEMENT
    extra = body.extra_flags or 0
    return next((ending for flag, ending in _ALTERS.items() if extra & flag), Ending.STANDALONE)


def xa_name(query: bytes) -> str | None:
    """Return the XID that an XA statement names, as written; None for any other statement."""
    match = _XA.match(query[:STATEMENT_HEAD])
    return None if match is None else match[1].decode(errors="backslashreplace")


def is_ddl(query: bytes) -> bool:
    """Whether a statement defines something: tables, views, routines, users and their rights."""
    text = query[:STATEMENT_HEAD].decode("latin-1")
    offset = first_word(text)
    return offset is not None and _DEFINES.match(text, offset) is not None
