"""Which ranges of a log can be undone, in the words of the options that choose them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from binspark.event import Event
from binspark.position import Position, log_name


@dataclass(frozen=True, slots=True)
class RangeOptions:
    """The names of the options that choose a range of what is read."""

    start: str
    stop: str

    def before(self, position: Position) -> str:
        """Return how to stop before a position."""
        return f"stop before it with {self.stop} {_text(position)}"

    def around(self, start: Position, event: Event) -> str:
        """Return which ranges come before a transaction, and after the event that ends it."""
        after = replace(event.position, offset=event.end_offset)
        return (
            f"undo what comes before it with {self.stop} {_text(start)}, or what comes after it with "
            f"{self.start} {_text(after)}"
        )


OF_FILES = RangeOptions("--start-position", "--stop-position")
OF_SERVER = RangeOptions("--start", "--until")


def _text(position: Position) -> str:
    return f"{log_name(position.file or '')}:{position.offset}"
