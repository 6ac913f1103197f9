"""How far a long job is, for progress bars.

Readers do not report anything. They give a `Watcher` functions that return a position, which it calls when it wants to
know, from any thread. Without a watcher nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

Position = Callable[[], int]
"""Returns how far something is, in bytes. It may fail as a closed file does."""


class ExpectedLog(NamedTuple):
    """A log that will be read, and a function that returns up to where; None if that is not known."""

    name: str
    end: Callable[[], int | None]


class Watcher(Protocol):
    """Watches what a process reads."""

    def expect(self, logs: Iterable[ExpectedLog], passes: int) -> None:
        """Note logs that will be read, and how often."""

    def opened(self, name: str, position: Position) -> None:
        """Note that a log was opened."""

    def closing(self, name: str, position: Position) -> None:
        """Note that a log will be closed."""

    def begin(self, title: str, position: Position | None, total: int | None) -> None:
        """Note another job than to read logs: how far it is, and how far it will go, as far as that is known."""


_watcher: Watcher | None = None
"""One for the process: logs are read by several threads, of which a context variable would know only one."""


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Report everything that is read in the block to a watcher."""
    global _watcher
    before, _watcher = _watcher, watcher
    try:
        yield
    finally:
        _watcher = before


def is_watched() -> bool:
    """Return whether there is a watcher."""
    return _watcher is not None


def expect(logs: Iterable[ExpectedLog], passes: int = 1) -> None:
    """Announce logs that will be read, and how often. Only logs that were announced are watched."""
    if _watcher is not None:
        _watcher.expect(logs, passes)


@contextmanager
def watched(name: str, position: Position) -> Iterator[None]:
    """Report a log that is open in the block to the watcher."""
    watcher = _watcher
    if watcher is None:
        yield
        return
    watcher.opened(name, position)
    try:
        yield
    finally:
        watcher.closing(name, position)


def begin_job(title: str, position: Position | None = None, total: int | None = None) -> None:
    """Announce another job than to read logs, such as to write what was read."""
    if _watcher is not None:
        _watcher.begin(title, position, total)
