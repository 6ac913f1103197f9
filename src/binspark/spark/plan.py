"""What a query reads, worked out once on the driver: which logs, how far, and what is known of their tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.columns.selection import Selection
from binspark.errors import OptionError
from binspark.files.positions import check_order, index_of
from binspark.files.schema_file import history_of
from binspark.files.sources import find_logs
from binspark.files.splits import PlannedLog, Split, plan_logs, split_logs
from binspark.options.option import Surface
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.schema.notices import SchemaNotice
from binspark.schema.server import unaffected_tables
from binspark.schema.table import TableSchema
from binspark.spark.options import DdlMode, SourceOptions, View
from binspark.spark.server_schema import server_catalog


@dataclass(frozen=True)
class ReadPlan:
    """The logs as they are now, and the schemas of tables over all of them."""

    logs: tuple[PlannedLog, ...]
    history: SchemaHistory
    splits: tuple[Split, ...]
    notices: tuple[SchemaNotice, ...] = ()


@dataclass(frozen=True)
class SchemaVersion:
    """A schema version of a table, and the position that it comes from."""

    table: TableSchema
    position: Position


_NEED_SCHEMAS = (View.CHANGES, View.CHUNKS)


def make_plan(options: SourceOptions) -> ReadPlan:
    """Look at the logs that the options select. Only headers and statements are read, no rows."""
    if not options.paths:
        raise OptionError("is missing: name the logs to read, or the host of a server", option="path")
    logs = plan_logs(find_logs(options.paths, options.file_storage))
    notices: list[SchemaNotice] = []
    history = history_over(options, logs, notices.append)
    history.on_notice = None
    narrowed = _narrowed(logs, options.selection)
    return ReadPlan(tuple(narrowed), history, tuple(split_logs(narrowed, options.max_split_bytes)), tuple(notices))


def needs_schemas(view: View) -> bool:
    """Return whether a view needs the schemas of tables: those that show no rows do not."""
    return view in _NEED_SCHEMAS


def reads_ddl(options: SourceOptions) -> bool:
    """Return whether DDL is read from the logs."""
    return options.ddl is DdlMode.READ and needs_schemas(options.view)


def history_over(
    options: SourceOptions, logs: list[PlannedLog], on_notice: Callable[[SchemaNotice], None] | None = None
) -> SchemaHistory:
    """Return what is known of tables over all the logs."""
    history = _known_before(options)
    history.on_notice = on_notice
    if reads_ddl(options):
        from binspark.files.schema_scan import (
            read_history,  # loads kernels, which the rest of planning need not wait for
        )

        read_history(logs, history)
    if options.server:
        today = unaffected_tables(server_catalog(options.server), (entry.change for entry in history.entries))
        history = SchemaHistory(today).followed_by(history)
    return history


def _known_before(options: SourceOptions) -> SchemaHistory:
    """Return the tables that a dump defines."""
    if options.schema_file is not None and options.server:
        raise OptionError("cannot be combined with host: schemas come from a file or a server", option="schemaFile")
    return history_of(options.schema_file)


def _narrowed(logs: list[PlannedLog], selection: Selection) -> list[PlannedLog]:
    """Return the logs from the start position to the stop position."""
    start, stop = selection.start_position, selection.stop_position
    names = [log.name for log in logs]
    try:
        first = index_of(names, start, "start_position", 0)
        last = index_of(names, stop, "stop_position", len(logs) - 1)
        check_order(first, start, last, stop)
    except OptionError as error:
        raise error.spelled(Surface.SPARK.spell(error.option or "")) from None
    return [
        log.narrowed(
            start.offset if start is not None and number == first else 0,
            stop.offset if stop is not None and number == last else None,
        )
        for number, log in enumerate(logs)
        if first <= number <= last
    ]
