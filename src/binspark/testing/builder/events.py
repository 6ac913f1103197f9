"""The methods of a builder that write single events, grouped by what the events are about."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import zstandard

from binspark.event.group import TransactionContext, ViewChange
from binspark.event.gtid import LOGICAL_CLOCK, GtidEvent, GtidFlag, PreviousGtids
from binspark.event.gtid_tagged import GtidTagged
from binspark.event.heartbeat import Heartbeat, HeartbeatV2
from binspark.event.incident import Ignorable, Incident, IncidentKind
from binspark.event.load import AppendBlock, BeginLoadQuery, CreateFile, DeleteFile, ExecLoad, Load, Separators
from binspark.event.mariadb import (
    BinlogCheckpoint,
    GtidList,
    MariadbGtidEvent,
    MariadbGtidFlag,
    PartialRowData,
    PartialRowFlag,
    StartEncryption,
)
from binspark.event.payload import LargeTransactionHeader, TransactionPayload
from binspark.event.query import ExecuteLoadQuery, Query, QueryCompressed
from binspark.event.rotate import Slave
from binspark.event.rows_query import AnnotateRows, RowsQuery
from binspark.event.start import StartV3
from binspark.event.status_vars import Charsets, StatusCode, StatusVariable
from binspark.event.unknown import UnknownEvent
from binspark.event.variables import Intvar, IntvarKind, Rand, UserVar, UserVarType
from binspark.event.xa import XaPrepare, Xid
from binspark.frames import EventCode as E
from binspark.frames import Family, HeaderFlag
from binspark.frames.format import version_numbers
from binspark.frames.payload import PayloadCompression
from binspark.gtid import Gtid, GtidSet, MariadbGtid
from binspark.testing.builder.tables import PRE_GA, V1, V2, Change, RowsCodes, Table
from binspark.testing.builder.writer import EventSpec, LogWriter

NO_UUID = "00000000-0000-0000-0000-000000000000"
ANONYMOUS = "anonymous"
_MICROSECONDS = 1_000_000
_MARIADB_GTID_LENGTH = 19
_FLAGS_OFFSET = 13
_EMPTY_LIST_PADDING = 2


class IdentityEvents(LogWriter):
    """GTID, GTID_TAGGED, ANONYMOUS_GTID, PREVIOUS_GTIDS; MariaDB's GTID, GTID_LIST and BINLOG_CHECKPOINT."""

    sequence_number = 0
    """How many transactions the file has: the value of the logical clock."""

    def gtid(self, gtid: str | None, transaction_length: int = 0, *, may_have_sbr: bool = False) -> None:
        """Write GTID, GTID_TAGGED for a GTID with a tag, or ANONYMOUS_GTID for None."""
        parsed = None if gtid is None else Gtid.parse(gtid)
        self.sequence_number += 1
        self.event(*self.gtid_spec(parsed, transaction_length, may_have_sbr=may_have_sbr))

    def gtid_spec(self, gtid: Gtid | None, transaction_length: int, *, may_have_sbr: bool = False) -> EventSpec:
        """Return the GTID event of the transaction with the current sequence number."""
        flags = GtidFlag.MAY_HAVE_SBR if may_have_sbr else 0
        if gtid is not None and gtid.tag:
            return EventSpec(E.GTID_TAGGED, self._tagged(gtid, flags, transaction_length))
        code = E.ANONYMOUS_GTID if gtid is None else E.GTID
        return EventSpec(code, self._untagged(gtid, flags, transaction_length))

    def previous_gtids(self, gtid_set: GtidSet | str) -> None:
        """Write PREVIOUS_GTIDS."""
        executed = GtidSet(gtid_set) if isinstance(gtid_set, str) else gtid_set
        self.event(E.PREVIOUS_GTIDS, PreviousGtids(executed.tagged, executed), HeaderFlag.IGNORABLE)

    def mariadb_gtid(self, gtid: str, gtid_flags: int = MariadbGtidFlag.TRANSACTIONAL) -> None:
        """Write MARIADB_GTID. Its server id is written into the headers of this and the next events."""
        domain, server, sequence = map(int, gtid.split("-"))
        self.server_id = server
        self.event(*self.mariadb_gtid_spec(MariadbGtid(domain, server, sequence), gtid_flags))

    def mariadb_gtid_spec(self, gtid: MariadbGtid, gtid_flags: int) -> EventSpec:
        """Return MARIADB_GTID, padded with zeros to the length that servers write."""
        padding = bytes(_MARIADB_GTID_LENGTH - _FLAGS_OFFSET - 1)
        body = MariadbGtidEvent(gtid.sequence, gtid.domain, gtid_flags, extra_flags=0, padding=padding)
        return EventSpec(E.MARIADB_GTID, body, HeaderFlag.SUPPRESS_USE)

    def gtid_list(self, gtids: tuple[MariadbGtid, ...]) -> None:
        """Write MariaDB's GTID_LIST."""
        self.event(E.GTID_LIST, GtidList(0, gtids, b"" if gtids else bytes(_EMPTY_LIST_PADDING)))

    def binlog_checkpoint(self, log_file: str) -> None:
        """Write MariaDB's BINLOG_CHECKPOINT."""
        self.event(E.BINLOG_CHECKPOINT, BinlogCheckpoint(log_file))

    def _untagged(self, gtid: Gtid | None, flags: int, transaction_length: int) -> GtidEvent:
        """Return the event with the fields that a server of this version writes."""
        version = version_numbers(self.server.server_version)
        sid, gno = (NO_UUID, 0) if gtid is None else (gtid.uuid, gtid.number)
        if version < (5, 7, 0):
            return GtidEvent(flags, sid, gno)
        clock = (LOGICAL_CLOCK, self.sequence_number - 1, self.sequence_number)
        if version < (8, 0, 1):
            return GtidEvent(flags, sid, gno, *clock)
        commit_time = self.timestamp * _MICROSECONDS
        times = (commit_time, commit_time, transaction_length)
        number = self.server.version_number
        return GtidEvent(flags, sid, gno, *clock, *times, number, number)

    def _tagged(self, gtid: Gtid, flags: int, transaction_length: int) -> GtidTagged:
        commit_time, version = self.timestamp * _MICROSECONDS, self.server.version_number
        return GtidTagged(
            gtid_flags=flags,
            sid=gtid.uuid,
            gno=gtid.number,
            tag=gtid.tag,
            last_committed=self.sequence_number - 1,
            sequence_number=self.sequence_number,
            immediate_commit_timestamp=commit_time,
            original_commit_timestamp=commit_time,
            transaction_length=transaction_length,
            immediate_server_version=version,
            original_server_version=version,
        )


