"""`binspark.sql`: logs as a script."""

from __future__ import annotations

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
from binspark.options.option import Surface
from binspark.sql.inputs import script_of
from binspark.sql.options import SCRIPT_OPTIONS, ScriptOptions
from binspark.sql.script import Script

if TYPE_CHECKING:
    from binspark.encryption.keyring import Keyring


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
    cannot be undone is the error `CannotUndo`. `keyring` has the keys of encrypted logs. The other options are those of
    `SqlOptions`.
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
    logs = part_between(find_logs(paths, keyring_storage(keyring, keyring_password_file)), selection)
    return warning_at_end(script_of([FileInput(log, on_damage) for log in logs], script), selection)
