"""Where the events of a stream are in the server's logs: headers have 32 bits of it, this has all 64."""

from __future__ import annotations

from binspark.errors import Malformed
from binspark.frames.codes import EventCode, HeaderFlag
from binspark.frames.header import Header
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position

_WRAP = 1 << 32
_ARTIFICIAL = int(HeaderFlag.ARTIFICIAL)
_MAX_NAME_LENGTH = 255
_MAX_OFFSET = 1 << 62
_NEVER_IN_A_FILE = frozenset({EventCode.HEARTBEAT, EventCode.HEARTBEAT_V2})


class EventPositions:
    """Follows a stream from event to event. `file` and `offset` are where the next one is expected.

    With `gaps` the server may skip transactions that the reader has.
    """

    def __init__(self, *, gaps: bool) -> None:
        self.file = ""
        self.offset = 0
        self._gaps = gaps
        self._description_end = 0

    @property
    def position(self) -> Position:
        """Where the next event is expected, for errors."""
        return Position(file=self.file or None, offset=self.offset)

    def end_of(self, header: Header) -> int | None:
        """Return where an event ends in the file; None for one that is in no file. Does not move."""
        if self._is_artificial(header):
            return None
        expected = self.offset + header.event_size
        end = widened(header.next_position, expected) if header.next_position else expected
        if end != expected and not self._gaps:
            message = f"expected the next event at {self.offset}, found one that begins at {end - header.event_size}"
            raise Malformed(message, self.position)
        return end

    def may_be_changed(self, header: Header) -> bool:
        """Return whether the server may change an event: the first of a file, if it skips some that follow."""
        return header.type_code == EventCode.FORMAT_DESCRIPTION and (self._gaps or self.offset != FIRST_EVENT_OFFSET)

    def advance(self, end_offset: int) -> None:
        """Move after an event."""
        if self.offset == FIRST_EVENT_OFFSET:
            self._description_end = end_offset
        self.offset = end_offset

    def rotate(self, file: str, offset: int) -> None:
        """Move to another file that the server names. It is a name, never a path."""
        is_name = file.isprintable() and 0 < len(file.encode("utf-8", "surrogatepass")) <= _MAX_NAME_LENGTH
        if not is_name or "/" in file or "\\" in file or file in (".", ".."):
            raise Malformed(f"the server names a log {file[:_MAX_NAME_LENGTH]!r}, expected a file name", self.position)
        self.file, self.offset, self._description_end = file, self._checked(offset), 0

    def heartbeat(self, file: str, offset: int) -> None:
        """Move to where a heartbeat says that the server is: what comes before was skipped."""
        if self._gaps and file == self.file:
            self.offset = max(self.offset, self._checked(offset))

    def _checked(self, offset: int) -> int:
        """Return an offset that the server names; one that no file has is refused, as kernels count with 64 bits."""
        if offset > _MAX_OFFSET:
            raise Malformed(f"the server is at {offset} of a log, which no file has", self.position)
        return offset

    def _is_artificial(self, header: Header) -> bool:
        """Whether the server generated an event, or repeats one of those that begin the file."""
        if header.type_code in _NEVER_IN_A_FILE or header.flags & _ARTIFICIAL:
            return True
        if header.type_code == EventCode.FORMAT_DESCRIPTION:
            return self.offset != FIRST_EVENT_OFFSET
        return header.type_code == EventCode.START_ENCRYPTION and self.offset != self._description_end


def widened(low_bits: int, at_least: int) -> int:
    """Return the smallest number from `at_least` on whose lower 32 bits are these."""
    return at_least + (low_bits - at_least) % _WRAP
