"""A plan applied to a server: each transaction once, many statements with each request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from binspark.columns.selection import Selection
from binspark.cut.condition import SelectedRows
from binspark.diff.gtids import MariadbGtids
from binspark.errors import BinlogError, ConnectionLost, Server, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.log_head import read_head
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Frame, Framer
from binspark.frames.format import Family
from binspark.gtid import MariadbGtid, MariadbPosition
from binspark.os_errors import source_errors
from binspark.position import Position, log_name
from binspark.restore.plan import Decision, FilePlan, Plan
from binspark.restore.script import LOADED_FILE, Command, ScriptWriter, format_statement
from binspark.restore.target import CREATE_PROGRESS, Target, note_begin, store_progress
from binspark.schema.history import SchemaHistory
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect

_READ = 1 << 18
_MAX_REQUEST = 1 << 18
_MAX_STATEMENTS = 500
_PACKET_OVERHEAD = 64
_NO_GTID = b"SET @@session.gtid_next='AUTOMATIC'"
_BEGIN_SESSION = (b"SET @@session.pseudo_slave_mode=1", b"SET @@session.completion_type=0")


@dataclass(frozen=True, slots=True)
class AppliedTransaction:
    """A transaction that is being applied: its GTID, and where it is."""

    gtid: str | None
    file: str
    start: int
    end: int

    def __str__(self) -> str:
        at = f"{log_name(self.file)}:{self.start}"
        return at if self.gtid is None else f"{self.gtid} ({at})"

    @property
    def how_to_skip(self) -> str:
        """The option that leaves it out."""
        if self.gtid is not None:
            return f"--exclude-gtids {self.gtid}"
        return f"--start-position {log_name(self.file)}:{self.end}"


@dataclass(slots=True)
class Applied:
    """How much was applied, and what is left to do by hand."""

    transactions: int = 0
    bytes: int = 0
    last: str = ""
    notice: str = ""


@dataclass(slots=True)
class _Request:
    """Statements that are sent together, each with its transaction."""

    commands: list[tuple[Command, AppliedTransaction]] = field(default_factory=list)
    size: int = 0

    def add(self, command: Command, transaction: AppliedTransaction) -> None:
        self.commands.append((command, transaction))
        self.size += len(command.sql) + 1


class Applier:
    """Applies the transactions of a plan in their order.

    archive      the name under which positions are stored on the server, where GTIDs cannot be used
    on_progress  called after each request
    history      the tables, where the log does not describe them, for a condition on rows
    """

    def __init__(
        self,
        config: ConnectionConfig,
        target: Target,
        selection: Selection,
        archive: str,
        on_progress: Callable[[Applied], None],
        history: SchemaHistory | None = None,
    ) -> None:
        self.applied = Applied()
        self._config = config
        self._target = target
        self._selection = selection
        self._archive = archive
        self._on_progress = on_progress
        self._history = history
        self._selected_rows: SelectedRows | None = None
        self._stored = False
        self._request = _Request()
        self._format = b""

    def apply(self, plan: Plan) -> Applied:
        """Apply a plan; raise an error that names the transaction which failed, and how to continue."""
        self._stored = not self._target.keeps_gtids or plan.anonymous > 0
        note_begin(self._target, self._archive)
        with connect(self._config, scripts=True) as connection:
            self._begin(connection)
            if self._selection.where is not None:
                self._selected_rows = SelectedRows(self._selection, self._history or SchemaHistory())
            writer = ScriptWriter(
                plan.family, self._selection, with_gtids=self._target.keeps_gtids, selected_rows=self._selected_rows
            )
            for file in plan.files:
                if file.count:
                    self._apply_file(connection, file, writer)
            self._send(connection)
        self._set_slave_position(plan)
        return self.applied

    def _set_slave_position(self, plan: Plan) -> None:
        """Let MariaDB know where to continue as a replica: unlike MySQL, it looks up no GTIDs in its log."""
        if not isinstance(self._target.gtids, MariadbGtids) or not plan.positions:
            return
        before = self._target.gtids.applied
        position = before | MariadbPosition.of(map(MariadbGtid.parse, plan.positions.values()))
        if position == before:
            return
        statement = f"SET GLOBAL gtid_slave_pos = '{position}'"
        with connect(self._config, scripts=True) as connection:
            _, error = connection.run_script([statement.encode()])
        if error is not None:
            self.applied.notice = (
                f"gtid_slave_pos is still {str(before)!r}: {error.message}. Before the server becomes a replica, run "
                f"STOP ALL SLAVES; {statement}; or it would apply transactions again"
            )

    def _begin(self, connection: Connection) -> None:
        statements = list(_BEGIN_SESSION)
        if self._stored:
            statements += [sql.encode() for sql in CREATE_PROGRESS]
        _, error = connection.run_script(statements)
        if error is not None:
            raise error

    def _apply_file(self, connection: Connection, plan: FilePlan, writer: ScriptWriter) -> None:
        source = plan.source
        if self._selected_rows is not None:
            self._selected_rows.begin_source(source)
        with source_errors(source.name), source.open() as file:
            description = read_head(file, source.name).frame
            self._use_format(connection, description)
            for number, transaction in self._transactions(plan, file, description):
                writer.begin_transaction()
                known = AppliedTransaction(None, source.name, int(plan.starts[number]), int(plan.ends[number]))
                for event in transaction:
                    if known.gtid is None:
                        known = _identified(known, event)
                    for command in _located(writer.commands(event), known):
                        self._add(connection, command, known)
                self.applied.bytes += known.end - known.start

    def _use_format(self, connection: Connection, description: Frame) -> None:
        statement = format_statement(description)
        if statement != self._format:
            self._send(connection)
            by_gtid = self._target.family is Family.MYSQL and self._target.keeps_gtids
            _, error = connection.run_script([*([_NO_GTID] if by_gtid else ()), statement])
            if error is not None:
                raise error
            self._format = statement

    def _transactions(self, plan: FilePlan, file: LogFile, description: Frame) -> Iterator[tuple[int, Iterator[Event]]]:
        """Yield the events of each transaction that is applied. They must be read before the next one."""
        wanted = np.flatnonzero(plan.decisions == Decision.APPLY).tolist()
        frames = _frames_from(file, description, int(plan.starts[wanted[0]]), plan.source.name)
        decoder = EventDecoder(plan.source.name)
        for number in wanted:
            yield number, _events_between(frames, decoder, int(plan.starts[number]), int(plan.ends[number]))

    def _add(self, connection: Connection, command: Command, transaction: AppliedTransaction) -> None:
        if len(command.sql) + _PACKET_OVERHEAD > self._target.max_packet:
            needed = len(command.sql) + _PACKET_OVERHEAD
            message = (
                f"transaction {transaction} has a row that needs {needed:,} bytes as a statement, and the target's "
                f"max_allowed_packet is {self._target.max_packet:,}: raise it (SET GLOBAL), and run the command again"
            )
            raise Server(message, Position(source=self._target.name))
        if self._stores(transaction):
            if command.is_commit:
                self._add_stored(connection, command, transaction)
                return
            if command.begins_xa:  # nothing else can be executed between its end and its commit
                self._request.add(self._running(transaction), transaction)
        limit = min(_MAX_REQUEST, self._target.max_packet // 2)
        if command.alone or self._request.size + len(command.sql) > limit:
            self._send(connection)
        self._request.add(command, transaction)
        if command.alone or len(self._request.commands) >= _MAX_STATEMENTS:
            self._send(connection)

    def _stores(self, transaction: AppliedTransaction) -> bool:
        """Return whether the position of a transaction is stored on the server, because its GTID is not."""
        return self._stored and (transaction.gtid is None or not self._target.keeps_gtids)

    def _running(self, transaction: AppliedTransaction) -> Command:
        return Command(store_progress(self._archive, transaction.file, transaction.start, is_running=True))

    def _add_stored(self, connection: Connection, command: Command, transaction: AppliedTransaction) -> None:
        """Commit a transaction together with its position; store it twice around what commits by itself."""
        done = Command(store_progress(self._archive, transaction.file, transaction.end))
        if command.ends_xa:
            before, after = [command], [done]
        elif command.commits_itself:
            before, after = [self._running(transaction), command], [done]
        else:
            before, after = [done, command], []
        for each in before + after:
            if each.alone:
                self._send(connection)
            self._request.add(each, transaction)
            if each.alone:
                self._send(connection)
        if len(self._request.commands) >= _MAX_STATEMENTS or self._request.size > _MAX_REQUEST:
            self._send(connection)

    def _send(self, connection: Connection) -> None:
        """Send what is waiting."""
        request, self._request = self._request, _Request()
        if not request.commands:
            return
        done, error = _run(connection, request)
        for command, transaction in request.commands[:done]:
            self._count(command, transaction)
        if error is not None:
            command, transaction = request.commands[min(done, len(request.commands) - 1)]
            if not _is_expected(command, error):
                raise self._failure(connection, error, transaction)
            self._count(command, transaction)
        self._on_progress(self.applied)

    def _count(self, command: Command, transaction: AppliedTransaction) -> None:
        if command.is_commit:
            self.applied.transactions += 1
            self.applied.last = transaction.gtid or f"{log_name(transaction.file)}:{transaction.start}"

    def _failure(self, connection: Connection, error: SourceError, transaction: AppliedTransaction) -> SourceError:
        count = f"{self.applied.transactions:,} transactions were applied before"
        if isinstance(error, ConnectionLost):
            message = f"{error.message}; {count}; run the same command again to continue with {transaction}"
            return ConnectionLost(message, error.position)
        reason = _reason(connection, error)
        if self._stores(transaction):
            self._store_failure(connection, transaction)
        message = (
            f"transaction {transaction} failed: {reason}. {count}. Fix the cause and run the same command again, "
            f"or leave the transaction out with {transaction.how_to_skip}"
        )
        return type(error)(message, error.position)

    def _store_failure(self, connection: Connection, transaction: AppliedTransaction) -> None:
        """Store that what was noted as running was not executed: the server has refused it."""
        connection.run_script([b"ROLLBACK"])  # of an XA transaction nothing is locked that is written here
        with connect(self._config, scripts=True) as other:
            other.run_script([store_progress(self._archive, transaction.file, transaction.start)])


def _run(connection: Connection, request: _Request) -> tuple[int, SourceError | None]:
    """Send a request; a file that it loads is read from here."""
    first, _ = request.commands[0]
    if first.file is None:
        return connection.run_script([command.sql for command, _ in request.commands])
    with first.file as file:
        file.seek(0)
        error = connection.run_load(first.sql, LOADED_FILE, iter(lambda: file.read(_READ), b""))
    return (1, None) if error is None else (0, error)


def _reason(connection: Connection, error: SourceError) -> str:
    """Return what the server says about an error: of rows it says more in its warnings."""
    try:
        listed = [str(row[2]) for row in connection.rows("SHOW WARNINGS") if str(row[0]) == "Error"]
    except SourceError:
        listed = []
    return "; ".join([error.message, *(text for text in listed[:3] if text not in error.message)])


def _is_expected(command: Command, error: SourceError) -> bool:
    return command.error != 0 and f"(error {command.error})" in error.message


def _located(commands: Iterator[Command], transaction: AppliedTransaction) -> Iterator[Command]:
    """Yield commands; an event that cannot be applied is an error that says how to leave its transaction out."""
    try:
        yield from commands
    except BinlogError as error:
        raise type(error)(f"{error.message} with {transaction.how_to_skip}", error.position) from None


def _identified(transaction: AppliedTransaction, event: Event) -> AppliedTransaction:
    from binspark.transactions.transaction import identity_of

    if event.type_code not in _IDENTIFYING:
        return transaction
    gtid = identity_of(event).gtid
    return AppliedTransaction(gtid, transaction.file, transaction.start, transaction.end)


_IDENTIFYING = frozenset({EventCode.GTID, EventCode.GTID_TAGGED, EventCode.MARIADB_GTID})


def _frames_from(file: LogFile, description: Frame, start: int, name: str) -> Iterator[Frame]:
    """Yield the frames of a log from an offset on; a file that cannot be positioned is read from its beginning."""
    if file.seekable():
        file.seek(start)
        framer = Framer(description.format, start)
    else:
        file.seek(0)
        framer = Framer()
    try:
        while chunk := file.read(_READ):
            yield from framer.feed(chunk)
    except BinlogError as error:
        raise error.at(Position(file=name)) from None


def _events_between(frames: Iterator[Frame], decoder: EventDecoder, start: int, end: int) -> Iterator[Event]:
    """Yield the events of a transaction, with those inside payloads instead of the payloads."""
    for frame in frames:
        if frame.offset < start:
            continue
        event = decoder.decode(frame)
        if frame.type_code == EventCode.TRANSACTION_PAYLOAD:
            yield from decoder.inner_events(event)
        else:
            yield event
        if frame.end_offset >= end:
            return