_FIRST_TABLE_ID = 106
_PRE_RELEASE_TYPES = 22


class RowEvents(LogWriter):
    """TABLE_MAP, and the rows events of every version.

    full_metadata   whether TABLE_MAP has column names and other optional metadata (binlog_row_metadata=FULL)
    """

    full_metadata = True

    def table_map(self, table: Table, table_id: int = _FIRST_TABLE_ID) -> None:
        """Write TABLE_MAP."""
        self.event(E.TABLE_MAP, table.table_map(table_id, full_metadata=self.full_metadata))

    def rows(self, change: Change, table_id: int = _FIRST_TABLE_ID, codes: RowsCodes | None = None) -> None:
        """Write a rows event of the version that the server writes, or of the one that `codes` selects."""
        self.event(*self._rows_spec(change, table_id, codes or self.default_rows_codes()))

    def default_rows_codes(self) -> RowsCodes:
        """Return the type codes of the rows events that the server writes."""
        if len(self.server.post_header_lengths) == _PRE_RELEASE_TYPES:
            return PRE_GA
        return V2 if self.server.writes_rows_v2 else V1

    def change_specs(self, changes: tuple[Change, ...], codes: RowsCodes | None = None) -> list[EventSpec]:
        """Return a TABLE_MAP and a rows event for each change. Each table has one table id."""
        tables = list(dict.fromkeys(change.table for change in changes))
        specs: list[EventSpec] = []
        for change in changes:
            table_id = _FIRST_TABLE_ID + tables.index(change.table)
            specs.append(EventSpec(E.TABLE_MAP, change.table.table_map(table_id, full_metadata=self.full_metadata)))
            specs.append(self._rows_spec(change, table_id, codes or self.default_rows_codes()))
        return specs

    def _rows_spec(self, change: Change, table_id: int, codes: RowsCodes) -> EventSpec:
        rows = change.rows(table_id)
        if codes is PRE_GA:
            rows = replace(rows, columns_after=None)
        return EventSpec(codes.of(change.operation), rows)


