"""How far a reader has come: the resume point, moved by what was delivered."""

from __future__ import annotations

from binspark.client.gtid_memory import GtidMemory, own_kind, remember
from binspark.client.identity import ServerIdentity
from binspark.client.left_out import LeftOut, Written
from binspark.client.resume import ResumePoint
from binspark.client.stream import StreamEvent
from binspark.event import Event, FormatDescription, GtidList, PreviousGtids
from binspark.gtid import GtidSet, MariadbPosition, MariadbState
from binspark.transactions import Transaction


class Progress:
    """Moves a resume point behind whole transactions, and behind what stands between them.

    A point without GTIDs learns them where a file begins: its first events say what came before it. `by_file` says that
    the server leaves nothing out behind the point. Where it was asked to leave out the GTIDs of the point, that becomes
    true where all of them came before: a file that begins tells, and what the server had `written` when it was asked.
    """

    def __init__(
        self, point: ResumePoint, identity: ServerIdentity, *, by_file: bool, written: Written | None = None
    ) -> None:
        self._left_out: LeftOut | None = None
        if not by_file:
            assert point.gtids is not None
            self._left_out = LeftOut(own_kind(point.gtids, identity.family), written)
        self._file = point.file
        self._offset = point.offset
        self._created = point.created
        self._server = identity.uuid
        self._family = identity.family
        self._gtids_enabled = identity.gtids_enabled
        self._memory: GtidMemory | None = None
        if identity.gtids_enabled and point.gtids is not None:
            self._memory = remember(point.gtids, identity.family)

    @property
    def point(self) -> ResumePoint:
        """Where to go on."""
        return self.point_at(self._file, self._offset)

    def point_at(self, file: str, offset: int) -> ResumePoint:
        """Return a place before which are exactly the transactions that were delivered."""
        created = self._created if file == self._file else 0
        gtids = None if self._memory is None else self._memory.freeze()
        return ResumePoint(file, offset, gtids, self._server, created, self._left_out is None)

    def delivered(self, transaction: Transaction) -> None:
        """Go behind a transaction. One without a GTID makes GTIDs useless until the next file begins."""
        self._move(transaction.end_file, transaction.end)
        if transaction.gtid is None:
            self._memory = None
        elif self._memory is not None:
            self._memory.add(transaction.gtid)
        self._look_behind()

    def passed(self, streamed: StreamEvent, event: Event) -> None:
        """Go behind an event that stands between transactions."""
        self._move(streamed.file, streamed.end_offset)
        body = event.body
        if isinstance(body, FormatDescription):
            self._created = event.header.timestamp
        elif streamed.in_file and isinstance(body, PreviousGtids):
            self._learn(body.gtid_set, body.gtid_set)
        elif streamed.in_file and isinstance(body, GtidList):
            state = MariadbState.of(body.gtids)
            self._learn(state.position, state)
        self._look_behind()

    def _move(self, file: str, offset: int) -> None:
        if file != self._file:
            self._created = 0
        self._file, self._offset = file, offset

    def _look_behind(self) -> None:
        """Tell whether anything is left out from here on."""
        if self._left_out is not None:
            self._left_out.reached(self._file, self._offset)
            self._left_out = self._left_out or None

    def _learn(self, gtids: GtidSet | MariadbPosition, state: GtidSet | MariadbState) -> None:
        """Learn which GTIDs came before a file, as a reader and as a server counts them."""
        if self._left_out is not None:
            self._left_out.came_before(state)
        if not self._gtids_enabled:
            return
        if self._memory is None:
            self._memory = remember(gtids, self._family)
        else:
            self._memory.join(gtids)
