"""The changed rows of logs, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from binspark.changes.change import Change
from binspark.changes.reader import ChangeReader
from binspark.changes.selection_options import SelectionOptions, make_selection, take_schema_file
from binspark.columns.selection import Selection
from binspark.errors import DecodeError, SchemaError
from binspark.files.damage import OnDamage, SkipDamaged, damage_handler
from binspark.files.keyring_file import keyring_storage
from binspark.files.positions import part_between
from binspark.files.read import TransactionEvents
from binspark.files.schema_file import Schema, history_of, log_statement
from binspark.files.sources import LogSource, Paths, find_logs
from binspark.files.unmatched import warning_at_end
from binspark.files.windows import by_window, pays_in_bulk
from binspark.schema.history import SchemaHistory

if TYPE_CHECKING:
    from binspark.encryption.keyring import Keyring


def read_changes(
    paths: Paths,
    *,
    schema_file: Schema = None,
    skip_damaged: SkipDamaged = False,
    keyring: str | Path | Keyring | None = None,
    keyring_password_file: str | Path | None = None,
    **options: Unpack[SelectionOptions],
) -> Iterator[Change]:
    """Yield every changed row of one or more logs, in the order of the logs.

    >>> for change in binspark.rows("binlog.*", tables=["shop.orders"]):  # doctest: +SKIP
    ...     print(change.op, change.key, change.after)

    `schema_file` is a dump (`mysqldump --no-data`) with the names, types and keys that the log lacks. The other options
    are those of `SelectionOptions`. Rows before damage are yielded before the error is raised.

    With `skip_damaged` reading continues with the next transaction after the damage. What was skipped is a warning, or,
    where `skip_damaged` is a function, the `Damage` that it is called with. `keyring` has the keys of encrypted logs.
    """
    history = history_of(take_schema_file(schema_file, options), log_statement)
    selection = make_selection(options)
    sources = part_between(find_logs(paths, keyring_storage(keyring, keyring_password_file)), selection)
    on_damage = damage_handler(skip_damaged)
    if pays_in_bulk(sources, selection):
        found = changes_in_bulk(sources, selection, history, on_damage)
    else:
        found = _changes(sources, ChangeReader(selection, history), on_damage)
    return warning_at_end(found, selection)


def source_changes(source: LogSource, reader: ChangeReader, on_damage: OnDamage | None = None) -> Iterator[Change]:
    """Yield the changed rows of one log, from where the source starts to where it stops.

    With `on_damage`, the rows of a damaged transaction from the damage on are skipped.
    """
    reader.start = source.start
    events = TransactionEvents(source, on_damage=on_damage)
    for event in events:
        try:
            yield from reader.feed(event)
        except (DecodeError, SchemaError) as error:
            events.skip(error)
            reader.forget_transaction()


def changes_in_bulk(
    sources: Iterable[LogSource], selection: Selection, history: SchemaHistory | None, on_damage: OnDamage | None
) -> Iterator[Change]:
    """Yield the changed rows of logs, decoded into columns first."""
    from binspark.changes.from_batches import changes_of
    from binspark.columns.reader import BatchReader
    from binspark.files.batches import source_batches
    from binspark.kernels import cache

    cache.enable()
    reader = BatchReader(selection.with_complete_rows(), history)
    for source in sources:
        for batches in by_window(source_batches(source, reader, on_damage=on_damage)):
            yield from changes_of(batches, source.name)


def _changes(sources: Iterable[LogSource], reader: ChangeReader, on_damage: OnDamage | None) -> Iterator[Change]:
    for source in sources:
        yield from source_changes(source, reader, on_damage)
