"""Errors of pyiceberg as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyiceberg.exceptions import CommitFailedException, ValidationException

from binspark.errors import BinlogError, SourceError
from binspark.files.storage.options import Storage
from binspark.files.storage.remote import describe_store_error
from binspark.mirror.targets.target import CommitConflict
from binspark.position import Position


@contextmanager
def iceberg_errors(address: str, storage: Storage) -> Iterator[None]:
    """Turn whatever pyiceberg, its catalog or a file system raises in the block into an error that names the table."""
    position = Position(file=address)
    try:
        yield
    except BinlogError:
        raise
    except (CommitFailedException, ValidationException):
        raise CommitConflict("another program changed the table while the mirror prepared a commit", position) from None
    except Exception as error:
        raise SourceError(describe_store_error(error, storage), position) from None
