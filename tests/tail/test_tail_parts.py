"""The parts of a tail by themselves: output in the background."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pytest

from binspark.cli.server_rows import BackgroundOutput

pytestmark = pytest.mark.timeout(120)


def never() -> None:
    raise AssertionError("nobody asked to stop")


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_texts_of_any_size_are_written_in_order(size: int) -> None:
    written = io.BytesIO()
    with BackgroundOutput(written, never) as output:
        for number in range(5):
            output.write([bytes((number,)) * size, b"|"])
    assert written.getvalue() == b"".join(bytes((number,)) * size + b"|" for number in range(5))


class Reluctant(io.BytesIO):
    """Takes a part of what it is given, as a pipe may."""

    def write(self, text: Any) -> int:
        return super().write(memoryview(text)[:1000])


def test_output_that_takes_a_part_gets_the_rest() -> None:
    written = Reluctant()
    with BackgroundOutput(written, never) as output:
        output.write([b"x" * 200_001, b"|"])
        output.write([b"y" * 2001])
    assert written.getvalue() == b"x" * 200_001 + b"|" + b"y" * 2001


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_output_that_nobody_reads_is_reported(size: int) -> None:
    with closed_pipe() as pipe, pytest.raises(BrokenPipeError):
        print_to(pipe, size, lambda: None)


def test_nobody_waits_for_more_where_printing_fails() -> None:
    reported = threading.Event()
    with closed_pipe() as pipe:
        output = BackgroundOutput(pipe, reported.set)
        output.write([bytes(1 << 20)])
        assert reported.wait(60)
        with pytest.raises(BrokenPipeError):
            output.write([b""])


def print_to(pipe: BinaryIO, size: int, on_failure: Callable[[], None]) -> None:
    with BackgroundOutput(pipe, on_failure) as output:
        output.write([bytes(size)])


@contextmanager
def closed_pipe() -> Iterator[BinaryIO]:
    """Give out an end to write to of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb", buffering=0) as pipe:
        yield pipe
