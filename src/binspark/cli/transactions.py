"""`binspark transactions`: one record for each transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from binspark.changes.event_filter import wants_transaction
from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs, log_options
from binspark.cli.output import Damage, counted, json_line, one_line, print_lines
from binspark.cli.row_options import filter_options, selection_from
from binspark.errors import BinlogError, DecodeError, SchemaError
from binspark.event import Event
from binspark.files.damage import SKIP_DAMAGED
from binspark.files.inputs import FileInput, LogInput
from binspark.files.read import TransactionEvents
from binspark.position import log_name
from binspark.render.json_values import readable
from binspark.render.records import rows_of, transaction_record
from binspark.render.times import UTC_CLOCK, Clock
from binspark.transactions import Assembler, Parallelism, ParallelismMeter, TableChanges, Transaction

if TYPE_CHECKING:
    from binspark.changes.reader import RowCounter, RowCounts

_TEXT_WIDTH = 80


@click.command("transactions", cls=Command)
@log_options()
@format_option("text", "jsonl")
@filter_options
@click.option("--parallelism", is_flag=True, help="After each file, show how much of it could be applied in parallel.")
@click.option("--count-rows", is_flag=True, help="Count the changed rows of each table, which takes longer.")
@click_option(SKIP_DAMAGED)
def transactions_command(
    logs: Logs,
    output_format: str,
    timezone: tzinfo,
    parallelism: bool,
    count_rows: bool,
    skip_damaged: bool,
    **options: Any,
) -> int:
    """Show the transactions of one or more logs, or of a server (--host).

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    With --tables and --operations, transactions are shown that make such changes, with all that they change, and those
    with statements that name the tables. Positions and times are those where transactions begin.

    Each transaction is shown with how it ended: with which kind of commit, or incomplete because of another
    transaction, a crash or the end of the log. Where a log is damaged, the transactions before the damage are shown and
    reading continues with the next file or, with --skip-damaged, with the next transaction. Exit code 1: a log is
    damaged.
    """
    form = _form(output_format, Clock(timezone))
    selection = selection_from(options, timezone)
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    inputs = logs.inputs(selection, timezone, with_earlier=False, on_damage=damage.on_damage)
    counter = _row_counter() if count_rows else None
    assembler = Assembler(watcher=counter.watch if counter else None)
    for log in inputs:
        meter = ParallelismMeter()
        found = _transactions(log, assembler, damage, is_last=log is inputs[-1])
        lines = (
            form.transaction(transaction, counts)
            for transaction, counts in _counted(_measured(found, meter), counter)
            if wants_transaction(selection, transaction, log.start)
        )
        print_lines(lines, at_once=logs.server is not None)
        if parallelism:
            click.echo(form.parallelism(log_name(log.name), meter.result()))
    return damage.exit_code


def _transactions(log: LogInput, assembler: Assembler, damage: Damage, *, is_last: bool) -> Iterator[Transaction]:
    """Yield the transactions that end in a log; an incomplete one at damage, and at the end of the last log.

    One that begins before the position to stop at is read to its end.
    """
    stop, events = None, log.events()
    skip = None
    if isinstance(log, FileInput):
        complete = TransactionEvents(replace(log.source, stop=None), on_damage=log.on_damage)
        stop, events, skip = log.source.stop, iter(complete), complete.skip
    with damage.ends_file():
        try:
            for event in events:
                if stop is not None and event.offset >= stop and event.inner is None and not assembler.is_open:
                    break
                yield from _fed(assembler, event, skip)
        except (DecodeError, SchemaError):
            yield from assembler.finish()
            raise
    if is_last:
        yield from assembler.finish()


def _fed(assembler: Assembler, event: Event, skip: Callable[[BinlogError], None] | None) -> list[Transaction]:
    """Return the transactions that have ended with an event; if its rows cannot be counted, skip the rest of it."""
    try:
        return assembler.feed(event)
    except (DecodeError, SchemaError) as error:
        if skip is None:
            raise
        skip(error)
        return []


def _counted(
    transactions: Iterator[Transaction], counter: RowCounter | None
) -> Iterator[tuple[Transaction, RowCounts | None]]:
    for transaction in transactions:
        yield transaction, counter.take(transaction.number) if counter else None


def _measured(transactions: Iterator[Transaction], meter: ParallelismMeter) -> Iterator[Transaction]:
    for transaction in transactions:
        meter.add(transaction)
        yield transaction


def _row_counter() -> RowCounter:
    from binspark.changes import ChangeReader
    from binspark.changes.reader import RowCounter
    from binspark.columns.selection import Selection

    return RowCounter(ChangeReader(Selection()))


def transaction_line(transaction: Transaction, counts: RowCounts | None = None, clock: Clock = UTC_CLOCK) -> str:
    """Return a transaction as a line for people: position, time, how it ended, GTID, size, and what it changes."""
    position = f"{log_name(transaction.file)}:{transaction.start}"
    size = f"{counted(transaction.events, 'event')}, {counted(transaction.length, 'byte')}"
    gtid = transaction.gtid or "anonymous"
    begin = f"{position:<24} {clock.text(transaction.timestamp)}  {transaction.ending.value:<12}  {gtid}"
    return f"{begin}  {size}  {_contents(transaction, counts)}".rstrip()


def parallelism_record(parallelism: Parallelism) -> dict[str, Any]:
    """Return how parallel a log is as the record that `--format jsonl` prints."""
    return {
        "transactions": parallelism.transactions,
        "critical_path": parallelism.critical_path,
        "average": round(parallelism.average, 4),
        "maximum": parallelism.largest_group,
        "bytes": parallelism.bytes,
        "critical_path_bytes": parallelism.critical_path_bytes,
        "average_by_bytes": round(parallelism.average_by_bytes, 4),
        "optimistic": parallelism.optimistic,
    }


def parallelism_line(file: str, parallelism: Parallelism) -> str:
    """Return how parallel a log is as a line for people."""
    steps = counted(parallelism.critical_path, "step")
    return (
        f"{file}: {counted(parallelism.transactions, 'transaction')} in {steps}, "
        f"on average {parallelism.average:.2f} at a time ({parallelism.average_by_bytes:.2f} by bytes), "
        f"at most {parallelism.largest_group}"
    )


def _changes_text(changes: TableChanges, counts: RowCounts | None) -> str:
    what = f"{changes.operation.value} {changes.schema}.{changes.table}"
    return what if counts is None else f"{what} ({counted(rows_of(changes, counts), 'row')})"


def _contents(transaction: Transaction, counts: RowCounts | None) -> str:
    parts = [_changes_text(changes, counts) for changes in transaction.changes]
    if transaction.xa is not None:
        parts.append(transaction.xa)
    if transaction.ddl is not None or not parts:
        parts += [readable(text) for text in (transaction.ddl, *transaction.texts[:1]) if text is not None][:1]
    return one_line(", ".join(parts), _TEXT_WIDTH)


class _Form(NamedTuple):
    transaction: Callable[[Transaction, RowCounts | None], str]
    parallelism: Callable[[str, Parallelism], str]


def _form(output_format: str, clock: Clock) -> _Form:
    if output_format == "text":
        return _Form(lambda transaction, counts: transaction_line(transaction, counts, clock), parallelism_line)
    return _Form(
        lambda transaction, counts: json_line(transaction_record(transaction, counts)),
        lambda file, parallelism: json_line({"file": file, "parallelism": parallelism_record(parallelism)}),
    )
