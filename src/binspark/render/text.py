"""Bytes that are text, shown to people and to JSON."""

from __future__ import annotations


def shown_text(name: str, raw: bytes) -> dict[str, str]:
    """Return text under its name; where it is not UTF-8, with the odd bytes escaped and all of it in hex besides."""
    try:
        return {name: raw.decode()}
    except UnicodeDecodeError:
        return {name: readable(raw), f"{name}_hex": f"0x{raw.hex()}"}


def readable(raw: bytes) -> str:
    """Return text with every byte that is not UTF-8 written as `\\xNN`."""
    return raw.decode(errors="backslashreplace")
