"""Servers that encrypt their logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from binspark.testing.servers import Family, MariaDB, MySQL, Server, start
from binspark.testing.servers.families import OptionValue
from binspark.testing.servers.keyring import with_keyring


@contextmanager
def encrypting_server(
    family: Family, folder: Path, options: dict[str, OptionValue] | None = None
) -> Iterator[tuple[Server, Path]]:
    """Start a server that encrypts its logs, and its relay logs; return it with its keyring file."""
    options = options or {}
    if family is MariaDB:
        keys = folder / "keys.txt"
        keys.write_text("1;" + "5eed" * 16 + "\n")
        plugin = {"plugin-load-add": "file_key_management", "file-key-management-filename": str(keys)}
        with start(MariaDB, {**plugin, "encrypt-binlog": "ON", **options}) as server:
            yield server, keys
        return
    with start(MySQL, options) as server:
        keyring = folder / "keyring"
        server.stop()
        server.programs = with_keyring(server.programs, folder / "installed", keyring)
        server.restart({"binlog-encryption": "ON"})
        yield server, keyring
