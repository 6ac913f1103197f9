"""Work in the background: one task at a time, and reading ahead."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from binspark.background import BackgroundWorker, read_ahead

pytestmark = pytest.mark.timeout(120)


def test_a_task_runs_on_a_thread_of_its_own() -> None:
    worker: BackgroundWorker[str] = BackgroundWorker("test")
    go_on = threading.Event()

    def task() -> str:
        assert go_on.wait(60)
        return threading.current_thread().name

    assert (worker.is_started, worker.is_running) == (False, False)
    worker.start(task)
    assert (worker.is_started, worker.is_running) == (True, True)
    go_on.set()
    assert worker.result().startswith("binspark-test")
    assert (worker.is_started, worker.is_running) == (False, False)
    worker.close()


def test_what_a_task_raises_is_raised_where_its_result_is_collected() -> None:
    worker: BackgroundWorker[None] = BackgroundWorker("test")

    def fail() -> None:
        raise ValueError("broken")

    worker.start(fail)
    with pytest.raises(ValueError, match="broken"):
        worker.result()
    worker.start(lambda: None)
    assert worker.result() is None
    worker.close()


def never() -> None:
    raise AssertionError("nobody asked to stop")


def test_what_is_read_ahead_comes_in_order() -> None:
    assert list(read_ahead(range(100), never)) == list(range(100))


def test_the_next_item_is_read_while_one_is_processed() -> None:
    second_was_read = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        second_was_read.set()
        yield 2

    ahead = read_ahead(items(), never)
    assert next(ahead) == 1
    assert second_was_read.wait(60)
    assert list(ahead) == [2]


def test_an_error_comes_after_what_was_read_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    ahead = read_ahead(items(), never)
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="broken"):
        next(ahead)


def test_whoever_has_enough_ends_the_reading() -> None:
    stopped, threads = threading.Event(), set(threading.enumerate())

    def items() -> Iterator[int]:
        number = 0
        while not stopped.is_set():
            number += 1
            yield number

    ahead = read_ahead(items(), stopped.set)
    assert next(ahead) == 1
    ahead.close()
    assert set(threading.enumerate()) <= threads  # those of others may have ended


def test_a_generator_is_closed_with_its_reader() -> None:
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.set()

    ahead = read_ahead(items(), lambda: None)
    assert next(ahead) == 0
    ahead.close()
    assert closed.is_set()
