"""`binspark gtid`: the algebra of GTID sets on the command line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import click

from binspark.cli.command import Command, format_option, keyring_options
from binspark.cli.output import echo, json_line, shortened
from binspark.cli.server_options import Account, account_options
from binspark.errors import BinlogError, Malformed, OptionError
from binspark.gtid import GtidSet, MariadbPosition, MariadbState

Value = GtidSet | MariadbPosition | MariadbState
Record = dict[str, Any]
Operation = Callable[[Sequence[Any]], Iterator[Record]]

_MARIADB_GTID = re.compile(r"[\s,]*\+?[0-9]+-(?![0-9a-fA-F]{4}-[0-9a-fA-F]{4}-)")
"""A MariaDB GTID begins with a number that is not the first part of a UUID."""


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
"""The operations, each with the minimum number of sets."""


_MISSING = "missing"


@click.command("gtid", cls=Command)
@click.argument("operation", metavar="OP", type=click.Choice([*_OPERATIONS, _MISSING]))
@click.argument("sets", metavar="[SET…]", nargs=-1)
@click.option("--from", "source", metavar="SIDE", help="missing: the side that has the transactions.")
@click.option("--to", "target", metavar="SIDE", help="missing: the side that should have them, too.")
@format_option("text", "jsonl")
@keyring_options
@account_options
def gtid_command(
    operation: str,
    sets: tuple[str, ...],
    source: str | None,
    target: str | None,
    output_format: str,
    account: Account,
) -> int:
    """Calculate with GTID sets.

    SET is a MySQL GTID set, with or without tags, or a MariaDB GTID position or binlog state; - reads it from standard
    input, @FILE from a file. A MariaDB list with several servers in a domain is a state; then all other sets are taken
    as states too.

    \b
    union      what is in any of the sets (MariaDB: the newest of each domain)
    intersect  what is in all of the sets (MariaDB: the oldest of each domain)
    subtract   the first set without the others
    contains   whether the first set contains all others: true or false, exit code 0 or 1
    equal      whether all sets are equal: true or false, exit code 0 or 1
    count      the number of GTIDs, one line for each SET
    normalize  the normal form, one line for each SET
    next       the next free GTID of each UUID and tag (MariaDB: of each domain)
    missing    which GTIDs of --from the side --to lacks, and which it has that --from does not (errant ones)

    For missing, a SIDE is a server (mysql://USER@HOST:PORT, or mariadb://…), logs (a file, a glob, a directory, a URI),
    or a set as above. Exit code 1: some are missing or errant. What MariaDB's sides lack are numbers of a domain and a
    server, such as 0-1-91..0-1-100, as --include-gtids of other commands takes them.
    """  # noqa: D301 - click needs the character, not its escape
    if operation == _MISSING:
        if sets or source is None or target is None:
            raise click.UsageError("missing needs --from SIDE and --to SIDE, and no SET")
        return _print_missing(source, target, output_format, account)
    if source is not None or target is not None:
        raise click.UsageError(f"--from and --to are for missing, not for {operation}")
    if not sets:
        raise click.UsageError("Missing argument 'SET…'")
    minimum, operate = _OPERATIONS[operation]
    if len(sets) < minimum:
        raise click.UsageError(f"{operation} needs at least {minimum} sets, got {len(sets)}")
    try:
        records = list(operate(_parse_all(_read_all(sets))))
    except BinlogError as error:
        raise OptionError(error.message) from None
    for record in records:
        echo(json_line(record) if output_format == "jsonl" else _as_text(record))
    return 1 if any(answer is False for record in records for answer in record.values()) else 0


def _print_missing(source: str, target: str, output_format: str, account: Account) -> int:
    from binspark.cli.gtid_missing import compare_sides, missing_text

    if source == target == "-":
        raise click.UsageError("- (standard input) can be given only once")
    found = compare_sides(_read_gtids(source, "--from"), _read_gtids(target, "--to"), account)
    echo(json_line(found.record) if output_format == "jsonl" else missing_text(found))
    return 1 if found.missing or found.errant else 0


def _read_gtids(side: str, option: str) -> str:
    """Return a side as it was given, or what standard input or a file contains, which must be GTIDs."""
    from binspark.diff.gtid_inputs import is_gtid_text

    text = _read(side).strip()
    if text != side and not is_gtid_text(text):
        message = f"must be GTIDs if it is read from {side}, got {_shortened(text)}; name logs by their path"
        raise OptionError(message, option=option)
    return text


def _as_text(record: Record) -> str:
    (value,) = record.values()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_all(arguments: Sequence[str]) -> list[str]:
    if arguments.count("-") > 1:
        raise click.UsageError("- (standard input) can be given only once")
    return [_read(argument).strip() for argument in arguments]


def _read(argument: str) -> str:
    if argument != "-" and not argument.startswith("@"):
        return argument
    try:
        if argument == "-":
            return sys.stdin.read()
        return Path(argument[1:]).read_text("utf-8")
    except OSError as error:
        raise OptionError(f"cannot read {argument}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise OptionError(f"cannot read {argument}: it is not UTF-8 text") from None


def _parse_all(texts: Sequence[str]) -> Sequence[Value]:
    """Parse all sets as the same kind of value; an empty text is of any kind."""
    kinds = {bool(_MARIADB_GTID.match(text)) for text in texts if text}
    if len(kinds) > 1:
        mysql = next(text for text in texts if text and not _MARIADB_GTID.match(text))
        mariadb = next(text for text in texts if _MARIADB_GTID.match(text))
        raise OptionError(f"cannot combine GTIDs of MySQL and MariaDB: {_shortened(mysql)} and {_shortened(mariadb)}")
    if kinds != {True}:
        return [GtidSet(text) for text in texts]
    states = [MariadbState(text) for text in texts]
    try:
        return [MariadbPosition(text) for text in texts]
    except Malformed:  # two GTIDs of a domain
        return states


def _shortened(text: str) -> str:
    return repr(shortened(text, 48))
