"""What a decoder knows besides the bytes of its event."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from binspark.frames import LogFormat
from binspark.frames.payload import DEFAULT_LIMITS, Limits

SqlText = Annotated[bytes, "text"]
"""SQL or other text in the client's character set. Nothing forces it to be valid there, so the bytes are kept."""


class Context(NamedTuple):
    """The format of the log, and the type code, for decoders that serve several types."""

    type_code: int
    format: LogFormat
    limits: Limits = DEFAULT_LIMITS

    @property
    def post_header_length(self) -> int:
        return self.format.post_header_length(self.type_code)
