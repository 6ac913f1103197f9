"""The events of a log that are selected: kernels find them, and only they are decoded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import groupby

import pyarrow as pa

from binspark.changes.listed_filter import ListedFilter
from binspark.columns.event_list import EventReader
from binspark.columns.log_scan import Numbers
from binspark.columns.selection import Selection
from binspark.errors import DecodeError
from binspark.event import Event
from binspark.files.condition_counts import ConditionCounts
from binspark.files.event_ranges import EventRanges
from binspark.files.read import ReadOptions, bad_checksum
from binspark.files.sources import LogSource
from binspark.frames import ChecksumState
from binspark.os_errors import source_errors

_COLUMNS = ("pos", "end_pos", "inner", "type_code")


class SelectedEvents:
    """Reads the selected events of one log after the other.

    codes      the type codes that are selected; all if there are none
    on_damage  called with the error of each event whose checksum does not match, selected or not
    """

    def __init__(
        self,
        selection: Selection,
        counts: ConditionCounts | None,
        codes: Collection[int],
        options: ReadOptions,
        on_damage: Callable[[DecodeError], None],
    ) -> None:
        self._counts = counts
        self._codes = codes
        self._options = options
        self._filter = _Filter(selection, counts, on_damage)
        self._reader = _Reader(names=_COLUMNS, expand_payloads=options.expand_payloads, selector=self._filter)

    def read(self, source: LogSource) -> Iterator[Event]:
        """Yield the selected events of a log. Events before damage are yielded before the error is raised."""
        if self._counts is not None:
            self._counts.begin_source(source)
        with source_errors(source.name), source.open() as file, source.open() as again:
            ranges = EventRanges(again, source.name, self._options)
            self._filter.begin_file(source, ranges)
            try:
                for batch in self._reader.read(file.readinto, source.name, stop=source.stop):
                    yield from self._decoded(batch, ranges)
            except DecodeError as error:
                if source.stop is None or (error.position.offset or 0) < source.stop:
                    raise

    def _decoded(self, batch: pa.RecordBatch, ranges: EventRanges) -> Iterator[Event]:
        """Yield the events of a batch: of an event and those inside it, the ones that are listed."""
        listed = zip(*(batch.column(name).to_pylist() for name in _COLUMNS), strict=True)
        wanted = (item for item in listed if not self._codes or item[3] in self._codes)
        for (start, end), group in groupby(wanted, key=lambda item: item[:2]):
            numbers = {inner for _, _, inner, _ in group}
            for event in ranges.events(start, end):
                if event.inner in numbers:
                    yield event


class _Reader(EventReader):
    """Lists events whose checksum does not match, too."""

    report_checksums = True


class _Filter(ListedFilter):
    """Notes, besides, where the format changes, and reports checksums that do not match."""

    def __init__(
        self, selection: Selection, counts: ConditionCounts | None, on_damage: Callable[[DecodeError], None]
    ) -> None:
        super().__init__(selection, counts)
        self._on_damage = on_damage
        self._ranges: EventRanges | None = None

    def begin_file(self, source: LogSource, ranges: EventRanges) -> None:
        self.start = source.start
        self._ranges = ranges

    def keep_decoded(self, events: Numbers, event: Event) -> None:
        if self._ranges is not None:
            self._ranges.note_format_change(event)
        if event.checksum is ChecksumState.BAD and event.inner is None:
            self._on_damage(bad_checksum(event.frame, event.file))
        super().keep_decoded(events, event)
