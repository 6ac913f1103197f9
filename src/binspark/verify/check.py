"""What every check of events has in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.event import Event
from binspark.frames import Family, Frame, HeaderFlag
from binspark.verify.finding import Findings

Handler = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class LogKind:
    """What kind of log it is, as its first event tells.

    A relay log is a replica's copy of its source's log: positions, clock and the ends of files are the source's.
    """

    family: Family
    version: int
    relay: bool

    @classmethod
    def of(cls, first: Frame) -> LogKind:
        """Tell the kind of a log by its first event."""
        return cls(first.format.family, first.format.version, bool(first.header.flags & HeaderFlag.RELAY_LOG))


def route(handler: Handler, *type_codes: int) -> dict[int, Handler]:
    """Say that a handler looks at these types of events."""
    return dict.fromkeys(type_codes, handler)


class Check:
    """Looks at some types of events. `handlers` says which, by type code."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        self.kind = kind
        self.findings = findings

    def handlers(self) -> dict[int, Handler]:
        """Return who looks at which type of event."""
        raise NotImplementedError

    def damaged(self) -> None:
        """Take note that an event, or more, before the next one cannot be trusted."""

    def finish(self) -> None:
        """Take note that the log ends here."""
