"""`binspark dump`: the text that the servers' own tools print."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, click_option, logs_argument
from binspark.cli.inputs import Logs
from binspark.cli.output import Damage, print_message, print_texts
from binspark.cli.row_options import history_from, local_row_options, selection_from
from binspark.errors import BinlogError, OptionError
from binspark.options.dump import (
    DUMP_OPTIONS,
    FORCE_IF_OPEN,
    GTID_STRICT_MODE,
    MARIADB_OPTIONS,
    PRINT_ROW_COUNT,
    PRINT_ROW_EVENT_POSITIONS,
    VERBOSE,
)
from binspark.options.option import Option, Surface
from binspark.os_errors import describe_os_error
from binspark.private_files import open_output

if TYPE_CHECKING:
    from binspark.dump.settings import MariadbSettings
    from binspark.gtid import MariadbGtid

_Command = Callable[..., Any]
_MARIADB_SWITCHES = (PRINT_ROW_COUNT, PRINT_ROW_EVENT_POSITIONS, GTID_STRICT_MODE)
_GTIDS = re.compile(r"\s*\d+-\d+-\d+\s*(,|$)")


def _dump_options(command: _Command) -> _Command:
    for switch in reversed(_MARIADB_SWITCHES):
        command = _switch(switch)(command)
    for option in reversed((*DUMP_OPTIONS, *MARIADB_OPTIONS)):
        command = click_option(option)(command)
    return command


def _switch(option: Option) -> Callable[[_Command], _Command]:
    """Return the decorator for an option that is on or off, or not given; `--skip-…` turns it off."""
    name = option.name_on(Surface.COMMAND_LINE)
    help_text = f"{option.help}  [default: {option.default}]"
    return click.option(f"{name}/{name.replace('--', '--skip-')}", option.name, default=None, help=help_text)


@click.command("dump", cls=Command)
@logs_argument
@click_option(VERBOSE, parse=False, is_flag=False, count=True, default=0)
@_dump_options
@click.option(
    "-F", "--force-if-open/--skip-force-if-open", default=True, help=f"{FORCE_IF_OPEN.help}  [default: force-if-open]"
)
@local_row_options
def dump_command(
    files: tuple[str, ...],
    timezone: tzinfo,
    schema_file: str | None,
    result_file: str | None,
    base64_output: str | None,
    **options: Any,
) -> int:
    """Show logs as the text that mysqlbinlog 9.7 prints, byte for byte; MariaDB's logs as mariadb-binlog does.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    The output is for people and for `mysql`, which applies it to another server. Options have the names and meanings
    of mysqlbinlog. Besides them, the options of `rows` select complete events, and --where rows of them: then the dump
    is that of the log that `cut` writes, with its positions. Where a log is damaged, everything before the damage is
    shown. Exit code 1: a log is damaged.
    """
    from binspark.dump.output import BufferedOutput
    from binspark.dump.run import dump_logs
    from binspark.dump.settings import Base64Output, DumpSettings

    own = {option.name for option in (*DUMP_OPTIONS, VERBOSE, FORCE_IF_OPEN)}
    given = {name: value for name, value in options.items() if name in own and value is not None}
    mariadb = _mariadb_settings(options)
    selection = selection_from({name: value for name, value in options.items() if name not in own}, timezone)
    settings = DumpSettings(
        selection=selection,
        timezone=timezone,
        base64_output=Base64Output(base64_output or "auto"),
        mariadb=mariadb,
        **given,
    )
    # Conditions need the tables, which a dump or earlier logs may define.
    history = None if selection.where is None else history_from(schema_file)
    sources = Logs(files, None).sources(selection, with_earlier=selection.where is not None)
    damage = Damage()
    with _opened(result_file) as write, damage.ends_file():
        output = BufferedOutput(write)
        try:
            dump_logs(sources, settings, output, print_message, history)
        finally:
            output.flush()
    return damage.exit_code


def _mariadb_settings(options: dict[str, Any]) -> MariadbSettings:
    """Take what is only for MariaDB out of the options: also positions that are GTIDs."""
    from binspark.dump.settings import MariadbSettings

    names = [option.name for option in (*MARIADB_OPTIONS, *_MARIADB_SWITCHES)]
    taken = {name: options.pop(name) for name in names}
    for side in ("start", "stop"):
        position = options[f"{side}_position"]
        if position is not None and _GTIDS.match(position):
            options[f"{side}_position"] = None
            taken[f"{side}_gtids"] = _gtids(position, f"--{side}-position")
    return MariadbSettings(**{name: value for name, value in taken.items() if value is not None})


def _gtids(text: str, option: str) -> tuple[MariadbGtid, ...]:
    from binspark.gtid import MariadbPosition

    try:
        return MariadbPosition(text).gtids
    except BinlogError as error:
        expected = "must be a position or GTIDs such as 0-1-42"
        raise OptionError(f"{expected}, got {text!r}: {error.message}", option=option) from None


@contextmanager
def _opened(result_file: str | None) -> Iterator[Callable[[Sequence[bytes | memoryview]], None]]:
    """Open what the dump is written to."""
    if result_file is None:
        yield print_texts
        return
    try:
        file = open_output(result_file)
    except OSError as error:
        raise OptionError(f"cannot be written: {describe_os_error(error)}", option="--result-file") from None
    with file:
        yield file.writelines
