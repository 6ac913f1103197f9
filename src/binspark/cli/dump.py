"""`binspark dump`: the text that the servers' own tools print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from typing import Any

import click

from binspark.cli.command import Command, click_option, logs_argument
from binspark.cli.inputs import Logs
from binspark.cli.output import Damage, print_message, print_texts
from binspark.cli.row_options import local_filter_options, selection_from
from binspark.errors import OptionError
from binspark.options.dump import DUMP_OPTIONS, FORCE_IF_OPEN, VERBOSE
from binspark.os_errors import describe_os_error

_Command = Callable[..., Any]


def _dump_options(command: _Command) -> _Command:
    for option in reversed(DUMP_OPTIONS):
        command = click_option(option)(command)
    return command


@click.command("dump", cls=Command)
@logs_argument
@click_option(VERBOSE, parse=False, is_flag=False, count=True, default=0)
@_dump_options
@click.option(
    "-F", "--force-if-open/--skip-force-if-open", default=True, help=f"{FORCE_IF_OPEN.help}  [default: force-if-open]"
)
@local_filter_options
def dump_command(
    files: tuple[str, ...], timezone: tzinfo, result_file: str | None, base64_output: str | None, **options: Any
) -> int:
    """Show logs as the text that mysqlbinlog 9.7 prints, byte for byte; MariaDB's logs as mariadb-binlog does.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    The output is for people and for `mysql`, which applies it to another server. Options have the names and meanings
    of mysqlbinlog. Besides them, the options of `rows` select complete events. Where a log is damaged, everything
    before the damage is shown. Exit code 1: a log is damaged.
    """
    from binspark.dump.output import BufferedOutput
    from binspark.dump.run import dump_logs
    from binspark.dump.settings import Base64Output, DumpSettings

    own = {option.name for option in (*DUMP_OPTIONS, VERBOSE, FORCE_IF_OPEN)}
    given = {name: value for name, value in options.items() if name in own and value is not None}
    selection = selection_from({name: value for name, value in options.items() if name not in own}, timezone)
    settings = DumpSettings(
        selection=selection, timezone=timezone, base64_output=Base64Output(base64_output or "auto"), **given
    )
    sources = Logs(files, None).sources(selection, with_earlier=False)
    damage = Damage()
    with _opened(result_file) as write, damage.ends_file():
        output = BufferedOutput(write)
        try:
            dump_logs(sources, settings, output, print_message)
        finally:
            output.flush()
    return damage.exit_code


@contextmanager
def _opened(result_file: str | None) -> Iterator[Callable[[Sequence[bytes]], None]]:
    """Open what the dump is written to."""
    if result_file is None:
        yield print_texts
        return
    try:
        file = open(result_file, "wb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise OptionError(f"cannot be written: {describe_os_error(error)}", option="--result-file") from None
    with file:
        yield file.writelines
