"""Logs as Arrow batches, in bulk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Unpack, overload

from binspark.changes.choice import BulkChoice, is_pattern, selection_of
from binspark.columns.arena import ReadInto
from binspark.columns.reader import BatchReader, TableBatch
from binspark.errors import OptionError, SourceError
from binspark.files.schema_file import Schema, history_of
from binspark.files.sources import LogSource, Paths, find_logs
from binspark.kernels import cache
from binspark.position import Position

if TYPE_CHECKING:
    import pyarrow as pa

OnRead = Callable[[int], None]
"""Is told how many bytes were read, each time that some were."""


@overload
def read_batches(
    paths: Paths, table: str, *, schema: Schema = None, **options: Unpack[BulkChoice]
) -> Iterator[pa.RecordBatch]: ...


@overload
def read_batches(
    paths: Paths, table: None = None, *, schema: Schema = None, **options: Unpack[BulkChoice]
) -> Iterator[TableBatch]: ...


def read_batches(
    paths: Paths, table: str | None = None, *, schema: Schema = None, **options: Unpack[BulkChoice]
) -> Iterator[pa.RecordBatch] | Iterator[TableBatch]:
    """Yield the changed rows of one or more logs as Arrow batches, in the order of the logs for each table.

    >>> for batch in binspark.batches("binlog.*", table="shop.orders"):  # doctest: +SKIP
    ...     print(batch.num_rows, batch.schema.names)

    With `table` they are the record batches of that table; where the table changes inside the logs, each batch has the
    shape of its time. Without it, or with `tables`, each comes together with its table, as a `TableBatch`. `schema` is
    a dump that tells what the log does not. The other options are those of `BulkChoice`. What comes before damage is
    delivered before the error is raised.
    """
    cache.enable()
    if table is not None:
        if "tables" in options:
            raise OptionError("either table or tables, not both")
        if is_pattern(table):
            raise OptionError(f"table: {table!r} may be several tables; tables takes patterns")
        options["tables"] = [table]
    reader = BatchReader(selection_of(options), history_of(schema))
    found = _batches(find_logs(paths), reader)
    return found if table is None else (item.batch for item in found)


def source_batches(source: LogSource, reader: BatchReader, on_read: OnRead | None = None) -> Iterator[TableBatch]:
    """Yield the batches of one log."""
    try:
        with source.open() as file:
            yield from reader.read(_counted(file, on_read), source.name)
    except OSError as error:
        raise SourceError(error.strerror or str(error), Position(file=source.name)) from None


def _batches(sources: Iterable[LogSource], reader: BatchReader) -> Iterator[TableBatch]:
    for source in sources:
        yield from source_batches(source, reader)


def _counted(file: BinaryIO, on_read: OnRead | None) -> ReadInto:
    def read_into(buffer: memoryview) -> int:
        count = int(file.readinto(buffer) or 0)  # type: ignore[attr-defined]
        if on_read is not None:
            on_read(count)
        return count

    return read_into
