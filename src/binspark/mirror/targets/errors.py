"""Errors of delta-rs, pyiceberg and file systems as ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from binspark.errors import BinlogError, SourceError
from binspark.files.storage.options import Storage
from binspark.files.storage.remote import describe_store_error
from binspark.mirror.targets.target import CommitConflict
from binspark.position import Position

_NOISE = re.compile(r"\x1b\[\d*m|↳| \(os error \d+\)")
_RUST_REASON = re.compile(r'^Error: Os .*message: "([^"]+)".*')
_GENERIC = "Generic LocalFileSystem error"
_ARROW_REASON = re.compile(r".*local file '([^']*)'.*\[errno \d+\] (.*)", re.DOTALL)


@contextmanager
def target_errors(address: str, storage: Storage, conflicts: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn whatever a library or a file system raises in the block into an error that names the table."""
    position = Position(file=address)
    try:
        yield
    except BinlogError:
        raise
    except conflicts:
        raise CommitConflict("another program changed the table while the mirror prepared a commit", position) from None
    except Exception as error:
        raise SourceError(_describe(error, storage), position) from None


def _describe(error: Exception, storage: Storage) -> str:
    """Return the message of an error as one line: what failed, and the reason of the operating system."""
    text = str(error)
    if found := _ARROW_REASON.fullmatch(text):
        return storage.redact(f"{found[2]}: {found[1]}")
    lines = [_NOISE.sub("", line).strip() for line in text.splitlines()]
    reasons = [_RUST_REASON.sub(r"\1", line) for line in lines if line and not line.startswith(_GENERIC)]
    return describe_store_error(Exception(": ".join(reasons)) if len(lines) > 1 else error, storage)
