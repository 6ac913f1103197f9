"""Replay changes: the tables of a server after a random workload must equal those made from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from binspark.changes.reader import ChangeReader
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.files import read_events
from binspark.testing.servers import Server
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import Geometry
from tests.support.replay.random_types import Kind
from tests.support.replay.random_workload import Workload

Rows = dict[int, dict[str, Any]]
Tables = dict[str, Rows]


class Applied(NamedTuple):
    """One change: its table, the key before it, and the new values."""

    table: str
    op: str
    before: dict[str, Any]
    after: dict[str, Any]


def replay_round(server: Server, seed: int, steps: int) -> None:
    """Run a random workload in a new database, and check that replaying the log gives the server's tables."""
    rng = Random(seed)
    workload = Workload(server, rng, f"random_{seed}")
    earlier = set(server.log_files())
    workload.run(steps)
    logs = [log for log in server.log_files() if log not in earlier]
    read = in_bulk if workload.settings.image == "FULL" else one_by_one
    replayed = replay(read(logs, workload.database))
    for table in workload.tables:
        expected = selected(server, workload.database, table.name, table.columns)
        found = in_terms_of(table.columns, replayed.get(table.name, {}))
        assert found == expected, (
            f"table {table.name} of {workload.settings}: {difference(found, expected, table.columns)}"
        )


def in_terms_of(columns: dict[str, Kind], rows: Rows) -> Rows:
    """Keep the columns that the table has at the end; numbers that are too wide for Arrow are text."""
    replayed = {name: kind.replayed for name, kind in columns.items()}
    kinds: dict[str, Callable[[Any], Any]] = {"id": int, **replayed, "touched": int}
    return {
        key: {name: None if row[name] is None else kinds[name](row[name]) for name in kinds if name in row}
        for key, row in rows.items()
    }


def difference(found: Rows, expected: Rows, columns: dict[str, Kind]) -> str:
    """Return the first row and column in which two tables differ."""
    if found.keys() != expected.keys():
        return f"rows {sorted(found.keys() ^ expected.keys())[:5]}"
    kinds = {name: kind.sql for name, kind in columns.items()}
    differing = (
        f"row {key}, {name} {kinds.get(name)}: {found[key].get(name)!r} in the log, {value!r} in the table"
        for key, row in expected.items()
        for name, value in row.items()
        if found[key].get(name) != value
    )
    return next(differing, "columns")


def replay(changes: Iterator[Applied]) -> Tables:
    """Apply changes to empty tables. Rows from before a table was renamed may be deleted under its new name."""
    tables: Tables = {}
    for change in changes:
        if change.op == "truncate":
            tables.pop(change.table, None)
            continue
        rows = tables.setdefault(change.table, {})
        known = rows.pop(change.before["id"], {}) if change.op != "insert" else {}
        row = {**known, **change.after}
        if change.op != "delete":
            rows[row["id"]] = row
    return tables


def in_bulk(logs: list[Path], database: str) -> Iterator[Applied]:
    """Read changes with kernels. Full images replace the row, so that dropped columns disappear."""
    reader = BatchReader(Selection(tables=frozenset({f"{database}.*"}), before=True))
    for log in logs:
        with log.open("rb") as file:
            for found in reader.read(file.readinto, log.name):
                columns = {name: plain_list(found.batch.column(name)) for name in found.table.column_names}
                befores = found.batch.column("_before")
                old = {name: plain_list(befores.field(name)) for name in found.table.column_names}
                for index, op in enumerate(found.batch.column("_op").to_pylist()):
                    after = {name: values[index] for name, values in columns.items()}
                    before = {name: values[index] for name, values in old.items()} if op == "update" else after
                    yield Applied(found.table.table, op, before, after)
    assert reader.disagreements == 0


def one_by_one(logs: list[Path], database: str) -> Iterator[Applied]:
    """Read changes with the reference, which distinguishes absent values from NULL."""
    reader = ChangeReader(Selection(tables=frozenset({f"{database}.*"})))
    for event in read_events(logs):
        for change in reader.feed(event):
            before, after = (
                {n: _plain(v) for n, v in (image or {}).items()} for image in (change.before, change.after)
            )
            yield Applied(change.table, change.op, before, after)


def selected(server: Server, database: str, table: str, columns: dict[str, Kind]) -> Rows:
    """Return the rows that the server selects, by key."""
    shown = ["id", *(kind.select.format(name) for name, kind in columns.items()), "touched"]
    readers: dict[str, Callable[[Any], Any]] = {
        "id": int,
        **{n: kind.read for n, kind in columns.items()},
        "touched": int,
    }
    with server.connect(conv={}, charset="utf8mb4", init_command="SET time_zone='+00:00'") as connection:
        cursor = connection.cursor()
        cursor.execute(f"SELECT {', '.join(shown)} FROM {database}.{table}")
        found: list[dict[str, Any]] = [
            {
                name: None if value is None else read(value)
                for (name, read), value in zip(readers.items(), row, strict=True)
            }
            for row in cursor.fetchall()
        ]
    return {row["id"]: row for row in found}


def plain_list(array: pa.Array) -> list[Any]:
    """Return the values of a column; dates and times as numbers."""
    if pa.types.is_date(array.type):
        return list(array.view(pa.int32()).to_pylist())
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        return list(array.view(pa.int64()).to_pylist())
    return list(array.to_pylist())


def _plain(value: Any) -> Any:
    return _PLAIN.get(type(value), lambda same: same)(value)


_PLAIN: dict[type, Callable[[Any], Any]] = {
    Date: lambda value: value.days,
    DateTime: lambda value: value.microseconds,
    Timestamp: lambda value: value.microseconds,
    Time: lambda value: value.microseconds,
    Geometry: lambda value: {"srid": value.srid, "wkb": value.wkb},
    tuple: list,
}
