"""The changed rows of logs as lines: by kernels, or one at a time where loading them would take longer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from binspark.changes.change import Change
from binspark.changes.lines import lines_of_changes
from binspark.changes.reader import ChangeReader
from binspark.columns.selection import Selection
from binspark.documents.line_style import Heading, LineStyle
from binspark.errors import BinlogError
from binspark.files.changes import source_changes
from binspark.files.damage import OnDamage
from binspark.files.sources import LogSource
from binspark.files.windows import by_window
from binspark.schema.history import SchemaHistory

if TYPE_CHECKING:
    from binspark.columns.reader import BatchReader

Text = bytes | memoryview
_CHANGES_PER_WRITE = 256


class LogPrinter:
    """Writes the changed rows of one log after the other as lines, in the order of the log.

    What comes before damage is yielded before the error is raised. With `on_damage`, damage is skipped instead.
    """

    def __init__(
        self,
        selection: Selection,
        history: SchemaHistory,
        style: LineStyle,
        *,
        in_bulk: bool,
        on_damage: OnDamage | None = None,
    ) -> None:
        self._selection = selection
        self._style = style
        self._heading = Heading()
        self._on_damage = on_damage
        self._rows = ChangeReader(selection, history)
        self._batches = _batch_reader(selection, history) if in_bulk else None

    def lines(self, source: LogSource) -> Iterator[list[Text]]:
        """Yield the lines of a log, some at a time."""
        return self._by_row(source) if self._batches is None else self._in_bulk(source, self._batches)

    def _by_row(self, source: LogSource) -> Iterator[list[Text]]:
        for some in _several(source_changes(source, self._rows, self._on_damage)):
            yield [lines_of_changes(some, self._style, self._heading)]

    def _in_bulk(self, source: LogSource, reader: BatchReader) -> Iterator[list[Text]]:
        from binspark.documents.lines import write_lines
        from binspark.files.batches import source_batches

        for group in by_window(source_batches(source, reader, on_damage=self._on_damage)):
            yield write_lines(group, source.name, self._style, self._heading)


def _several(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """Yield changes, many at a time; what comes before an error before it is raised."""
    some: list[Change] = []
    try:
        for change in changes:
            some.append(change)
            if len(some) == _CHANGES_PER_WRITE:
                yield some
                some = []
    except BinlogError:
        yield some
        raise
    yield some


def _batch_reader(selection: Selection, history: SchemaHistory) -> BatchReader:
    from binspark.columns.reader import BatchReader
    from binspark.kernels import cache

    cache.enable()
    return BatchReader(selection.with_complete_rows(), history)
