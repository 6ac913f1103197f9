"""What the commands share that follow a server until they are stopped."""

from __future__ import annotations

import logging
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from binspark.errors import BinlogWarning

ONE_SIGNAL_SECONDS = 0.25
"""Signals that arrive within this time of the first are one with it."""


@contextmanager
def stop_on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` when the process is interrupted or terminated; a second signal ends the process at once.

    A thread calls it, because the main thread may hold a lock that `stop` needs when the signal interrupts it. Signals
    that arrive together are one: `timeout` signals the process and then its group, and wrappers forward what the
    terminal has sent to the process, too.
    """

    def handle(number: int, _frame: object) -> None:
        signal.signal(number, lambda _number, _frame: None)
        threading.Thread(target=stop, name="binspark-stop").start()
        time.sleep(ONE_SIGNAL_SECONDS)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def warnings_to(show: Callable[[str], None]) -> Iterator[None]:
    """Pass warnings, logged ones such as lost connections and those of Python, to `show`."""
    with _logged_to("binspark", logging.WARNING, show), python_warnings_to(show):
        yield


@contextmanager
def python_warnings_to(show: Callable[[str], None]) -> Iterator[None]:
    """Pass Python's warnings of binspark to `show`, each once."""
    shown: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", BinlogWarning)
        show_other = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *place: Any) -> None:
            if not issubclass(category, BinlogWarning):
                show_other(message, category, *place)
            elif str(message) not in shown:
                shown.add(str(message))
                show(str(message))

        warnings.showwarning = show_warning  # type: ignore[assignment]
        yield


@contextmanager
def messages_to(name: str, show: Callable[[str], None]) -> Iterator[None]:
    """Pass what a logger logs, such as who has connected, to `show`."""
    logging.getLogger(name).setLevel(logging.INFO)
    with _logged_to(name, logging.INFO, show):
        yield


@contextmanager
def _logged_to(name: str, level: int, show: Callable[[str], None]) -> Iterator[None]:
    logger, handler = logging.getLogger(name), _Handler(level, show)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Handler(logging.Handler):
    def __init__(self, level: int, show: Callable[[str], None]) -> None:
        super().__init__(level)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())
