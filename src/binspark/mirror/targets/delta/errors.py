"""Errors of delta-rs as ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from deltalake.exceptions import CommitFailedError

from binspark.errors import BinlogError, SourceError
from binspark.files.storage.options import Storage
from binspark.mirror.targets.target import CommitConflict
from binspark.position import Position

_REASON = re.compile(r'message: "([^"]+)"')
_MAX_REASON = 240


@contextmanager
def delta_errors(address: str, storage: Storage) -> Iterator[None]:
    """Turn whatever delta-rs or a file system raises in the block into an error that names the table."""
    position = Position(file=address)
    try:
        yield
    except BinlogError:
        raise
    except CommitFailedError:
        raise CommitConflict("another program changed the table while the mirror prepared a commit", position) from None
    except Exception as error:
        raise SourceError(_describe(error, storage), position) from None


def _describe(error: Exception, storage: Storage) -> str:
    """Return the first line of a message, with the operating system's reason, which may be on another."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    reason = _REASON.search(str(error))
    text = f"{lines[0]}: {reason[1]}" if reason and reason[1] not in lines[0] else lines[0]
    return storage.redact(text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…")
