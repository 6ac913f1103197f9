"""What log files contain, counted in bulk."""

from __future__ import annotations

from binspark.columns.bulk_contents import BulkContents
from binspark.errors import DecodeError
from binspark.files.log_head import read_head
from binspark.files.sources import STANDARD_INPUT, LogSource
from binspark.os_errors import source_errors


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