_UTF8 = 33
_BINARY = 63
_SQL_MODES = {Family.MYSQL: 1168113696, Family.MARIADB: 1411383296}
_DEFAULT_SEPARATORS = Separators(b"\t", b"", b"\n", b"", b"\\")
_OLD_SEPARATORS = Separators(b"\t", b"\0", b"\n", b"\0", b"\\", empty_flags=0x0A)


class StatementEvents(LogWriter):
    """QUERY, and the events that belong to statements.

    thread_id   the connection whose statements the next events are
    """

    thread_id = 8

    def query(self, sql: str, schema: str = "", *, status_vars: tuple[StatusVariable, ...] | None = None) -> None:
        """Write QUERY."""
        self.event(*self.query_spec(sql, schema, status_vars=status_vars))

    def query_spec(
        self, sql: str, schema: str = "", *, status_vars: tuple[StatusVariable, ...] | None = None
    ) -> EventSpec:
        """Return a QUERY. Without a schema it has the header flag SUPPRESS_USE."""
        variables = self.default_status_vars() if status_vars is None else status_vars
        flags = 0 if schema or self.format.version < 3 else HeaderFlag.SUPPRESS_USE
        return EventSpec(E.QUERY, Query(self.thread_id, 0, 0, schema, variables, sql.encode()), flags)

    def query_compressed(self, sql: str, schema: str = "") -> None:
        """Write MariaDB's QUERY_COMPRESSED."""
        body = QueryCompressed(self.thread_id, 0, 0, schema, self.default_status_vars(), sql.encode())
        self.event(E.QUERY_COMPRESSED, body)

    def default_status_vars(self) -> tuple[StatusVariable, ...]:
        """Return the status variables that a server writes with every statement."""
        if not self.format.is_v4:
            return ()
        return (
            StatusVariable(StatusCode.FLAGS2, 0),
            StatusVariable(StatusCode.SQL_MODE, _SQL_MODES[self.format.family]),
            StatusVariable(StatusCode.CATALOG_NZ, "std"),
            StatusVariable(StatusCode.CHARSET, Charsets(_UTF8, _UTF8, _UTF8)),
        )

    def last_insert_id(self, value: int) -> None:
        """Write INTVAR: the value of LAST_INSERT_ID() in the next statement."""
        self.event(E.INTVAR, Intvar(IntvarKind.LAST_INSERT_ID, value))

    def insert_id(self, value: int) -> None:
        """Write INTVAR: the first AUTO_INCREMENT value of the next statement."""
        self.event(E.INTVAR, Intvar(IntvarKind.INSERT_ID, value))

    def rand(self, seed1: int, seed2: int) -> None:
        """Write RAND."""
        self.event(E.RAND, Rand(seed1, seed2))

    def user_var(self, name: str, value: bytes | str | int | float | Decimal | None) -> None:
        """Write USER_VAR with the type of the value."""
        self.event(E.USER_VAR, _user_var(name, value))

    def rows_query(self, sql: str) -> None:
        """Write ROWS_QUERY."""
        self.event(*self.rows_query_spec(sql))

    def rows_query_spec(self, sql: str) -> EventSpec:
        """Return a ROWS_QUERY."""
        return EventSpec(E.ROWS_QUERY, RowsQuery(sql.encode()), HeaderFlag.IGNORABLE)

    def annotate_rows(self, sql: str) -> None:
        """Write MariaDB's ANNOTATE_ROWS."""
        self.event(*self.annotate_rows_spec(sql))

    def annotate_rows_spec(self, sql: str) -> EventSpec:
        """Return an ANNOTATE_ROWS."""
        return EventSpec(E.ANNOTATE_ROWS, AnnotateRows(sql.encode()))

    def begin_load_query(self, file_id: int, block: bytes) -> None:
        """Write BEGIN_LOAD_QUERY: the first block of a file."""
        self.event(E.BEGIN_LOAD_QUERY, BeginLoadQuery(file_id, block))

    def append_block(self, file_id: int, block: bytes) -> None:
        """Write APPEND_BLOCK: another block of a file."""
        self.event(E.APPEND_BLOCK, AppendBlock(file_id, block))

    def delete_file(self, file_id: int) -> None:
        """Write DELETE_FILE: the load failed."""
        self.event(E.DELETE_FILE, DeleteFile(file_id))

    def execute_load_query(self, file_id: int, sql: str, file_name: str, schema: str = "") -> None:
        """Write EXECUTE_LOAD_QUERY; the statement must contain the quoted name of the file."""
        quoted = f"'{file_name}'".encode()
        start = sql.encode().index(quoted)
        body = ExecuteLoadQuery(
            self.thread_id, 0, 0, schema, self.default_status_vars(), sql.encode(), file_id, start, start + len(quoted)
        )
        self.event(E.EXECUTE_LOAD_QUERY, body)

    def load(self, schema: str, table: str, file_name: str, fields: tuple[str, ...] = ()) -> None:
        """Write LOAD, the event of MySQL 3.23."""
        self.event(E.LOAD, Load(self.thread_id, 0, 0, _OLD_SEPARATORS, fields, table, schema, file_name))

    def new_load(self, schema: str, table: str, file_name: str, fields: tuple[str, ...] = ()) -> None:
        """Write NEW_LOAD, the event of MySQL 4.0."""
        self.event(E.NEW_LOAD, Load(self.thread_id, 0, 0, _DEFAULT_SEPARATORS, fields, table, schema, file_name))

    def create_file(
        self, file_id: int, block: bytes, schema: str, table: str, file_name: str, fields: tuple[str, ...] = ()
    ) -> None:
        """Write CREATE_FILE, the event of MySQL 4.0: a load, and the first block of its file."""
        body = CreateFile(self.thread_id, 0, 0, _DEFAULT_SEPARATORS, fields, table, schema, file_name, file_id, block)
        self.event(E.CREATE_FILE, body)

    def exec_load(self, file_id: int) -> None:
        """Write EXEC_LOAD: the file is complete."""
        self.event(E.EXEC_LOAD, ExecLoad(file_id))


