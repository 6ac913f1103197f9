"""`binspark explain`: every byte of an event."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import click

from binspark.cli.command import Command, format_option, type_codes, types_option
from binspark.cli.output import Damage, echo, json_line, print_message
from binspark.cli.progress import make_room
from binspark.errors import OptionError
from binspark.files import LogSource, find_logs
from binspark.files.sources import expect_logs
from binspark.frames.checksum import checksum_mismatch
from binspark.render.explain.explanation import Explanation
from binspark.render.explain.json import explanation_record
from binspark.render.explain.log import Selection, explain_log
from binspark.render.explain.packet import explain_packet, packet_bytes
from binspark.render.explain.text import STYLES, Line, text_lines

_WIDTH_OF_FILES = 132

Show = Callable[[Explanation], None]


@click.command("explain", cls=Command)
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option("--at", metavar="POSITION", type=click.IntRange(min=0), help="Show only the event at this position.")
@types_option
@click.option(
    "--inner",
    metavar="N",
    type=click.IntRange(min=0),
    help="Show only event number N inside a transaction payload, counted from 0.",
)
@format_option("text", "json", "jsonl")
@click.option("--full-hex", is_flag=True, help="Show all bytes of each field, in text.")
@click.option(
    "--packet",
    metavar="HEX",
    help="Explain a command of the replication protocol instead of a log: COM_REGISTER_SLAVE, COM_BINLOG_DUMP, "
    "COM_BINLOG_DUMP_GTID.",
)
@click.option(
    "--width",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    help="The width of the text.  [default: that of the terminal]",
)
def explain_command(
    files: tuple[str, ...],
    at: int | None,
    types: tuple[str, ...],
    inner: int | None,
    output_format: str,
    full_hex: bool,
    packet: str | None,
    width: int | None,
) -> int:
    """Show every byte of events, with its meaning.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Each field is shown with its offset, bytes, name, value and meaning. Without options all events are shown, also
    those inside transaction payloads. Row images are shown down to each value, with the names that the log has. Bytes
    that cannot be decoded are shown with the reason.

    Exit code 1: a shown event is damaged.
    """
    selection = Selection(at, type_codes(types), inner)
    if packet is not None:
        return _explain_packet(packet, files, _PRINTERS[output_format](width, full_hex))
    sources = find_logs(files)
    if at is not None and len(sources) > 1:
        raise OptionError(f"needs one log, got {len(sources)}", option="--at")
    expect_logs(sources)
    damage = Damage()
    with _PRINTERS[output_format](width, full_hex) as show:
        for source in sources:
            _show_log(source, selection, show, damage)
    return damage.exit_code


def _explain_packet(packet: str, files: tuple[str, ...], printer: AbstractContextManager[Show]) -> int:
    if files:
        raise OptionError("cannot be combined with FILE", option="--packet")
    explanation = explain_packet(packet_bytes(packet))
    with printer as show:
        show(explanation)
    if explanation.error is not None:
        print_message(f"--packet: {explanation.error}")
    return 1 if explanation.damaged else 0


def _show_log(source: LogSource, selection: Selection, show: Show, damage: Damage) -> None:
    shown = 0
    for explanation in explain_log(source, selection):
        _explain_position(explanation, selection.at)
        if explanation.damaged:
            reason = explanation.error or _checksum_message(explanation)
            damage.report(f"{explanation.file}:{explanation.pos} ({explanation.type}): {reason}")
        show(explanation)
        shown += 1
    if not shown:
        print_message(f"{source.name}: no such event")


def _explain_position(explanation: Explanation, at: int | None) -> None:
    """Print a note if the event is not at the requested position."""
    if at is not None and at >= explanation.end_pos:
        print_message(f"{explanation.file}: position {at} cannot be reached, the log is damaged at {explanation.pos}")
    elif at is not None and at != explanation.pos:
        print_message(f"{explanation.file}: position {at} is inside the {explanation.type} at {explanation.pos}")


def _checksum_message(explanation: Explanation) -> str:
    data = b"".join(field.data for field in explanation.fields)
    return checksum_mismatch(data, explanation.type).message


@contextmanager
def _json_document(_width: int | None, _full_hex: bool) -> Iterator[Show]:
    """Print all events as one JSON array, each when it comes."""
    separator = "["

    def show(explanation: Explanation) -> None:
        nonlocal separator
        echo(f"{separator}\n{json_line(explanation_record(explanation))}", nl=False)
        separator = ","

    yield show
    echo("\n]" if separator == "," else "[]")


@contextmanager
def _json_lines(_width: int | None, _full_hex: bool) -> Iterator[Show]:
    yield lambda explanation: echo(json_line(explanation_record(explanation)))


@contextmanager
def _text(width: int | None, full_hex: bool) -> Iterator[Show]:
    """Print text: with colors on a terminal, plain elsewhere."""
    if not sys.stdout.isatty():
        yield lambda explanation: echo(_plain(text_lines(explanation, width or _WIDTH_OF_FILES, full_hex=full_hex)))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    columns = width or shutil.get_terminal_size().columns

    def show(explanation: Explanation) -> None:
        make_room()
        for line in text_lines(explanation, columns, full_hex=full_hex):
            console.print(
                Text.assemble(*((part.text, STYLES[part.style]) for part in line)),
                no_wrap=True,
                overflow="ignore",
                crop=False,
            )
        console.print()

    yield show


def _plain(lines: Iterator[Line]) -> str:
    return "\n".join("".join(part.text for part in line).rstrip() for line in lines) + "\n"


_PRINTERS = {"text": _text, "json": _json_document, "jsonl": _json_lines}
