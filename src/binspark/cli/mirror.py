"""`binspark mirror`: tables of a server in Delta or Iceberg, kept equal."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from binspark.changes.selection_options import SELECTION_OPTIONS
from binspark.cli.command import Command, click_option
from binspark.cli.live import stop_on_signal
from binspark.cli.output import echo, print_message
from binspark.cli.server_options import drop_connection, live_option, take_connection, with_server_options
from binspark.cli.status_lines import StatusLines
from binspark.errors import BinlogError, OptionError
from binspark.options.mirror import CHECK_OPTIONS, MIRROR_OPTIONS
from binspark.options.monitoring import METRICS_OPTIONS
from binspark.options.option import Surface

if TYPE_CHECKING:
    from binspark.mirror.run import Mirror
    from binspark.monitoring.reporter import OnStatus
    from binspark.replication.position import BinlogPosition
    from binspark.schema.table import TableName
    from binspark.server.config import ConnectionConfig

_ROWS = {option.name: option for option in SELECTION_OPTIONS}
_OF_ROWS = ("exclude_tables", "zero_dates", "undecodable", "time")
_OF_CHECKS = (*_OF_ROWS, "format", "catalog", *(option.name for option in CHECK_OPTIONS))
_FAILED = 1
_MERGED = "delta-merge"
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable in which a program that spark-submit started finds its JVM."""


