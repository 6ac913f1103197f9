"""What a statement's text means for the transaction that it stands in."""

from __future__ import annotations

import re
from typing import NamedTuple

from binspark.transactions.roles import Boundary, Role
from binspark.transactions.transaction import Ending

STATEMENT = Boundary(Role.STATEMENT, Ending.STATEMENT)


class _Form(NamedTuple):
    pattern: bytes
    boundary: Boundary


_NOTHING_MORE = rb"(?:\s+WORK)?\s*(?:;|/\*|\#|--|\Z)"

# The first form that a text begins with is the one that counts.
_FORMS = (
    _Form(rb"(?:BEGIN|START\s+TRANSACTION)" + _NOTHING_MORE, Boundary(Role.BEGINS)),
    _Form(rb"COMMIT" + _NOTHING_MORE, Boundary(Role.ENDS, Ending.COMMIT)),
    _Form(rb"ROLLBACK\s+(?:WORK\s+)?TO\b", Boundary(Role.INSIDE)),
    _Form(rb"ROLLBACK\b", Boundary(Role.ENDS, Ending.ROLLBACK)),
    _Form(rb"(?:RELEASE\s+)?SAVEPOINT\b", Boundary(Role.INSIDE)),
    _Form(rb"XA\s+(?:START|BEGIN)\b", Boundary(Role.BEGINS)),
    _Form(rb"XA\s+END\b", Boundary(Role.INSIDE)),
    _Form(rb"XA\s+PREPARE\b", Boundary(Role.ENDS, Ending.XA_PREPARE)),
    _Form(rb"XA\s+COMMIT\b[^\r\n]{0,400}\bONE\s+PHASE\b", Boundary(Role.ENDS, Ending.XA_ONE_PHASE)),
    _Form(rb"XA\s+COMMIT\b", Boundary(Role.ENDS, Ending.XA_COMMIT)),
    _Form(rb"XA\s+ROLLBACK\b", Boundary(Role.ENDS, Ending.XA_ROLLBACK)),
)
_ANY_FORM = re.compile(rb"\s*(?:" + rb"|".join(rb"(" + form.pattern + rb")" for form in _FORMS) + rb")", re.IGNORECASE)
_XA = re.compile(
    rb"\s*XA\s+(?:START|BEGIN|END|PREPARE|COMMIT|ROLLBACK)\s+(.{0,400}?)(?:\s+ONE\s+PHASE)?[\s;]*\Z", re.IGNORECASE
)

_DEFINES = re.compile(rb"\s*(?:CREATE|ALTER|DROP|RENAME|TRUNCATE|GRANT|REVOKE)\b", re.IGNORECASE)
_VERSION_COMMENT = re.compile(rb"/\*M?!\d*")
_HEAD = 1024
"""How many bytes of a statement are looked at: statements of megabytes are common, none of these forms is long."""


def boundary_of_text(query: bytes) -> Boundary:
    """Return what a statement does to its transaction: begins it, ends it, or is one of its statements.

    >>> boundary_of_text(b"commit ;").ending
    <Ending.COMMIT: 'commit'>
    >>> boundary_of_text(b"ROLLBACK TO `before`").role
    <Role.INSIDE: 'inside'>
    """
    match = _ANY_FORM.match(query[:_HEAD])
    return STATEMENT if match is None or match.lastindex is None else _FORMS[match.lastindex - 1].boundary


def xa_name(query: bytes) -> str | None:
    """Return the XID that an XA statement names, as it stands there; None for any other statement."""
    match = _XA.match(query[:_HEAD])
    return None if match is None else match[1].decode(errors="backslashreplace")


def is_ddl(query: bytes) -> bool:
    """Whether a statement defines something: tables, views, routines, users and their rights."""
    return _DEFINES.match(_without_comments(query[:_HEAD])) is not None


def _without_comments(query: bytes) -> bytes:
    """Return a statement without what stands before its first word; what `/*!50000 … */` holds is part of it."""
    rest = query.lstrip()
    while rest.startswith(b"/*"):
        conditional = _VERSION_COMMENT.match(rest)
        rest = (rest[conditional.end() :] if conditional else rest.partition(b"*/")[2]).lstrip()
    return rest
