"""The progress bar on standard error: for every command that takes longer than a second, if that is a terminal.

A command has it by being a `Command`. What reads logs announces them (`binspark.files.progress`); a thread looks at the
positions of the open files ten times a second, so that readers pay nothing. The bar is one line, which is erased
before anything else is printed on a terminal, and comes back after a second without output.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from binspark.files.progress import ExpectedLog, Position, watched_by

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

AFTER_SECONDS = 1.0
"""How long a command runs before the bar is shown."""

_QUIET_SECONDS = 1.0
"""How long it prints nothing on a terminal before the bar is shown again."""

_EVERY_SECONDS = 0.1
_NEARLY_ALL = 0.9
_HEAD_BYTES = 1 << 20
"""What may be read of a log's beginning, before or after the log is read, without that being another pass."""
_BAR_WIDTH = 30
_ERASE = "\r\x1b[K"
_READING = "reading"


class _ReadLog:
    """How far one log is read, however often it is read."""

    def __init__(self, end: Callable[[], int | None]) -> None:
        self._find_end = end
        self._end: int | None = None
        self._is_end_known = False
        self._passes = 0
        self._reached = 0
        self._open: list[Position] = []

    @property
    def end(self) -> int | None:
        """Up to where it is read in each pass."""
        if not self._is_end_known:
            self._end, self._is_end_known = self._find_end(), True
        return self._end

    @property
    def done(self) -> int:
        """How many bytes were read."""
        end = self._reached if self.end is None else self.end
        return self._passes * end + min(self._reached, end)

    @property
    def passes(self) -> int:
        """How often it is read, as far as that is known."""
        return self._passes + 1

    def opened(self, position: Position) -> None:
        """Note that it was opened."""
        self._open.append(position)

    def closing(self, position: Position) -> None:
        """Note that it will be closed."""
        self._look_at(position)
        if position in self._open:
            self._open.remove(position)

    def look(self) -> None:
        """Look how far it is read."""
        for position in tuple(self._open):
            self._look_at(position)

    def _look_at(self, position: Position) -> None:
        try:
            self._note(position())
        except (OSError, ValueError):  # a pipe has no position, and a file that was just closed has none either
            return

    def _note(self, position: int) -> None:
        """Note a position. If all was read, an earlier one means that it is read again."""
        was_read = self._reached >= _NEARLY_ALL * (self.end or sys.maxsize)
        if was_read and _HEAD_BYTES < position < _NEARLY_ALL * self._reached:
            self._passes += 1
            self._reached = position
        self._reached = max(self._reached, position)


class _Reading:
    """The job to read logs."""

    title = _READING
    is_counted = True

    def __init__(self) -> None:
        self._logs: dict[str, _ReadLog] = {}
        self._passes = 1

    def expect(self, logs: Iterable[ExpectedLog], passes: int) -> None:
        """Add logs."""
        for name, end in logs:
            self._logs.setdefault(name, _ReadLog(end))
        self._passes = max(self._passes, passes)

    def find(self, name: str) -> _ReadLog | None:
        """Return the log of a name, None if it was not announced."""
        return self._logs.get(name)

    def done(self) -> int:
        """Return how many bytes were read."""
        for log in self._logs.values():
            log.look()
        return sum(log.done for log in self._logs.values())

    def total(self) -> int | None:
        """Return how many bytes are to be read; None if that is not known. It grows if the logs are read once more."""
        ends = [log.end for log in self._logs.values()]
        if None in ends:
            return None
        passes = max(self._passes, *(log.passes for log in self._logs.values()))
        return passes * sum(end or 0 for end in ends)


class _Job:
    """Another job."""

    def __init__(self, title: str, position: Position | None, total: int | None) -> None:
        self.title = title
        self._position = position
        self._total = total

    @property
    def is_counted(self) -> bool:
        """Whether it is known how far it is."""
        return self._position is not None

    def done(self) -> int:
        """Return how many bytes are done."""
        return 0 if self._position is None else self._position()

    def total(self) -> int | None:
        """Return how many bytes it has; None if that is not known."""
        return self._total


