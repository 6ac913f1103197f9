"""Errors of pyiceberg as ours."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pyiceberg.exceptions import CommitFailedException, ValidationException

from binspark.files.storage.options import Storage
from binspark.mirror.targets.errors import target_errors


def iceberg_errors(address: str, storage: Storage) -> AbstractContextManager[None]:
    """Turn whatever pyiceberg, its catalog or a file system raises in the block into an error that names the table."""
    return target_errors(address, storage, (CommitFailedException, ValidationException))
