"""What the commands share: options, JSON lines, and how damage is told."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from binspark.errors import BinlogError
from binspark.frames import EventCode

# A name that stands for the same thing in both families.
_ALSO = {"GTID": (EventCode.GTID, EventCode.GTID_TAGGED, EventCode.MARIADB_GTID)}


def wanted_types(names: Iterable[str]) -> frozenset[int]:
    """Return the type codes that names mean; a misspelt name is refused with the nearest right one."""
    return frozenset(code for name in names for code in _codes(name))


def _codes(name: str) -> tuple[int, ...]:
    wanted = name.upper().removesuffix("_EVENT")
    if wanted in _ALSO:
        return _ALSO[wanted]
    if wanted in EventCode.__members__:
        return (EventCode[wanted],)
    near = difflib.get_close_matches(wanted, EventCode.__members__, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise click.BadParameter(f"no event type is called {name}{hint}", param_hint="--type")


Command = TypeVar("Command", bound=Callable[..., Any])

logs_argument = click.argument("files", nargs=-1, required=True, metavar="FILE…")
format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="text for people, jsonl (one JSON object a line) for programs.",
)


def json_line(record: dict[str, Any]) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, separators=(", ", ": "))


def tell(error: BinlogError | str) -> None:
    """Tell a person what went wrong, on standard error."""
    click.echo(f"binspark: {error}", err=True)


def echo_lines(lines: Iterable[str]) -> None:
    """Print lines, many at a time."""
    block: list[str] = []
    try:
        for line in lines:
            block.append(line)
            if len(block) >= 256:
                click.echo("\n".join(block))
                block.clear()
    finally:
        if block:
            click.echo("\n".join(block))
