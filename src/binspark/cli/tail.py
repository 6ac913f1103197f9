"""`binspark tail`: the changes of a server as they happen."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import click

from binspark.background import BackgroundWorker
from binspark.cli.archive import stopping, warnings_told
from binspark.cli.connecting import connecting_options, heartbeat_option
from binspark.cli.output import format_option, tell
from binspark.cli.selecting import history_from, selecting_options, selection_from

if TYPE_CHECKING:
    from binspark.changes import Change
    from binspark.columns.selection import Selection
    from binspark.server.config import ConnectionConfig
    from binspark.tail.follow import Tail


_LARGE = 1 << 17
"""From so many bytes on, writing takes longer than telling another thread to do it."""


class BackgroundOutput:
    """Writes texts one after the other, each at once. A context: all is written when it is left.

    `on_failure` is called by another thread where that fails, so that nobody waits for more to write.
    """

    def __init__(self, output: BinaryIO, on_failure: Callable[[], None]) -> None:
        self._output = output
        self._on_failure = on_failure
        self._worker: BackgroundWorker[None] = BackgroundWorker("print")

    def write(self, texts: Sequence[bytes | memoryview]) -> None:
        """Write texts, which must stay as they are until the next are to be written; raise what failed before."""
        self._settle()
        if sum(map(len, texts)) < _LARGE:
            self._print(texts)
        else:
            self._worker.start(lambda: self._print_or_tell(texts))

    def _print_or_tell(self, texts: Sequence[bytes | memoryview]) -> None:
        try:
            self._print(texts)
        except BaseException:
            self._on_failure()
            raise

    def _print(self, texts: Sequence[bytes | memoryview]) -> None:
        for text in texts:
            left = memoryview(text)
            while left:  # output that is not buffered may take less than all of it
                left = left[self._output.write(left) :]
        self._output.flush()

    def _settle(self) -> None:
        if self._worker.is_started:
            self._worker.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._worker.close()
        if kind is None:
            self._settle()


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
    connection: ConnectionConfig,
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
    from binspark.replication.settings import StreamSettings
    from binspark.tail.follow import Tail, TailSettings

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