def _user_var(name: str, value: bytes | str | int | float | Decimal | None) -> UserVar:
    match value:
        case None:
            return UserVar(name, None, None, None)
        case str():
            return UserVar(name, UserVarType.STRING, _UTF8, value.encode(), flags=0)
        case bytes():
            return UserVar(name, UserVarType.STRING, _BINARY, value, flags=0)
        case float():
            return UserVar(name, UserVarType.REAL, _BINARY, value, flags=0)
        case Decimal():
            precision = max(len(value.as_tuple().digits), -int(value.as_tuple().exponent))
            return UserVar(name, UserVarType.DECIMAL, _BINARY, value, precision, flags=0)
        case int():
            return UserVar(name, UserVarType.INT, _BINARY, value, flags=int(value >= 1 << 63))


class OtherEvents(LogWriter):
    """Ends of transactions, payloads, heartbeats, incidents, Group Replication, encryption."""

    def start_v3(self) -> None:
        """Write START_V3, the first event of a log before version 4."""
        body = StartV3(self.format.version, self.server.server_version, self.timestamp)
        self.event(E.START_V3, body)

    def xid(self, number: int) -> None:
        """Write XID: the transaction committed."""
        self.event(E.XID, Xid(number))

    def xa_prepare(self, gtrid: bytes, bqual: bytes = b"", format_id: int = 1, *, one_phase: bool = False) -> None:
        """Write XA_PREPARE."""
        self.event(E.XA_PREPARE, XaPrepare(one_phase, format_id, gtrid, bqual))

    def transaction_payload(
        self, specs: list[EventSpec], compression: PayloadCompression = PayloadCompression.ZSTD
    ) -> None:
        """Write TRANSACTION_PAYLOAD with events inside it."""
        self.event(*self.payload_spec(specs, compression))

    def payload_spec(
        self, specs: list[EventSpec], compression: PayloadCompression = PayloadCompression.ZSTD
    ) -> EventSpec:
        """Return a TRANSACTION_PAYLOAD."""
        inner = self.inner_bytes(specs)
        if compression is PayloadCompression.NONE:
            return EventSpec(E.TRANSACTION_PAYLOAD, TransactionPayload(compression, None, inner))
        packed = zstandard.ZstdCompressor().compress(inner)
        return EventSpec(E.TRANSACTION_PAYLOAD, TransactionPayload(compression, len(inner), packed))

    def large_transaction_header(self, end_offset: int, end_type: int = E.XID, padding: int = 0) -> None:
        """Write LARGE_TRANSACTION_HEADER."""
        self.event(E.LARGE_TRANSACTION_HEADER, LargeTransactionHeader(1, end_offset, end_type, bytes(padding)))

    def heartbeat(self, log_file: str) -> None:
        """Write HEARTBEAT, which servers send to replicas but do not log."""
        self.event(E.HEARTBEAT, Heartbeat(log_file))

    def heartbeat_v2(self, log_file: str, position: int) -> None:
        """Write HEARTBEAT_V2, which servers send to replicas but do not log."""
        self.event(E.HEARTBEAT_V2, HeartbeatV2(log_file, position))

    def incident(self, message: str, kind: int = IncidentKind.LOST_EVENTS) -> None:
        """Write INCIDENT: events may be missing."""
        self.event(E.INCIDENT, Incident(kind, message))

    def ignorable(self, data: bytes = b"") -> None:
        """Write IGNORABLE."""
        self.event(E.IGNORABLE, Ignorable(data))

    def slave(self, host: str, log_file: str, position: int = 4, port: int = 3306) -> None:
        """Write SLAVE, the event of MySQL 3.23."""
        self.event(E.SLAVE, Slave(position, port, host, log_file))

    def transaction_context(self, snapshot: str, write_set: tuple[bytes, ...], read_set: tuple[bytes, ...]) -> None:
        """Write Group Replication's TRANSACTION_CONTEXT."""
        executed = GtidSet(snapshot)
        sets = (executed, executed.tagged, write_set, read_set)
        self.event(E.TRANSACTION_CONTEXT, TransactionContext(self.server_uuid, 8, False, *sets))

    def view_change(self, view_id: str, sequence_number: int, info: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Write Group Replication's VIEW_CHANGE."""
        self.event(E.VIEW_CHANGE, ViewChange(view_id, sequence_number, info))

    def start_encryption(self, nonce: bytes, key_version: int = 1) -> None:
        """Write MariaDB's START_ENCRYPTION, after which a reader expects encrypted bytes."""
        self.event(E.START_ENCRYPTION, StartEncryption(1, key_version, nonce))

    def partial_row_data(self, rows_event: bytes, fragment_size: int) -> None:
        """Write the fragments of a rows event as MariaDB's PARTIAL_ROW_DATA."""
        starts = range(0, len(rows_event), fragment_size)
        for number, start in enumerate(starts, 1):
            first = number == 1
            flags = PartialRowFlag.ORIGINAL_EVENT_SIZE if first else 0
            fragment = rows_event[start : start + fragment_size]
            size = len(rows_event) if first else None
            self.event(E.PARTIAL_ROW_DATA, PartialRowData(len(starts), number, flags, size, fragment))

    def unknown(self, body: bytes, type_code: int = E.UNKNOWN) -> None:
        """Write an event of an undocumented type."""
        self.event(type_code, UnknownEvent(type_code, body))
