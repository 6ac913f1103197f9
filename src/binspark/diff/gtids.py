"""Which GTIDs one side has and the other lacks: sets in MySQL, numbers of each domain and server in MariaDB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from binspark.errors import OptionError
from binspark.gtid import GtidSet, MariadbGtid, MariadbPosition, MariadbState

_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class MysqlGtids:
    """The GTIDs that a server, an archive or a person names.

    executed   all of them
    purged     those of them whose transactions it can no longer deliver: their logs are gone
    """

    executed: GtidSet
    purged: GtidSet = field(default_factory=GtidSet)


@dataclass(frozen=True, slots=True)
class MariadbGtids:
    """The GTIDs of a MariaDB server, an archive or a person.

    state      for each domain and server, the last GTID that its binary log has
    applied    the last GTID of each domain that it applied as a replica, whether its own log has it or not
    """

    state: MariadbState
    applied: MariadbPosition = field(default_factory=MariadbPosition)

    def reached(self, gtid: MariadbGtid) -> int:
        """Return up to which number this side has the transactions of a GTID's domain and server; 0 for none."""
        logged = self.state.get(gtid.domain, gtid.server)
        applied = self.applied.get(gtid.domain)
        return max(logged.sequence if logged else 0, min(applied.sequence, gtid.sequence) if applied else 0)

    def lacks(self, other: MariadbGtids) -> Iterator[MariadbInterval]:
        """Yield what the other side has and this one does not, for each domain and server."""
        theirs = {(gtid.domain, gtid.server): gtid for gtid in other.applied}
        theirs |= {(gtid.domain, gtid.server): gtid for gtid in other.state if not _is_newer(theirs, gtid)}
        for _, gtid in sorted(theirs.items()):
            reached = self.reached(gtid)
            if reached < gtid.sequence:
                yield MariadbInterval(reached + 1, gtid)


def _is_newer(known: dict[tuple[int, int], MariadbGtid], gtid: MariadbGtid) -> bool:
    other = known.get((gtid.domain, gtid.server))
    return other is not None and other.sequence > gtid.sequence


@dataclass(frozen=True, slots=True)
class MariadbInterval:
    """Numbers of a domain that one server wrote; other servers may have written some of those in between."""

    first: int
    last: MariadbGtid

    @property
    def count(self) -> int:
        """How many numbers there are: at least as many as transactions."""
        return self.last.sequence - self.first + 1

    def __str__(self) -> str:
        """Return the text that `--include-gtids` takes."""
        domain, server = self.last.domain, self.last.server
        return str(self.last) if self.count == 1 else f"{domain}-{server}-{self.first}..{self.last}"


@dataclass(frozen=True, slots=True)
class MissingGtids:
    """GTIDs that one side lacks: as text, how many at most, and which of them the other side has purged."""

    text: str = ""
    count: int = 0
    purged: str = ""

    def __bool__(self) -> bool:
        return self.count > 0


HeldGtids = MysqlGtids | MariadbGtids


def missing_from(side: HeldGtids, other: HeldGtids) -> MissingGtids:
    """Return the GTIDs of the other side that this side lacks. A side without any GTID is of either family."""
    if isinstance(side, MysqlGtids) and isinstance(other, MysqlGtids):
        missing = other.executed - side.executed
        return MissingGtids(str(missing), missing.count(), str(missing & other.purged))
    if isinstance(side, MariadbGtids) and isinstance(other, MariadbGtids):
        intervals = list(side.lacks(other))
        return MissingGtids(",".join(map(str, intervals)), sum(interval.count for interval in intervals))
    raise OptionError(f"cannot compare GTIDs of MySQL and MariaDB: {_shown(other)} and {_shown(side)}")


def _shown(side: HeldGtids) -> str:
    text = str(side.executed if isinstance(side, MysqlGtids) else side.state)
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…")
