"""The events of transactions as statements that a server executes: rows as BINLOG, statements as they were."""

from __future__ import annotations

import tempfile
import zlib
from binascii import b2a_base64
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Any

from binspark.changes.statements import statement_tables
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import selects_changes
from binspark.cut.condition import SelectedRows
from binspark.errors import BinlogError, Malformed, Unsupported
from binspark.event import (
    AppendBlock,
    BeginLoadQuery,
    CreateFile,
    DeleteFile,
    Event,
    ExecuteLoadQuery,
    GtidEvent,
    GtidTagged,
    Incident,
    Intvar,
    Load,
    MariadbGtidEvent,
    PartialRowData,
    Query,
    QueryCompressed,
    Rand,
    Rows,
    TableMap,
    UserVar,
    XaPrepare,
    Xid,
    encode_body,
)
from binspark.event.mariadb import MariadbGtidFlag
from binspark.event.query import DuplicateHandling
from binspark.event.rows import ROWS_KINDS, UNCOMPRESSED, RowsFlag
from binspark.frames.format import CHECKSUM_LENGTH, SERVER_VERSION_LENGTH, Family, carries_checksum
from binspark.frames.frame import Frame
from binspark.frames.header import HEADER_LENGTH
from binspark.transactions.draft import is_ddl
from binspark.transactions.grammar import Ending, Role, boundary_of
from binspark.transactions.session import SessionSql

_TIMESTAMP, _SIZE, _NEXT_POSITION = slice(0, 4), slice(9, 13), slice(13, 17)
_CREATED = slice(HEADER_LENGTH + 2 + SERVER_VERSION_LENGTH, HEADER_LENGTH + 6 + SERVER_VERSION_LENGTH)
_MAX_ROWS_BYTES = 1 << 19
_BEGIN = b"START TRANSACTION"  # in MariaDB's sql_mode ORACLE, BEGIN begins a block of statements
_MAX_FILE_IN_MEMORY = 16 << 20
LOADED_FILE = b"binspark"
"""The name of the file that LOAD DATA LOCAL loads."""


@dataclass(frozen=True, slots=True)
class Command:
    """A statement for the server.

    alone           whether it is sent by itself, because it may end in a comment, or commit
    is_commit       whether a transaction ends with it
    commits_itself  whether it does not belong to the transaction of other statements
    begins_xa       whether an XA transaction begins with it, and
    ends_xa         whether that is prepared or committed by it
    error           the error code with which it failed on its source, too: that is not a failure then
    file            the file that LOAD DATA LOCAL loads; the server asks for it by the name LOADED_FILE
    """

    sql: bytes
    alone: bool = False
    is_commit: bool = False
    commits_itself: bool = False
    begins_xa: bool = False
    ends_xa: bool = False
    error: int = 0
    file: IO[bytes] | None = None


def format_statement(description: Frame) -> bytes:
    """Return the statement with which a session begins: the format of the events that follow.

    They follow without checksums. As the log is not applied from its beginning, it has no time of creation.
    """
    data = bytearray(description.data)
    data[_TIMESTAMP] = data[_NEXT_POSITION] = data[_CREATED] = bytes(4)  # the same for logs of the same format
    if carries_checksum(description.format.server_version):
        data[-CHECKSUM_LENGTH - 1] = 0
        data[17] &= 0xFE  # the log is not in use
        data[-CHECKSUM_LENGTH:] = zlib.crc32(bytes(data[:-CHECKSUM_LENGTH])).to_bytes(4, "little")
    return _binlog(bytes(data))


