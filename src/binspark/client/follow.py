"""A server's transactions for good: over lost connections, restarts, and to other servers of the same topology.

Every transaction comes once, whole and in the order of the log; nothing is left out. This is what a consumer may rely
on, if it stores a group's resume point together with what it made of the group, and begins from there the next time.

- Events of a transaction are held back until it has ended, in memory or in a temporary file. What a broken connection
  cut off was never delivered, so nothing has to be taken back.
- After a lost connection to the same server the stream goes on at the place in its file where the last whole
  transaction ended. A file that is another one of the same name is noticed by the time of its making.
- At another server, or where that file was purged, it goes on with the GTIDs that were not delivered yet. This needs
  GTIDs (gtid_mode=ON, MariaDB) and several hosts. Where they are not known, only the same server will do. Once all that
  was delivered before lies behind, places in files are enough again.
- A server that crashed may have lost the last transactions that it had sent (sync_binlog=1 and
  innodb_flush_log_at_trx_commit=1 prevent that). This is noticed and refused, not papered over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from binspark.client.following import Following, Start
from binspark.client.group import Group, Grouper, GroupKind
from binspark.client.options import ConnectionOptions
from binspark.client.progress import Progress
from binspark.client.reopen import Reopened
from binspark.client.settings import FollowSettings
from binspark.client.stream import OnHeartbeat, StreamEvent
from binspark.client.watch import ResetWatch
from binspark.event import EventDecoder
from binspark.transactions import Transaction

log = logging.getLogger("binspark.client")


def follow(
    options: ConnectionOptions,
    start: Start = "latest",
    settings: FollowSettings | None = None,
    on_heartbeat: OnHeartbeat | None = None,
) -> Follower:
    """Follow a server's transactions from a place on, and go on wherever a connection is lost.

    >>> for group in follow(options, "latest"):  # doctest: +SKIP
    ...     for event in group.events():
    ...         print(event.type, event.body)
    ...     store(str(group.resume))
    """
    return Follower(options, start, settings or FollowSettings(), on_heartbeat)


class Follower(Following[Group]):
    """Groups of events, as an iterator; made by `follow`."""

    def _read(self, reopened: Reopened, watch: ResetWatch) -> Iterator[Group]:
        for group in read_groups(reopened, watch, self._settings.memory_bytes, self._reconnector.progressed):
            self._point = group.resume
            yield group


def read_groups(
    reopened: Reopened, watch: ResetWatch, memory_bytes: int, progressed: Callable[[], None]
) -> Iterator[Group]:
    """Yield the groups of one stream; `progressed` is told when the connection is of use."""
    progress = Progress(reopened.point, reopened.identity, by_file=reopened.by_file, written=reopened.written)
    grouper = Grouper(memory_bytes)
    decoder = EventDecoder()
    for streamed in reopened:
        decoder.file = streamed.file
        event = decoder.decode(streamed.frame)
        if streamed.heartbeat:
            watch.heartbeat(reopened.stream)
        for transaction, held in grouper.feed(event):
            if transaction is not None:
                progress.delivered(transaction)
            elif not grouper.inside:
                progress.passed(streamed, event)
            if transaction is not None or streamed.heartbeat:
                progressed()
            yield Group(_kind(streamed, transaction), progress.point, transaction, held)
        for place in grouper.take_dropped():
            log.warning("%s: a transaction that a crash cut short is left out: it was not committed", place)


def _kind(streamed: StreamEvent, transaction: Transaction | None) -> GroupKind:
    if transaction is not None:
        return GroupKind.TRANSACTION
    return GroupKind.HEARTBEAT if streamed.heartbeat else GroupKind.LOG
