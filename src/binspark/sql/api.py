"""`binspark.sql`: logs as a script."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from binspark.changes.selection_options import SqlOptions, make_selection
from binspark.files.damage import SkipDamaged, damage_handler
from binspark.files.inputs import FileInput
from binspark.files.keyring_file import keyring_storage
from binspark.files.positions import part_between
from binspark.files.schema_file import Schema, history_of
from binspark.files.sources import Paths, find_logs
from binspark.files.unmatched import warning_at_end
from binspark.options.option import Surface, frames_to_caller
from binspark.sql.inputs import script_of
from binspark.sql.options import SCRIPT_OPTIONS, ScriptOptions
from binspark.sql.script import Script

if TYPE_CHECKING:
    from binspark.encryption.keyring import Keyring


class ConflictWarning(UserWarning):
    """Rows of an undo were changed later by others: some of their changes may not be undone, or overwrite others."""


def sql(
    paths: Paths,
    *,
    schema_file: Schema = None,
    skip_damaged: SkipDamaged = False,
    keyring: str | Path | Keyring | None = None,
    keyring_password_file: str | Path | None = None,
    **options: Unpack[SqlOptions],
) -> Iterator[bytes]:
    """Yield the changes of one or more logs as SQL that a server executes: parts of one script, to be joined.

    >>> with open("undo.sql", "wb") as file:  # doctest: +SKIP
    ...     file.writelines(binspark.sql("binlog.000042", undo=True, tables="shop.orders"))

    `schema_file` is a dump (`mysqldump --no-data`) with the names, types and keys that the log lacks. With `undo` the
    script has the inverse of each change, the last one first; nothing is yielded before the logs are read, and what
    cannot be undone is the error `CannotUndo`: so are rows that transactions which are not undone have changed later.
    `on_conflict="skip"`, `"merge"` or `"overwrite"` undoes the rest; these rows are a warning then. `keyring` has the
    keys of encrypted logs. The other options are those of `SqlOptions`.
    """
    given: dict[str, Any] = dict(options)
    chosen = {
        option.name: option.read(given.pop(option.name), Surface.PYTHON)
        for option in SCRIPT_OPTIONS
        if option.name in given
    }
    selection = make_selection(given)
    script = Script(selection, history_of(schema_file), ScriptOptions(**chosen))
    on_damage = damage_handler(skip_damaged)
    logs = find_logs(paths, keyring_storage(keyring, keyring_password_file))
    parts = part_between(logs, selection)
    texts = script_of([FileInput(log, on_damage) for log in parts], script, logs[len(parts) :])
    return warning_at_end(_warning_of_conflicts(texts, script), selection)


def _warning_of_conflicts(texts: Iterator[bytes], script: Script) -> Iterator[bytes]:
    """Yield the parts of a script; after the last one, warn of rows that others have changed later."""
    yield from texts
    for notice in script.conflicts.notices() if script.conflicts is not None else ():
        warnings.warn(notice, ConflictWarning, stacklevel=frames_to_caller())
