"""Whether a client knows the password, by each of the two plugins that clients have.

The password never crosses the network, not even for `caching_sha2_password`: a server that knows the password itself,
and not only a slow hash of it, can always answer by the plugin's short way, which needs neither TLS nor a public key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from binspark.serve.protocol import CACHING_SHA2, NATIVE

FAST_LOGIN = b"\x03"
"""What `caching_sha2_password` sends before OK if the response was right."""


def native_response(password: bytes, nonce: bytes) -> bytes:
    """Return the response of `mysql_native_password`: SHA1(p) xor SHA1(nonce + SHA1(SHA1(p)))."""
    once = hashlib.sha1(password, usedforsecurity=False).digest()
    twice = hashlib.sha1(once, usedforsecurity=False).digest()
    return _xor(once, hashlib.sha1(nonce + twice, usedforsecurity=False).digest())


def caching_sha2_response(password: bytes, nonce: bytes) -> bytes:
    """Return the response of `caching_sha2_password`: SHA256(p) xor SHA256(SHA256(SHA256(p)) + nonce)."""
    once = hashlib.sha256(password).digest()
    twice = hashlib.sha256(once).digest()
    return _xor(once, hashlib.sha256(twice + nonce).digest())


_RESPONSES: dict[str, Callable[[bytes, bytes], bytes]] = {
    NATIVE: native_response,
    CACHING_SHA2: caching_sha2_response,
}


def is_known(plugin: str) -> bool:
    """Return whether clients can log in by a plugin."""
    return plugin in _RESPONSES


def is_right(plugin: str, password: bytes, nonce: bytes, response: bytes) -> bool:
    """Return whether a response shows that the client knows the password. An empty password has an empty response."""
    if not password:
        return response in (b"", b"\0")
    return hmac.compare_digest(_RESPONSES[plugin](password, nonce), response)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
