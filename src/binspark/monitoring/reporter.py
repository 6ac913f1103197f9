"""Watching a program while it runs: status lines at regular intervals, and metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

from binspark.monitoring.settings import MetricsSettings
from binspark.monitoring.status import GetStatus, Status

OnStatus = Callable[[Status], None]


class StatusReporter:
    """Calls a function with the status every few seconds, in a thread: also while the program waits for its source.

    If the function fails, `stop` is called, and the error is raised on leaving the context.
    """

    def __init__(
        self, get_status: GetStatus, on_status: OnStatus, every_seconds: float, stop: Callable[[], None]
    ) -> None:
        self._get_status = get_status
        self._on_status = on_status
        self._every_seconds = every_seconds
        self._stop = stop
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="binspark-status", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        if kind is None and self._error is not None:
            raise self._error

    def _run(self) -> None:
        rate = _Rate()
        try:
            while not self._ended.wait(self._every_seconds):
                status = self._get_status()
                self._on_status(replace(status, bytes_per_second=rate.since_last(status.bytes)))
        except BaseException as error:
            self._error = error
            self._stop()


class _Rate:
    """How fast a number grows."""

    def __init__(self) -> None:
        self._last, self._at = 0, time.monotonic()

    def since_last(self, number: int | None) -> float | None:
        if number is None:
            return None
        grown, now = number - self._last, time.monotonic()
        rate = grown / max(now - self._at, 1e-6)
        self._last, self._at = number, now
        return rate


@contextmanager
def monitored(
    get_status: GetStatus,
    metrics: MetricsSettings | None,
    on_status: OnStatus | None = None,
    every_seconds: float = 0.0,
    stop: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Serve metrics and report the status in the block, as far as either is wanted."""
    with ExitStack() as watching:
        if metrics is not None:
            from binspark.monitoring.endpoint import serving_metrics  # loads an HTTP server

            watching.enter_context(serving_metrics(get_status, metrics))
        if on_status is not None and every_seconds > 0:
            watching.enter_context(StatusReporter(get_status, on_status, every_seconds, stop))
        yield
