"""Logs encrypted as servers do it, one event and one block after the other: the slow and plain counterpart."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC, CTR, ECB

from binspark.frames import ChecksumAlgorithm, EventCode, HeaderFlag
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert, integer, table, varchar

KEY_ID = "MySQLReplicationKey_11111111-2222-3333-4444-555555555555_1"
KEY = bytes(range(32))
NONCE = bytes(range(100, 112))
PASSWORD = bytes(range(50, 82))
ITEMS = table("shop.items", integer("id"), varchar("name", 60_000))

_HEADER = struct.Struct("<IBIIIH")


def mysql_log(rows: int, *, size: int = 40) -> bytes:
    """Return a log of MySQL with a transaction for each row; the sizes of the rows vary."""
    builder = BinlogBuilder()
    return _filled(builder, rows, size)


def mariadb_log(rows: int, *, size: int = 40, checksums: bool = True) -> bytes:
    """Return a log of MariaDB that will be encrypted: START_ENCRYPTION comes after the format description."""
    checksum = ChecksumAlgorithm.CRC32 if checksums else ChecksumAlgorithm.NONE
    builder = BinlogBuilder(MARIADB_10_11, checksum=checksum)
    return with_start_encryption(_filled(builder, rows, size))


def _filled(builder: BinlogBuilder, rows: int, size: int) -> bytes:
    for number in range(rows):
        builder.transaction(insert(ITEMS, (number, chr(97 + number % 26) * (number * 7919 % size))))
    builder.stop()
    return builder.content


def save_mysql_keyring(folder: Path, key: bytes = KEY, key_id: str = KEY_ID) -> Path:
    """Write a keyring file as component_keyring_file does."""
    element = {"user": "", "data_id": key_id, "data_type": "AES", "data": key.hex().upper(), "extension": []}
    path = folder / "keyring.json"
    path.write_text(json.dumps({"version": "1.0", "elements": [element]}))
    return path


def save_mariadb_keys(folder: Path, key: bytes = KEY) -> Path:
    """Write a key file of file_key_management."""
    path = folder / "keys.txt"
    path.write_text(f"# keys\n1;{key.hex()}\n7;{'ab' * 16}\n")
    return path


def encrypt_mysql(plain: bytes, key: bytes = KEY, key_id: str = KEY_ID) -> bytes:
    """Return a log as MySQL encrypts it."""
    iv = bytes(range(16))
    password = Cipher(AES(key), CBC(iv)).encryptor().update(PASSWORD)
    header = b"\xfdbin\x01\x01" + bytes([len(key_id)]) + key_id.encode() + b"\x02" + password + b"\x03" + iv
    derived = hashlib.sha512(PASSWORD).digest()
    stream = Cipher(AES(derived[:32]), CTR(derived[32:40] + bytes(8))).encryptor()
    return header.ljust(512, b"\0") + stream.update(plain)


def encrypt_mariadb(plain: bytes, key: bytes = KEY, *, counter_mode: bool = False) -> bytes:
    """Return a log as MariaDB encrypts it: from the event after START_ENCRYPTION on."""
    events = list(split_events(plain))
    assert events[1][4] == EventCode.START_ENCRYPTION
    encrypted, position = [plain[:4]], 4
    for number, event in enumerate(events):
        encrypted.append(event if number < 2 else _encrypt_event(event, position, key, counter_mode))
        position += len(event)
    return b"".join(encrypted)


def in_clear(plain: bytes) -> bytes:
    """Return a log that was encrypted as it is read: START_ENCRYPTION is an event to be ignored."""
    events = list(split_events(plain))
    ignored = bytearray(events[1])
    ignored[4] = EventCode.IGNORABLE
    ignored[17] |= HeaderFlag.IGNORABLE
    return plain[:4] + events[0] + _with_checksum(bytes(ignored), plain) + b"".join(events[2:])


def _encrypt_event(event: bytes, position: int, key: bytes, counter_mode: bool) -> bytes:
    iv = NONCE + struct.pack("<I", position & 0xFFFFFFFF)
    # The size is left out, and the first four bytes take its place.
    content = event[4:9] + event[:4] + event[13:]
    if counter_mode:
        data = Cipher(AES(key), CTR(iv)).encryptor().update(content)
    else:
        complete = len(content) // 16 * 16
        data = Cipher(AES(key), CBC(iv)).encryptor().update(content[:complete])
        mask = Cipher(AES(key), ECB()).encryptor().update(iv)
        data += bytes(a ^ b for a, b in zip(content[complete:], mask, strict=False))
    return data[5:9] + data[:5] + event[9:13] + data[9:]


def split_events(log: bytes) -> Iterator[bytes]:
    """Yield the events of a log."""
    offset = 4
    while offset < len(log):
        size = _HEADER.unpack_from(log, offset)[3]
        yield log[offset : offset + size]
        offset += size


def with_start_encryption(log: bytes) -> bytes:
    """Return a log with START_ENCRYPTION after its format description; the positions of the others are moved."""
    description, *others = split_events(log)
    body = struct.pack("<BI", 1, 1) + NONCE
    checksum_length = 4 if has_checksums(log) else 0
    size = 19 + len(body) + checksum_length
    start = _HEADER.pack(0, EventCode.START_ENCRYPTION, 1, size, 4 + len(description) + size, 0) + body
    moved = [_with_checksum(_moved(event, size), log) for event in others]
    return log[:4] + description + _with_checksum(start + bytes(checksum_length), log) + b"".join(moved)


def _moved(event: bytes, distance: int) -> bytes:
    (position,) = struct.unpack_from("<I", event, 13)
    return event[:13] + struct.pack("<I", position + distance) + event[17:]


def has_checksums(log: bytes) -> bool:
    """Return whether the events of a log have checksums, as its format description says."""
    return next(split_events(log))[-5] == 1


def _with_checksum(event: bytes, log: bytes) -> bytes:
    return event[:-4] + struct.pack("<I", crc32(event[:-4])) if has_checksums(log) else event
