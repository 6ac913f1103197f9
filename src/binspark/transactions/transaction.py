"""What is known of a transaction: values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from binspark.event.context import SqlText
from binspark.event.rows import RowOperation


class Ending(StrEnum):
    """Why a transaction ended.

    XID             committed: an XID event, the commit of a transactional engine
    COMMIT          committed: a COMMIT statement, as after changes of tables without transactions
    ROLLBACK        rolled back: only changes of tables without transactions stay
    STATEMENT       a statement that commits itself: DDL, or any single statement of an old log
    STANDALONE      the same where MariaDB says so in its GTID
    START_ALTER     MariaDB begins a two-phase ALTER; a later transaction ends it
    COMMIT_ALTER    MariaDB commits a two-phase ALTER
    ROLLBACK_ALTER  MariaDB gives up a two-phase ALTER
    XA_PREPARE      prepared: a later transaction commits it or rolls it back
    XA_ONE_PHASE    an XA transaction that was prepared and committed at once
    XA_COMMIT       what was prepared earlier is committed
    XA_ROLLBACK     what was prepared earlier is rolled back
    VIEW_CHANGE     Group Replication says that the group has new members
    LOAD_FAILED     the file of a LOAD DATA was logged, then given up
    PAYLOAD         a compressed transaction whose events were not asked for
    INCIDENT        the server says that events are missing
    INTERRUPTED     another transaction begins before this one ended
    CRASH           the log begins anew, goes on elsewhere or stops before this one ended
    UNFINISHED      there are no more events
    """

    XID = "xid"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    STATEMENT = "statement"
    STANDALONE = "standalone"
    START_ALTER = "start_alter"
    COMMIT_ALTER = "commit_alter"
    ROLLBACK_ALTER = "rollback_alter"
    XA_PREPARE = "xa_prepare"
    XA_ONE_PHASE = "xa_one_phase"
    XA_COMMIT = "xa_commit"
    XA_ROLLBACK = "xa_rollback"
    VIEW_CHANGE = "view_change"
    LOAD_FAILED = "load_failed"
    PAYLOAD = "payload"
    INCIDENT = "incident"
    INTERRUPTED = "interrupted"
    CRASH = "crash"
    UNFINISHED = "unfinished"

    @property
    def complete(self) -> bool:
        """Whether the log holds the transaction to its end."""
        return self not in _CUT_SHORT


_CUT_SHORT = frozenset({Ending.INTERRUPTED, Ending.CRASH, Ending.UNFINISHED})


@dataclass(frozen=True, slots=True)
class TableChanges:
    """How often a transaction changes a table in one way: rows events, and their bytes before any compression.

    A rows event whose table the log did not name before has an empty schema, and `#` with the table's id as its table.
    """

    schema: str
    table: str
    operation: RowOperation
    events: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the event says that a transaction begins with. Nothing where a log has no such events.

    gtid                        `uuid:n`, `uuid:tag:n`, MariaDB's `domain-server-n`; None if anonymous
    immediate_commit_timestamp  microseconds since 1970, on the server that wrote the log
    original_commit_timestamp   the same on the server where the transaction was born
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
    """A transaction: a group of events that a replica applies whole.

    number        how many came before it from the same assembler
    file, start   where its first event begins
    end_file, end where its last event ends; the file is another one only in relay logs
    server_id     the server where it was born
    timestamp     of its first event, seconds since 1970
    length        bytes of its events as they stand in the log; `declared_length` should say the same
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
        """Whether the log holds the transaction to its end."""
        return self.ending.complete
