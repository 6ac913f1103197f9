"""The keys of a server, out of the file in which its keyring component or key management plugin stores them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from binspark.encryption.ciphers import decrypt_cbc
from binspark.encryption.keyring_plugin import PLUGIN_MAGIC, plugin_keys
from binspark.errors import Malformed

MYSQL_KEY_PREFIX = "MySQLReplicationKey_"
MARIADB_BINLOG_KEY = 1
"""The id of the key with which MariaDB encrypts its logs; other keys are for tables."""

_MAX_BYTES = 1 << 20
_OPENSSL_MAGIC = b"Salted__"
_SALT = slice(8, 16)
_AES_KEY_LENGTHS = (16, 24, 32)
_KEY_LENGTH, _IV_LENGTH = 32, 16
_DIGESTS = ("sha1", "sha256", "sha512", "sha384", "sha224", "md5")
_OPENSSL_ITERATIONS = 10_000
_KEY_LINE = re.compile(rb"\s*(\d+)\s*;\s*([0-9A-Fa-f]+)\s*")

KINDS = (
    "the data file of component_keyring_file or keyring_file (MySQL), or the key file of file_key_management (MariaDB)"
)


@dataclass(frozen=True, slots=True, repr=False)
class Keyring:
    """The keys that decrypt logs. It is sent along with a log to the process that reads it, and is never shown.

    name      the file that they come from
    mysql     MySQL's replication master keys, by their ids
    mariadb   MariaDB's keys, by their ids; only that for logs is kept
    """

    name: str
    mysql: tuple[tuple[str, bytes], ...] = ()
    mariadb: tuple[tuple[int, bytes], ...] = ()

    @property
    def key_ids(self) -> list[str]:
        """The ids of the keys."""
        return [key_id for key_id, _ in self.mysql] + [str(key_id) for key_id, _ in self.mariadb]

    def __repr__(self) -> str:
        return f"Keyring({self.name!r}, {len(self.mysql) + len(self.mariadb)} keys)"


def parse_keyring(content: bytes, name: str, password: bytes | None = None) -> Keyring:
    """Return the keys for logs in a keyring file of either family; the content shows which it is.

    `password` is for a key file of MariaDB that `openssl enc -aes-256-cbc` encrypted.
    """
    if len(content) > _MAX_BYTES:
        raise Malformed(f"the keyring has more than {_MAX_BYTES:,} bytes; expected {KINDS}")
    if content.lstrip().startswith(b"{"):
        return _of_mysql(_component_keys(content), name)
    if content.startswith(PLUGIN_MAGIC):
        return _of_mysql(plugin_keys(content), name)
    if content.startswith(_OPENSSL_MAGIC):
        content = _decrypted_key_file(content, password)
    keys = _mariadb_keys(content)
    if not keys:
        raise Malformed(f"this is not a keyring; expected {KINDS}")
    if MARIADB_BINLOG_KEY not in keys:
        found = ", ".join(map(str, keys))
        raise Malformed(f"the key file has no key {MARIADB_BINLOG_KEY}, which encrypts logs; it has {found}")
    return Keyring(name, mariadb=((MARIADB_BINLOG_KEY, keys[MARIADB_BINLOG_KEY]),))


def _of_mysql(keys: Iterable[tuple[str, bytes]], name: str) -> Keyring:
    """Keep the replication master keys: a keyring also has those of tablespaces, which nobody here needs."""
    return Keyring(name, mysql=tuple((key_id, key) for key_id, key in keys if key_id.startswith(MYSQL_KEY_PREFIX)))


def _component_keys(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the keys of component_keyring_file, whose file is JSON with hexadecimal data."""
    try:
        elements = json.loads(content)["elements"]
        for element in elements:
            yield _component_key(element)
    except (ValueError, KeyError, TypeError):
        # The reason that JSON gives may quote the file.
        raise Malformed(f"the keyring is not the JSON of component_keyring_file; expected {KINDS}") from None


def _component_key(element: Mapping[str, Any]) -> tuple[str, bytes]:
    return str(element["data_id"]), bytes.fromhex(element["data"])


def _mariadb_keys(content: bytes) -> dict[int, bytes]:
    """Return the keys of a key file: lines `id;key in hexadecimal`, and comments; none if it is not one."""
    keys: dict[int, bytes] = {}
    for line in content.splitlines():
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        found = _KEY_LINE.match(line)
        if found is None or len(found[2]) // 2 not in _AES_KEY_LENGTHS or len(found[2]) % 2:
            return {}
        keys[int(found[1])] = bytes.fromhex(found[2].decode())
    return keys


def _decrypted_key_file(content: bytes, password: bytes | None) -> bytes:
    if password is None:
        raise Malformed("the key file is encrypted; give the file with its password too (--keyring-password-file)")
    salt, data = content[_SALT], content[_SALT.stop :]
    for key, iv in _derived_keys(password.rstrip(b"\r\n"), salt):
        plain = _without_padding(decrypt_cbc(key, iv, data)) if data and len(data) % _IV_LENGTH == 0 else None
        if plain is not None and _mariadb_keys(plain):
            return plain
    message = "the key file cannot be decrypted: the password is wrong, or it was not made by openssl enc -aes-256-cbc"
    raise Malformed(
        f"{message} with one of the digests {', '.join(_DIGESTS)} (with -pbkdf2: -iter {_OPENSSL_ITERATIONS})"
    )


def _derived_keys(password: bytes, salt: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and IVs that `openssl enc` may have used. The file does not say which digest it was."""
    for digest in _DIGESTS:
        derived = block = b""
        while len(derived) < _KEY_LENGTH + _IV_LENGTH:
            block = hashlib.new(digest, block + password + salt, usedforsecurity=False).digest()
            derived += block
        yield derived[:_KEY_LENGTH], derived[_KEY_LENGTH : _KEY_LENGTH + _IV_LENGTH]
    for digest in _DIGESTS:
        derived = hashlib.pbkdf2_hmac(digest, password, salt, _OPENSSL_ITERATIONS, _KEY_LENGTH + _IV_LENGTH)
        yield derived[:_KEY_LENGTH], derived[_KEY_LENGTH:]


def _without_padding(plain: bytes) -> bytes | None:
    length = plain[-1]
    valid = 1 <= length <= _IV_LENGTH and plain.endswith(bytes([length]) * length)
    return plain[:-length] if valid else None
