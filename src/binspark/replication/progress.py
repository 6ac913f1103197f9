"""How far a reader has come: the position after all chunks that were delivered."""

from __future__ import annotations

from typing import NamedTuple

from binspark.files.sources import log_order
from binspark.frames.codes import EventCode
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import GtidSet, MariadbState
from binspark.replication.chunk import LogChunk, Origin
from binspark.replication.gtids import GtidFilter, Gtids, gtids_of_family
from binspark.replication.position import BinlogPosition
from binspark.server.info import ServerInfo


class Written(NamedTuple):
    """The GTIDs that a server has written before a position in its logs, or has without having written them."""

    gtids: GtidSet | MariadbState
    position: BinlogPosition


class FollowProgress:
    """Gives each chunk its origin, and moves after it.

    A position without GTIDs learns them where a file begins: its first events report what came before it.

    If the server was requested to skip the GTIDs of the first position, file and offset are not enough to continue:
    some of these transactions may still follow. They become enough where all of them came before, which the beginning
    of a file reports, and what the server had `written` when the stream was requested.
    """

    def __init__(
        self,
        position: BinlogPosition,
        server: ServerInfo,
        *,
        by_file: bool,
        written: Written | None = None,
        with_gtids: bool = True,
    ) -> None:
        """Begin at a position; `with_gtids` is False for those who never need GTIDs, to save the index of chunks."""
        self._server = server
        self._gtids_enabled = with_gtids and server.gtids_enabled
        self._position = position
        self._epoch = position.epoch + (position.server not in ("", server.uuid))
        self._created = position.created
        self._gtids: Gtids | None = None
        if self._gtids_enabled and position.gtids is not None:
            self._gtids = gtids_of_family(position.gtids, server.family)
        self._written = written
        self._filter: GtidFilter | None = None
        if not by_file:
            assert position.gtids is not None
            self._filter = GtidFilter(gtids_of_family(position.gtids, server.family)) or None

    @property
    def position(self) -> BinlogPosition:
        """The position after the last chunk."""
        return self._position

    def deliver(self, chunk: LogChunk) -> LogChunk:
        """Return a chunk with its origin, and move after it."""
        self._created = _created_after(chunk, self._created if chunk.file == self._position.file else 0)
        if self._filter is not None:
            self._look_back(chunk)
        placed = chunk.with_origin(
            Origin(
                self._server.uuid,
                self._created,
                self._gtids,
                self._gtids_enabled,
                self._filter is None,
                self._position.resets,
                self._epoch,
            )
        )
        self._position = placed.end_position
        self._gtids = self._position.gtids
        return placed

    def _look_back(self, chunk: LogChunk) -> None:
        """Find out whether any transaction is skipped after a chunk."""
        assert self._filter is not None
        before_file = chunk.transactions.before_file if chunk.data else None
        if before_file is not None:
            self._filter.passed(before_file)
        if self._written is not None and self._written.position.order <= (log_order(chunk.file), chunk.end):
            self._filter.passed(self._written.gtids)
            self._written = None
        self._filter = self._filter or None


def _created_after(chunk: LogChunk, created: int) -> int:
    """Return when the file of a chunk was created, which its first event says; servers repeat that event."""
    if chunk.event is not None:
        is_description = chunk.event.type_code == EventCode.FORMAT_DESCRIPTION
        return chunk.event.frame.header.timestamp if is_description else created
    return chunk.first_timestamp if chunk.data and chunk.offset == FIRST_EVENT_OFFSET else created
