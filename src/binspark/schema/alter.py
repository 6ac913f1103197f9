"""ALTER TABLE, applied the way servers do it.

Steps do not follow one another: names in CHANGE, MODIFY, RENAME COLUMN and DROP are those before the statement, names
behind AFTER those after it. So `CHANGE a b INT, CHANGE b a INT` swaps two columns. The server first goes through the
old columns, in their place, and then puts in those that are new or moved, in the order of the statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from binspark.position import Position
from binspark.schema.changes import (
    PRIMARY,
    AddColumn,
    AddKey,
    AlterTable,
    ChangeColumn,
    ConvertCharset,
    DefaultCharset,
    DropColumn,
    DropKey,
    KeepHistory,
    Key,
    KeyPart,
    NotUnderstood,
    Place,
    RenameColumn,
    RenameKey,
    ShowColumn,
    TextKind,
)
from binspark.schema.collations import known_charset
from binspark.schema.definition import DefinedColumn, TableDefinition, named
from binspark.schema.resolve import convert_column, define_column
from binspark.schema.session import CharsetRequest, Session

_LONGEST = 4


@dataclass(frozen=True, slots=True)
class _Moved:
    """A column that is put into its place after the others."""

    column: DefinedColumn
    place: Place | None


def alter_table(
    table: TableDefinition, change: AlterTable, database_collation: int | None, origin: Position
) -> TableDefinition:
    """Return the table that ALTER TABLE leaves."""
    collation = _collation(table, change, database_collation)
    columns, new_names = _columns(table, change, collation)
    converts = any(isinstance(step, ConvertCharset) for step in change.steps)
    if converts and collation is not None:
        columns = [convert_column(column, collation) for column in columns]
    elif converts:
        raise NotUnderstood("the table is converted to a character set that is not known")
    keys = _keys(table, change, new_names)
    keeps = [step.keep for step in change.steps if isinstance(step, KeepHistory)]
    has_period = any(isinstance(step, AddColumn) and step.column.row_period for step in change.steps)
    versioned = (keeps[-1] and not has_period) if keeps else table.versioned
    return replace(
        table, columns=tuple(columns), keys=tuple(keys), collation=collation, origin=origin, versioned=versioned
    ).settled()


def _collation(table: TableDefinition, change: AlterTable, database_collation: int | None) -> int | None:
    collation = table.collation
    for step in change.steps:
        if isinstance(step, ConvertCharset) and (step.charset.charset or "").upper() == "DEFAULT":
            collation = _database_default(step.charset, change.session, database_collation)
        elif isinstance(step, ConvertCharset | DefaultCharset):
            collation = change.session.collation(step.charset, database_collation)
    return collation


def _database_default(request: CharsetRequest, session: Session, database_collation: int | None) -> int | None:
    """CONVERT TO CHARACTER SET DEFAULT: the database's collation in MySQL, its character set's in MariaDB."""
    if request.collate or not session.mariadb or database_collation is None:
        return session.collation(CharsetRequest(None, request.collate), database_collation)
    return session.collation_of_charset(known_charset(database_collation))


def _columns(
    table: TableDefinition, change: AlterTable, collation: int | None
) -> tuple[list[DefinedColumn], dict[str, str]]:
    """Return the columns, and for each that is left its old name and its new one."""
    known = {column.folded for column in table.columns}
    dropped = _dropped(change, known)
    changes = {
        step.old_name.lower(): step
        for step in change.steps
        if isinstance(step, ChangeColumn) and _exists(step.old_name, step.if_exists, known)
    }
    columns: list[DefinedColumn] = []
    moved: dict[int, _Moved] = {}
    new_names: dict[str, str] = {}
    for column in table.columns:
        if column.folded in dropped:
            continue
        step = changes.get(column.folded)
        if step is None:
            columns.append(_kept(column, change, known))
            new_names[column.folded] = columns[-1].name
            continue
        new_names[column.folded] = step.column.name
        defined = _unsized(define_column(step.column, collation, change.session), change)
        if step.place is None:
            columns.append(defined)
        else:
            moved[id(step)] = _Moved(defined, step.place)
    for arrival in _arrivals(change, moved, known - dropped, collation):
        _put(columns, arrival)
    return columns, new_names


def _unsized(column: DefinedColumn, change: AlterTable) -> DefinedColumn:
    """Return a column that becomes a BLOB or TEXT while its table is converted: MySQL sizes it after its old type."""
    converts = any(isinstance(step, ConvertCharset) for step in change.steps)
    if change.session.mariadb or not converts or column.text is not TextKind.BLOB or column.column.length == _LONGEST:
        return column
    return replace(column, column=replace(column.column, length=0))


def _dropped(change: AlterTable, known: set[str]) -> set[str]:
    return {
        step.name.lower()
        for step in change.steps
        if isinstance(step, DropColumn) and _exists(step.name, step.if_exists, known)
    }


def _exists(name: str, if_exists: bool, known: set[str]) -> bool:
    if name.lower() not in known and not if_exists:
        raise NotUnderstood(f"column {name!r} is changed, but the table is not known to have it")
    return name.lower() in known


def _kept(column: DefinedColumn, change: AlterTable, known: set[str]) -> DefinedColumn:
    for step in change.steps:
        if isinstance(step, RenameColumn) and _exists(step.old_name, step.if_exists, known):
            if step.old_name.lower() == column.folded:
                return replace(column, column=replace(column.column, name=step.new_name))
        elif isinstance(step, ShowColumn) and step.name.lower() == column.folded:
            return replace(column, column=replace(column.column, visible=step.visible))
    return column


def _arrivals(
    change: AlterTable, moved: dict[int, _Moved], present: set[str], collation: int | None
) -> Iterable[_Moved]:
    for step in change.steps:
        if isinstance(step, ChangeColumn) and id(step) in moved:
            yield moved[id(step)]
        elif isinstance(step, AddColumn) and not (step.if_not_exists and step.column.name.lower() in present):
            yield _Moved(define_column(step.column, collation, change.session), step.place)


def _put(columns: list[DefinedColumn], arrival: _Moved) -> None:
    if any(column.folded == arrival.column.folded for column in columns):
        raise NotUnderstood(f"column {arrival.column.name!r} is added, but the table has it already")
    if arrival.place is None:
        columns.append(arrival.column)
    elif arrival.place.after is None:
        columns.insert(0, arrival.column)
    else:
        names = [column.folded for column in columns]
        after = arrival.place.after.lower()
        if after not in names:
            raise NotUnderstood(f"a column is put behind {arrival.place.after!r}, which is not there")
        columns.insert(names.index(after) + 1, arrival.column)


def _keys(table: TableDefinition, change: AlterTable, new_names: dict[str, str]) -> list[Key]:
    """Return the keys: the old ones follow their columns, and lose those that are dropped."""
    dropped = {step.name.lower() for step in change.steps if isinstance(step, DropKey)}
    renamed = {step.old_name.lower(): step.new_name for step in change.steps if isinstance(step, RenameKey)}
    left = [_following(key, new_names) for key in table.keys if key.name.lower() not in dropped]
    kept = [replace(key, name=renamed.get(key.name.lower(), key.name)) for key in left if key.parts]
    names = {key.name.lower() for key in kept}
    for step in change.steps:
        is_there = isinstance(step, AddKey) and step.if_not_exists and step.key.name.lower() in names
        if isinstance(step, AddKey) and not is_there:
            kept = [key for key in kept if not (key.name == step.key.name == PRIMARY)] + [step.key]
    return named(kept)


def _following(key: Key, new_names: dict[str, str]) -> Key:
    parts = tuple(
        part if part.column is None else KeyPart(new_names[part.column.lower()], part.prefix)
        for part in key.parts
        if part.column is None or part.column.lower() in new_names
    )
    return replace(key, parts=parts)
