"""Where binspark keeps files of its own, after the XDG base directory specification.

    cache   can be made again: compiled kernels, servers for tests, logs for benchmarks
    state   cannot: what an archive has received and not yet uploaded

Except for `writable_cache_folder` these are pure paths: nothing is created, and a folder need not exist.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_NAME = "binspark"


def cache_folder() -> Path:
    """Return the cache folder: `$BINSPARK_CACHE`, else `$XDG_CACHE_HOME/binspark`, else `~/.cache/binspark`."""
    return _chosen("BINSPARK_CACHE") or _default("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Return the state folder: `$BINSPARK_STATE`, else `$XDG_STATE_HOME/binspark`, else `~/.local/state/binspark`."""
    return _chosen("BINSPARK_STATE") or _default("XDG_STATE_HOME", ".local/state")


def writable_cache_folder() -> Path:
    """Create and return the first cache folder that can be written to.

    A container may have no home directory, or a read-only one. Then the cache is a folder among the temporary files
    that only this user can write to: what is compiled there is executed.
    """
    for folder in _cache_candidates():
        if _is_writable(folder):
            return folder
    shared = Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}"
    return shared if _is_private(shared) else Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))


def _chosen(variable: str) -> Path | None:
    folder = os.environ.get(variable)
    return Path(folder).absolute() if folder else None


def _default(base_variable: str, below_home: str) -> Path:
    base = os.environ.get(base_variable)
    return (Path(base).absolute() if base else Path.home() / below_home) / _NAME


def _cache_candidates() -> Iterator[Path]:
    """Yield the cache folder, then the one that it would be if none was chosen."""
    chosen = _chosen("BINSPARK_CACHE")
    if chosen:
        yield chosen
    try:
        yield _default("XDG_CACHE_HOME", ".cache")
    except RuntimeError:  # this user has no home directory
        return


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private(folder: Path) -> bool:
    """Return whether a folder below one that everybody may write to belongs to this user alone."""
    try:
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU
