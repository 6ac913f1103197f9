"""One event as bytes, with its position, its format and the state of its checksum."""

from __future__ import annotations

from typing import NamedTuple

from binspark.frames.checksum import ChecksumState
from binspark.frames.format import LogFormat
from binspark.frames.header import Header


class Frame(NamedTuple):
    """A complete event, not yet decoded.

    `type_code` is the current code of the header's type code. `data` is header, body and checksum; the body is
    `data[body_start:body_end]`. `inner` is the number of the event inside a transaction payload, else None; an inner
    frame has the offsets of its payload event.
    """

    offset: int
    end_offset: int
    header: Header
    type_code: int
    data: bytes
    body_start: int
    body_end: int
    checksum: ChecksumState
    format: LogFormat
    inner: int | None = None

    @property
    def body(self) -> bytes:
        """The bytes between the header and the checksum."""
        return self.data[self.body_start : self.body_end]
