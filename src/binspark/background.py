"""Work in the background: one task at a time, on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")


class BackgroundWorker(Generic[Result]):
    """Runs one task after the other. The result of each is collected before the next one is started."""

    def __init__(self, name: str) -> None:
        """Name the thread."""
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"binspark-{name}")
        self._task: Future[Result] | None = None

    @property
    def is_started(self) -> bool:
        """Whether a task was started whose result was not collected yet."""
        return self._task is not None

    @property
    def is_running(self) -> bool:
        """Whether a task is running now."""
        return self._task is not None and not self._task.done()

    def start(self, task: Callable[[], Result]) -> None:
        """Start a task."""
        assert self._task is None
        self._task = self._pool.submit(task)

    def result(self) -> Result:
        """Wait for the task that was started, and return its result or raise what it raised."""
        task, self._task = self._task, None
        assert task is not None
        return task.result()

    def close(self) -> None:
        """Wait for the task that was started, and end the thread."""
        self._pool.shutdown()


class _End:
    """Comes after the last item."""


def read_ahead(items: Iterable[Item], stop: Callable[[], None]) -> Generator[Item, None, None]:
    """Yield items that another thread reads, one ahead, and raise what it raises.

    A caller that does not want the rest closes this iterator: `stop` ends the wait for the next item, and the other
    iterator is closed if it is a generator.
    """
    iterator = iter(items)
    worker: BackgroundWorker[Item | _End] = BackgroundWorker("read")

    def read() -> Item | _End:
        return next(iterator, _End())

    try:
        worker.start(read)
        while not isinstance(item := worker.result(), _End):
            worker.start(read)
            yield item
    finally:
        if worker.is_started:
            stop()
        worker.close()
        if isinstance(iterator, Generator):
            iterator.close()
