"""What the operating system raises, as text and as the error that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from binspark.errors import SourceError
from binspark.position import Position


def describe_os_error(error: OSError) -> str:
    """Return the reason of an error without its number and file name: `Permission denied`."""
    return error.strerror or str(error)


@contextmanager
def source_errors(file: object) -> Iterator[None]:
    """Turn every `OSError` raised in the block into a `SourceError` that names `file`."""
    try:
        yield
    except OSError as error:
        raise SourceError(describe_os_error(error), Position(file=str(file))) from None
