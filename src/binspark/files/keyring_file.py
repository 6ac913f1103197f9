"""The keys of encrypted logs, from a keyring file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from binspark.errors import DecodeError, OptionError
from binspark.files.sources import LogSource
from binspark.files.storage.options import Storage
from binspark.options.keyring import KEYRING, KEYRING_PASSWORD_FILE
from binspark.os_errors import source_errors
from binspark.position import Position

if TYPE_CHECKING:
    from binspark.encryption.keyring import Keyring

_MAX_BYTES = (1 << 20) + 1


def load_keyring(file: str | Path, password_file: str | Path | None = None, storage: Storage | None = None) -> Keyring:
    """Return the keys for logs in a keyring file of MySQL, or in a key file of MariaDB.

    The file is read now: a server that replaces its key writes a new one into it. `storage` is for a URI.
    """
    from binspark.encryption.keyring import parse_keyring

    password = None if password_file is None else _content(str(password_file), storage)
    content = _content(str(file), storage)
    try:
        return parse_keyring(content, LogSource(str(file)).name, password)
    except DecodeError as error:
        raise error.at(Position(file=LogSource(str(file)).name)) from None


def keyring_storage(
    keyring: str | Path | Keyring | None,
    password_file: str | Path | None = None,
    storage: Storage | None = None,
) -> Storage | None:
    """Return a storage with the keys that options name; `storage` as it is if they name none."""
    if keyring is None:
        if password_file is not None:
            raise OptionError(
                f"is the password of a key file; give {KEYRING.name} too", option=KEYRING_PASSWORD_FILE.name
            )
        return storage
    if isinstance(keyring, str | Path):
        keyring = load_keyring(keyring, password_file, storage)
    return Storage(keyring=keyring) if storage is None else storage.with_keyring(keyring)


def _content(name: str, storage: Storage | None) -> bytes:
    source = LogSource(name) if storage is None else LogSource(name, storage.with_keyring(None))
    with source_errors(source.name), source.open() as file:
        return file.read(_MAX_BYTES)
