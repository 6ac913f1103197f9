"""The error classes. Every error has a position and can be pickled: Spark ships errors between processes.

BinlogError
    DecodeError     the bytes of a log are not valid: Truncated, Checksum, Malformed, Unsupported
    EncodeError     a value does not fit the format that it is written in
    SourceError     a file or server failed: Server, Authentication, ConnectionLost, Purged
    SchemaError     the schema of a table is unknown, or two sources of it disagree
    OptionError     an option, or the value given for it, is not valid
    CannotUndo      the log does not have what it takes to undo a change

BinlogWarning, of Python's `warnings`: something to know that is no error. Commands print it on standard error.
"""

from __future__ import annotations

from typing import Any, Self

from binspark.position import Position


class BinlogError(Exception):
    """The base class of all errors that binspark raises.

    message   what is wrong, without the position
    position  where it is wrong; parts that are not known are None
    """

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message, position)
        self.message = message
        self.position = position or Position()

    def at(self, position: Position) -> Self:
        """Return the same error with the unknown parts of its position filled in."""
        return type(self)(self.message, self.position.or_else(position))

    def __str__(self) -> str:
        position = str(self.position)
        return f"{position}: {self.message}" if position else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.position)


class BinlogWarning(UserWarning):
    """The base class of all warnings of binspark."""


class DecodeError(BinlogError):
    """The bytes of a log are not valid."""


class Truncated(DecodeError):
    """The bytes end inside a value, an event or a log."""


class Checksum(DecodeError):
    """The checksum of an event does not match its bytes: they are not those that the server wrote."""


class Malformed(DecodeError):
    """The bytes contradict the format, or each other."""


class Unsupported(DecodeError):
    """The bytes may be valid, but binspark does not read this kind."""


class Encrypted(Unsupported):
    """The log is encrypted, and the key to it is missing or wrong."""


class EncodeError(BinlogError):
    """A value does not fit the field that it is written to."""


class SourceError(BinlogError):
    """A file, an object store or a server failed."""


class Server(SourceError):
    """The server answered with an error."""


class Authentication(SourceError):
    """The server refused the user, or could not prove its identity."""


class ConnectionLost(SourceError):
    """No connection could be made, or it ended or timed out."""


class Purged(SourceError):
    """The requested position is in a log that was purged or reset."""


class SchemaError(BinlogError):
    """The schema of a table is unknown, or two sources of it disagree."""


class UnknownTable(SchemaError):
    """Logs contain no rows of a table, and nothing describes its columns."""


class OptionError(BinlogError):
    """An option, or the value given for it, is not valid.

    option   the option that is wrong; it begins the message. None if the message is not about one option
    problem  the rest of the message: `must be positive, got -1`

    The library raises it with the name in Python; the command line and Spark raise it again with theirs, see `spelled`.
    """

    def __init__(self, problem: str, position: Position | None = None, option: str | None = None) -> None:
        super().__init__(problem if option is None else f"{option} {problem}", position)
        self.problem = problem
        self.option = option

    def at(self, position: Position) -> Self:
        """Return the same error with the unknown parts of its position filled in."""
        return type(self)(self.problem, self.position.or_else(position), self.option)

    def spelled(self, option: str) -> Self:
        """Return the same error with the option written as the user typed it."""
        return type(self)(self.problem, self.position, option)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.position, self.option)


class CannotUndo(BinlogError):
    """A change cannot be undone: it is a statement, the log lacks the old values, or others changed the row later."""
