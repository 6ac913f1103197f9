"""The one error tree. Every error says where, and survives a trip through pickle.

BinlogError
    DecodeError     the bytes are wrong: Truncated, Checksum, Malformed, Unsupported
    EncodeError     a value does not fit the format that it is written in
    SourceError     the place that bytes come from failed: Server, Authentication, ConnectionLost, Purged
    SchemaError     the shape of a table is not known, or two sources of it disagree
    OptionError     the caller asked for something that does not exist
"""

from __future__ import annotations

from typing import Any, Self

from binspark.position import Position


class BinlogError(Exception):
    """The root of everything that binspark raises."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message, position)
        self.message = message
        self.position = position or Position()

    def at(self, position: Position) -> Self:
        """Return the same error with its unknown whereabouts filled in."""
        return type(self)(self.message, self.position.or_else(position))

    def __str__(self) -> str:
        place = str(self.position)
        return f"{place}: {self.message}" if place else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.position)


class DecodeError(BinlogError):
    """The bytes of a log do not say what a log must say."""


class Truncated(DecodeError):
    """The bytes end before the thing that they describe."""


class Checksum(DecodeError):
    """The bytes are not those that the server wrote."""


class Malformed(DecodeError):
    """The bytes contradict the format, or themselves."""


class Unsupported(DecodeError):
    """The bytes may be right, but are of a kind that binspark does not read."""


class EncodeError(BinlogError):
    """A value does not fit the field that it is written to."""


class SourceError(BinlogError):
    """The place that bytes come from failed."""


class Server(SourceError):
    """The server answered with an error."""


class Authentication(SourceError):
    """The server refused the user."""


class ConnectionLost(SourceError):
    """The connection ended, or fell silent."""


class Purged(SourceError):
    """What was asked for is no longer kept."""


class SchemaError(BinlogError):
    """The shape of a table is not known, or two sources of it disagree."""


class OptionError(BinlogError):
    """An option or a value of it does not exist."""
