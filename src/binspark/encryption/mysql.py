"""MySQL's encrypted logs: a header of 512 bytes, then the log, encrypted by AES-256 in counter mode.

The header names a master key of the keyring. That key decrypts the password of the file, from which its key comes.
Positions are those of the log: the header is not counted, so any position can be read without what is before it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from cryptography.hazmat.primitives.ciphers import CipherContext

from binspark.encryption.ciphers import BLOCK, counter_stream, decrypt_cbc
from binspark.encryption.keyring import Keyring
from binspark.errors import DecodeError, Encrypted, Malformed, Truncated, Unsupported
from binspark.frames.magic import ENCRYPTED_MAGIC, MAGIC
from binspark.wire import Cursor

HEADER_LENGTH = 512

_VERSION = 1
_KEY_ID, _PASSWORD, _IV = 1, 2, 3
_END = 0
_PASSWORD_LENGTH = 32
_KEY_LENGTH = 32
_NONCE_LENGTH = 8


class Header(NamedTuple):
    """The header of an encrypted log: the id of its master key, and the file's password, encrypted by it."""

    key_id: str
    password: bytes
    iv: bytes


@dataclass(frozen=True, slots=True, repr=False)
class FileKey:
    """The key of one log."""

    key: bytes
    nonce: bytes

    def stream(self, offset: int) -> CipherContext:
        """Return what decrypts the log from a position on."""
        return counter_stream(self.key, self.nonce, offset)

    def decrypt(self, data: bytes, offset: int) -> bytes:
        """Return the bytes of the log at a position."""
        return self.stream(offset).update(data)


def file_key(head: bytes, keyring: Keyring) -> FileKey:
    """Return the key of a log that begins with some bytes: its header, and at least the magic after it."""
    header = parse_header(head)
    master = dict(keyring.mysql).get(header.key_id)
    if master is None:
        found = f"it has {_listed(keyring)}" if keyring.key_ids else "it has no key for logs"
        message = (
            f"the log is encrypted with the key {header.key_id}, which is not in the keyring {keyring.name}: {found}"
        )
        raise Encrypted(f"{message}; name the keyring file of the server that wrote the log")
    try:
        password = decrypt_cbc(master, header.iv, header.password)
    except ValueError:
        raise _wrong_key(header, keyring) from None
    derived = hashlib.sha512(password).digest()
    key = FileKey(derived[:_KEY_LENGTH], derived[_KEY_LENGTH : _KEY_LENGTH + _NONCE_LENGTH])
    start = head[HEADER_LENGTH : HEADER_LENGTH + len(MAGIC)]
    if not MAGIC.startswith(key.decrypt(start, 0)):
        raise _wrong_key(header, keyring)
    return key


def parse_header(head: bytes) -> Header:
    """Return the fields of a header: each has a byte that names it; a zero ends them."""
    if len(head) < HEADER_LENGTH:
        raise Truncated(f"the header of the encrypted log has {len(head)} bytes, expected {HEADER_LENGTH}")
    cursor = Cursor(head[len(ENCRYPTED_MAGIC) : HEADER_LENGTH])
    version = cursor.u8("version")
    if version != _VERSION:
        raise Unsupported(f"the log is encrypted in version {version} of the format, expected version {_VERSION}")
    found: dict[int, bytes] = {}
    try:
        while (field := cursor.u8("field")) != _END:
            found[field] = cursor.raw("value", _length(field, cursor))
    except DecodeError:
        raise Malformed("the header of the encrypted log is damaged") from None
    if missing := {_KEY_ID, _PASSWORD, _IV} - found.keys():
        raise Malformed(f"the header of the encrypted log lacks the fields {sorted(missing)}")
    return Header(found[_KEY_ID].decode("latin-1"), found[_PASSWORD], found[_IV])


def _length(field: int, cursor: Cursor) -> int:
    if field == _KEY_ID:
        return cursor.u8("length")
    if field in (_PASSWORD, _IV):
        return _PASSWORD_LENGTH if field == _PASSWORD else BLOCK
    raise Malformed(f"unknown field {field}")


def _wrong_key(header: Header, keyring: Keyring) -> Encrypted:
    message = f"the key {header.key_id} in the keyring {keyring.name} does not decrypt the log"
    return Encrypted(f"{message}; name the keyring file of the server that wrote the log")


def _listed(keyring: Keyring) -> str:
    return ", ".join(keyring.key_ids)
