"""What commands print: JSON lines and text on standard output, messages on standard error."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.progress import make_room
from binspark.errors import BinlogError, DecodeError, SchemaError
from binspark.files.damage import Damage as SkippedPart
from binspark.files.damage import OnDamage
from binspark.hidden_secrets import hide_secrets
from binspark.options.times import UTC_CLOCK, Clock

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    from binspark.documents.line_style import LineStyle

Text = bytes | memoryview
_MAX_VALUE = 60
_MAX_STATEMENT = 200
_MAX_BYTE = 0xFF
# What a terminal obeys, and marks that change the direction of text. Newlines and tabs are layout.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_SPACE = re.compile(r"[ \t\r\n]+")
_LINES_PER_WRITE = 256
_UNIT = 1000
_WIDTH_OF_FILES = 1000
"""Lines in a file or a pipe are not broken."""


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
                echo("\n".join(block))
                block.clear()
    finally:
        if block:
            echo("\n".join(block))


def print_message(message: BinlogError | str) -> None:
    """Print an error or a warning on standard error."""
    echo(f"binspark: {message}", err=True)


_ESCAPE = "binspark.escape"
_SURROGATE_BASE, _LAST_OF_PLANE_0 = 0xD7C0, 0xFFFF


def escape_what_cannot_be_encoded() -> None:
    """Make standard output accept any text: characters that its encoding lacks are written as JSON escapes them.

    In UTF-8, bytes of file names that are not text are written as they are.
    """
    codecs.register_error(_ESCAPE, _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper):
        is_utf8 = codecs.lookup(sys.stdout.encoding).name == "utf-8"
        sys.stdout.reconfigure(errors="surrogateescape" if is_utf8 else _ESCAPE)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escape_as_json, error.object[error.start : error.end])), error.end


def _escape_as_json(letter: str) -> str:
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
            echo(json_line({"skipped": skipped_record(part)}), err=True)
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


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text that comes from a log or a server: to a terminal with control characters escaped, else as it is.

    Without `color`, click would remove what looks like colors where the output is not a terminal.
    """
    if is_terminal(err=err):
        make_room()
    click.echo(safe(text, err=err), err=err, nl=nl, color=True)


def echo_styled(text: str) -> None:
    """Print text with colors. What comes from a log in it must have been made `safe`."""
    if is_terminal():
        make_room()
    click.echo(text)


def print_page(page: RenderableType) -> None:
    """Print what rich renders: on a terminal with control characters of its texts escaped."""
    from rich.console import Console

    if is_terminal():
        make_room()
    width = None if is_terminal() or "COLUMNS" in os.environ else _WIDTH_OF_FILES
    Console(highlight=False, width=width).print(safe_page(page))


def safe(text: str, *, err: bool = False) -> str:
    """Return text as standard output, or standard error, shows it: on a terminal with control characters escaped."""
    return escaped(text) if is_terminal(err=err) else text


def is_terminal(*, err: bool = False) -> bool:
    """Return whether standard output, or standard error, is a terminal."""
    stream = sys.stderr if err else sys.stdout
    return bool(stream.isatty())


def escaped(text: str) -> str:
    r"""Return text with the characters that a terminal obeys as `\x1b` or `\u202e`. Newlines and tabs stay."""
    return _CONTROL.sub(_escape_control, text)


def _escape_control(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code <= _MAX_BYTE else f"\\u{code:04x}"


def safe_page(page: RenderableType) -> RenderableType:
    """Return what rich renders with control characters of its texts escaped on a terminal; its own styles stay."""
    return _SafePage(page) if is_terminal() else page


class _SafePage:
    def __init__(self, page: RenderableType) -> None:
        self._page = page

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for segment in console.render(self._page, options):
            yield Segment(escaped(segment.text), segment.style, segment.control)


def shortened(text: str, width: int) -> str:
    """Return text, cut off where it has more than `width` characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def one_line(text: str, width: int) -> str:
    """Return text on one line, with single spaces, of at most `width` characters."""
    return shortened(_SPACE.sub(" ", text[: 4 * width]).strip(), width)


def shown_statement(statement: bytes | str, width: int, *, show_secrets: bool = False) -> str:
    """Return a statement on one line of at most `width` characters, without passwords unless they are to be shown."""
    text = statement[: 4 * width]
    text = text if isinstance(text, str) else text.decode(errors="backslashreplace")
    return one_line(text if show_secrets else hide_secrets(text), width)


def line_style(output_format: str, zone: tzinfo = UTC) -> LineStyle:
    """Return how rows are written to standard output. Only on a terminal long values are cut off."""
    from binspark.documents.line_style import LineFormat, LineStyle

    line_format = LineFormat(output_format)
    if is_terminal():
        return LineStyle(line_format, _MAX_VALUE, _MAX_STATEMENT, zone=zone)
    return LineStyle(line_format, zone=zone)


def shown(texts: Sequence[Text]) -> Sequence[Text]:
    """Return texts as standard output shows them."""
    if not is_terminal():
        return texts
    make_room()
    return [escaped(bytes(text).decode(errors="backslashreplace")).encode() for text in texts]


def print_texts(texts: Sequence[Text]) -> None:
    """Write texts to standard output, as UTF-8 whatever its encoding is: so they are the same everywhere."""
    sys.stdout.flush()
    output = sys.stdout.buffer
    for text in shown(texts):
        left = memoryview(text)
        while left:  # unbuffered output may accept only a part
            left = left[output.write(left) :]
    output.flush()


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
