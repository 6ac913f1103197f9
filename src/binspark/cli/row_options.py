"""The options of every command that reads rows, and messages about tables that were not found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.changes.selection_options import (
    SCHEMA_FILE,
    SELECTION_OPTIONS,
    TIMEZONE,
    SelectionOption,
    make_selection,
)
from binspark.cli.command import after_command, click_option
from binspark.cli.output import print_message, shown_statement
from binspark.options.option import Option, Surface
from binspark.options.values import in_zone

if TYPE_CHECKING:
    from binspark.columns.selection import Selection
    from binspark.schema.history import SchemaHistory
    from binspark.schema.notices import SchemaNotice

_Command = Callable[..., Any]
_STATEMENT_WIDTH = 60
_ON_THE_COMMAND_LINE = [option for option in SELECTION_OPTIONS if Surface.COMMAND_LINE in option.surfaces]
_OF_ROWS = [option for option in _ON_THE_COMMAND_LINE if not option.for_batches]
_FILTERS = [option for option in _OF_ROWS if not option.is_policy and not option.for_values]
_OF_VALUES = [option for option in _OF_ROWS if option.is_policy or option.for_values]
_BATCH_OPTIONS = [option for option in _ON_THE_COMMAND_LINE if option.for_batches]
_TIMES = frozenset(option.name for option in _FILTERS if option.is_time)


def row_options(command: _Command) -> _Command:
    """Give a command the options that select events, transactions or rows, and say how values are decoded.

    It receives keyword arguments: those of `selection_from`, and `schema_file` and `timezone`.
    """
    command = _schema_option(SCHEMA_FILE)(_decorated(command, _OF_VALUES))
    command = click_option(TIMEZONE, default="UTC", show_default=True)(command)
    return _decorated(command, _FILTERS)


def local_row_options(command: _Command) -> _Command:
    """Give a command `row_options`; times are local if no time zone is given.

    It has no old names: `--table` is an option of its own.
    """
    command = _schema_option(replace(SCHEMA_FILE, old_names={}))(command)
    command = click_option(TIMEZONE, default="local", show_default=True)(command)
    return _decorated(command, [replace(option, old_names={}) for option in (*_FILTERS, *_OF_VALUES)])


def _schema_option(option: Option) -> Callable[[_Command], _Command]:
    return click_option(option, parse=False, type=click.Path(exists=True, dir_okay=False))


def batch_options(command: _Command) -> _Command:
    """Give a command the options about columns, besides `row_options`."""
    return _decorated(command, _BATCH_OPTIONS)


def _decorated(command: _Command, options: list[SelectionOption]) -> _Command:
    for option in reversed(options):
        command = click_option(option, parse=False)(command)
    return command


def selection_from(options: dict[str, Any], zone: tzinfo = UTC) -> Selection:
    """Return the selection for the options of a command; None, or empty if it may be repeated, is not given.

    Times without a time zone are in `zone`. A selection that cannot select anything is reported, and after the command
    the tables and columns that it names and that were not found.
    """
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    for name in _TIMES & given.keys():
        given[name] = in_zone(given[name], zone)
    selection = make_selection(given, Surface.COMMAND_LINE)
    _warn_about_times("datetime", selection.start_time, selection.stop_time)
    _warn_about_times("committed", selection.committed_from, selection.committed_before)
    after_command(lambda: _warn_about_unmatched(selection))
    return selection


def _warn_about_unmatched(selection: Selection) -> None:
    """Report what the options name and no table that was read has."""
    for found in selection.unmatched():
        print_message(found.message(Surface.COMMAND_LINE))


def _warn_about_times(kind: str, start: int, stop: int | None) -> None:
    """Report times in the wrong order."""
    if stop is not None and stop <= start:
        names = {"datetime": "--start-datetime, --stop-datetime", "committed": "--committed-from, --committed-before"}
        first, _, last = names[kind].partition(", ")
        print_message(f"{first} is not before {last}: nothing is selected")


def history_from(schema_file: str | None, *, for_rows: bool = False) -> SchemaHistory:
    """Return the table schemas that reading begins with; what they do not know is reported as a warning.

    A command that shows rows alone (`for_rows`) also warns of changes that were logged as statements, or rolled back.
    """
    from binspark.files.schema_file import history_of

    history = history_of(schema_file, _warn_for_rows if for_rows else _warn)
    if schema_file is not None and not history.catalog.tables:
        print_message(f"--schema-file {schema_file} has no CREATE TABLE: it defines no table")
    return history


def _warn_for_rows(notice: SchemaNotice) -> None:
    from binspark.schema.notices import LoggedStatement, RolledBackChanges

    if isinstance(notice, LoggedStatement):
        print_message(f"{notice.position}: {notice}; `binspark transactions` and `binspark sql` show such statements")
    elif isinstance(notice, RolledBackChanges):
        print_message(f"{notice.position}: {notice}; `binspark transactions` shows how transactions ended")
    else:
        _warn(notice)


def _warn(notice: SchemaNotice) -> None:
    from binspark.schema.notices import DoubtfulTable, HiddenColumns, LoggedStatement, RolledBackChanges

    if isinstance(notice, LoggedStatement | RolledBackChanges):
        return
    if isinstance(notice, HiddenColumns | DoubtfulTable):
        print_message(f"{notice.position}: {notice}")
        return
    statement = shown_statement(notice.statement, _STATEMENT_WIDTH)
    print_message(f"{notice.position}: cannot parse a DDL statement, which is ignored ({notice.reason}): {statement}")
