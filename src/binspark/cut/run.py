"""Cut logs: read them once, and write the transactions that are selected to a new log."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from binspark.columns.selection import Operations, Selection
from binspark.cut.bulk import BulkCutter, pays_in_bulk
from binspark.cut.clock import LogicalClock
from binspark.cut.contents import Contents
from binspark.cut.gtids_before import GtidsBefore
from binspark.cut.output import OutputLog
from binspark.cut.reader import LogReader
from binspark.cut.transaction import Draft
from binspark.errors import DecodeError, OptionError, SourceError, Unsupported
from binspark.event import Event, FormatDescription, GtidList, PreviousGtids
from binspark.files.sources import LogSource
from binspark.frames import LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.os_errors import source_errors
from binspark.private_files import create_file
from binspark.schema.history import SchemaHistory
from binspark.transactions.grammar import Progress, Role, begins_another, boundary_of, progress_after

if TYPE_CHECKING:
    from binspark.cut.condition import SelectedRows


@dataclass(frozen=True, slots=True)
class CutOptions:
    """What is cut.

    selection    the transactions, tables and rows that are kept
    drop_empty   whether transactions of which nothing is left are removed, instead of kept with their GTID alone
    history      the tables, where the log does not describe them
    damaged      whether what precedes damage becomes a log, before the error is raised
    """

    selection: Selection
    drop_empty: bool = False
    history: SchemaHistory = field(default_factory=SchemaHistory)
    damaged: bool = False

    @property
    def removes_events(self) -> bool:
        """Whether events of transactions that are kept may be removed."""
        chosen = self.selection
        by_table = chosen.tables is not None or bool(chosen.excluded)
        return by_table or chosen.operations is not Operations.ALL or chosen.where is not None


@dataclass(slots=True)
class CutSummary:
    """What was written.

    transactions   how many, emptied ones included
    emptied        of how many only the GTID is left
    removed        how many were not selected, or nothing was left of them
    incomplete     how many do not end in the logs, and are not written
    bytes          the size of the new log
    """

    transactions: int = 0
    emptied: int = 0
    removed: int = 0
    incomplete: int = 0
    bytes: int = 0


def cut_logs(logs: Iterable[LogSource], target: str | Path, options: CutOptions) -> CutSummary:
    """Write the transactions of logs that are selected to a new log, which appears when it is complete."""
    path = Path(target)
    if path.exists():
        raise OptionError(f"{path} exists already; choose another name, or remove it", option="output")
    name = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    with source_errors(path.parent):
        descriptor = create_file(name)
    try:
        with source_errors(path), os.fdopen(descriptor, "w+b", buffering=1 << 20) as file:
            cutter = _Cutter(file, options)
            try:
                summary = cutter.run(list(logs))
            finally:
                cutter.close()
        with source_errors(path):
            os.link(name, path)  # fails if another process has created it in the meantime
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
    if cutter.damage is not None:
        raise cutter.damage
    return summary


class _Cutter:
    """Follows the events of logs, and writes those of transactions that are selected.

    damage   where the logs could not be read any further
    """

    def __init__(self, file: Any, options: CutOptions) -> None:
        self._file = file
        self._options = options
        self._selected_rows = _rows_of_condition(options)
        self._contents = Contents(options.selection, self._selected_rows) if options.removes_events else None
        self._clock = LogicalClock()
        self._summary = CutSummary()
        self._gtids_before = GtidsBefore()
        self._description: Event | None = None
        self._output: OutputLog | None = None
        self._draft: Draft | None = None
        self._progress = Progress.NONE
        self._last = b""
        self._in_bulk = False
        self.damage: DecodeError | None = None

    def run(self, logs: list[LogSource]) -> CutSummary:
        """Cut all logs, and end the new one."""
        self._in_bulk = pays_in_bulk(_size_of(logs))
        try:
            for log in logs:
                self._cut_log(log)
        except DecodeError as error:
            if not self._options.damaged or self._description is None:
                raise
            self.damage = error
        self._abandon()
        if self._description is None:
            raise OptionError("no log given: the files have no event")
        output = self._opened()
        output.stop(self._last or self._description.frame.data)
        self._summary.bytes = output.offset
        return self._summary

    def _cut_log(self, log: LogSource) -> None:
        self._clock.begin_file()
        if self._selected_rows is not None:
            self._selected_rows.begin_source(log)
        with ExitStack() as opened:
            with source_errors(log.name):
                file = opened.enter_context(log.open())
            self._cut(log, LogReader(log, file))

    def close(self) -> None:
        """Discard the transaction in progress, if an error has interrupted it."""
        if self._draft is not None:
            self._draft.close()

    def _cut(self, log: LogSource, reader: LogReader) -> None:
        """Cut a log; a transaction that begins before the position to stop at is read to its end."""
        bulk: BulkCutter | None = None
        while (event := reader.next_event()) is not None:
            if log.stop is not None and event.offset >= log.stop and self._progress is Progress.NONE:
                return
            self._feed(event, log)
            if self._in_bulk and self._progress is Progress.NONE and reader.format is not None:
                if bulk is None or bulk.format is not reader.format:
                    bulk = self._bulk_of(log, reader.format)
                self._cut_in_bulk(reader, bulk)

    def _bulk_of(self, log: LogSource, log_format: LogFormat) -> BulkCutter:
        options = self._options
        by_table, drop_empty = options.removes_events, options.drop_empty
        return BulkCutter(
            log,
            log_format,
            options.selection,
            self._clock,
            self._selected_rows,
            by_table=by_table,
            drop_empty=drop_empty,
        )

    def _cut_in_bulk(self, reader: LogReader, bulk: BulkCutter) -> None:
        """Cut complete transactions, up to what is cut event by event."""
        summary = self._summary
        while (part := bulk.cut(reader, self._output, self._gtids_before)) is not None:
            summary.transactions += part.transactions
            summary.emptied += part.emptied
            summary.removed += part.removed
            self._last = part.last or self._last
            if part.opens:
                self._opened()

    def _feed(self, event: Event, log: LogSource) -> None:
        if self._selected_rows is not None:
            self._selected_rows.note(event)
        role = boundary_of(event).role
        if role in (Role.OUTSIDE, Role.BREAKS) or (role is Role.JOINS and self._progress is Progress.NONE):
            self._take_outside(event, role)
            return
        if self._progress is Progress.NONE or begins_another(role, self._progress):
            self._abandon()
            self._draft = Draft(event, self._options.selection, log.start, self._contents, self._opened)
        self._progress = progress_after(role, self._progress)
        assert self._draft is not None
        self._draft.add(event, self._clock)
        if self._progress is Progress.NONE:
            self._finish(event)

    def _take_outside(self, event: Event, role: Role) -> None:
        body: Any = event.body
        if isinstance(body, FormatDescription):
            self._take_description(event)
        elif isinstance(body, PreviousGtids | GtidList):
            self._gtids_before.note_list(event)
        if role is Role.BREAKS and not event.header.next_position:
            return  # a source began to send another file, as relay logs have it
        if role is Role.BREAKS:
            self._abandon()

    def _take_description(self, event: Event) -> None:
        found = event.frame.format
        if not found.is_v4 or found.event_codes is not None:
            raise Unsupported("only logs of version 4 can be cut (MySQL 5.0 and later, MariaDB)", event.position)
        known = None if self._description is None else self._description.frame.format
        if self._output is not None and known is not None and not _is_like(known, found):
            message = (
                f"the log is of {found.server_version}, those before of {known.server_version}: cut them separately"
            )
            raise Unsupported(message, event.position)
        if self._output is None:
            self._description = event

    def _opened(self) -> OutputLog:
        """Return the new log; when the first transaction is written, it begins."""
        if self._output is None:
            assert self._description is not None
            log_format = self._description.frame.format
            self._output = OutputLog(self._file, log_format)
            self._output.write_description(self._description)
            self._gtids_before.write(self._output)
        return self._output

    def _finish(self, event: Event) -> None:
        draft, self._draft = self._draft, None
        assert draft is not None
        written = draft.finish(self._clock, drop_empty=self._options.drop_empty)
        if written:
            self._last = event.frame.data[:HEADER_LENGTH]
            self._summary.transactions += 1
            self._summary.emptied += draft.is_empty
        else:
            self._summary.removed += 1
            if self._output is None:
                self._gtids_before.note(draft.first)

    def _abandon(self) -> None:
        """Remove what was written of a transaction that does not end."""
        if self._draft is not None:
            self._draft.abandon(self._clock)
            self._summary.incomplete += 1
        self._draft, self._progress = None, Progress.NONE


def _rows_of_condition(options: CutOptions) -> SelectedRows | None:
    if options.selection.where is None:
        return None
    from binspark.cut.condition import SelectedRows  # loads what reads rows

    return SelectedRows(options.selection, options.history)


def _is_like(known: LogFormat, found: LogFormat) -> bool:
    return (known.post_header_lengths, known.family) == (found.post_header_lengths, found.family)


def _size_of(logs: list[LogSource]) -> int | None:
    try:
        return sum(log.size() for log in logs)
    except (SourceError, DecodeError):
        return None  # standard input, or what is reported when it is opened
