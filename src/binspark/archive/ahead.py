"""Reading ahead: a thread gets the next item while this one is dealt with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from queue import Queue
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")


class _End(NamedTuple):
    """Comes behind the last item."""

    error: BaseException | None


def read_ahead(items: Iterable[Item], stop: Callable[[], None]) -> Generator[Item, None, None]:
    """Yield items that another thread iterates over, and raise what it raises.

    Whoever does not want the rest closes the iterator: `stop` makes the thread end, and it is waited for.
    """
    read: Queue[Item | _End] = Queue(maxsize=1)
    thread = threading.Thread(target=_read, args=(items, read), name="binspark-read", daemon=True)
    thread.start()
    item: Item | _End | None = None
    try:
        while not isinstance(item := read.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        if not isinstance(item, _End):
            stop()
            while not isinstance(read.get(), _End):
                pass
        thread.join()


def _read(items: Iterable[Item], read: Queue[Item | _End]) -> None:
    try:
        for item in items:
            read.put(item)
    except BaseException as error:  # the other thread raises it
        read.put(_End(error))
    else:
        read.put(_End(None))
