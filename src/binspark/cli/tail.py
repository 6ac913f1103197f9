"""`binspark tail`: the changes of a server as they happen."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.archive import stopping, warnings_told
from binspark.cli.connecting import connecting_options, heartbeat_option
from binspark.cli.output import format_option, tell
from binspark.cli.selecting import history_from, selecting_options, selection_from
from binspark.cli.tail_output import BackgroundOutput

if TYPE_CHECKING:
    from binspark.archive.tail import Tail
    from binspark.changes import Change
    from binspark.client.options import ConnectionOptions
    from binspark.columns.selection import Selection


@click.command("tail")
@connecting_options
@click.option(
    "--start",
    default="latest",
    show_default=True,
    help="Where to begin: latest, earliest, FILE:POSITION, GTIDs that you have, timestamp:2026-11-15T09:30:00Z.",
)
@click.option(
    "--until",
    metavar="PLACE",
    help="Where to end: end (what is there now), FILE:POSITION, GTIDs, or a time. [default: never]",
)
@format_option
@selecting_options
@click.option("--reader-id", type=click.IntRange(1, 0xFFFFFFFF), help="The server id of this reader. [default: random]")
@heartbeat_option
def tail_command(
    connection: ConnectionOptions,
    start: str,
    until: str | None,
    output_format: str,
    schema_file: str | None,
    reader_id: int | None,
    heartbeat_seconds: float,
    **options: Any,
) -> int:
    """Show the changed rows of a server as they happen, as `binspark rows` shows those of a log.

    Whole transactions are shown, each once, over lost connections too. What a log does not tell of its tables, the
    server is asked for, or --schema tells.
    """
    from binspark.archive.tail import Tail, TailSettings
    from binspark.client.settings import StreamSettings

    selection = selection_from(options)
    own: dict[str, Any] = {} if reader_id is None else {"server_id": reader_id}
    settings = TailSettings(start, until, StreamSettings(heartbeat_seconds=heartbeat_seconds, **own))
    history = history_from(schema_file)
    tail = Tail(connection, settings, None if schema_file is None else history, history.on_unreadable)
    _tell_unknown(selection, tail.tables)
    with stopping(tail.stop), warnings_told(tell):
        _print(tail, selection, output_format)
    return 0


def _print(tail: Tail, selection: Selection, output_format: str) -> None:
    """Write what comes, and let it be seen at once."""
    from binspark.changes import change_json
    from binspark.cli.rows import change_line

    form: Callable[[Change], str] = change_line if output_format == "text" else change_json
    with BackgroundOutput(sys.stdout.buffer, tail.stop) as output:
        for lines in tail.lines(selection, form, is_json=output_format == "jsonl"):
            output.write(lines)


def _tell_unknown(selection: Selection, known: list[str]) -> None:
    """Say which of the tables that are asked for nobody knows yet, each with the nearest that is there."""
    for name in sorted(selection.tables or ()):
        if not any(fnmatchcase(table, name) for table in known):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            tell(f"there is no table {name} yet{hint}")
