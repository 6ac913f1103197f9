"""The changed rows of logs as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

from binspark.changes.selection_options import METADATA_PREFIX, TABLE, BatchOptions, make_selection, take_schema_file
from binspark.columns.metadata import refuse_collisions
from binspark.columns.reader import BatchReader, TableBatch
from binspark.errors import DecodeError, OptionError, SchemaError
from binspark.files.damage import OnDamage, SkipDamaged, damage_handler
from binspark.files.frame_scan import open_seekable
from binspark.files.keyring_file import keyring_storage
from binspark.files.positions import part_between
from binspark.files.schema_file import Schema, history_of, log_statement
from binspark.files.sources import LogSource, Paths, find_logs
from binspark.files.unmatched import warning_at_end
from binspark.kernels import cache
from binspark.options.option import Surface
from binspark.os_errors import source_errors

if TYPE_CHECKING:
    import pyarrow as pa

    from binspark.encryption.keyring import Keyring


@overload
def read_batches(
    paths: Paths,
    table: str,
    *,
    schema_file: Schema = None,
    skip_damaged: SkipDamaged = False,
    keyring: str | Path | Keyring | None = None,
    keyring_password_file: str | Path | None = None,
    **options: Unpack[BatchOptions],
) -> Iterator[pa.RecordBatch]: ...


@overload
def read_batches(
    paths: Paths,
    table: None = None,
    *,
    schema_file: Schema = None,
    skip_damaged: SkipDamaged = False,
    keyring: str | Path | Keyring | None = None,
    keyring_password_file: str | Path | None = None,
    **options: Unpack[BatchOptions],
) -> Iterator[TableBatch]: ...


def read_batches(
    paths: Paths,
    table: str | None = None,
    *,
    schema_file: Schema = None,
    skip_damaged: SkipDamaged = False,
    keyring: str | Path | Keyring | None = None,
    keyring_password_file: str | Path | None = None,
    **options: Unpack[BatchOptions],
) -> Iterator[pa.RecordBatch] | Iterator[TableBatch]:
    """Yield the changed rows of one or more logs as Arrow batches, in the order of the logs for each table.

    >>> for batch in binspark.batches("binlog.*", table="shop.orders"):  # doctest: +SKIP
    ...     print(batch.num_rows, batch.schema.names)

    With `table` they are the record batches of that table; if its schema changes inside the logs, each batch has the
    schema of its rows. Without it, or with `tables`, each batch comes with its table, as a `TableBatch`. `schema_file`
    is a dump with the names, types and keys that the log lacks. The other options are those of `BatchOptions`. Rows
    before damage are yielded before the error is raised.

    With `skip_damaged` reading continues with the next transaction after the damage. What was skipped is a warning, or,
    where `skip_damaged` is a function, the `Damage` that it is called with. `keyring` has the keys of encrypted logs.
    """
    cache.enable()
    if table is not None:
        if "tables" in options:
            raise OptionError("table and tables cannot be combined")
        options["tables"] = [TABLE.read(table, Surface.PYTHON)]
    history = history_of(take_schema_file(schema_file, options), log_statement)
    selection = make_selection(options)
    reader = BatchReader(selection, history)
    logs = part_between(find_logs(paths, keyring_storage(keyring, keyring_password_file)), selection)
    found = _with_different_names(_batches(logs, reader, damage_handler(skip_damaged)))
    if selection.string_columns:
        found = _with_text_columns(found, selection.string_columns)
    found = warning_at_end(found, selection, "tables" if table is None else TABLE.name)
    return found if table is None else (item.batch for item in found)


def source_batches(source: LogSource, reader: BatchReader, on_damage: OnDamage | None = None) -> Iterator[TableBatch]:
    """Yield the batches of one log. With `on_damage`, rows of a damaged transaction from the damage on are skipped."""
    if on_damage is not None:
        yield from _sound_batches(source, reader, on_damage)
        return
    with source_errors(source.name), source.open() as file:
        yield from reader.read(file.readinto, source.name, start=source.start, stop=source.stop)


def _with_different_names(found: Iterator[TableBatch]) -> Iterator[TableBatch]:
    for item in found:
        refuse_collisions(item.batch.schema.names, item.table.name, METADATA_PREFIX.name)
        yield item


def _sound_batches(source: LogSource, reader: BatchReader, on_damage: OnDamage) -> Iterator[TableBatch]:
    from binspark.files.parts import LogParts  # loads more kernels, which reading without damage does not need
    from binspark.files.splits import PlannedLog

    with source_errors(source.name), open_seekable(source) as file:
        log = PlannedLog(source, file.size, fingerprint=0)
        for part in LogParts(log, file, on_damage).between():
            batches = reader.read(part.read_into(), source.name, part.span, start=source.start, stop=source.stop)
            yield from part.until_error(batches, (DecodeError, SchemaError))


def _batches(sources: Iterable[LogSource], reader: BatchReader, on_damage: OnDamage | None) -> Iterator[TableBatch]:
    for source in sources:
        yield from source_batches(source, reader, on_damage=on_damage)


def _with_text_columns(batches: Iterator[TableBatch], names: frozenset[str]) -> Iterator[TableBatch]:
    from binspark.documents.text_columns import with_text_columns

    for item in batches:
        yield replace(item, batch=with_text_columns(item, names))
