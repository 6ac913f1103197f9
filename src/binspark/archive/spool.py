"""The folder of this machine in which logs grow before they go to a store."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from binspark.archive.disk import disk_errors, replace_file, sync_folder
from binspark.archive.folder import STATE_NAME, ArchiveFolder
from binspark.archive.found_log import look_at
from binspark.archive.store import Store
from binspark.errors import OptionError
from binspark.files.sources import log_order
from binspark.position import Position

_TARGET_NAME = "archive.target"


def default_spool(uri: str) -> Path:
    """Return where logs grow that go to a store: one folder for each, among what binspark keeps."""
    base = os.environ.get("BINSPARK_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "binspark")
    return Path(base) / "archive" / hashlib.sha256(uri.encode()).hexdigest()[:16]


def claim(folder: ArchiveFolder, store: Store) -> None:
    """Note for which store a spool is; refuse one of another store."""
    note = folder.path / _TARGET_NAME
    with disk_errors(note):
        noted = note.read_text() if note.exists() else store.uri
    if noted != store.uri:
        raise OptionError(f"this spool is for {noted}: use another one", Position(file=str(folder.path)))
    replace_file(note, store.uri.encode())


def catch_up(folder: ArchiveFolder, store: Store) -> None:
    """Bring a spool to where the store is: an archiver on another machine may have gone on, or the spool is new."""
    stored = store.logs()
    if not folder.server and (state := store.read(STATE_NAME)) is not None:
        replace_file(folder.path / STATE_NAME, state)
    if not stored:
        return
    newest = max(stored, key=log_order)
    here = folder.logs()
    if here and log_order(here[-1]) > log_order(newest):
        return
    if here and here[-1] == newest and _sound_size(folder, newest) >= stored[newest]:
        return
    folder.remove([name for name in here if name in stored])
    unfinished = folder.path / f"{newest}.fetched"
    store.fetch(newest, unfinished)
    with disk_errors(unfinished):
        unfinished.replace(folder.path / newest)
        sync_folder(folder.path)


def _sound_size(folder: ArchiveFolder, name: str) -> int:
    found = look_at(folder.path / name)
    return 0 if found is None else found.end
