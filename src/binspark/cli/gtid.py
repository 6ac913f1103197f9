"""`binspark gtid`: the algebra of GTID sets on the command line."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import click

from binspark.errors import BinlogError, Malformed
from binspark.gtid import GtidSet, MariadbPosition, MariadbState

Value = GtidSet | MariadbPosition | MariadbState
Record = dict[str, Any]
Operation = Callable[[Sequence[Any]], Iterator[Record]]

_MARIADB = re.compile(r"[\s,]*\+?[0-9]+-(?![0-9a-fA-F]{4}-[0-9a-fA-F]{4}-)")
"""How a MariaDB GTID begins: with a number that is not the first part of a UUID."""


class _WrongUse(click.ClickException):
    exit_code = 2


def _union(values: Sequence[Any]) -> Iterator[Record]:
    yield {"set": str(reduce(lambda left, right: left | right, values))}


def _intersect(values: Sequence[Any]) -> Iterator[Record]:
    yield {"set": str(reduce(lambda left, right: left & right, values))}


def _subtract(values: Sequence[Any]) -> Iterator[Record]:
    yield {"set": str(reduce(lambda left, right: left - right, values))}


def _contains(values: Sequence[Any]) -> Iterator[Record]:
    yield {"contains": all(value <= values[0] for value in values[1:])}


def _equal(values: Sequence[Any]) -> Iterator[Record]:
    yield {"equal": all(value == values[0] for value in values[1:])}


def _count(values: Sequence[Any]) -> Iterator[Record]:
    for value in values:
        yield {"count": value.count() if isinstance(value, GtidSet) else len(value)}


def _normalize(values: Sequence[Any]) -> Iterator[Record]:
    for value in values:
        yield {"set": str(value)}


def _next(values: Sequence[Any]) -> Iterator[Record]:
    for value in values:
        for gtid in value.next_gtids():
            yield {"gtid": str(gtid)}


_OPERATIONS: dict[str, tuple[int, Operation]] = {
    "union": (1, _union),
    "intersect": (1, _intersect),
    "subtract": (2, _subtract),
    "contains": (2, _contains),
    "equal": (2, _equal),
    "count": (1, _count),
    "normalize": (1, _normalize),
    "next": (1, _next),
}
"""What can be done, with how many sets at least."""


@click.command("gtid")
@click.argument("operation", metavar="OP", type=click.Choice(list(_OPERATIONS)))
@click.argument("sets", metavar="SET...", nargs=-1, required=True)
@click.option("--format", "output", type=click.Choice(["text", "jsonl"]), default="text", show_default=True)
@click.pass_context
def gtid_command(context: click.Context, operation: str, sets: tuple[str, ...], output: str) -> None:
    """Calculate with GTID sets.

    SET is a MySQL GTID set (tags too), or a MariaDB position or binlog state; `-` reads it from standard input, `@FILE`
    from a file. A MariaDB list with several servers in a domain is a state, and makes all others states.

    \b
    union      what is in any of them (MariaDB: the newest)
    intersect  what is in all of them (MariaDB: the oldest)
    subtract   the first without the others
    contains   whether the first contains all others: true or false, exit 0 or 1
    equal      whether all are the same: true or false, exit 0 or 1
    count      how many GTIDs; a line for each SET
    normalize  the normal form; a line for each SET
    next       the next free GTID of each UUID and tag (MariaDB: of each domain)
    """
    least, operate = _OPERATIONS[operation]
    if len(sets) < least:
        raise click.UsageError(f"{operation} needs at least {least} sets")
    try:
        records = list(operate(_parse_all(_read_all(sets))))
    except BinlogError as error:
        raise _WrongUse(str(error)) from None
    for record in records:
        click.echo(json.dumps(record) if output == "jsonl" else _as_text(record))
    if any(answer is False for record in records for answer in record.values()):
        context.exit(1)


def _as_text(record: Record) -> str:
    (value,) = record.values()
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _read_all(arguments: Sequence[str]) -> list[str]:
    if arguments.count("-") > 1:
        raise click.UsageError("standard input can be read once")
    return [_read(argument).strip() for argument in arguments]


def _read(argument: str) -> str:
    if argument != "-" and not argument.startswith("@"):
        return argument
    try:
        if argument == "-":
            return sys.stdin.read()
        return Path(argument[1:]).read_text("utf-8")
    except OSError as error:
        raise _WrongUse(f"{argument}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _WrongUse(f"{argument}: not text") from None


def _parse_all(texts: Sequence[str]) -> Sequence[Value]:
    """Parse all as the same kind of value; an empty text is of any kind."""
    kinds = {bool(_MARIADB.match(text)) for text in texts if text}
    if len(kinds) > 1:
        mysql = next(text for text in texts if text and not _MARIADB.match(text))
        mariadb = next(text for text in texts if _MARIADB.match(text))
        raise _WrongUse(f"MySQL and MariaDB do not mix: {_head(mysql)} and {_head(mariadb)}")
    if kinds != {True}:
        return [GtidSet(text) for text in texts]
    states = [MariadbState(text) for text in texts]
    try:
        return [MariadbPosition(text) for text in texts]
    except Malformed:  # two GTIDs of a domain
        return states


def _head(text: str) -> str:
    return repr(text if len(text) <= 48 else text[:48] + "…")
