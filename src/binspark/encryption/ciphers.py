"""AES in the modes that servers use, by `cryptography`."""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC, CTR, ECB

BLOCK = 16
_COUNTER_BYTES = 8


def decrypt_cbc(key: bytes, iv: bytes, data: bytes) -> bytes:
    """Return data of complete blocks decrypted; padding stays."""
    return Cipher(AES(key), CBC(iv)).decryptor().update(data)


def decrypt_blocks(key: bytes, blocks: bytes) -> bytes:
    """Return blocks decrypted, each by itself."""
    return Cipher(AES(key), ECB()).decryptor().update(blocks)  # noqa: S305 (a part of other modes)


def encrypt_blocks(key: bytes, blocks: bytes) -> bytes:
    """Return blocks encrypted, each by itself: the masks of a stream cipher."""
    return Cipher(AES(key), ECB()).encryptor().update(blocks)  # noqa: S305 (a part of other modes)


def counter_stream(key: bytes, nonce: bytes, offset: int) -> CipherContext:
    """Return what decrypts consecutive bytes from an offset on, where the counter is the number of the block."""
    counter = nonce + (offset // BLOCK).to_bytes(_COUNTER_BYTES, "big")
    stream = Cipher(AES(key), CTR(counter)).decryptor()
    stream.update(bytes(offset % BLOCK))
    return stream
