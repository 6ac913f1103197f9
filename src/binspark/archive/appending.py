"""Writing runs to the log that grows: much at a time in the background, while the next run comes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from binspark.archive.growing_log import GrowingLog
from binspark.client.bulk.runs import Run

_LARGE = 1 << 17
"""From so many bytes on, writing takes longer than telling another thread to do it."""

OnWritten = Callable[[Run, int], None]
"""Is told of a run that was written, and how many bytes of it were new."""


class Appender:
    """Writes one run after the other. What was written is told with the next one, or when somebody looks."""

    def __init__(self, on_written: OnWritten) -> None:
        self._on_written = on_written
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="binspark-write")
        self._running: tuple[Run, Future[int]] | None = None

    def append(self, log: GrowingLog, run: Run) -> None:
        """Write a run, at the latest before the next one; raise what went wrong with the one before."""
        self.settle()
        if len(run.data) < _LARGE:
            self._on_written(run, _written(log, run))
        else:
            self._running = run, self._pool.submit(_written, log, run)

    def look(self) -> None:
        """Tell of what is written by now."""
        if self._running is not None and self._running[1].done():
            self.settle()

    def settle(self) -> None:
        """Wait until all is written."""
        running, self._running = self._running, None
        if running is not None:
            run, writing = running
            self._on_written(run, writing.result())

    def close(self) -> None:
        """Wait for what is under way, and end the thread."""
        self._pool.shutdown()


def _written(log: GrowingLog, run: Run) -> int:
    before = log.size
    log.append(run.offset, run.data)
    return log.size - before