def _mirror_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a mirror, as they were typed."""
    for name in reversed(_OF_ROWS):
        settings = {"default": None, "help": _ROWS[name].help + "  [default: string]"} if name == "time" else {}
        command = click_option(_ROWS[name], parse=False, **settings)(command)
    for option in reversed((*MIRROR_OPTIONS, *METRICS_OPTIONS, *CHECK_OPTIONS)):
        if option.name != "once" and Surface.COMMAND_LINE in option.surfaces:
            command = click_option(option, parse=False)(command)
    return command


@click.command("mirror", cls=Command)
@click.argument("logs", nargs=-1, metavar="[LOG…]")
@with_server_options
@click_option(_ROWS["tables"], parse=False, required=True, help="Mirror these tables: names, or patterns ('shop.*').")
@click.option("--target", required=True, metavar="DIR|URI", help="Where the tables are: a directory, or s3://lake/.")
@_mirror_options
@live_option(
    "start",
    parse=False,
    help="Where the log begins to be read if no rows are copied: earliest, latest, or FILE:POSITION.  "
    "[default: earliest]",
)
@click.option(
    "--once/--continuous",
    default=False,
    help="End when everything is applied that the source has now, or go on until it is stopped.  [default: continuous]",
)
@click.option(
    "--progress",
    type=click.Choice(["table", "lines", "jsonl", "none"]),
    default="table",
    show_default=True,
    help="How progress is shown: a table that is updated in a terminal, lines, or JSON lines.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Compare the tables with the server instead of mirroring them; with --once the mirror is brought up to date "
    "where they differ, otherwise one that runs is waited for.",
)
@click.option("--dry-run", is_flag=True, help="Show what will be done with each table, and do nothing.")
def mirror_command(
    logs: tuple[str, ...], target: str, progress: str, *, check: bool, dry_run: bool, **options: Any
) -> int:
    """Keep tables in Delta or Iceberg equal to those of a server.

    Rows are copied first, without locks, then the changes of the log are applied, schema changes included. Each table
    contains the position that it is at: the command may be interrupted or killed at any time, and continues where it
    was. Without LOG, changes come from the server; with LOG, from an archive or log files.

    Exit code 0: stopped, or all is applied; with --check: all tables are equal. 1: the mirror cannot go on, tables
    differ, or the server cannot be reached. 2: wrong use.
    """
    from binspark.cli.mirror_output import print_plan, shown_progress

    source = _source(logs, options, progress)
    checks = {option.name: options.pop(option.name) for option in CHECK_OPTIONS}
    if check or checks["repair"]:
        return _checked(source, target, progress, checks, options)
    with shown_progress(progress) as show, StatusLines(progress).logged():
        mirror = _opened(source, target, options, show)
        try:
            if dry_run:
                print_plan(mirror.plan(), progress)
                return 0
            with stop_on_signal(mirror.stop):
                report = mirror.run()
        except OptionError:
            raise
        except BinlogError as error:
            print_message(error)
            return _FAILED
    if progress == "table":
        from binspark.cli.mirror_output import summary

        echo(summary(report), err=True)
    return 0


def _checked(
    source: tuple[str, ...] | ConnectionConfig,
    target: str,
    progress: str,
    checks: dict[str, Any],
    options: dict[str, Any],
) -> int:
    """Compare the tables with the server. With --once, changes are applied where the mirror lags."""
    if isinstance(source, tuple):
        raise OptionError("compares a mirror with a server: give --host instead of LOG", option="--check")
    from binspark.cli.mirror_output import print_checked
    from binspark.mirror.check.api import check_mirror

    def advance(position: BinlogPosition) -> None:
        _opened(source, target, options, lambda _report: None).run(position)

    def copy_again(table: TableName) -> None:
        _opened(source, target, {**options, "resnapshot": str(table)}, lambda _report: None).run()

    for option in METRICS_OPTIONS:  # a check ends by itself
        options.pop(option.name)
    given = {name: value for name, value in {**options, **checks}.items() if name in _OF_CHECKS and value is not None}
    if options["once"]:  # no mirror runs meanwhile
        given |= {"advance": advance, "copy_again": copy_again}
    try:
        report = check_mirror(source, target, options["tables"], **given)
    except OptionError as error:
        raise _spelled(error) from None
    except BinlogError as error:
        print_message(error)
        return _FAILED
    print_checked(report, progress)
    return 0 if report.is_equal else _FAILED


def _source(logs: tuple[str, ...], options: dict[str, Any], progress: str) -> tuple[str, ...] | ConnectionConfig:
    """Return where changes come from. A server is checked for problems first."""
    if logs:
        drop_connection(options)
        return logs
    connection = take_connection(options)
    _print_problems(connection, progress)
    return connection


def _opened(source: tuple[str, ...] | ConnectionConfig, target: str, options: dict[str, Any], show: OnStatus) -> Mirror:
    """Open a mirror, with the Spark that was given, if one was; errors name options as they were typed."""
    from binspark.mirror.api import open_mirror

    given = {name: value for name, value in options.items() if value not in (None, ())}
    tables, master = given.pop("tables"), given.pop("master", None)
    session = None
    if master is not None or _SUBMITTED in os.environ:
        session = partial(_session, master, is_merged=given.get("format") == _MERGED)
    try:
        return open_mirror(session, source, target, tables, on_report=show, **given)
    except OptionError as error:
        raise _spelled(error) from None


def _session(master: str | None, *, is_merged: bool) -> Any:
    """Return a session of the Spark that was given. It is made when it is first needed."""
    from binspark.mirror.run import requires_pyspark

    with requires_pyspark("--master"):
        from binspark.spark.session import given_session
    settings: dict[str, str] = {}
    if is_merged:
        from binspark.mirror.targets.delta.merge import session_settings

        settings = session_settings()
    return given_session("binspark mirror", master, settings)


def _spelled(error: OptionError) -> OptionError:
    name = error.option or ""
    return error.spelled(f"--{name.replace('_', '-')}") if name and not name.startswith("-") else error


def _print_problems(connection: ConnectionConfig, progress: str) -> None:
    """Print the problems of the server's settings, which a mirror will have, too."""
    from binspark.cli.mirror_output import print_problems
    from binspark.doctor.read_profile import read_profile
    from binspark.doctor.rule import Severity
    from binspark.doctor.rules import find_problems
    from binspark.live import connect

    with connect(connection) as server:
        findings = find_problems(read_profile(server, check_tables=False))
    print_problems([finding for finding in findings if finding.severity is not Severity.NOTE], progress)
