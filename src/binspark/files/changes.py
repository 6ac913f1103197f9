"""The changed rows of logs, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Unpack

from binspark.changes.change import Change
from binspark.changes.reader import ChangeReader
from binspark.changes.selection_options import SelectionOptions, make_selection, take_schema_file
from binspark.files.positions import part_between
from binspark.files.read import source_events
from binspark.files.schema_file import Schema, history_of
from binspark.files.sources import LogSource, Paths, find_logs


def read_changes(paths: Paths, *, schema_file: Schema = None, **options: Unpack[SelectionOptions]) -> Iterator[Change]:
    """Yield every changed row of one or more logs, in the order of the logs.

    >>> for change in binspark.rows("binlog.*", tables=["shop.orders"]):  # doctest: +SKIP
    ...     print(change.op, change.key, change.after)

    `schema_file` is a dump (`mysqldump --no-data`) with the names, types and keys that the log lacks. The other options
    are those of `SelectionOptions`. Rows before damage are yielded before the error is raised.
    """
    history = history_of(take_schema_file(schema_file, options))
    selection = make_selection(options)
    return _changes(part_between(find_logs(paths), selection), ChangeReader(selection, history))


def source_changes(source: LogSource, reader: ChangeReader) -> Iterator[Change]:
    """Yield the changed rows of one log, from where the source starts to where it stops."""
    reader.start = source.start
    for event in source_events(source):
        yield from reader.feed(event)


def _changes(sources: Iterable[LogSource], reader: ChangeReader) -> Iterator[Change]:
    for source in sources:
        yield from source_changes(source, reader)
