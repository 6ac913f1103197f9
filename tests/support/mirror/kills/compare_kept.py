"""Compares what a mirror keeps beside its tables with the log: the history of changes, and the versions of rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from binspark.columns.selection import Selection
from binspark.mirror.schema.mirrored_table import HISTORY
from binspark.mirror.schema.version_table import (
    IS_CURRENT,
    OPEN,
    SEQ,
    UNTIL,
    VALID_FROM,
    VALID_TO,
    is_versions_name,
    seq_at,
    table_of_versions,
    versions_name,
)
from binspark.mirror.source.change_source import ArchiveChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog
from binspark.schema.table import TableName
from binspark.spark.options import RowFormat, SourceOptions
from binspark.spark.schemas import arrow_schema, changes_schema
from binspark.spark.streaming.part_reader import reader_of
from binspark.spark.views.changes import ChangesView
from binspark.testing.servers import Server
from tests.support.mirror.live_mirrors import rows_of

_SHOWN = 3
_OWN = (VALID_FROM, VALID_TO, IS_CURRENT, SEQ, UNTIL)
_QUOTED = re.compile(r"`([^`]+)`")

Changes = Mapping[str, Mapping[str, Any]]
"""Changes by their SEQ."""


def logged_changes(server: Server, database: str) -> Changes:
    """Return all changes of a database that the logs of a server have, read from its files in one go."""
    tables = frozenset({f"{database}.*"})
    source = ArchiveChanges(tuple(map(str, server.log_files())), TablePatterns(tables))
    options = SourceOptions(rows=RowFormat.JSON, selection=Selection(tables=tables))
    view = ChangesView(options, arrow_schema(changes_schema(options)))
    found: dict[str, dict[str, Any]] = {}
    for read in source.tasks(source.start("earliest"), source.head(), Catalog()):
        for batch in view.read(read.part, reader_of(read.part, read.history)):
            found |= {row[SEQ]: row for row in batch.to_pylist()}
    return found


def history_differences(logged: Changes, lake: Path, kind: Format) -> list[str]:
    """Return how the history of a mirror differs from the log: from its first change on it has each exactly once."""
    rows = rows_of(lake, str(HISTORY), kind).to_pylist()
    twice = [seq for seq, count in Counter(row[SEQ] for row in rows).items() if count > 1]
    found = [f"history: {len(twice)} changes are there twice: {twice[:_SHOWN]}"] if twice else []
    kept = {row[SEQ]: row for row in rows}
    first = min(kept, default=OPEN)
    expected = {seq: row for seq, row in logged.items() if seq >= first}
    for text, seqs in (("are missing", expected.keys() - kept), ("are not in the log", kept.keys() - expected)):
        if seqs:
            found.append(f"history: {len(seqs)} changes {text}: {sorted(seqs)[:_SHOWN]}")
    others = [seq for seq in kept.keys() & expected if kept[seq] != expected[seq]]
    if others:
        shown = [(kept[seq], expected[seq]) for seq in sorted(others)[:_SHOWN]]
        found.append(f"history: {len(others)} changes are others: {shown}")
    return found


def last_statements(server: Server) -> dict[str, str]:
    """Return the SEQ after the last statement that names a table, for each name in quotes."""
    found: dict[str, str] = {}
    for path in server.log_files():
        for file, _, kind, _, end, info in server.query(f"SHOW BINLOG EVENTS IN '{path.name}'"):
            if kind == "Query":
                found |= dict.fromkeys(_QUOTED.findall(info), seq_at(BinlogPosition(file, end)))
    return found


def version_differences(
    name: TableName, key: Sequence[str], lake: Path, kind: Format, logged: Changes, last_statement: str
) -> list[str]:
    """Return what is wrong with the versions of a table's rows."""
    versions = rows_of(lake, str(versions_name(name)), kind)
    rows = rows_of(lake, str(name), kind)
    found = [f"{name}: versions have columns {versions.column_names}, the table {rows.column_names}"]
    if {*versions.column_names} != {*rows.column_names, *_OWN}:
        return found
    found = []
    current = versions.filter(versions.column(IS_CURRENT))
    have, want = _counted(current.select(rows.column_names)), _counted(rows)
    if have != want:
        missing, extra = want - have, have - want
        shown = f"{list(missing)[:_SHOWN]}, extra {extra.total()}: {list(extra)[:_SHOWN]}"
        found.append(f"{name}: current versions: missing {missing.total()}: {shown}")
    all_versions = versions.to_pylist()
    found += list(_broken_chains(name, key, all_versions))
    return [*found, *_not_logged(name, all_versions, logged, last_statement)]