class ProgressBar:
    """The bar of one command: what it has to do, how far that is, and the line that shows it."""

    def __init__(self) -> None:
        self.note = ""
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._reading = _Reading()
        self._job: _Reading | _Job | None = None
        self._due = time.monotonic() + AFTER_SECONDS
        self._line: _Line | None = None

    # --- as a watcher of what is read ---------------------------------------------------------------------------------

    def expect(self, logs: Iterable[ExpectedLog], passes: int) -> None:
        """Note logs that will be read, and how often."""
        with self._lock:
            self._reading.expect(logs, passes)
            self._begin(self._reading)

    def opened(self, name: str, position: Position) -> None:
        """Note that a log was opened."""
        with self._lock:
            log = self._reading.find(name)
            if log is not None:
                log.opened(position)

    def closing(self, name: str, position: Position) -> None:
        """Note that a log will be closed."""
        with self._lock:
            log = self._reading.find(name)
            if log is not None:
                log.closing(position)

    def begin(self, title: str, position: Position | None, total: int | None) -> None:
        """Note another job."""
        with self._lock:
            self._begin(_Job(title, position, total))

    # --- as what is shown ---------------------------------------------------------------------------------------------

    def make_room(self) -> None:
        """Erase the line, because something else is printed."""
        with self._lock:
            self._due = max(self._due, time.monotonic() + _QUIET_SECONDS)
            if self._line is not None:
                self._line.erase()

    def end(self) -> None:
        """Show the bar for the last time, if it was shown, and erase it."""
        self._ended.set()
        with self._lock:
            if self._line is not None and self._line.is_shown:
                self._draw()
                self._line.erase()
        if self._thread is not None:
            self._thread.join()

    def _begin(self, job: _Reading | _Job) -> None:
        self._job = job
        self._show_if_due()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="binspark-progress", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(_EVERY_SECONDS):
            with self._lock:
                if not self._ended.is_set():
                    self._show_if_due()

    def _show_if_due(self) -> None:
        if time.monotonic() >= self._due:
            self._draw()

    def _draw(self) -> None:
        if self._job is not None:
            self._line = self._line or _Line()
            self._line.draw(self._job, self.note)


class _Line:
    """The line on the terminal. Rich is imported for it, which short commands do not need."""

    def __init__(self) -> None:
        from rich.console import Console

        self.is_shown = False
        self._console: Console = Console(stderr=True, highlight=False)
        self._job: _Reading | _Job | None = None
        self._progress: Progress | None = None

    def draw(self, job: _Reading | _Job, note: str) -> None:
        """Show how far a job is."""
        if self._progress is None or job is not self._job:
            self._job = job
            self._progress = _rich_progress(self._console, is_counted=job.is_counted)
            self._progress.add_task(job.title, total=None, note=note)
        self._progress.update(self._progress.task_ids[0], completed=job.done(), total=job.total(), note=note)
        self._write("\r" + self._text(self._progress) + "\x1b[K")
        self.is_shown = True

    def erase(self) -> None:
        """Remove the line."""
        if self.is_shown:
            self._write(_ERASE)
            self.is_shown = False

    def _text(self, progress: Progress) -> str:
        from rich.segment import Segments

        console = self._console
        lines = console.render_lines(progress, console.options.update_width(console.width - 1), pad=False)
        with console.capture() as captured:
            console.print(Segments(lines[0]), end="")
        return captured.get()

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:  # the terminal is gone; the command need not end for that
            return


def _rich_progress(console: Console, *, is_counted: bool) -> Progress:
    """Return what renders the line. It is not started: it would hide the cursor, and replace standard output."""
    from rich import progress

    columns: list[progress.ProgressColumn] = [
        progress.TextColumn("{task.description}"),
        progress.BarColumn(min(_BAR_WIDTH, console.width // 4)),
    ]
    if is_counted:
        columns += [progress.DownloadColumn(), progress.TransferSpeedColumn(), progress.TimeRemainingColumn()]
    else:
        columns += [progress.TimeElapsedColumn()]
    columns += [progress.TextColumn("{task.fields[note]}")]
    return progress.Progress(*columns, console=console, auto_refresh=False)


_bar: ProgressBar | None = None


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show the progress of what is read in the block, if standard error is a terminal."""
    global _bar
    if _bar is not None or not _can_show():
        yield
        return
    _bar = ProgressBar()
    try:
        with watched_by(_bar):
            yield
    finally:
        _bar.end()
        _bar = None


def _can_show() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def is_progress_shown() -> bool:
    """Return whether a bar is shown from time to time, so that lines about progress are not needed."""
    return _bar is not None


def make_room() -> None:
    """Erase the bar. To be called before anything is printed on a terminal."""
    if _bar is not None:
        _bar.make_room()


def note_progress(text: str) -> None:
    """Show a text after the bar."""
    if _bar is not None:
        _bar.note = text
