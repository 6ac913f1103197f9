"""What the commands share that follow a server until they are stopped."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stop_on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` when the process is interrupted or terminated; a second signal ends the process at once.

    A thread calls it, because the main thread may hold a lock that `stop` needs when the signal interrupts it.
    """

    def handle(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        threading.Thread(target=stop, name="binspark-stop").start()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def warnings_to(show: Callable[[str], None]) -> Iterator[None]:
    """Pass logged warnings, such as lost connections, to `show`."""
    logger, handler = logging.getLogger("binspark"), _Handler(show)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Handler(logging.Handler):
    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())
