"""What commands print: JSON lines and text on standard output, messages on standard error."""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from binspark.errors import BinlogError, DecodeError, SchemaError
from binspark.files.damage import Damage as SkippedPart
from binspark.files.damage import OnDamage
from binspark.render.times import UTC_CLOCK, Clock

_LINES_PER_WRITE = 256
_UNIT = 1000


def json_line(record: dict[str, Any]) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, separators=(", ", ": "))


def print_lines(lines: Iterable[str], *, at_once: bool = False) -> None:
    """Print lines, many with each write unless `at_once`. Lines before an error are printed before it is raised."""
    block: list[str] = []
    lines_per_write = 1 if at_once else _LINES_PER_WRITE
    try:
        for line in lines:
            block.append(line)
            if len(block) >= lines_per_write:
                click.echo("\n".join(block))
                block.clear()
    finally:
        if block:
            click.echo("\n".join(block))


def print_message(message: BinlogError | str) -> None:
    """Print an error or a warning on standard error."""
    click.echo(f"binspark: {message}", err=True)


_ESCAPE = "binspark.escape"
_SURROGATE_BASE, _LAST_OF_PLANE_0 = 0xD7C0, 0xFFFF


def escape_what_cannot_be_encoded() -> None:
    """Let standard output accept any text: characters that its encoding lacks are written as JSON escapes them.

    In UTF-8, bytes of file names that are not text are written as they are.
    """
    codecs.register_error(_ESCAPE, _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper):
        is_utf8 = codecs.lookup(sys.stdout.encoding).name == "utf-8"
        sys.stdout.reconfigure(errors="surrogateescape" if is_utf8 else _ESCAPE)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escape, error.object[error.start : error.end])), error.end


def _escape(letter: str) -> str:
    """Return a character as JSON escapes it: as its number in hex, or as the numbers of two surrogates."""
    number = ord(letter)
    if number <= _LAST_OF_PLANE_0:
        return f"\\u{number:04x}"
    return f"\\u{_SURROGATE_BASE + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"


class Damage:
    """Prints what is damaged, and remembers that something was: the exit code is 1 then.

    skip_damaged    whether damage is skipped; None for a command that has no such option
    output_format   how skipped parts are printed: as lines for people, or as JSON
    """

    def __init__(self, *, skip_damaged: bool | None = None, output_format: str = "text") -> None:
        self.found = False
        self._skip_damaged = skip_damaged
        self._as_json = output_format == "jsonl"

    @property
    def on_damage(self) -> OnDamage | None:
        """What readers call with the parts that they skip; None if damage is an error."""
        return self.skip if self._skip_damaged else None

    def skip(self, part: SkippedPart) -> None:
        """Print a part of a log that was skipped: a line of JSON if that is the format of the output."""
        self.found = True
        if self._as_json:
            click.echo(json_line({"skipped": skipped_record(part)}), err=True)
        else:
            print_message(str(part))

    def report(self, error: BinlogError | str) -> None:
        """Print an error that does not end the command."""
        self.found = True
        print_message(error)

    @contextmanager
    def ends_file(self) -> Iterator[None]:
        """Report an error that makes the rest of a file unreadable; the command continues with the next file."""
        try:
            yield
        except (DecodeError, SchemaError) as error:
            self.report(self._with_hint(error))

    @contextmanager
    def ends_command(self) -> Iterator[None]:
        """Add to an error in a log how to continue."""
        try:
            yield
        except (DecodeError, SchemaError) as error:
            raise self._with_hint(error) from None

    def _with_hint(self, error: BinlogError) -> BinlogError:
        if self._skip_damaged is not False or error.position.event is None:  # None: the log ends there, or is encrypted
            return error
        return type(error)(f"{error.message}; use --skip-damaged to continue after it", error.position)

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return 1 if self.found else 0


def skipped_record(part: SkippedPart) -> dict[str, Any]:
    """Return a part of a log that was skipped as the record that `--format jsonl` prints on standard error."""
    return {
        "file": part.file,
        "start": part.start,
        "end": part.end,
        "bytes": part.size,
        "error": part.error.message,
        "pos": part.error.position.offset,
        "type": part.error.position.event,
    }


def printable(text: str, width: int | None = None, instead: str = " ") -> str:
    """Return text without control characters, which a terminal would obey; cut off where it is wider than `width`."""
    shown = text if width is None else text[: width + 1]
    safe = "".join(letter if letter.isprintable() else instead for letter in shown)
    return safe if width is None or len(safe) <= width else safe[: width - 1] + "…"


def one_line(text: str, width: int) -> str:
    """Return printable text on one line, with single spaces, of at most `width` characters."""
    return printable(" ".join(printable(text[: 4 * width]).split()), width)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 row`, `1,200 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def time_text(timestamp: int, clock: Clock = UTC_CLOCK) -> str:
    """Return seconds since 1970 as a time, with its time zone."""
    return clock.text(timestamp)


def size_text(count: float) -> str:
    """Return a number of bytes with its unit, in powers of 1000."""
    if count < _UNIT:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= _UNIT
        if count < _UNIT:
            return f"{count:.1f} {unit}"
    return f"{count / _UNIT:.1f} TB"
