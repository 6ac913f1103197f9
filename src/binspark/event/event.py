"""An event: its frame and its decoded body."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from binspark.frames import Frame, Header, HeaderFlag, type_name
from binspark.frames.checksum import ChecksumState
from binspark.hidden_secrets import hide_in_bytes
from binspark.html_table import html_fields
from binspark.position import Position


class Event(NamedTuple):
    """One event of a log.

    `body` is a value of the class of its type (`Rotate`, `Query`, `TableMap`, ...). `extra` contains the bytes after
    the last known field: a server of a later version may add fields.
    """

    frame: Frame
    body: Any
    file: str = ""
    extra: bytes = b""

    @property
    def header(self) -> Header:
        """The common header."""
        return self.frame.header

    @property
    def type_code(self) -> int:
        """The number of the event's type, as in the header."""
        return self.frame.type_code

    @property
    def type(self) -> str:
        """The name of the event's type, such as `WRITE_ROWS`; `UNKNOWN_n` for a code that is not known."""
        return type_name(self.frame.type_code)

    @property
    def offset(self) -> int:
        """The offset of the event in its file; for an event inside a payload, that of the payload's event."""
        return self.frame.offset

    @property
    def end_offset(self) -> int:
        """The offset after its last byte, which is where the next event of the log begins."""
        return self.frame.end_offset

    @property
    def inner(self) -> int | None:
        """The number of the event inside a transaction payload, None outside."""
        return self.frame.inner

    @property
    def checksum(self) -> ChecksumState:
        """Whether the checksum was verified, and how that ended."""
        return self.frame.checksum

    @property
    def artificial(self) -> bool:
        """Whether the event is artificial: made by a source for a replica, and not in the source's log files."""
        return bool(self.frame.header.flags & HeaderFlag.ARTIFICIAL)

    @property
    def position(self) -> Position:
        """File, offset and type: what errors about this event name."""
        return Position(file=self.file or None, offset=self.offset, event=self.type)

    def _repr_html_(self) -> str:
        """Return the event as a table of its fields, for notebooks."""
        header, body = self.header, self.body
        names = [item.name for item in fields(body)] if is_dataclass(body) else getattr(body, "_fields", ())
        common = (("timestamp", header.timestamp), ("server_id", header.server_id), ("size", header.event_size))
        own = ((name, _shown(name, getattr(body, name))) for name in names)
        return html_fields(f"{self.type} at {self.position}", (*common, ("checksum", self.checksum.value), *own))


def _shown(name: str, value: object) -> object:
    return hide_in_bytes(value) if name == "query" and isinstance(value, bytes) else value
