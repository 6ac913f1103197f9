"""What was found on a server, and how grave it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How grave a finding is.

    ERROR    changes are missing or rows are not whole, or the logs cannot be read at all
    WARNING  it works, until something happens that servers and tables do
    NOTE     worth knowing
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that will hurt.

    code     a name that scripts may rely on
    setting  what it is about: a variable of the server, or what else there is
    value    what it is now
    mend     statements to run as they are; what is not a statement is a comment in SQL
    restart  whether the server has to be started anew
    """

    code: str
    severity: Severity
    setting: str
    value: str
    reason: str
    mend: str
    restart: bool
