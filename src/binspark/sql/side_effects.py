"""What a server does besides a script that it runs, and what no log has of the changes that the script undoes."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from binspark.schema.foreign_keys import ForeignKeys, cascades_are_logged, read_foreign_keys
from binspark.server.connection import Connection
from binspark.server.info import server_variables

_TRIGGERS = """SELECT event_object_schema, event_object_table, trigger_name FROM information_schema.triggers
    ORDER BY 1, 2, 3"""
_MAX_NAMES = 5


def side_effects(connection: Connection, tables: AbstractSet[str], *, undo: bool) -> Iterator[str]:
    """Yield what to know before a script that changes rows of these tables is run on a server like this one."""
    triggers: dict[str, list[str]] = {}
    for schema, table, trigger in connection.rows(_TRIGGERS):
        triggers.setdefault(f"{schema}.{table}", []).append(str(trigger))
    for table in sorted(tables & triggers.keys()):
        yield (
            f"{table} has triggers ({_listed(triggers[table])}): the server that runs the script fires them again, "
            "although the log has their changes, too. Drop them before, or leave out the tables that they change with "
            "--exclude-tables"
        )
    if not undo or cascades_are_logged(server_variables(connection)):
        return
    changed: dict[str, list[str]] = {}
    for key in ForeignKeys(read_foreign_keys(connection.rows)):
        changed.setdefault(str(key.parent), []).append(str(key.table))
    for table in sorted(tables & changed.keys()):
        yield (
            f"a foreign key changes or deletes rows of {_listed(changed[table])} with those of {table} (CASCADE, SET "
            "NULL), which this server does not log: the script does not restore them"
        )


def _listed(names: list[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:_MAX_NAMES]) + (", …" if len(shown) > _MAX_NAMES else "")