def left_versions(lake: Path, kind: Format, database: str, present: Collection[TableName]) -> list[str]:
    """Return versions that are current although the server no longer has their table."""
    target = parse_target(str(lake), kind)
    found = []
    for name in target.tables():
        table = target.table(name) if name.schema == database and is_versions_name(name) else None
        if table is not None and table_of_versions(name) not in present:
            rows = rows_of(lake, str(name), kind)
            count = rows.filter(rows.column(IS_CURRENT)).num_rows
            if count:
                found.append(f"{name}: {count} versions are current, and the server does not have the table")
    target.close()
    return found


def _broken_chains(name: TableName, key: Sequence[str], versions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield versions that do not follow one another. Those from before the key had its columns have none of them."""
    lives: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in versions:
        if not row[IS_CURRENT] == (row[VALID_TO] is None) == (row[UNTIL] == OPEN):
            yield f"{name}: a version is neither current nor ended: {row}"
        elif not row[IS_CURRENT] and (row[VALID_FROM] > row[VALID_TO] or row[SEQ] > row[UNTIL]):
            yield f"{name}: a version ends before it begins: {row}"
        elif all(row[column] is not None for column in key):
            lives.setdefault(tuple(row[column] for column in key), []).append(row)
    for life in lives.values():
        life.sort(key=lambda row: (row[SEQ], row[UNTIL]))
        for one, other in pairwise(life):
            if one[UNTIL] > other[SEQ] or one[VALID_TO] > other[VALID_FROM]:
                yield f"{name}: versions overlap: {one}, {other}"


def _not_logged(
    name: TableName, versions: Sequence[dict[str, Any]], logged: Changes, last_statement: str
) -> Iterator[str]:
    """Yield what the log has since the last statement about a table, and its versions have not, and the reverse.

    A copy begins versions anew: what the log had before counts only from the first of its changes on that is a version.
    """
    begun = {row[SEQ]: row for row in versions}
    ended = {row[UNTIL] for row in versions}
    copied = max((seq for seq in begun if seq not in logged), default="")
    known = [seq for seq in begun.keys() & logged if seq > max(copied, last_statement)]
    own = {
        seq: row
        for seq, row in logged.items()
        if (row["_schema"], row["_table"]) == name and known and seq >= min(known)
    }
    for seq, row in own.items():
        if row["_op"] in ("insert", "update") and seq not in begun:
            yield f"{name}: no version begins with {row}"
        if row["_op"] in ("update", "delete") and seq not in ended:
            yield f"{name}: no version ends with {row}"
    for seq in known:
        if seq not in own:
            yield f"{name}: a version is of another change: {begun[seq]}, {logged[seq]}"
        elif not _agrees(begun[seq], json.loads(own[seq]["_after"])):
            yield f"{name}: a version has other values: {begun[seq]}, {own[seq]}"


def _agrees(version: Mapping[str, Any], logged: Mapping[str, Any]) -> bool:
    """Return whether a version has the numbers of the log: JSON may have other values in another form.

    A number may be a JSON document, which is text in a version.
    """
    pairs = ((version[name], value) for name, value in logged.items())
    return all(own in (value, str(value)) for own, value in pairs if int in (type(own), type(value)))


def _counted(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, zip(*(column.to_pylist() for column in rows.columns), strict=True)))
