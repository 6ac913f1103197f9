"""Folders in the cache that are either complete or absent."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from binspark.folders import READABLE_FOLDER, why_unsafe
from binspark.private_files import create_folder
from binspark.testing.servers.errors import ServerUnavailable


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Return `folder`, which `build` makes the first time.

    `build` fills an empty folder beside it, which is then renamed, so that `folder` is complete as soon as it exists.
    If several processes call this at once, one builds and the others wait.
    """
    if folder.exists():
        return _safe(folder)
    try:
        create_folder(folder.parent, READABLE_FOLDER)
    except OSError as error:
        raise ServerUnavailable(
            f"cannot create the cache folder: {error}; set BINSPARK_CACHE to another one"
        ) from error
    with _locked(folder.with_name(f"{folder.name}.lock")):
        if not folder.exists():
            _build_beside(folder, build)
    return _safe(folder)


def _safe(folder: Path) -> Path:
    """Return a folder whose programs nobody else can have put there: they are executed."""
    reason = why_unsafe(folder)
    if reason is not None:
        raise ServerUnavailable(f"{reason}; its programs are not run: set BINSPARK_CACHE to a folder of your own")
    return folder


def _build_beside(folder: Path, build: Callable[[Path], None]) -> None:
    for left_over in folder.parent.glob(f"{folder.name}.building-*"):
        shutil.rmtree(left_over, ignore_errors=True)  # of a build that was killed: this process has the lock
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.building-", dir=folder.parent))
    try:
        build(unfinished)
        unfinished.chmod(0o755)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


@contextmanager
def _locked(lock_file: Path) -> Iterator[None]:
    with lock_file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # released by the system when this process ends
        yield
