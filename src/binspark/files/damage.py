"""Damage that is skipped: where it is, why, and to whom it is reported."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from binspark.errors import BinlogError, BinlogWarning
from binspark.options import values
from binspark.options.option import EVERYWHERE, Option, Surface


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a log that could not be read, and why: from `start` up to where reading continues, `end`.

    Where rows or transactions are read, a transaction begins at `end`. The transaction around `start` was read up to
    there. In a log without checksums, the position of the error may be after `start`: damage is noticed later there.
    """

    error: BinlogError
    file: str
    start: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes are skipped."""
        return self.end - self.start

    def __str__(self) -> str:
        return f"{self.file}: skipped {self.size} bytes ({self.start} to {self.end}): {self.error.message}"


OnDamage = Callable[[Damage], None]
"""Called for each part of a log that is skipped because of damage."""

SkipDamaged = bool | OnDamage
"""Whether damage is skipped: False is an error, True a warning, a function is called with each `Damage`."""

SKIP_DAMAGED = Option(
    name="skip_damaged", parse=values.flag, metavar="", default="false", surfaces=EVERYWHERE - {Surface.SPARK},
    help="Skip what is damaged, report it, and continue with the next transaction (events: with the next event).",
)  # fmt: skip


class DamageWarning(BinlogWarning):
    """A part of a log was skipped, because `skip_damaged` is True."""


def damage_handler(skip_damaged: SkipDamaged) -> OnDamage | None:
    """Return what is called with damage; None if damage is an error."""
    if callable(skip_damaged):
        return skip_damaged
    return _warn if skip_damaged else None


def _warn(damage: Damage) -> None:
    warnings.warn(str(damage), DamageWarning, stacklevel=2)
