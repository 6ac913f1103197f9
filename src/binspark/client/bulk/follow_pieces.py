"""A server's whole transactions for good: in bulk by the places in its files, one by one where GTIDs lead the way."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from binspark.client.bulk.held_run import HeldRun
from binspark.client.bulk.pieces import BytesPiece, GroupPiece, Piece
from binspark.client.bulk.runs import EventRuns, Run
from binspark.client.connect import Connection
from binspark.client.facts import Gtids
from binspark.client.follow import read_groups
from binspark.client.follow_files import created_after
from binspark.client.following import Following
from binspark.client.gtid_memory import GtidMemory, own_kind, remember
from binspark.client.identity import ServerIdentity
from binspark.client.options import ConnectionOptions
from binspark.client.reopen import Reopened
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings
from binspark.client.stream import StreamEvent
from binspark.client.until import Until
from binspark.client.watch import ResetWatch
from binspark.files.sources import log_order
from binspark.frames import EventCode, LogFormat
from binspark.frames.format import Family
from binspark.gtid import GtidSet
from binspark.transactions import Transaction

_ENOUGH_BYTES = 2 << 20
_TICK_SECONDS = 0.5

log = logging.getLogger("binspark.archive")


class PieceFollower(Following[Piece]):
    """Pieces of a server's log, as large as what has come: every transaction once, over lost connections.

    What is not whole is held back; after a lost connection it comes again. Where GTIDs lead the way (to another server,
    or from GTIDs, or to some), pieces are single transactions; so they are if they are not wanted `in_bulk`. As soon as
    the place in a file is enough, another connection goes on there in bulk. A stream by GTIDs is not made of the bytes
    of the log: MySQL clears the creation time in the first event of each file, even where it leaves nothing out any
    more, and where the log has no checksums it leaves that event the one it had.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        start: ResumePoint,
        settings: FollowSettings,
        until: Until | None = None,
        *,
        in_bulk: bool = True,
    ) -> None:
        super().__init__(options, start, settings, None)
        self._until = until or Until()
        self._in_bulk = in_bulk and (self._until.gtids is None or bool(self._until.file))
        self._first_server = start.server
        self._seen: GtidMemory | None = None
        self._may_turn = self._turns_to_bulk = False

    def _read_connection(self, connection: Connection) -> Iterator[Piece]:
        """Read from one connection. Where it has come to a place in a file by GTIDs, go on over another in bulk.

        The other one may reach another server, if an address stands for several. It is used as it is then.
        """
        self._may_turn, self._turns_to_bulk = True, False
        yield from super()._read_connection(connection)
        if self._turns_to_bulk and not self._reconnector.stopped:
            self._may_turn = False
            connection.close()
            with self._reconnector.connect() as another:
                yield from super()._read_connection(another)

    def _read(self, reopened: Reopened, watch: ResetWatch) -> Iterator[Piece]:
        if self._until.is_behind(reopened.point):
            return iter(())
        if reopened.by_file and self._may_be_bulk(reopened.identity):
            return self._read_bytes(reopened, watch)
        return self._read_groups(reopened, watch)

    def _may_be_bulk(self, identity: ServerIdentity) -> bool:
        """Tell whether bulk is wanted, and ends where it should: a file to end in is one of the first server."""
        return self._in_bulk and (not self._until.file or self._first_server in ("", identity.uuid))

    def _read_bytes(self, reopened: Reopened, watch: ResetWatch) -> Iterator[BytesPiece]:
        runs = EventRuns(reopened, _TICK_SECONDS, self._until.stop)
        holding = _Holding(reopened.point, reopened.identity, self._settings.memory_bytes)
        for run in runs:
            if run.event is not None and run.event.heartbeat:
                watch.heartbeat(reopened.stream)
            if holding.add(run):
                self._reconnector.progressed()
            if holding.is_whole and (runs.is_drained or runs.is_stopped or holding.has_enough or _turns(run.event)):
                yield self._taken(holding)
            if runs.is_stopped or self._ends(run.event):
                return
        if holding.is_whole:
            yield self._taken(holding)

    def _taken(self, holding: _Holding) -> BytesPiece:
        piece = holding.take()
        self._point = piece.resume
        return piece

    def _read_groups(self, reopened: Reopened, watch: ResetWatch) -> Iterator[GroupPiece]:
        until = self._until
        for group in read_groups(reopened, watch, self._settings.memory_bytes, self._reconnector.progressed):
            transaction = group.transaction
            if transaction is not None and until.seconds and transaction.timestamp >= until.seconds:
                return
            self._point = group.resume
            yield GroupPiece(group)
            if until.is_behind(group.resume) or (transaction is None and until.is_over()):
                return
            if until.gtids is not None and self._has_seen(until.gtids, transaction, reopened.identity.family):
                return
            if self._may_turn and group.resume.by_file and self._may_be_bulk(reopened.identity):
                self._turns_to_bulk = True
                return

    def _has_seen(self, wanted: Gtids, transaction: Transaction | None, family: Family) -> bool:
        """Tell whether all GTIDs to end with have come."""
        if self._seen is None:
            self._seen = remember(GtidSet(), family)
        if transaction is not None and transaction.gtid is not None:
            self._seen.add(transaction.gtid)
        return bool(wanted <= self._seen.freeze())  # type: ignore[operator]

    def _ends(self, event: StreamEvent | None) -> bool:
        """Tell whether an event says that the end is behind."""
        until = self._until
        if event is not None and event.heartbeat:
            return until.is_over()
        return _turns(event) and bool(until.file) and log_order(event.file) > log_order(until.file)  # type: ignore[union-attr]


