"""The syntax of the parts of a MySQL GTID, their normal form, and the errors for text that does not match.

A UUID is accepted with its dashes, with dashes and braces, or with neither; a tag in either case. The normal form of
both is lower case, a UUID with dashes and without braces. Whitespace is what C's `isspace` accepts; it is allowed
around every part, not within one.
"""

from __future__ import annotations

import re

from binspark.errors import Malformed

MAX_NUMBER = (1 << 63) - 2
"""The highest number of a GTID; the server reserves the next one for the exclusive end of an interval."""

SPACE = r"[ \t\n\v\f\r]*"
UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
ANY_UUID = rf"\{{{UUID}\}}|{UUID}|[0-9a-fA-F]{{32}}"
TAG = r"[a-zA-Z_][a-zA-Z0-9_]{0,31}(?![a-zA-Z0-9_])"
NUMBER = r"0*([0-9]{1,19})(?![0-9])"
"""One group: the digits without leading zeros, few enough to convert."""

_ANY_UUID = re.compile(ANY_UUID)
_NORMAL_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NORMAL_TAG = re.compile(r"(?:[a-z_][a-z0-9_]{0,31})?")

_SHOWN = 24


def normal_uuid(text: str) -> str:
    """Return the normal form of a UUID in any form that the server accepts."""
    if _NORMAL_UUID.fullmatch(text):
        return text
    if not _ANY_UUID.fullmatch(text):
        raise Malformed(f"invalid UUID {shown(text)}")
    digits = text.strip("{}").replace("-", "").lower()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def normal_tag(text: str) -> str:
    """Return the normal form of a tag; no tag is the empty text."""
    tag = text.lower() if text.isascii() else text
    if not _NORMAL_TAG.fullmatch(tag):
        raise Malformed(f"invalid GTID tag {shown(text)}, expected a letter or _, then up to 31 letters, digits or _")
    return tag


def is_normal(uuid: str, tag: str) -> bool:
    """Return whether both are in normal form."""
    return bool(_NORMAL_UUID.fullmatch(uuid) and _NORMAL_TAG.fullmatch(tag))


def refuse(what: str, text: str, offset: int, expected: str) -> Malformed:
    """Return an error that marks the offset in a text at which something else was expected."""
    before = text[max(0, offset - _SHOWN) : offset]
    after = text[offset : offset + _SHOWN]
    head = "…" if offset > _SHOWN else ""
    tail = "…" if offset + _SHOWN < len(text) else ""
    marked = f"{head}{before}[HERE]{after}{tail}"
    return Malformed(f"invalid {what}: expected {expected} at offset {offset}, marked [HERE] in {marked!r}")


def shown(text: str) -> str:
    """Quote a text for a message, shortened to fit a line."""
    return repr(text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN] + "…")
