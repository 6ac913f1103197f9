"""What log files contain, counted in bulk."""

from __future__ import annotations

from binspark.columns.bulk_contents import BulkContents
from binspark.columns.row_counts import count_rows
from binspark.errors import DecodeError
from binspark.files.log_head import read_head
from binspark.files.read import source_events
from binspark.files.sources import STANDARD_INPUT, LogSource, Paths, find_logs
from binspark.kernels import cache
from binspark.os_errors import source_errors
from binspark.transactions.contents import Contents, ContentsReader


def can_count_in_bulk(source: LogSource) -> bool:
    """Return whether a log can be counted in bulk: it can be read twice, and has a single format."""
    if source.name == STANDARD_INPUT:
        return False
    with source_errors(source.name), source.open() as file:
        if not file.seekable():
            return False
        try:
            head = read_head(file, source.name)
        except DecodeError:
            return False
    return head.can_split


def stat(paths: Paths) -> Contents:
    """Return what one or more logs contain: event types, tables and operations, the largest transactions, parallelism.

    >>> binspark.stat("binlog.*").tables  # doctest: +SKIP
    """
    cache.enable()
    sources = find_logs(paths)
    if all(map(can_count_in_bulk, sources)):
        bulk = BulkContents()
        for source in sources:
            count_contents(source, bulk)
        return bulk.finish()
    reader = ContentsReader(count_rows=count_rows)
    for source in sources:
        for event in source_events(source):
            reader.feed(event)
        reader.end_file()
    return reader.finish()


def count_contents(source: LogSource, contents: BulkContents) -> None:
    """Count a log. What comes before damage is counted before the error is raised."""
    with source_errors(source.name), source.open() as file:
        first = read_head(file, source.name).frame
        contents.contents.servers.setdefault(first.format.server_version, first.header.server_id)
        damage: DecodeError | None = None
        try:
            contents.read_events(file.readinto, source.name)
        except DecodeError as error:
            damage = error
        file.seek(0)
        try:
            contents.read_transactions(file.readinto, source.name)
        except DecodeError as error:
            damage = damage or error
        contents.end_file()
        if damage is not None:
            raise damage
