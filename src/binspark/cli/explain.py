"""`binspark explain`: every byte of an event."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator

import click

from binspark.cli.output import json_line, logs_argument, tell, wanted_types
from binspark.errors import OptionError
from binspark.files import LogSource, find_logs
from binspark.render.explain.explanation import Explanation
from binspark.render.explain.json import explanation_record
from binspark.render.explain.log import Selection, explain_log
from binspark.render.explain.text import STYLES, Line, text_lines

_WIDTH_OF_FILES = 132

Show = Callable[[Explanation], None]


@click.command("explain")
@logs_argument
@click.option("--at", metavar="POS", type=click.IntRange(min=0), help="Only the event at this offset.")
@click.option("--type", "types", multiple=True, metavar="NAME", help="Only events of this type. May be repeated.")
@click.option(
    "--inner", metavar="N", type=click.IntRange(min=0), help="Only event N inside a transaction payload, from 0."
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="text for people, json (one object a line; jsonl is the same) for programs.",
)
@click.option("--width", type=click.IntRange(min=1), help="How wide text may be. [default: the terminal]")
@click.pass_context
def explain_command(
    context: click.Context,
    files: tuple[str, ...],
    at: int | None,
    types: tuple[str, ...],
    inner: int | None,
    output_format: str,
    width: int | None,
) -> None:
    """Show every byte of the events of a log: its offset, the bytes, the field, its value, what it means.

    Without options all events are shown, those inside transaction payloads too. What cannot be decoded is shown as it
    is, with the reason; the exit code is 1 then.
    """
    selection = Selection(at, wanted_types(types), inner)
    show = _show_json if output_format != "text" else _text_printer(width)
    try:
        sources = find_logs(files)
        if at is not None and len(sources) > 1:
            raise OptionError(f"--at needs one log, {len(sources)} were named")
        damaged = [_show_log(source, selection, show) for source in sources]
    except OptionError as error:
        raise click.UsageError(str(error)) from None
    if any(damaged):
        context.exit(1)


def _show_log(source: LogSource, selection: Selection, show: Show) -> bool:
    """Show the events of a log; return whether any of them is damaged."""
    damaged, shown = False, 0
    for explanation in explain_log(source, selection):
        _tell_about(explanation, selection)
        show(explanation)
        damaged |= explanation.damaged
        shown += 1
    if not shown:
        tell(f"{source.name}: no such event")
    return damaged


def _tell_about(explanation: Explanation, selection: Selection) -> None:
    at = selection.at
    if at is not None and at >= explanation.end_pos:
        tell(f"{explanation.file}: {at} cannot be reached, the log is damaged at {explanation.pos}")
    elif at is not None and at != explanation.pos:
        tell(f"{explanation.file}: {at} is inside the {explanation.type} that begins at {explanation.pos}")
    if explanation.damaged:
        reason = explanation.error or "the checksum does not hold"
        tell(f"{explanation.file}:{explanation.pos} ({explanation.type}): {reason}")


def _show_json(explanation: Explanation) -> None:
    click.echo(json_line(explanation_record(explanation)))


def _text_printer(width: int | None) -> Show:
    """Return what prints explanations: coloured on a terminal, plain elsewhere."""
    if not sys.stdout.isatty():
        return lambda explanation: click.echo(_plain(text_lines(explanation, width or _WIDTH_OF_FILES)))
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    columns = width or shutil.get_terminal_size().columns

    def show(explanation: Explanation) -> None:
        for line in text_lines(explanation, columns):
            console.print(
                Text.assemble(*((part.text, STYLES[part.style]) for part in line)),
                no_wrap=True,
                overflow="ignore",
                crop=False,
            )
        console.print()

    return show


def _plain(lines: Iterator[Line]) -> str:
    return "\n".join("".join(part.text for part in line).rstrip() for line in lines) + "\n"
