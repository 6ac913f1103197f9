"""Scripts of log files and servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from binspark.columns.selection import Operations, Selection
from binspark.errors import DecodeError, SchemaError
from binspark.files.damage import OnDamage
from binspark.files.inputs import FileInput, LogInput
from binspark.files.read import TransactionEvents
from binspark.files.sources import LogSource
from binspark.files.standard_input import STANDARD_INPUT
from binspark.sql.script import Script

if TYPE_CHECKING:
    from binspark.sql.server_now import ServerNow

_CHANGES = Operations.INSERT | Operations.UPDATE | Operations.DELETE


def script_of(
    inputs: Sequence[LogInput], script: Script, later: Sequence[LogSource] = (), server: ServerNow | None = None
) -> Iterator[bytes]:
    """Yield the script of logs, in parts.

    An undo is compared with `later` logs, which are not undone, and with what the rows of a `server` are now.
    """
    if script.undo:
        _find_conflicts(inputs, script, later, server)
    sources = [log.source for log in inputs if isinstance(log, FileInput) and log.on_damage is None]
    if sources and not any(source.name == STANDARD_INPUT for source in sources):
        script.write_in_bulk(sources)
    with closing(script):
        if not script.undo:
            yield script.opening()
        for log in inputs:
            if not isinstance(log, FileInput):
                yield from _server_parts(log, script)
            elif script.texts is not None and log.on_damage is None:
                from binspark.sql.bulk import parts_in_bulk  # loads kernels

                yield from parts_in_bulk(log.source, script, script.texts)
            else:
                yield from _source_parts(log.source, script, log.on_damage)
        yield from script.finish()


def _find_conflicts(
    inputs: Sequence[LogInput], script: Script, later: Sequence[LogSource], server: ServerNow | None
) -> None:
    """Read the logs before they are undone, and what comes after that, for changes of others."""
    if not _may_conflict(script.selection, has_later=bool(later) or server is not None):
        return
    from binspark.sql.conflicts import Conflicts  # loads kernels

    script.conflicts = conflicts = Conflicts(script.selection, script.history, script.options.on_conflict)
    files = [log for log in inputs if isinstance(log, FileInput)]
    is_damaged = any(log.on_damage is not None for log in files)
    conflicts.read_files([log.source for log in files], later, skip_damaged=is_damaged)
    if server is not None:
        server.compare(conflicts)
    conflicts.decide()


def _may_conflict(selection: Selection, *, has_later: bool) -> bool:
    """Return whether later rows may be left out of the undo: not if everything is undone."""
    limits = (selection.stop_time, selection.committed_before, selection.server_id, selection.thread_id)
    return (
        has_later
        or selection.where is not None
        or selection.operations & _CHANGES != _CHANGES
        or any((selection.start_time, selection.committed_from, selection.stop_position))
        or any(limit is not None for limit in (*limits, selection.include_gtids, selection.exclude_gtids))
    )


def _source_parts(source: LogSource, script: Script, on_damage: OnDamage | None) -> Iterator[bytes]:
    """Yield what a log adds to a script. With `on_damage`, transactions are left out from damage in them on."""
    script.begin_log(source.start)
    if script.condition is not None:
        script.condition.begin_source(source, skip_damaged=on_damage is not None)
    events = TransactionEvents(source, on_damage=on_damage)
    for event in events:
        try:
            yield from script.feed(event)
        except (DecodeError, SchemaError) as error:
            events.skip(error)
            script.forget_transaction()


def _server_parts(log: LogInput, script: Script) -> Iterator[bytes]:
    from binspark.replication.server_input import ServerInput  # loads what a connection needs

    assert isinstance(log, ServerInput)
    for chunk in log.chunks():
        if script.condition is not None:
            script.condition.begin_chunk(chunk)
        for event in chunk.events():
            yield from script.feed(event)
