"""What a decoder knows besides the bytes of its event."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from binspark.frames import LogFormat
from binspark.frames.payload import DEFAULT_LIMITS, Limits

SqlText = Annotated[bytes, "text"]
"""SQL or other text in the character set of the client. Servers do not check that it is valid, so it stays bytes."""


class Context(NamedTuple):
    """The format of the log, and the type code, for decoders that serve several types."""

    type_code: int
    format: LogFormat
    post_header_length: int
    limits: Limits = DEFAULT_LIMITS

    @classmethod
    def of(cls, type_code: int, log_format: LogFormat, limits: Limits = DEFAULT_LIMITS) -> Context:
        """Return the context of one type of event in a log."""
        return cls(type_code, log_format, log_format.post_header_length(type_code), limits)
