"""`binspark diff`: which transactions and rows two sets of logs, or two servers, do not share."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, click_option, format_option, keyring_options
from binspark.cli.output import counted, echo, print_lines, print_message
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.cli.server_options import Account, account_options, live_option
from binspark.errors import OptionError
from binspark.options.times import Clock
from binspark.render.summary import SHOW_SECRETS
from binspark.server.url import is_server_url

if TYPE_CHECKING:
    from binspark.columns.selection import Selection
    from binspark.diff.compare import Comparison
    from binspark.diff.sides import Side

_MAX_DETAILED = 100
"""Of how many transactions the rows are read again to show them."""


@click.command("diff", cls=Command)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@format_option("text", "jsonl")
@row_options
@click.option("--ignore-order", is_flag=True, help="Do not report transactions that are in another order.")
@click.option(
    "--show-rows",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="NUMBER",
    help="Show at most this number of rows and statements of each transaction that differs.",
)
@click_option(SHOW_SECRETS)
@live_option("start", help="Servers: where to start, as for other commands.  [default: earliest]")
@live_option("until", help="Servers: where to stop, as for other commands.  [default: end]")
@keyring_options
@account_options
def diff_command(
    a: str,
    b: str,
    output_format: str,
    timezone: tzinfo,
    schema_file: str | None,
    ignore_order: bool,
    show_rows: int,
    show_secrets: bool,
    start: str | None,
    until: str | None,
    account: Account,
    **options: Any,
) -> int:
    """Show which transactions and rows two sets of logs, or two servers, do not share.

    A and B are logs (a file, a glob, a directory, an index file, a URI) or servers (mysql://USER@HOST:PORT or
    mariadb://…).

    Transactions are the same if they have the same GTID; those without one, if they have the same contents. What is
    compared are tables, operations, the values of rows, and the text of statements: not positions, times, server ids,
    checksums or compression, in which a replica's log differs from that of its source. Options select the rows and
    transactions that are compared. Transactions from before the first log of the other side are not compared.

    Exit code 0: both have the same. 1: they differ, or a log is damaged. 2: wrong use.
    """
    from binspark.cli.diff_output import json_form, text_form
    from binspark.diff.compare import Comparison

    selection = selection_from(options, timezone)
    sides = [_side(text, selection, schema_file, timezone, (start, until), account) for text in (a, b)]
    form = json_form() if output_format == "jsonl" else text_form(Clock(timezone), show_secrets=show_secrets)
    from binspark.cli.live import warnings_to

    with warnings_to(print_message), Comparison(sides[0], sides[1], selection) as comparison:
        print_lines(_lines(comparison, form, show_rows, ignore_order=ignore_order))
        echo(form.summary(comparison.summary))
        return 0 if comparison.summary.is_equal else 1


def _lines(comparison: Comparison, form: Any, show_rows: int, *, ignore_order: bool) -> Iterator[str]:
    from binspark.diff.compare import FindingKind

    detailed = left_out = 0
    for finding in comparison.findings():
        if finding.kind is FindingKind.ORDER:
            if not ignore_order:
                yield form.finding(finding, None, 0)
            continue
        details = None
        if show_rows and detailed < _MAX_DETAILED:
            details = comparison.details(finding)
            detailed += 1
        else:
            left_out += 1
        yield form.finding(finding, details, show_rows)
    if ignore_order:
        comparison.summary.order = 0
    if left_out and show_rows:
        print_message(
            f"the rows of {counted(left_out, 'more transaction')} that differ are not shown; "
            "binspark rows --include-gtids shows them"
        )


def _side(
    text: str,
    selection: Selection,
    schema_file: str | None,
    zone: tzinfo,
    bounds: tuple[str | None, str | None],
    account: Account,
) -> Side:
    from binspark.diff.sides import FilesSide, ServerSide

    if not is_server_url(text):
        from binspark.files.positions import part_between
        from binspark.files.sources import expect_logs, find_logs

        logs = part_between(find_logs([text]), selection)
        expect_logs(logs, passes=2)
        return FilesSide(text, tuple(logs), lambda: history_from(schema_file))
    from binspark.replication.server_input import ServerInputSettings

    _refuse_positions(selection)
    config = account.connection(text)
    settings = ServerInputSettings(bounds[0] or "earliest", bounds[1] or "end", zone)
    history = None if schema_file is None else history_from(schema_file)
    return ServerSide(str(config.addresses[0]), config, settings, history)


def _refuse_positions(selection: Selection) -> None:
    for position, option, instead in (
        (selection.start_position, "--start-position", "--start"),
        (selection.stop_position, "--stop-position", "--until"),
    ):
        if position is not None:
            raise OptionError(f"is a position in files; for a server use {instead}", option=option)
