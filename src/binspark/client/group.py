"""What belongs together in a stream: a whole transaction, or one event that belongs to none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from binspark.client.hold import HeldEvents
from binspark.client.resume import ResumePoint
from binspark.event import Event, EventDecoder
from binspark.frames.codes import EventCode
from binspark.position import Position
from binspark.transactions import Assembler, Transaction


class GroupKind(StrEnum):
    """What a group is.

    TRANSACTION  a whole transaction
    LOG          an event that the log says of itself: where a file begins and ends, what came before it
    HEARTBEAT    the server has nothing to send, and says where it is
    """

    TRANSACTION = "transaction"
    LOG = "log"
    HEARTBEAT = "heartbeat"


@dataclass(frozen=True, slots=True)
class Group:
    """Events that belong together. Once they are dealt with, `resume` is where to go on."""

    kind: GroupKind
    resume: ResumePoint
    transaction: Transaction | None
    held: HeldEvents

    def events(self, *, expand_payloads: bool = True) -> Iterator[Event]:
        """Yield the events; behind a compressed payload come the events inside, unless they are not wanted."""
        for event in self.held:
            yield event
            if expand_payloads and event.type_code == EventCode.TRANSACTION_PAYLOAD:
                yield from EventDecoder(event.file).inner_events(event)


class Grouper:
    """Holds the events of the open transaction until it has ended.

    A transaction that stops before its end (its server crashed while it wrote it) was never committed: it is dropped,
    and `take_dropped` says where it was.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._dropped: list[Position] = []
        self._memory_bytes = memory_bytes
        self._assembler = Assembler(watcher=self._belongs)
        self._number = -1
        self._held = HeldEvents(memory_bytes)
        self._taken = False

    @property
    def inside(self) -> bool:
        """Whether a transaction is open."""
        return self._number >= 0

    def feed(self, event: Event) -> list[tuple[Transaction | None, HeldEvents]]:
        """Take an event; return what is whole now: transactions, or the event itself if it belongs to none."""
        self._taken = False
        ended = self._assembler.feed(event)
        if event.type_code == EventCode.TRANSACTION_PAYLOAD:
            ended += self._assembler.finish()  # a payload holds a transaction to its end
        whole: list[tuple[Transaction | None, HeldEvents]] = []
        for transaction in ended:
            if transaction.complete:
                whole.append((transaction, self._held))
            else:
                self._dropped.append(Position(file=transaction.file, offset=transaction.start, gtid=transaction.gtid))
            if transaction.number == self._number:
                self._number = -1
        if not self._taken:
            alone = HeldEvents(self._memory_bytes)
            alone.add(event)
            whole.append((None, alone))
        return whole

    def take_dropped(self) -> list[Position]:
        """Return where transactions were that have been dropped since the last call."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def _belongs(self, number: int, event: Event) -> None:
        if number != self._number:
            self._number = number
            self._held = HeldEvents(self._memory_bytes)
        self._held.add(event)
        self._taken = True
