"""What comes of reading a log, in a form that two readers can be compared in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from struct import pack
from typing import Any, NamedTuple

from binspark.errors import BinlogError


class FoundRow(NamedTuple):
    """One changed row: where it comes from, and its values by name."""

    op: str
    gtid: str | None
    commit_time: int | None
    file: str
    pos: int
    row: int
    tx_row: int
    server_id: int
    values: Mapping[str, Any]
    before: Mapping[str, Any] | None
    key: Mapping[str, Any] | None


class Refusal(NamedTuple):
    """An error, as far as a caller can distinguish it from others."""

    kind: str
    message: str
    file: str | None
    offset: int | None


class Outcome(NamedTuple):
    """The rows of every table in the order of the log, and the error that ended it."""

    tables: Mapping[str, Sequence[FoundRow]]
    refusal: Refusal | None


def refusal_of(error: BinlogError) -> Refusal:
    return Refusal(type(error).__name__, error.message, error.position.file, error.position.offset)


def float_bits(value: float, form: str) -> bytes:
    """Return the bytes of a float, so that 0 and -0 differ; all that are no number are the same."""
    return b"NaN" if isnan(value) else pack(form, value)
