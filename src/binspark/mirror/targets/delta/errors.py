"""Errors of delta-rs as ours."""

from __future__ import annotations

from contextlib import AbstractContextManager

from deltalake.exceptions import CommitFailedError

from binspark.files.storage.options import Storage
from binspark.mirror.targets.errors import target_errors


def delta_errors(address: str, storage: Storage) -> AbstractContextManager[None]:
    """Turn whatever delta-rs or a file system raises in the block into an error that names the table."""
    return target_errors(address, storage, (CommitFailedError,))
