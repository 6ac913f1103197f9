"""The options of every command that reads rows, and messages about tables that were not found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from binspark.changes.selection_options import SCHEMA_FILE, SELECTION_OPTIONS, make_selection
from binspark.cli.command import click_option
from binspark.cli.output import one_line, print_message
from binspark.options.option import Surface, suggestion

if TYPE_CHECKING:
    from binspark.columns.selection import Selection
    from binspark.schema.history import SchemaHistory, SchemaNotice

_Command = Callable[..., Any]
_STATEMENT_WIDTH = 60
_ON_THE_COMMAND_LINE = [option for option in SELECTION_OPTIONS if Surface.COMMAND_LINE in option.surfaces]
_ROW_OPTIONS = [option for option in _ON_THE_COMMAND_LINE if not option.for_batches]
_BATCH_OPTIONS = [option for option in _ON_THE_COMMAND_LINE if option.for_batches]


def row_options(command: _Command) -> _Command:
    """Give a command the options that select rows; it receives them as keyword arguments."""
    command = click_option(SCHEMA_FILE, parse=False, type=click.Path(exists=True, dir_okay=False))(command)
    for option in reversed(_ROW_OPTIONS):
        command = click_option(option, parse=False)(command)
    return command


def batch_options(command: _Command) -> _Command:
    """Give a command the options about columns, besides `row_options`."""
    for option in reversed(_BATCH_OPTIONS):
        command = click_option(option, parse=False)(command)
    return command


def selection_from(options: dict[str, Any]) -> Selection:
    """Return the selection for the options of a command; None, or empty if it may be repeated, is not given."""
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    return make_selection(given, Surface.COMMAND_LINE)


def history_from(schema_file: str | None) -> SchemaHistory:
    """Return the table schemas that reading begins with; what they do not know is reported as a warning."""
    from binspark.files.schema_file import history_of

    return history_of(schema_file, _warn)


def warn_about_unmatched(selection: Selection, seen: Iterable[str]) -> None:
    """Report each name and pattern of `--tables` that no table in the logs matches."""
    for name, hint in unmatched(selection.tables or (), sorted(seen)):
        print_message(f"no rows of table {name} found{hint}")


def unmatched(names: Iterable[str], known: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each name or pattern that no known table matches, with a suggestion."""
    for name in sorted(names):
        if name not in known and not any(fnmatchcase(table, name) for table in known):
            yield name, suggestion(name, known)


def _warn(notice: SchemaNotice) -> None:
    from binspark.schema.history import HiddenColumns

    if isinstance(notice, HiddenColumns):
        print_message(f"{notice.position}: {notice}")
        return
    statement = one_line(notice.statement, _STATEMENT_WIDTH)
    print_message(f"{notice.position}: cannot parse a DDL statement, which is ignored ({notice.reason}): {statement}")
