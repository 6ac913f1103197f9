"""GTIDs as a replication stream uses them: of both families, and which of them may still follow."""

from __future__ import annotations

from binspark.errors import BinlogError, OptionError
from binspark.frames.format import Family
from binspark.gtid import GtidSet, MariadbPosition, MariadbState

Gtids = GtidSet | MariadbPosition
"""The transactions up to a position: a set in MySQL, a GTID position in MariaDB."""

_KINDS: dict[Family, type[GtidSet] | type[MariadbPosition]] = {
    Family.MYSQL: GtidSet,
    Family.MARIADB: MariadbPosition,
}
_OTHER_FAMILY = {
    Family.MYSQL: "is a MariaDB GTID position ({}), but the server is MySQL; use a GTID set such as 3e11fa47-…:1-5",
    Family.MARIADB: "is a MySQL GTID set ({}), but the server is MariaDB; use a GTID position such as 0-1-42",
}


def parse_gtids(text: str) -> Gtids:
    """Parse a GTID set of MySQL or a GTID position of MariaDB; an empty text is the empty set."""
    for kind in (GtidSet, MariadbPosition):
        try:
            return kind(text)
        except BinlogError:
            continue
    raise OptionError(f"{text!r} is neither a GTID set of MySQL nor a GTID position of MariaDB")


def gtids_of_family(gtids: Gtids, family: Family, option: str = "start") -> Gtids:
    """Return GTIDs as a family writes them. No GTIDs are the same in both; others must be of the family."""
    kind = _KINDS[family]
    if gtids and not isinstance(gtids, kind):
        raise OptionError(_OTHER_FAMILY[family].format(gtids), option=option)
    return gtids if isinstance(gtids, kind) else kind()


def includes(gtids: Gtids, others: Gtids) -> bool:
    """Return whether all of the other GTIDs are among these."""
    if isinstance(gtids, GtidSet) and isinstance(others, GtidSet):
        return others <= gtids
    if isinstance(gtids, MariadbPosition) and isinstance(others, MariadbPosition):
        return others <= gtids
    return not others


def joined(known: Gtids | None, before_file: Gtids | None) -> Gtids | None:
    """Return the GTIDs before a file: those that are known, and those that the file reports.

    A MariaDB position includes all that came before it; a file cannot add to it.
    """
    if known is None or before_file is None:
        return before_file if known is None else known
    return known | before_file if isinstance(known, GtidSet) and isinstance(before_file, GtidSet) else known


class GtidFilter:
    """The GTIDs that a server was requested to skip in a stream, as long as they may still follow.

    MySQL skips a transaction wherever it is. It has each of them once, so that none follows which came before. MariaDB
    skips a domain up to the first number of the same server that is not smaller. What other servers wrote in the domain
    does not count: without strict mode their numbers may be larger before that position.
    """

    def __init__(self, gtids: Gtids) -> None:
        self._gtids = gtids

    def __bool__(self) -> bool:
        """Whether any of them may still follow."""
        return bool(self._gtids)

    def passed(self, gtids: GtidSet | MariadbState) -> None:
        """Note GTIDs that come before the position of the stream."""
        if isinstance(self._gtids, GtidSet):
            assert isinstance(gtids, GtidSet)
            self._gtids -= gtids
        else:
            self._gtids = MariadbPosition.of(gtid for gtid in self._gtids if gtid not in gtids)
