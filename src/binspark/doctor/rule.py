"""What a rule is made of."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.doctor.checks import Check
from binspark.doctor.finding import Severity
from binspark.doctor.mend import Mend


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that hurts.

    code      its name, which scripts rely on: it is never changed
    settings  the variable that it is about, MySQL's name first; or what else it is about
    when      when it hurts, in words
    check     the same, to be computed
    reason    why it hurts whoever reads the logs
    """

    code: str
    severity: Severity
    settings: tuple[str, ...]
    when: str
    check: Check
    reason: str
    mend: Mend
