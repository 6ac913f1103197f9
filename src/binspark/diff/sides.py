"""The two sides of a comparison: log files, or the log of a server, each read into records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import ClosedTransactions, transaction_numbers
from binspark.columns.transaction_list import TransactionReader
from binspark.diff.contents import JSON_LINES, Contents, TransactionAt
from binspark.diff.records import GtidSources, RecordFile
from binspark.diff.scan import RowAdder, Scanner, SideCounts
from binspark.documents.digests import for_digests
from binspark.errors import Server
from binspark.files.batches import source_batches
from binspark.files.lines import LogPrinter
from binspark.files.positions import NOWHERE
from binspark.files.read import source_events
from binspark.files.sources import LogSource, refuse_standard_input
from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition, MariadbState
from binspark.os_errors import source_errors
from binspark.replication.chunk import read_chunks
from binspark.replication.find import gtids_before
from binspark.replication.server_input import ServerInput, ServerInputSettings
from binspark.schema.history import SchemaHistory
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.server.info import server_logs
from binspark.tail.printer import ChunkPrinter
from binspark.transactions.gtids_before import find_gtids_before

Earlier = GtidSet | MariadbPosition | MariadbState | None
"""The GTIDs of transactions that a side has had, before what is read of it; None if they are not known."""


@dataclass(frozen=True, slots=True)
class ReadSide:
    """A side that was read.

    name      of the side, for people
    records   its transactions
    counts    what else was found
    earlier   the GTIDs before them
    """

    name: str
    records: RecordFile
    counts: SideCounts
    earlier: Earlier

    def had(self, gtid: str | None) -> bool:
        """Return whether a transaction is older than what was read of the side, which therefore need not have it."""
        if gtid is None or not self.earlier:
            return False
        if isinstance(self.earlier, GtidSet):
            return ":" in gtid and Gtid.parse(gtid) in self.earlier
        return ":" not in gtid and MariadbGtid.parse(gtid) in self.earlier


class Side(Protocol):
    """What is compared."""

    @property
    def name(self) -> str:
        """The name for people."""

    def read(self, records: RecordFile, sources: GtidSources, selection: Selection) -> ReadSide:
        """Read all transactions and rows."""

    def contents(self, at: TransactionAt, selection: Selection) -> Contents:
        """Read the rows and statements of one transaction."""


@dataclass(frozen=True, slots=True)
class FilesSide:
    """Log files. They are read twice: for their transactions and statements, and for their rows."""

    name: str
    logs: tuple[LogSource, ...]
    history: Callable[[], SchemaHistory]

    def read(self, records: RecordFile, sources: GtidSources, selection: Selection) -> ReadSide:
        """Read all transactions and rows."""
        refuse_standard_input(self.logs, "compared")
        scanner = Scanner(records, sources, selection)
        begins = []
        for log in self.logs:
            begins.append(records.count)
            if log.start != NOWHERE:
                scanner.select_part(log.start, log.stop)
                self._list(log, scanner)
        _exhaust(scanner.reader.finish())
        self._add_rows(records, selection, [*begins, records.count])
        return ReadSide(self.name, records, scanner.counts, _earlier(self.logs))

    def contents(self, at: TransactionAt, selection: Selection) -> Contents:
        """Read the rows and statements of one transaction."""
        log = next(log for log in self.logs if log.name == at.file)
        printer = LogPrinter(selection, self.history(), JSON_LINES, in_bulk=True)
        contents = Contents()
        for texts in printer.lines(LogSource(log.name, log.storage, at.start, at.end)):
            if not contents.add_lines(texts):
                break
        collector = _Statements(at.start)
        reader = TransactionReader(collector)
        with source_errors(log.name), log.open() as file:
            _exhaust(reader.read(file.readinto, log.name, stop=at.end))
        contents.statements += collector.found
        return contents

    def _list(self, log: LogSource, scanner: Scanner) -> None:
        begin = scanner.records.count
        with source_errors(log.name), log.open() as file:
            _exhaust(scanner.reader.read(file.readinto, log.name))
        scanner.add_statements(begin)

    def _add_rows(self, records: RecordFile, selection: Selection, begins: list[int]) -> None:
        reader = BatchReader(for_digests(selection), self.history())
        for number, log in enumerate(self.logs):
            adder = RowAdder(records, begins[number], begins[number + 1])
            for found in source_batches(LogSource(log.name, log.storage, log.start), reader):
                adder.add(found)


def _earlier(logs: tuple[LogSource, ...]) -> Earlier:
    """Return the GTIDs before the first log from which something is read."""
    first = next((log for log in logs if log.start != NOWHERE), None)
    if first is None or first.start:
        return None
    return find_gtids_before(source_events(first))


@dataclass(frozen=True, slots=True)
class ServerSide:
    """The log of a server between two positions. Each chunk is read twice."""

    name: str
    config: ConnectionConfig
    settings: ServerInputSettings
    history: SchemaHistory | None

    def read(self, records: RecordFile, sources: GtidSources, selection: Selection) -> ReadSide:
        """Read all transactions and rows."""
        earlier = self._earlier()
        log = ServerInput(self.config, self.settings)
        scanner = Scanner(records, sources, selection)
        reader = BatchReader(for_digests(selection), self.history or log.history())
        for chunk in log.chunks():
            begin = records.count
            _exhaust(read_chunks(scanner.reader, [chunk]))
            scanner.add_statements(begin)
            adder = RowAdder(records, begin, records.count)
            for found in read_chunks(reader, [chunk]):
                adder.add(found)
        _exhaust(scanner.reader.finish())
        return ReadSide(self.name, records, scanner.counts, earlier)

    def contents(self, at: TransactionAt, selection: Selection) -> Contents:
        """Read the rows and statements of one transaction."""
        settings = replace(self.settings, start=f"{at.file}:{at.start}", until=f"{at.file}:{at.end}")
        log = ServerInput(self.config, settings)
        printer = ChunkPrinter(selection, self.history or log.history(), JSON_LINES)
        contents = Contents()
        for chunk in log.chunks():
            contents.statements += [event.body.query for event in chunk.statements()]
            if not contents.add_lines(list(printer.lines(chunk))):
                log.stop()
        return contents

    def _earlier(self) -> Earlier:
        if self.settings.start != "earliest":
            return None
        with connect(self.config) as connection:
            try:
                logs = server_logs(connection)
                return gtids_before(connection, logs[0].name) if logs else None
            except Server:
                return None


class _Statements:
    """Keeps the statements of the transaction that begins at an offset: the target of a `TransactionReader`."""

    def __init__(self, start: int) -> None:
        self.found: list[bytes] = []
        self._start = start

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Take transactions."""
        for number in np.flatnonzero(transaction_numbers(closed)["start"] == self._start).tolist():
            notes = closed.notes.get(number)
            self.found += [] if notes is None else notes.texts
        return iter(())


def _exhaust(items: Iterator[object]) -> None:
    for _ in items:
        pass
