"""Where an archive ends: after its last complete transaction, and the GTIDs up to there."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from binspark.files.active_log import complete_end as end_of_transactions
from binspark.files.log_head import LogHead
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, LogFormat
from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbState
from binspark.kernels.pack import complete_end
from binspark.replication.transaction_index import TransactionIndex, index_transactions
from binspark.serve.logs import ArchiveLogs, ServedLog
from binspark.transactions.gtids_before import FileGtids

_BLOCK = 1 << 20
_TYPE = 4
_SIZE = slice(9, 13)


@dataclass(frozen=True, slots=True)
class _Block:
    """Complete events of a log, for `index_transactions`."""

    file: str
    offset: int
    format: LogFormat
    array: npt.NDArray[np.uint8]


class ArchiveEnd(NamedTuple):
    """The end of an archive for now, or another position of it.

    gtids      those up to there; None if the logs do not report them
    anonymous  whether the log has transactions without a GTID
    """

    log: ServedLog
    offset: int
    gtids: FileGtids | None
    anonymous: bool = False


class EndFinder:
    """Finds the end of an archive. What was read of the active log once is not read again."""

    def __init__(self, logs: ArchiveLogs) -> None:
        self._logs = logs
        self._lock = threading.Lock()
        self._known: ArchiveEnd | None = None

    def find(self) -> ArchiveEnd:
        """Return the end for now."""
        with self._lock:
            log = self._logs.last()
            with log.open() as (file, head):
                known = self._known
                if known is None or known.log != log or known.gtids is None:
                    known = ArchiveEnd(log, head.frame.end_offset, self._logs.gtids_before(log))
                end = end_of_transactions(file, file.size, head, log.name, known.offset)
                self._known = _read_up_to(file, head, known, end)
            return self._known


def gtids_at(logs: ArchiveLogs, log: ServedLog, offset: int) -> FileGtids | None:
    """Return the GTIDs up to an offset of a log."""
    with log.open() as (file, head):
        known = ArchiveEnd(log, head.frame.end_offset, logs.gtids_before(log))
        return _read_up_to(file, head, known, min(offset, file.size)).gtids


def _read_up_to(file: LogFile, head: LogHead, known: ArchiveEnd, end: int) -> ArchiveEnd:
    """Add the GTIDs of the transactions up to an offset, where an event begins."""
    gtids, anonymous, offset = known.gtids, known.anonymous, known.offset
    while offset < end:
        array = np.frombuffer(file.read_at(offset, min(_BLOCK, end - offset)), dtype=np.uint8)
        base = int(array.ctypes.data)
        size = complete_end(base, base + len(array)) - base
        if not size:  # a large event, which begins no transaction
            offset += max(int.from_bytes(array[_SIZE].tobytes(), "little"), 1)
            continue
        found = index_transactions(_Block(known.log.name, offset, head.format, array[:size]))
        gtids = _added(gtids, found)
        anonymous = anonymous or bool((found.heads[:, _TYPE] == EventCode.ANONYMOUS_GTID).any())
        offset += size
    return ArchiveEnd(known.log, end, gtids, anonymous)


def _added(gtids: FileGtids | None, found: TransactionIndex) -> FileGtids | None:
    """Return GTIDs with those of more transactions."""
    if isinstance(gtids, MariadbState):
        last: dict[tuple[int, int], MariadbGtid] = {}
        for number in range(len(found)):
            gtid = found.gtid(number)
            if isinstance(gtid, MariadbGtid):
                last.pop((gtid.domain, gtid.server), None)  # the last of a domain must be listed last
                last[gtid.domain, gtid.server] = gtid
        return MariadbState.of((*gtids.gtids, *last.values()))
    if gtids is None:
        return None
    return gtids | GtidSet.of(gtid for gtid in map(found.gtid, range(len(found))) if isinstance(gtid, Gtid))
