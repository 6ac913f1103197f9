"""Where binspark keeps files of its own, after the XDG base directory specification.

    cache   can be made again: compiled kernels, servers for tests, logs for benchmarks
    state   cannot: what an archive has received and not yet uploaded

Except for `writable_cache_folder` these are pure paths: nothing is created, and a folder need not exist.

Code from the cache is executed. So `why_unsafe` says where another user could have put it, or can change it.
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from binspark.errors import BinlogWarning
from binspark.private_files import create_folder

READABLE_FILE = 0o644
READABLE_FOLDER = 0o755
"""A cache has no secrets: root may fill one for all users."""

_NAME = "binspark"
_ROOT = 0
_ORDINARY_USERS = 1000
_NOBODY = 65534
"""The owner that a container shows for files of users that it does not know, such as the root of its host."""


class UnsafeCacheWarning(BinlogWarning):
    """A cache is not used, because others can change its code, which would be executed."""


def cache_folder() -> Path:
    """Return the cache folder: `$BINSPARK_CACHE`, else `$XDG_CACHE_HOME/binspark`, else `~/.cache/binspark`."""
    return _chosen("BINSPARK_CACHE") or _default("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Return the state folder: `$BINSPARK_STATE`, else `$XDG_STATE_HOME/binspark`, else `~/.local/state/binspark`."""
    return _chosen("BINSPARK_STATE") or _default("XDG_STATE_HOME", ".local/state")


def writable_cache_folder() -> Path:
    """Create and return the first cache folder that this user can write to, and nobody else.

    A container may have no home directory, or a read-only one. Then the cache is a folder among the temporary files
    that only this user can write to: what is compiled there is executed.
    """
    for folder in _cache_candidates():
        if _is_writable(folder) and is_safe(folder):
            return folder
    shared = Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}"
    return shared if _is_private(shared) else Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))


def is_safe(folder: Path) -> bool:
    """Return whether nobody else can change the contents of a folder; warn if somebody can."""
    reason = why_unsafe(folder)
    if reason is not None:
        message = f"compiled code is not loaded from {folder}, and not kept there: {reason}"
        warnings.warn(f"{message}; choose a folder that only you can write to", UnsafeCacheWarning, stacklevel=2)
    return reason is None


def why_unsafe(folder: Path) -> str | None:
    """Return who else can change the contents of a folder; None if nobody can, or if there is no such folder.

    The folder belongs to this user or to root, and nobody else may write to it. Others may write to a folder above it
    if its sticky bit is set: then they can neither rename nor replace files of others.
    """
    below = folder.resolve()
    with suppress(OSError):
        reason = why_changeable(below.stat())
        if reason is not None:
            return f"{below} {reason}"
        for above in below.parents:
            found = above.stat()
            if not _may_own_above(found.st_uid) or (_others_write(found) and not found.st_mode & stat.S_ISVTX):
                return f"{above} {why_changeable(found)}"
    return None


def why_changeable(found: os.stat_result) -> str | None:
    """Return why users other than this one and root can change a file, or add to a folder; None if they cannot."""
    if found.st_uid not in (os.geteuid(), _ROOT):
        return f"belongs to another user (number {found.st_uid})"
    if _others_write(found):
        return f"can be written to by others (mode {stat.S_IMODE(found.st_mode):04o})"
    return None


def _may_own_above(owner: int) -> bool:
    """Return whether a user may own a folder above: this one, root, an account of the system, nobody's."""
    return owner in (os.geteuid(), _NOBODY) or owner < _ORDINARY_USERS


def _others_write(found: os.stat_result) -> bool:
    """Return whether others may write. The group may if it is that of root, or has no other member than this user."""
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and found.st_gid != _ROOT and not _is_own_group(found.st_gid)


def _is_own_group(group: int) -> bool:
    """Return whether a group is named like this user and has no other member, as many systems create one for each."""
    import grp
    import pwd

    try:
        user, known = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return known.gr_name == user and not set(known.gr_mem) - {user}


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
        create_folder(folder, READABLE_FOLDER)
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