class ScriptWriter:
    """Writes the statements of one transaction after the other, event by event."""

    def __init__(
        self, family: Family, selection: Selection, *, with_gtids: bool, selected_rows: SelectedRows | None = None
    ) -> None:
        self._family = family
        self._selection = selection
        self._with_gtids = with_gtids
        self._selected_rows = selected_rows
        self._session = SessionSql(family)
        self._maps: dict[int, tuple[bytes, bool]] = {}
        self._rows: list[bytes] = []
        self._row_tables: dict[int, None] = {}
        self._size = 0
        self._in_transaction = False
        self._gtid = b""
        self._files: dict[int, IO[bytes]] = {}

    def begin_transaction(self) -> None:
        """Begin with the events of another transaction."""
        self._maps.clear()
        self._files.clear()
        self._in_transaction = False

    def commands(self, event: Event) -> Iterator[Command]:
        """Yield the statements of an event."""
        body = event.body
        if self._selected_rows is not None:
            self._selected_rows.note(event)
        if isinstance(body, Rows):
            yield from self._add_rows(event)
            return
        if isinstance(body, TableMap):
            self._maps[body.table_id] = (_plain(event.frame), self._selection.wants(f"{body.schema}.{body.table}"))
            return
        yield from self._flush_rows()
        write = _WRITERS.get(type(body))
        if write is not None:
            yield from write(self, event)

    def gtid(self, event: Event) -> Iterator[Command]:
        """Begin a transaction with its GTID."""
        body: GtidEvent | GtidTagged = event.body
        if not self._with_gtids:
            return
        if body.gtid is None:
            yield Command(b"SET @@session.gtid_next='AUTOMATIC'")
        else:
            yield Command(f"SET @@session.gtid_next='{body.gtid}'".encode())
            if body.original_commit_timestamp is not None:
                yield Command(f"SET @@session.original_commit_timestamp={body.original_commit_timestamp}".encode())

    def mariadb_gtid(self, event: Event) -> Iterator[Command]:
        """Begin a transaction of MariaDB: its GTID is BEGIN, too, unless it is for a single statement."""
        body: MariadbGtidEvent = event.body
        if self._with_gtids:
            domain, server, number = body.domain_id, event.header.server_id, body.sequence_number
            names = f"@@session.gtid_domain_id={domain}, @@session.server_id={server}, @@session.gtid_seq_no={number}"
            self._gtid = f"SET {names}".encode()
            yield Command(self._gtid)
        if body.gtid_flags & MariadbGtidFlag.STANDALONE:
            return
        for sql in self._session.begin(event.header.timestamp):
            yield Command(sql)
        self._in_transaction = True
        if body.gtid_flags & MariadbGtidFlag.PREPARED_XA and body.xid is not None:
            yield Command(f"XA START {body.xid.name}".encode(), begins_xa=True)
        else:
            yield Command(_BEGIN)

    def query(self, event: Event) -> Iterator[Command]:
        """Run a statement in its session; BEGIN needs no more than its time."""
        query: Query = event.body
        boundary = boundary_of(event)
        if boundary.role is Role.BEGINS:
            for sql in self._session.begin(event.header.timestamp):
                yield Command(sql)
            self._in_transaction = True
            is_xa = query.query[:2].upper() == b"XA"
            yield Command(query.query if is_xa else _BEGIN, begins_xa=is_xa)
            return
        if boundary.ending is Ending.COMMIT:
            yield Command(b"COMMIT", is_commit=True)
            return
        if self._family is Family.MARIADB and self._in_transaction and is_ddl(query.query):
            yield from self._create_and_fill(event)
            return
        if boundary.role is Role.STATEMENT and not self._wants_statement(query):
            return
        for sql in self._session.before(event):
            yield Command(sql)
        ends = not self._in_transaction or boundary.role is Role.ENDS
        commits_itself = not self._in_transaction and boundary.role in (Role.STATEMENT, Role.ENDS)
        yield Command(query.query, alone=True, is_commit=ends, commits_itself=commits_itself, error=query.error_code)
        if is_ddl(query.query):  # it may have dropped the current database
            self._session.forget_schema()

    def _wants_statement(self, query: Query) -> bool:
        """Return whether a statement is about tables that are selected; one that names none is, unless some are."""
        selection = self._selection
        if not selects_changes(selection):
            return True
        named = statement_tables(query.query, query.schema)
        return any(map(selection.wants, named)) or (not named and selection.tables is None)

    def _create_and_fill(self, event: Event) -> Iterator[Command]:
        """Create the table of CREATE TABLE … SELECT, whose rows follow.

        A client's CREATE commits, and would take the GTID: interrupted then, the rows would never be applied. So it is
        not logged; if it is executed again, it fails because the table is there.
        """
        yield Command(b"COMMIT")
        yield Command(b"SET @@session.sql_log_bin=0")
        for sql in self._session.before(event):
            yield Command(sql)
        yield Command(event.body.query, alone=True)
        yield Command(b"SET @@session.sql_log_bin=1")
        if self._gtid:
            yield Command(self._gtid)
        yield Command(_BEGIN)

    def variable(self, event: Event) -> Iterator[Command]:
        """Set a variable that the next statement uses."""
        try:
            statements = self._session.variable(event.body)
        except BinlogError as error:
            raise error.at(event.position) from None
        for sql in statements:
            yield Command(sql)

    def xid(self, _event: Event) -> Iterator[Command]:
        """Commit."""
        yield Command(b"COMMIT", is_commit=True)

    def xa_prepare(self, event: Event) -> Iterator[Command]:
        """Prepare an XA transaction, or commit it in one phase."""
        prepare: XaPrepare = event.body
        how = f"XA COMMIT {prepare.name} ONE PHASE" if prepare.one_phase else f"XA PREPARE {prepare.name}"
        yield Command(how.encode(), is_commit=True, ends_xa=True)

    def add_block(self, event: Event) -> Iterator[Command]:
        """Keep a block of a file that LOAD DATA will load."""
        block: AppendBlock = event.body
        if isinstance(block, BeginLoadQuery):
            self._files[block.file_id] = tempfile.SpooledTemporaryFile(_MAX_FILE_IN_MEMORY)  # noqa: SIM115
        file = self._files.get(block.file_id)
        if file is None:
            raise Malformed(f"block of an unknown file {block.file_id}", event.position)
        file.write(block.block)
        return iter(())

    def delete_file(self, event: Event) -> Iterator[Command]:
        """Forget a file that is not loaded."""
        self._files.pop(event.body.file_id, None)
        return iter(())

    def load(self, event: Event) -> Iterator[Command]:
        """Load a file whose blocks came before, from here."""
        query: ExecuteLoadQuery = event.body
        file = self._files.pop(query.file_id, None)
        if file is None:
            raise Malformed(f"LOAD DATA of an unknown file {query.file_id}", event.position)
        for sql in self._session.before(event):
            yield Command(sql)
        replaces = b" REPLACE" if query.duplicate_handling == DuplicateHandling.REPLACE else b""
        local = b" LOCAL INFILE '%b'%b INTO" % (LOADED_FILE, replaces)
        sql = query.query[: query.file_name_start] + local + query.query[query.file_name_end :]
        is_commit = not self._in_transaction
        yield Command(sql, alone=True, is_commit=is_commit, commits_itself=is_commit, error=query.error_code, file=file)

    def refuse(self, event: Event) -> Iterator[Command]:
        """Refuse what cannot be applied by statements."""
        what = "the source lost events here" if isinstance(event.body, Incident) else f"{event.type} cannot be applied"
        message = f"{what}; find out what is missing here, apply it by hand, and leave this transaction out"
        raise Unsupported(message, event.position)

    def _add_rows(self, event: Event) -> Iterator[Command]:
        rows: Rows = event.body
        known = self._maps.get(rows.table_id)
        is_wanted = known is not None and known[1] and self._selection.wants_operation(rows.operation)
        left = rows if self._selected_rows is None else self._selected_rows.left_of(event, rows)
        if is_wanted and left is not None:
            self._rows.append(_plain_rows(event, left))
            self._row_tables[rows.table_id] = None
            self._size += len(self._rows[-1])
        if rows.ends_statement or self._size > _MAX_ROWS_BYTES:
            yield from self._flush_rows()
        if rows.ends_statement:
            self._maps.clear()

    def _flush_rows(self) -> Iterator[Command]:
        """Write the rows so far as one statement, the last event of which ends it."""
        if self._rows:
            self._rows[-1] = _ending_statement(self._rows[-1])
            maps = [self._maps[table][0] for table in self._row_tables]
            yield Command(_binlog(b"".join([*maps, *self._rows])))
            self._rows, self._row_tables, self._size = [], {}, 0


