"""Standard output for much text: the system takes it in the background, while the next comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import BinaryIO, Self

_LARGE = 1 << 17
"""From so many bytes on, writing takes longer than telling another thread to do it."""


class BackgroundOutput:
    """Writes texts one after the other, each at once. A context: all is written when it is left.

    `on_failure` is called by another thread where that fails, so that nobody waits for more to write.
    """

    def __init__(self, output: BinaryIO, on_failure: Callable[[], None]) -> None:
        self._output = output
        self._on_failure = on_failure
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="binspark-print")
        self._running: Future[None] | None = None

    def write(self, texts: Sequence[bytes | memoryview]) -> None:
        """Write texts, which must stay as they are until the next are to be written; raise what failed before."""
        self._settle()
        if sum(map(len, texts)) < _LARGE:
            self._print(texts)
        else:
            self._running = self._pool.submit(self._print_or_tell, texts)

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
        running, self._running = self._running, None
        if running is not None:
            running.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._pool.shutdown()
        if kind is None:
            self._settle()
