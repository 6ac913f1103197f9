"""Which GTIDs a server, a set of logs, or a text has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from binspark.diff.gtids import HeldGtids, MariadbGtids, MysqlGtids
from binspark.errors import Malformed, SourceError
from binspark.files.read import source_events
from binspark.files.sources import LogSource
from binspark.frames.format import Family
from binspark.gtid import Gtid, GtidSet, GtidSetBuilder, MariadbGtid, MariadbPosition, MariadbState
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.server.connection import Connection
from binspark.server.info import (
    mariadb_applied_gtids,
    mariadb_gtid_state,
    mysql_executed_gtids,
    purged_gtids,
    server_family,
)
from binspark.transactions.gtids_before import find_gtids_before

if TYPE_CHECKING:
    import pyarrow as pa

    from binspark.columns.transaction_batch import ClosedTransactions

_MARIADB_GTID = re.compile(r"[\s,]*\+?[0-9]+-(?![0-9a-fA-F]{4}-[0-9a-fA-F]{4}-)[0-9]+-[0-9]")
_MYSQL_GTID = re.compile(r"[\s,]*[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-")


def is_gtid_text(text: str) -> bool:
    """Return whether a text is one of GTIDs, rather than the name of a file."""
    return not text.strip() or bool(_MARIADB_GTID.match(text) or _MYSQL_GTID.match(text))


def gtids_of_text(text: str) -> HeldGtids:
    """Return the GTIDs of a text. A MariaDB position means all transactions up to its GTIDs, a state does not."""
    if not _MARIADB_GTID.match(text):
        return MysqlGtids(GtidSet(text))
    try:
        applied = MariadbPosition(text)
    except Malformed:  # two GTIDs of a domain
        applied = MariadbPosition()
    return MariadbGtids(MariadbState(text), applied)


def gtids_of_server(connection: Connection) -> HeldGtids:
    """Return the GTIDs that a server has: in MariaDB those of its log, and those that it applied as a replica."""
    if server_family(connection) is Family.MARIADB:
        return MariadbGtids(mariadb_gtid_state(connection), mariadb_applied_gtids(connection))
    return MysqlGtids(mysql_executed_gtids(connection), purged_gtids(connection))


def gtids_of_logs(sources: Iterable[LogSource]) -> HeldGtids:
    """Return the GTIDs of the complete transactions of logs, and of those before the first log, which are purged."""
    from binspark.columns.transaction_list import TransactionReader

    collector = _Collector()
    reader = TransactionReader(collector, expand_payloads=False)
    for number, source in enumerate(sources):
        if number == 0:
            collector.begin(source)
        with source_errors(source.name), source.open() as file:
            for _ in reader.read(file.readinto, source.name):
                pass
    for _ in reader.finish():
        pass
    return collector.result()


class _Collector:
    """Collects GTIDs: the target of a `TransactionReader`."""

    def __init__(self) -> None:
        self._previous = GtidSet()
        self._mysql = GtidSetBuilder()
        self._mariadb: dict[tuple[int, int], MariadbGtid] = {}
        self._position = MariadbPosition()
        self._family: Family | None = None
        self._name = ""

    def begin(self, source: LogSource) -> None:
        """Note the GTIDs before the first log."""
        self._name = source.name
        before = find_gtids_before(source_events(source))
        if isinstance(before, GtidSet):
            self._previous, self._family = before, Family.MYSQL
        elif before is not None:
            self._family, self._position = Family.MARIADB, before.position
            for gtid in before.gtids:
                self._add_mariadb(gtid)

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Take transactions."""
        complete = closed.complete
        for number, text in enumerate(closed.gtids.to_pylist()):
            if text is None or not complete[number]:
                continue
            if ":" in text:
                self._mysql.add(Gtid.parse(text))
            else:
                self._add_mariadb(MariadbGtid.parse(text))
        return iter(())

    def result(self) -> HeldGtids:
        """Return what was collected."""
        if self._mariadb:
            return MariadbGtids(MariadbState.of(self._mariadb.values()), self._position)
        found = self._mysql.freeze()
        if self._family is None and not found:
            message = "the log has no GTIDs: gtid_mode was OFF; compare its transactions with binspark diff"
            raise SourceError(message, Position(file=self._name))
        return MysqlGtids(found | self._previous, self._previous)

    def _add_mariadb(self, gtid: MariadbGtid) -> None:
        key = (gtid.domain, gtid.server)
        known = self._mariadb.pop(key, None)
        self._mariadb[key] = gtid if known is None or gtid.sequence > known.sequence else known
