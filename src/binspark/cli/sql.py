"""`binspark sql`: the changes of logs as SQL, or what undoes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, click_option
from binspark.cli.inputs import Logs, ServerRange, log_options, server_history
from binspark.cli.output import Damage, print_message, print_texts
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.files.damage import SKIP_DAMAGED
from binspark.sql.options import SCRIPT_OPTIONS, ScriptOptions

if TYPE_CHECKING:
    from binspark.columns.selection import Selection
    from binspark.files.sources import LogSource
    from binspark.sql.script import Script
    from binspark.sql.server_now import ServerNow

_Command = Callable[..., Any]


def _script_options(command: _Command) -> _Command:
    for option in reversed(SCRIPT_OPTIONS):
        command = click_option(option)(command)
    return command


@click.command("sql", cls=Command)
@log_options()
@_script_options
@row_options
@click_option(SKIP_DAMAGED)
def sql_command(logs: Logs, timezone: tzinfo, schema_file: str | None, skip_damaged: bool, **options: Any) -> int:
    """Write the changes of logs, or of a server (--host), as SQL; with --undo, what undoes them.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Rows become INSERT, UPDATE and DELETE, with the values that the log has, exactly; DDL and other statements are
    passed on with the settings of their session. The script means the same in every sql_mode. Rows are found by their
    key; in a table without one by all of their values.

    --undo writes the inverse of each change, the last one first. Nothing is written before everything was read. A
    statement, and a change whose old values are not in the log (binlog_row_image), end it with a message. So do rows
    that other transactions have changed later, unless you choose with --on-conflict what becomes of them. They are
    found in the rest of the logs; with --host, the rows that the server has now are compared, too.

    The script checks itself: a statement changes a row only if the row is as the undone change has left it. If one is
    not, the transaction is rolled back, and the client ends with error 1231.
    """
    from binspark.sql.inputs import script_of
    from binspark.sql.range_options import OF_FILES, OF_SERVER
    from binspark.sql.script import Script

    given = {option.name: options.pop(option.name) for option in SCRIPT_OPTIONS}
    chosen = ScriptOptions(**{name: value for name, value in given.items() if value is not None})
    selection = selection_from(options, timezone)
    damage = Damage(skip_damaged=skip_damaged)
    inputs = logs.inputs(selection, timezone, on_damage=damage.on_damage)
    history = history_from(schema_file)
    if logs.server is not None and schema_file is None:
        history = server_history(inputs[0], history)
    script = Script(
        selection,
        history,
        chosen,
        zone=timezone,
        range_options=OF_FILES if logs.server is None else OF_SERVER,
        on_notice=damage.report,
    )
    with damage.ends_command():
        later = _logs_after(logs, len(inputs)) if chosen.undo and selection.stop_position is not None else []
        server = _server_now(logs.server, timezone, script) if chosen.undo and logs.server is not None else None
        for text in script_of(inputs, script, later, server):
            print_texts([text])
    for notice in () if script.conflicts is None else script.conflicts.notices():
        print_message(notice)
    if script.is_empty and not damage.found:
        print_message("the script is empty: nothing in what was read is a change that the options select")
    if logs.server is not None:
        _warn_about_side_effects(logs.server, script, selection)
    return damage.exit_code


def _logs_after(logs: Logs, count: int) -> list[LogSource]:
    """Return the logs after the ones to undo."""
    from binspark.files.sources import find_logs

    return find_logs(logs.files)[count:]


def _server_now(server: ServerRange, timezone: tzinfo, script: Script) -> ServerNow:
    """Return what an undo is compared with: the same part of the server's log, and its rows as they are now."""
    from binspark.sql.server_now import ServerNow

    return ServerNow(server.open(timezone), server.connection, script, print_message)


def _warn_about_side_effects(server: ServerRange, script: Script, selection: Selection) -> None:
    from binspark.server.connection import connect
    from binspark.sql.side_effects import side_effects

    tables = {table for table in script.tables if selection.wants(table)}
    with connect(server.connection) as connection:
        for warning in side_effects(connection, tables, undo=script.undo):
            print_message(warning)
