"""What verify finds: values that say how grave it is, what it is, and where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from binspark.position import Position
from binspark.verify.codes import Code

DEFAULT_LIMIT = 20


class Severity(StrEnum):
    """How grave a finding is: the log is not whole, it may not be, or it is only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found. `code` is a name that scripts may rely on."""

    severity: Severity
    code: str
    message: str
    position: Position


class Findings:
    """Collects the findings of one file; of each code only the first few are kept, all are counted."""

    def __init__(self, file: str, limit: int = DEFAULT_LIMIT) -> None:
        self.file = file
        self.kept: list[Finding] = []
        self.by_severity: Counter[Severity] = Counter()
        self.by_code: Counter[Code] = Counter()
        self._limit = limit

    def error(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add what shows that the log is not whole."""
        self.add(Severity.ERROR, code, message, offset, event)

    def warning(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add what may show that the log is not whole."""
        self.add(Severity.WARNING, code, message, offset, event)

    def info(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add what is worth knowing."""
        self.add(Severity.INFO, code, message, offset, event)

    def add(
        self, severity: Severity, code: Code, message: str, offset: int | None = None, event: str | None = None
    ) -> None:
        """Add a finding of any severity."""
        self.by_severity[severity] += 1
        self.by_code[code] += 1
        if self.by_code[code] <= self._limit:
            self.kept.append(Finding(severity, code.value, message, Position(self.file, offset, event)))

    def omitted(self) -> tuple[tuple[str, int], ...]:
        """Return, for each code that was found too often, how many findings are not kept."""
        return tuple((code.value, count - self._limit) for code, count in self.by_code.items() if count > self._limit)
