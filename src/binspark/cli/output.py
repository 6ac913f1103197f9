"""What commands print: JSON lines and text on standard output, messages on standard error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from binspark.errors import BinlogError, DecodeError, SchemaError
from binspark.files.damage import Damage as SkippedPart
from binspark.files.damage import OnDamage

_LINES_PER_WRITE = 256
_UNIT = 1000


def json_line(record: dict[str, Any]) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, separators=(", ", ": "))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, many with each write. Lines before an error are printed before it is raised."""
    block: list[str] = []
    try:
        for line in lines:
            block.append(line)
            if len(block) >= _LINES_PER_WRITE:
                click.echo("\n".join(block))
                block.clear()
    finally:
        if block:
            click.echo("\n".join(block))


def print_message(message: BinlogError | str) -> None:
    """Print an error or a warning on standard error."""
    click.echo(f"binspark: {message}", err=True)


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


def time_text(timestamp: int) -> str:
    """Return seconds since 1970 as a time in UTC."""
    return f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%d %H:%M:%S}"


def size_text(count: float) -> str:
    """Return a number of bytes with its unit, in powers of 1000."""
    if count < _UNIT:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= _UNIT
        if count < _UNIT:
            return f"{count:.1f} {unit}"
    return f"{count / _UNIT:.1f} TB"