def _turns(event: StreamEvent | None) -> bool:
    """Tell whether the stream goes on in a file, be it another one or the same."""
    return event is not None and event.type_code == EventCode.ROTATE and not event.in_file


class _Holding:
    """Runs that came and were not given out yet."""

    def __init__(self, point: ResumePoint, identity: ServerIdentity, memory_bytes: int) -> None:
        self._first_file = point.file
        self._created = point.created
        self._identity = identity
        has_gtids = identity.gtids_enabled and point.gtids is not None
        self._gtids = own_kind(point.gtids, identity.family) if has_gtids else None  # type: ignore[arg-type]
        self._memory_bytes = memory_bytes
        self._held: HeldRun | None = None
        self._format: LogFormat | None = None
        self._whole_end = 0

    @property
    def is_whole(self) -> bool:
        """Whether there is a whole transaction, or something that is none."""
        return self._held is not None and self._whole_end > self._held.offset

    @property
    def has_enough(self) -> bool:
        return self._held is not None and self._held.end - self._held.offset >= _ENOUGH_BYTES

    def add(self, run: Run) -> bool:
        """Hold a run; tell whether it says that the connection is of use."""
        event = run.event
        if event is not None:
            self._created = created_after(event, self._created, self._first_file)
        if run.data:
            if self._held is None or self._held.file != run.file:
                self._turn_to(run)
            assert self._held is not None
            self._held.add(run.data, is_odd=run.is_odd)
            self._whole_end = run.whole_end or self._whole_end
        self._format = run.format
        return bool(run.data) or (event is not None and event.heartbeat)

    def take(self) -> BytesPiece:
        """Give out what is whole."""
        held = self._held
        assert held is not None
        assert self._format is not None
        data, self._held = held.cut(self._whole_end, self._format)
        place = ResumePoint(held.file, self._whole_end, None, self._identity.uuid, self._created)
        chunk = (held.file, held.offset, held.format, data)
        piece = BytesPiece(*chunk, held.is_odd, place, self._gtids, self._identity.gtids_enabled)
        self._gtids = piece.resume.gtids
        return piece

    def _turn_to(self, run: Run) -> None:
        """Begin another file. A transaction that the last one does not end was cut short by a crash."""
        if self._held is not None and self._held.end > self._held.offset:
            place = f"{self._held.file}:{self._held.offset}"
            log.warning("%s: a transaction that a crash cut short is left out: it was not committed", place)
        self._held = HeldRun(run.file, run.offset, run.format, self._memory_bytes)
        self._whole_end = 0
