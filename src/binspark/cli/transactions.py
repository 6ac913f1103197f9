"""`binspark transactions`: one record for each transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from binspark.changes.event_filter import wants_transaction
from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs, condition_of, events_of, log_options, sources_in_bulk
from binspark.cli.output import Damage, counted, echo, json_line, one_line, print_lines, shown_statement
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.columns.selection import Selection
from binspark.documents.line_style import quoted
from binspark.errors import BinlogError, DecodeError, SchemaError
from binspark.event import Event
from binspark.files.damage import SKIP_DAMAGED
from binspark.files.inputs import FileInput, LogInput
from binspark.files.positions import NOWHERE
from binspark.files.read import TransactionEvents
from binspark.options.times import UTC_CLOCK, Clock
from binspark.position import log_name
from binspark.render.records import transaction_record
from binspark.render.summary import SHOW_SECRETS
from binspark.transactions import Assembler, Parallelism, ParallelismMeter, TableChanges, Transaction
from binspark.transactions.row_statements import RowStatements

if TYPE_CHECKING:
    from binspark.event.context import SqlText
    from binspark.files.condition_counts import ConditionCounts
    from binspark.files.sources import LogSource
    from binspark.schema.history import SchemaHistory
    from binspark.transactions.draft import CountRows

_TEXT_WIDTH = 80


@click.command("transactions", cls=Command)
@log_options()
@format_option("text", "jsonl")
@row_options
@click.option("--parallelism", is_flag=True, help="After each file, show how much of it could be applied in parallel.")
@click.option("--count-rows", is_flag=True, help="Count the changed rows of each table, which takes longer.")
@click_option(SKIP_DAMAGED)
@click_option(SHOW_SECRETS)
def transactions_command(
    logs: Logs,
    output_format: str,
    timezone: tzinfo,
    schema_file: str | None,
    parallelism: bool,
    count_rows: bool,
    skip_damaged: bool,
    show_secrets: bool,
    **options: Any,
) -> int:
    """Show the transactions of one or more logs, or of a server (--host).

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    With --tables, --operations and --where, transactions are shown that make such changes, with all that they change,
    and for --tables those with statements that name them. Positions and times are those where transactions begin.

    Each transaction is shown with how it ended: with which kind of commit, or incomplete because of another
    transaction, a crash or the end of the log. Where a log is damaged, the transactions before the damage are shown and
    reading continues with the next file or, with --skip-damaged, with the next transaction. Exit code 1: a log is
    damaged.
    """
    form = _form(output_format, Clock(timezone), show_secrets=show_secrets)
    selection = selection_from(options, timezone)
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    inputs = logs.inputs(selection, timezone, on_damage=damage.on_damage)
    counter = _row_counter() if count_rows else None
    sources = sources_in_bulk(inputs, selects=selection != Selection())
    if sources is not None:
        reader: _Reader = _BulkReader(sources, selection, history_from(schema_file), counter, damage)
    else:
        counts = condition_of(logs, inputs, selection, schema_file)
        reader = _EventReader(inputs, selection, counts, counter, damage)
    for name, found in reader.logs():
        print_lines((form.transaction(*shown) for shown in found), at_once=logs.server is not None)
        if parallelism:
            echo(form.parallelism(log_name(name), reader.parallelism))
    return damage.exit_code


_Shown = tuple[Transaction, Sequence["SqlText"]]


class _Reader(Protocol):
    """Finds the selected transactions, with the statements that changed their rows.

    parallelism   that of all transactions of the last log
    """

    @property
    def parallelism(self) -> Parallelism:
        """That of all transactions of the last log."""

    def logs(self) -> Iterator[tuple[str, Iterator[_Shown]]]:
        """Yield the name of each log, and what is selected of it."""


class _BulkReader:
    """Lets kernels find them, and decodes no other events."""

    def __init__(
        self,
        sources: Sequence[LogSource],
        selection: Selection,
        history: SchemaHistory,
        count_rows: CountRows | None,
        damage: Damage,
    ) -> None:
        from binspark.files.selected_transactions import SelectedTransactions

        self._sources = sources
        self._damage = damage
        self._statements = RowStatements()
        assembler = Assembler(watcher=self._statements.watch, count_rows=count_rows)
        self._selected = SelectedTransactions(selection, history, assembler)

    @property
    def parallelism(self) -> Parallelism:
        return self._selected.parallelism

    def logs(self) -> Iterator[tuple[str, Iterator[_Shown]]]:
        for source in self._sources:
            found = self._shown(source, is_last=source is self._sources[-1])
            if source.start == NOWHERE:
                list(found)
            else:
                yield source.name, found

    def _shown(self, source: LogSource, *, is_last: bool) -> Iterator[_Shown]:
        with self._damage.ends_file():
            for transaction in self._selected.read(source, is_last=is_last):
                yield transaction, self._statements.take(transaction.number)


class _EventReader:
    """Reads one event after the other."""

    def __init__(
        self,
        inputs: Sequence[LogInput],
        selection: Selection,
        counts: ConditionCounts | None,
        count_rows: CountRows | None,
        damage: Damage,
    ) -> None:
        self._inputs = inputs
        self._selection = selection
        self._counts = counts
        self._damage = damage
        self._meter = ParallelismMeter()
        self._statements = RowStatements()
        self._selected = _Selected(counts, self._statements)
        self._assembler = Assembler(watcher=self._selected.watch, count_rows=count_rows)

    @property
    def parallelism(self) -> Parallelism:
        return self._meter.result()

    def logs(self) -> Iterator[tuple[str, Iterator[_Shown]]]:
        for log in self._inputs:
            self._meter = ParallelismMeter()
            if log.start != NOWHERE:
                yield log.name, self._shown(log)

    def _shown(self, log: LogInput) -> Iterator[_Shown]:
        found = _transactions(log, self._assembler, self._counts, self._damage, is_last=log is self._inputs[-1])
        for transaction in found:
            self._meter.add(transaction)
            texts = self._statements.take(transaction.number)
            if self._selected.take(transaction) and wants_transaction(self._selection, transaction, log.start):
                yield transaction, texts


class _Selected:
    """Notes which transactions have rows that meet a condition, besides their statements."""

    def __init__(self, counts: ConditionCounts | None, statements: RowStatements) -> None:
        self._counts = counts
        self._statements = statements
        self._numbers: set[int] = set()

    def watch(self, transaction: int, event: Event) -> None:
        """Take an event of a transaction."""
        self._statements.watch(transaction, event)
        if self._counts is not None and self._counts.count:
            self._numbers.add(transaction)

    def take(self, transaction: Transaction) -> bool:
        """Return whether a transaction has such rows, and forget it."""
        if self._counts is None:
            return True
        is_selected = transaction.number in self._numbers
        self._numbers.discard(transaction.number)
        return is_selected


def _transactions(
    log: LogInput, assembler: Assembler, counts: ConditionCounts | None, damage: Damage, *, is_last: bool
) -> Iterator[Transaction]:
    """Yield the transactions that end in a log; an incomplete one at damage, and at the end of the last log.

    One that begins before the position to stop at is read to its end.
    """
    stop, skip = None, None
    if isinstance(log, FileInput):
        complete = TransactionEvents(replace(log.source, stop=None), on_damage=log.on_damage)
        stop, events, skip = log.source.stop, iter(complete), complete.skip
        if counts is not None:
            counts.begin_source(log.source, skip_damaged=log.on_damage is not None)
            events = counts.follow(events)
    else:
        events = events_of(log, counts)
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


def _row_counter() -> CountRows:
    from binspark.columns.row_counts import count_rows
    from binspark.kernels import cache

    cache.enable()
    return count_rows


def transaction_line(
    transaction: Transaction,
    statements: Sequence[SqlText] = (),
    clock: Clock = UTC_CLOCK,
    *,
    show_secrets: bool = False,
) -> str:
    """Return a transaction as a line for people: position, time, how it ended, GTID, size, and what it changes."""
    position = f"{log_name(transaction.file)}:{transaction.start}"
    size = f"{counted(transaction.events, 'event')}, {counted(transaction.length, 'byte')}"
    gtid = transaction.gtid or "anonymous"
    begin = f"{position:<24} {clock.text(transaction.timestamp)}  {transaction.ending.value:<12}  {gtid}"
    thread = "" if transaction.thread_id is None else f", thread {transaction.thread_id}"
    session = f"server {transaction.server_id}{thread}"
    return f"{begin}  {session}  {size}  {_contents(transaction, statements, show_secrets=show_secrets)}".rstrip()


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


def _changes_text(changes: TableChanges) -> str:
    what = f"{changes.operation.value} {changes.schema}.{changes.table}"
    return what if changes.rows is None else f"{what} ({counted(changes.rows, 'row')})"


def _contents(transaction: Transaction, statements: Sequence[SqlText], *, show_secrets: bool) -> str:
    def shown_text(statement: SqlText) -> str:
        return shown_statement(statement, _TEXT_WIDTH, show_secrets=show_secrets)

    parts = [_changes_text(changes) for changes in transaction.changes]
    if transaction.xa is not None:
        parts.append(transaction.xa)
    if transaction.ddl is not None or not parts:
        parts += [shown_text(text) for text in (transaction.ddl, *transaction.texts[:1]) if text is not None][:1]
    shown = one_line(", ".join(parts), _TEXT_WIDTH)
    return f"{shown}  {quoted(shown_text(statements[0]))}" if statements else shown


class _Form(NamedTuple):
    transaction: Callable[[Transaction, Sequence[SqlText]], str]
    parallelism: Callable[[str, Parallelism], str]


def _form(output_format: str, clock: Clock, *, show_secrets: bool) -> _Form:
    if output_format == "text":
        return _Form(
            lambda transaction, statements: transaction_line(transaction, statements, clock, show_secrets=show_secrets),
            parallelism_line,
        )
    return _Form(
        lambda transaction, statements: json_line(transaction_record(transaction, statements)),
        lambda file, parallelism: json_line({"file": file, "parallelism": parallelism_record(parallelism)}),
    )
