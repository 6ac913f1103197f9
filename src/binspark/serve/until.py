"""Where a dump ends that MariaDB's START SLAVE UNTIL master_gtid_pos has requested."""

from __future__ import annotations

from typing import NamedTuple

from binspark.event import EventDecoder
from binspark.frames import Framer
from binspark.frames.header import HEADER, HEADER_LENGTH, Header
from binspark.gtid import MariadbGtid, MariadbPosition, MariadbState
from binspark.serve.gtid_skips import AnyGtid
from binspark.serve.logs import ServedLog
from binspark.transactions.grammar import BOUNDARIES, Boundary, Progress, Role, boundary_of, progress_after

_MAX_DECODED = 1 << 16
"""Statements that begin or end a transaction, and GTIDs, are shorter."""

_IN_BODY = (Role.BY_STATEMENT, Role.BY_GTID_FLAGS)
_JOINS, _ROWS, _STATEMENT = Boundary(Role.JOINS), Boundary(Role.ROWS), Boundary(Role.STATEMENT)


class MariadbUntil:
    """Skips each domain after the GTID to stop at, and domains for which there is none.

    state   the last GTIDs of each domain and server that were read
    """

    def __init__(self, position: MariadbPosition, before: MariadbState) -> None:
        self._left = {gtid.domain: gtid for gtid in position if gtid not in before}
        self.state = before

    @property
    def is_reached(self) -> bool:
        """Whether nothing more is sent after the transaction that was decided last."""
        return not self._left

    def skips(self, gtid: AnyGtid) -> bool:
        """Return whether a transaction comes after the position."""
        if not isinstance(gtid, MariadbGtid):
            return False
        self.state = self.state.add(gtid)
        last = self._left.get(gtid.domain)
        if last is None:
            return True
        if gtid.server != last.server or gtid.sequence < last.sequence:
            return False
        del self._left[gtid.domain]
        return gtid.sequence > last.sequence


class TransactionEnd(NamedTuple):
    """Where a transaction ends, or how much of it there is for now."""

    offset: int
    is_complete: bool


def find_end(log: ServedLog, offset: int) -> TransactionEnd:
    """Return where the transaction ends that begins at an offset. Only headers and short events are read."""
    progress, decoder = Progress.NONE, EventDecoder(log.name)
    with log.open() as (file, head):
        while len(data := file.read_at(offset, HEADER_LENGTH)) == HEADER_LENGTH:
            header = Header._make(HEADER.struct.unpack(data))
            end = offset + header.event_size
            if header.event_size < HEADER_LENGTH or not file.read_at(end - 1, 1):
                break
            boundary = BOUNDARIES.get(header.type_code, _JOINS)
            if boundary.role is Role.BY_ROWS_FLAGS:
                boundary = _ROWS
            elif boundary.role in _IN_BODY and header.event_size > _MAX_DECODED:
                boundary = _STATEMENT
            elif boundary.role in _IN_BODY:
                frame = next(Framer(head.format, offset).feed(file.read_at(offset, header.event_size)))
                boundary = boundary_of(decoder.decode(frame))
            offset, progress = end, progress_after(boundary.role, progress)
            if progress is Progress.NONE:
                return TransactionEnd(offset, is_complete=True)
    return TransactionEnd(offset, is_complete=False)
