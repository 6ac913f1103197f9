"""`binspark transactions`: one record for each transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from binspark.cli.output import echo_lines, format_option, json_line, logs_argument, tell
from binspark.errors import DecodeError, SchemaError
from binspark.files import LogSource, find_logs
from binspark.files.read import source_events
from binspark.render.json_values import readable
from binspark.render.records import rows_of, transaction_record
from binspark.transactions import Assembler, Parallelism, ParallelismMeter, TableChanges, Transaction

if TYPE_CHECKING:
    from binspark.changes.reader import RowCounter, RowCounts

_TEXT_WIDTH = 80


@click.command("transactions")
@logs_argument
@format_option
@click.option("--parallelism", is_flag=True, help="After each file, tell how much of it could run in parallel.")
@click.option("--count-rows", is_flag=True, help="Count the rows of each table, which takes longer.")
@click.pass_context
def transactions_command(
    context: click.Context, files: tuple[str, ...], output_format: str, parallelism: bool, count_rows: bool
) -> None:
    """Show every transaction of one or more logs: files, globs, directories, index files, or - for standard input.

    Each is shown with why it ended: by which kind of commit, or cut short by another transaction, a crash or the end
    of the log. Transactions before damage are shown; then the next file is read.
    """
    form = _FORMS[output_format]
    sources = find_logs(files)
    counter = _row_counter() if count_rows else None
    listing = _Listing(counter)
    for source in sources:
        meter = ParallelismMeter()
        found = listing.transactions(source, last=source is sources[-1])
        echo_lines(
            form.transaction(transaction, counter.take(transaction.number) if counter else None)
            for transaction in _measured(found, meter)
        )
        if parallelism:
            click.echo(form.parallelism(PurePath(source.name).name, meter.result()))
    context.exit(1 if listing.damaged else 0)


class _Listing:
    """Reads logs one after the other and tells of damage without giving up on the others."""

    def __init__(self, counter: RowCounter | None) -> None:
        self._assembler = Assembler(watcher=counter.watch if counter else None)
        self.damaged = False

    def transactions(self, source: LogSource, *, last: bool) -> Iterator[Transaction]:
        """Yield the transactions that end in a log. One that damage cuts off, or the end of the last log, is told."""
        try:
            for event in source_events(source):
                yield from self._assembler.feed(event)
        except (DecodeError, SchemaError) as error:
            self.damaged = True
            yield from self._assembler.finish()
            tell(error)
        if last:
            yield from self._assembler.finish()


def _measured(transactions: Iterator[Transaction], meter: ParallelismMeter) -> Iterator[Transaction]:
    for transaction in transactions:
        meter.add(transaction)
        yield transaction


def _row_counter() -> RowCounter:
    from binspark.changes import ChangeReader
    from binspark.changes.reader import RowCounter
    from binspark.columns.selection import Selection

    return RowCounter(ChangeReader(Selection()))


def transaction_line(transaction: Transaction, counts: RowCounts | None = None) -> str:
    """Return a transaction as a line for a person: where, when, how it ended, which, how large, what it changes."""
    place = f"{PurePath(transaction.file).name}:{transaction.start}"
    moment = f"{datetime.fromtimestamp(transaction.timestamp, UTC):%Y-%m-%d %H:%M:%S}"
    size = f"{_counted(transaction.events, 'event')}, {_counted(transaction.length, 'byte')}"
    name = transaction.gtid or "anonymous"
    contents = _contents(transaction, counts)
    return f"{place:<24} {moment}  {transaction.ending.value:<12}  {name}  {size}  {contents}".rstrip()


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
    """Return how parallel a log is as a line for a person."""
    steps = _counted(parallelism.critical_path, "step")
    return (
        f"{file}: {_counted(parallelism.transactions, 'transaction')} in {steps}, "
        f"on average {parallelism.average:.2f} at a time ({parallelism.average_by_bytes:.2f} by bytes), "
        f"at most {parallelism.largest_group}"
    )


def _changes_text(changes: TableChanges, counts: RowCounts | None) -> str:
    what = f"{changes.operation.value} {changes.schema}.{changes.table}"
    return what if counts is None else f"{what} ({_counted(rows_of(changes, counts), 'row')})"


def _contents(transaction: Transaction, counts: RowCounts | None) -> str:
    parts = [_changes_text(changes, counts) for changes in transaction.changes]
    if transaction.xa is not None:
        parts.append(transaction.xa)
    if transaction.ddl is not None or not parts:
        parts += [readable(text) for text in (transaction.ddl, *transaction.texts[:1]) if text is not None][:1]
    return _one_line(", ".join(parts))


def _one_line(text: str) -> str:
    """Return text that fits a line of a terminal and cannot command it."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * _TEXT_WIDTH])
    line = " ".join(printable.split())
    return line if len(line) <= _TEXT_WIDTH else line[: _TEXT_WIDTH - 1] + "…"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class _Form(NamedTuple):
    transaction: Callable[[Transaction, RowCounts | None], str]
    parallelism: Callable[[str, Parallelism], str]


_FORMS = {
    "text": _Form(transaction_line, parallelism_line),
    "jsonl": _Form(
        lambda transaction, counts: json_line(transaction_record(transaction, counts)),
        lambda file, parallelism: json_line({"file": file, "parallelism": parallelism_record(parallelism)}),
    ),
}
