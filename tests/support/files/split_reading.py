"""Logs read with and without splits, in a form that can be compared."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pyarrow as pa

from binspark.columns import scan_memory, tables, transaction_table
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Selection
from binspark.errors import BinlogError, DecodeError
from binspark.event import Event, EventDecoder, TransactionPayload
from binspark.files.schema_scan import read_history
from binspark.files.sources import LogSource
from binspark.files.split_reader import Damage, SplitReader
from binspark.files.splits import PlannedLog, Split, plan_logs
from binspark.frames import Framer
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.transactions import Assembler, Transaction

EVERYTHING = Selection(before=True, tx_rows=True, images=True)
Row = tuple[Any, ...]


class Refusal(NamedTuple):
    """An error: its type and position."""

    kind: str
    file: str | None
    offset: int | None


class Rows(NamedTuple):
    """The rows of every table in the order of the log, and the error that ended the read."""

    tables: dict[str, list[Row]]
    refusal: Refusal | None = None


class Events(NamedTuple):
    """The events in the order of the log, their transactions, and the error that ended the read."""

    events: list[Event]
    transactions: list[Transaction]
    refusal: Refusal | None = None


def saved(content: bytes, folder: Path) -> Path:
    """Write a log into a folder."""
    path = folder / "binlog.000001"
    path.write_bytes(content)
    return path


def plan(path: Path | str) -> PlannedLog:
    """Plan one log."""
    [log] = plan_logs([LogSource(str(path))])
    return log


def splits_at(log: PlannedLog, cuts: Iterable[int]) -> list[Split]:
    """Cut a log at any bytes."""
    boundaries: list[int | None] = [0, *sorted(set(cuts) - {0}), None]
    return [Split((log,), start or 0, end) for start, end in pairwise(boundaries)]


def refusal_of(error: BinlogError) -> Refusal:
    return Refusal(type(error).__name__, error.position.file, error.position.offset)


def all_rows(
    content: bytes, name: str, history: SchemaHistory | None = None, selection: Selection = EVERYTHING
) -> Rows:
    """Read all rows of a log without splits."""
    reader = small_reader(selection, history)
    return rows_of_reads([reader.read(io.BytesIO(content).readinto, name)])


def split_rows(splits: Sequence[Split], reader: SplitReader, selection: Selection = EVERYTHING) -> Rows:
    """Read the rows of splits in order, each with new readers, up to the first error."""
    return rows_of_reads(reader.batches(split, lambda history: small_reader(selection, history)) for split in splits)


def small_reader(selection: Selection, history: SchemaHistory | None = None) -> BatchReader:
    """Make a reader that takes little memory, because tests make thousands of them."""
    with (
        patch.object(tables, "_MAX_COLUMNS", 1 << 11),
        patch.object(scan_memory, "_WINDOW", 1 << 10),
        patch.object(transaction_table, "_TEXT_CAPACITY", 1 << 16),
    ):
        return BatchReader(selection, history)


def rows_of_reads(reads: Iterable[Iterator[TableBatch]]) -> Rows:
    """Return the rows of reads in order, up to the first error."""
    tables: dict[str, list[Row]] = {}
    try:
        for found in chain.from_iterable(reads):
            tables.setdefault(found.table.name, []).extend(rows_in(found))
    except BinlogError as error:
        return Rows(tables, refusal_of(error))
    return Rows(tables)


def rows_in(found: TableBatch) -> Iterator[Row]:
    """Yield the rows of a batch, each with its column names and with the columns that are in its images."""
    batch = found.batch
    images: Iterable[Any] = [()] * batch.num_rows
    if found.images is not None:
        flags = zip(found.images.before.tolist(), found.images.after.tolist(), strict=True)
        known = [(tuple(before), tuple(after)) for before, after in flags]
        images = [known[number] for number in found.images.numbers]
    columns = [plain(column) for column in batch.columns]
    names = tuple(batch.schema.names)
    for row in zip([names] * batch.num_rows, *columns, images, strict=True):
        yield _truncation(row) if value_in(row, "_op") == "truncate" else row


def _truncation(row: Row) -> Row:
    """Return the metadata of TRUNCATE or DROP TABLE: the columns are those of the last CREATE TABLE, if it was read."""
    names = tuple(name for name in row[0] if name.startswith("_") and name not in ("_key", "_before"))
    return names, *(value_in(row, name) for name in names)


def value_in(row: Row, column: str) -> Any:
    """Return the value that a row of `rows_in` has in a column."""
    return row[1 + row[0].index(column)]


def plain(array: pa.Array) -> list[Any]:
    """Return the values of a column; times and floats as the integers with the same bits."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return list(array.cast(kind.value_type).to_pylist())
    if pa.types.is_struct(kind):
        children = [plain(array.field(index)) for index in range(kind.num_fields)]
        values = zip(*children, strict=True) if children else [()] * len(array)
        return [value if valid else None for valid, value in zip(array.is_valid().to_pylist(), values, strict=True)]
    if pa.types.is_temporal(kind) or pa.types.is_floating(kind):
        return list(array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist())
    if pa.types.is_list(kind) and pa.types.is_floating(kind.value_type):
        return [repr(value) for value in array.to_pylist()]
    return list(array.to_pylist())


def all_events(content: bytes, name: str) -> Events:
    """Read all events of a log without splits, including those inside payloads."""
    return _events([_decoded(content, name)])


def _decoded(content: bytes, name: str) -> Iterator[Event]:
    framer, decoder = Framer(), EventDecoder(name)
    try:
        for frame in framer.feed(content):
            event = decoder.decode(frame)
            yield event
            if isinstance(event.body, TransactionPayload):
                yield from decoder.inner_events(event)
        framer.finish()
    except DecodeError as error:
        raise error.at(Position(file=name)) from None


def split_events(splits: Sequence[Split], reader: SplitReader) -> Events:
    """Read the events of splits in order, each with a new assembler, up to the first error."""
    return _events(map(reader.events, splits))


def _events(reads: Iterable[Iterator[Event]]) -> Events:
    events: list[Event] = []
    transactions: list[Transaction] = []
    try:
        for read in reads:
            assembler = Assembler()
            for event in read:
                events.append(event)
                transactions += map(unnumbered, assembler.feed(event))
            transactions += map(unnumbered, assembler.finish())
    except BinlogError as error:
        return Events(events, transactions, refusal_of(error))
    return Events(events, transactions)


def unnumbered(transaction: Transaction) -> Transaction:
    """Return a transaction without its number, which depends on where assembling began."""
    return replace(transaction, number=0)


@dataclass
class Reports:
    """Collects the damage that a reader reports."""

    found: list[Damage] = field(default_factory=list)

    def __call__(self, damage: Damage) -> None:
        self.found.append(damage)


def history_of(*logs: PlannedLog) -> SchemaHistory:
    return read_history(logs, SchemaHistory())