_WRITERS: dict[type, Any] = {
    GtidEvent: ScriptWriter.gtid,
    GtidTagged: ScriptWriter.gtid,
    MariadbGtidEvent: ScriptWriter.mariadb_gtid,
    Query: ScriptWriter.query,
    QueryCompressed: ScriptWriter.query,
    Intvar: ScriptWriter.variable,
    Rand: ScriptWriter.variable,
    UserVar: ScriptWriter.variable,
    Xid: ScriptWriter.xid,
    XaPrepare: ScriptWriter.xa_prepare,
    BeginLoadQuery: ScriptWriter.add_block,
    AppendBlock: ScriptWriter.add_block,
    DeleteFile: ScriptWriter.delete_file,
    ExecuteLoadQuery: ScriptWriter.load,
    **dict.fromkeys((Load, CreateFile, Incident, PartialRowData), ScriptWriter.refuse),
}


def _binlog(events: bytes) -> bytes:
    return b"BINLOG '" + b2a_base64(events, newline=False) + b"'"


def _plain(frame: Frame) -> bytes:
    """Return an event without its checksum."""
    return _sized(bytearray(frame.data[: frame.body_end]))


def _sized(data: bytearray) -> bytes:
    data[_SIZE] = len(data).to_bytes(4, "little")
    return bytes(data)


def _plain_rows(event: Event, rows: Rows) -> bytes:
    """Return a rows event with some of its rows, without checksum, and not compressed: BINLOG does not accept that."""
    frame = event.frame
    if rows is event.body and rows.compressed is None:
        return _plain(frame)
    code = UNCOMPRESSED.get(frame.type_code, frame.type_code)
    body = encode_body(code, replace(rows, compressed=None), frame.format, event.extra)
    data = bytearray(frame.data[: frame.body_start]) + body
    data[4] = code
    return _sized(data)


def _ending_statement(event: bytes) -> bytes:
    """Return a rows event with the flag that its statement ends."""
    at = HEADER_LENGTH + (4 if ROWS_KINDS[event[4]].version == 0 else 6)
    changed = bytearray(event)
    changed[at] |= RowsFlag.STMT_END
    return bytes(changed)
