"""What the parts of a MySQL GTID may look like, and how a text that does not is refused.

A UUID is accepted with its dashes, with dashes and braces, or with neither; a tag in either case. The normal form of
both is lower case, a UUID with dashes and without braces. Space is what C calls space; it may stand around every part,
never within one.
"""

from __future__ import annotations

import re

from binspark.errors import Malformed

MAX_NUMBER = (1 << 63) - 2
"""The highest number of a GTID; the server keeps the next one for the exclusive end of an interval."""

SPACE = r"[ \t\n\v\f\r]*"
UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
ANY_UUID = rf"\{{{UUID}\}}|{UUID}|[0-9a-fA-F]{{32}}"
TAG = r"[a-zA-Z_][a-zA-Z0-9_]{0,31}(?![a-zA-Z0-9_])"
NUMBER = r"0*([0-9]{1,19})(?![0-9])"
"""A group: the digits of a number that are worth converting."""

_ANY_UUID = re.compile(ANY_UUID)
_NORMAL_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NORMAL_TAG = re.compile(r"(?:[a-z_][a-z0-9_]{0,31})?")

_SHOWN = 24


def normal_uuid(text: str) -> str:
    """Return the normal form of a UUID in any form that the server accepts."""
    if _NORMAL_UUID.fullmatch(text):
        return text
    if not _ANY_UUID.fullmatch(text):
        raise Malformed(f"{shown(text)} is not a UUID")
    digits = text.strip("{}").replace("-", "").lower()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def normal_tag(text: str) -> str:
    """Return the normal form of a tag; no tag at all is the empty text."""
    tag = text.lower() if text.isascii() else text
    if not _NORMAL_TAG.fullmatch(tag):
        raise Malformed(f"{shown(text)} is not a tag: a letter or _, then up to 31 letters, digits or _")
    return tag


def is_normal(uuid: str, tag: str) -> bool:
    """Say whether both are in normal form."""
    return bool(_NORMAL_UUID.fullmatch(uuid) and _NORMAL_TAG.fullmatch(tag))


def refuse(text: str, offset: int, expected: str) -> Malformed:
    """Return an error that shows the place in a text where something else was expected."""
    before = text[max(0, offset - _SHOWN) : offset]
    after = text[offset : offset + _SHOWN]
    head = "…" if offset > _SHOWN else ""
    tail = "…" if offset + _SHOWN < len(text) else ""
    return Malformed(
        f"expected {expected} after {offset} characters, at [HERE] in {f'{head}{before}[HERE]{after}{tail}'!r}"
    )


def shown(text: str) -> str:
    """Quote a text for a message, and no more of it than a line holds."""
    return repr(text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN] + "…")
