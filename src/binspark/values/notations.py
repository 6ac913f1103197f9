"""The bytes of MariaDB's INET4, INET6 and UUID, as it writes them."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from uuid import UUID

_MAPPED = bytes(10) + b"\xff\xff"
_COMPATIBLE = bytes(12)


def notation_of(raw: bytes, notation: str) -> str:
    """Return the text of a value that has a notation of its own."""
    return _NOTATIONS[notation](raw)


def _inet6(raw: bytes) -> str:
    """Write an IPv6 address; one that stands for an IPv4 address ends like that."""
    if raw[:12] == _MAPPED:
        return f"::ffff:{IPv4Address(raw[12:])}"
    if raw[:12] == _COMPATIBLE and raw[12:14] != b"\0\0":
        return f"::{IPv4Address(raw[12:])}"
    return str(IPv6Address(raw))


_NOTATIONS: dict[str, Callable[[bytes], str]] = {
    "inet4": lambda raw: str(IPv4Address(raw)),
    "inet6": _inet6,
    "uuid": lambda raw: str(UUID(bytes=raw)),
}
