"""The changed rows of a server, printed as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from binspark.background import BackgroundWorker
from binspark.cli.inputs import ServerRange
from binspark.cli.live import stop_on_signal
from binspark.cli.output import print_message, shown
from binspark.cli.row_options import history_from
from binspark.columns.seen import unmatched_names

if TYPE_CHECKING:
    from binspark.cli.status_lines import StatusLines
    from binspark.columns.selection import Selection
    from binspark.documents.line_style import LineStyle
    from binspark.monitoring.settings import MetricsSettings
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


@dataclass(frozen=True, slots=True)
class Monitoring:
    """How a command reports its status: status lines every few seconds, and metrics."""

    lines: StatusLines
    every_seconds: float
    metrics: MetricsSettings | None

    @contextmanager
    def over(self, tail: Tail) -> Iterator[None]:
        """Report the status of a tail in the block."""
        from binspark.monitoring.reporter import monitored

        reported = monitored(tail.status, self.metrics, self.lines.show, self.every_seconds, tail.stop)
        with self.lines.metrics_announced(), reported:
            yield
        if self.every_seconds:
            self.lines.show(replace(tail.status(), ended=True))


def print_server_rows(
    server: ServerRange,
    selection: Selection,
    style: LineStyle,
    schema_file: str | None,
    monitoring: Monitoring | None = None,
) -> None:
    """Print the rows of a server as they come."""
    from binspark.tail.follow import Tail

    history = history_from(schema_file, for_rows=True)
    known = None if schema_file is None else history
    tail = Tail(server.connection, server.settings(style.zone), known, history.on_notice)
    warn = print_message if monitoring is None else monitoring.lines.warn
    for name, hint in unmatched_names(selection.tables or (), tail.tables):
        warn(f"the server has no table {name} yet{hint}")
    if selection.seen is not None:
        selection.seen.expect(selection.tables or ())
    monitored_tail = nullcontext() if monitoring is None else monitoring.over(tail)
    with monitored_tail, stop_on_signal(tail.stop), BackgroundOutput(sys.stdout.buffer, tail.stop) as output:
        for lines in tail.lines(selection, style):
            output.write(shown(lines))
