"""`binspark tail`: the changes of a server as they happen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import click

from binspark.background import BackgroundWorker
from binspark.cli.command import Command, RenamedOption, format_option
from binspark.cli.live import stop_on_signal, warnings_to
from binspark.cli.output import print_message
from binspark.cli.row_options import history_from, row_options, selection_from, unmatched
from binspark.cli.server_options import live_option, server_options
from binspark.live import stream_settings

if TYPE_CHECKING:
    from binspark.changes import Change
    from binspark.columns.selection import Selection
    from binspark.server.config import ConnectionConfig
    from binspark.tail.follow import Tail


_LARGE_BYTES = 1 << 17
"""From this size on, writing takes longer than handing it to another thread."""


class BackgroundOutput:
    """Writes and flushes texts in order, large ones in another thread. On leaving the context all is written.

    `on_failure` is called in that thread when a write fails, so that the main thread does not wait for more to write.
    """

    def __init__(self, output: BinaryIO, on_failure: Callable[[], None]) -> None:
        self._output = output
        self._on_failure = on_failure
        self._worker: BackgroundWorker[None] = BackgroundWorker("print")

    def write(self, texts: Sequence[bytes | memoryview]) -> None:
        """Write texts, whose memory must stay unchanged until the next call; raise the error of the previous write."""
        self._settle()
        if sum(map(len, texts)) < _LARGE_BYTES:
            self._print(texts)
        else:
            self._worker.start(lambda: self._print_or_report(texts))

    def _print_or_report(self, texts: Sequence[bytes | memoryview]) -> None:
        try:
            self._print(texts)
        except BaseException:
            self._on_failure()
            raise

    def _print(self, texts: Sequence[bytes | memoryview]) -> None:
        for text in texts:
            left = memoryview(text)
            while left:  # unbuffered output may accept only a part
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


@click.command("tail", cls=Command)
@server_options
@live_option("start", default="latest", show_default=True)
@live_option("until")
@format_option("text", "jsonl")
@row_options
@live_option("connection_server_id", cls=RenamedOption, old_names={"--reader-id": "--connection-server-id"})
@live_option("heartbeat_seconds")
def tail_command(
    connection: ConnectionConfig,
    start: str,
    until: str | None,
    output_format: str,
    schema_file: str | None,
    connection_server_id: int | None,
    heartbeat_seconds: float | None,
    **options: Any,
) -> int:
    """Show the changed rows of a server as they happen.

    The format is that of `binspark rows`. Complete transactions are shown, each once, also over lost connections. Names
    and types of columns that the log lacks are read from the server, or from --schema-file.
    """
    from binspark.tail.follow import Tail, TailSettings

    selection = selection_from(options)
    stream = stream_settings(connection_server_id=connection_server_id, heartbeat_seconds=heartbeat_seconds)
    history = history_from(schema_file)
    settings = TailSettings(start, until, stream)
    tail = Tail(connection, settings, None if schema_file is None else history, history.on_notice)
    for name, hint in unmatched(selection.tables or (), tail.tables):
        print_message(f"the server has no table {name} yet{hint}")
    with stop_on_signal(tail.stop), warnings_to(print_message):
        _print(tail, selection, output_format)
    return 0


def _print(tail: Tail, selection: Selection, output_format: str) -> None:
    """Write changes as they come, each at once."""
    from binspark.changes import change_json
    from binspark.cli.rows import change_line

    form: Callable[[Change], str] = change_line if output_format == "text" else change_json
    with BackgroundOutput(sys.stdout.buffer, tail.stop) as output:
        for lines in tail.lines(selection, form, is_json=output_format == "jsonl"):
            output.write(lines)
