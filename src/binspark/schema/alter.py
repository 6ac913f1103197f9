"""ALTER TABLE, applied as servers do.

The steps are not applied one after the other: names in CHANGE, MODIFY, RENAME COLUMN and DROP are those before the
statement, names in AFTER those after it. So `CHANGE a b INT, CHANGE b a INT` swaps two columns. The server first
changes the old columns in their order, and then inserts those that are new, and moves others, in the order of the
statement: until then, they are where they were.
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
    ColumnPosition,
    ColumnVisibility,
    ConvertCharset,
    DefaultCharset,
    DropColumn,
    DropKey,
    Key,
    KeyPart,
    NotUnderstood,
    OtherClause,
    RenameColumn,
    RenameKey,
    SetPeriod,
    SystemVersioning,
    TextKind,
)
from binspark.schema.collations import known_charset
from binspark.schema.definition import DefinedColumn, TableDefinition, named
from binspark.schema.lineage import LineageStep
from binspark.schema.resolve import convert_column, define_column
from binspark.schema.session import CharsetRequest, Session

_LONGBLOB_LENGTH_BYTES = 4
_PERIOD_COLUMNS = 2


@dataclass(frozen=True, slots=True)
class _Moved:
    """A column that is inserted or moved after the old ones were changed. Without a position it becomes the last."""

    column: DefinedColumn
    position: ColumnPosition | None


def alter_table(
    table: TableDefinition, change: AlterTable, database_collation: int | None, origin: Position
) -> TableDefinition:
    """Return the table after ALTER TABLE."""
    collation = _collation(table, change, database_collation)
    columns, new_names = _columns(table, change, collation)
    converts = any(isinstance(step, ConvertCharset) for step in change.steps)
    if converts and collation is not None:
        columns = [convert_column(column, collation, change.session) for column in columns]
    elif converts:
        raise NotUnderstood("CONVERT TO CHARACTER SET with a character set or collation that is not known")
    keys = _keys(table, change, new_names)
    versioning = [step.enabled for step in change.steps if isinstance(step, SystemVersioning)]
    has_period = any(isinstance(step, AddColumn) and step.column.row_period for step in change.steps)
    versioned = (versioning[-1] and not has_period) if versioning else table.versioned
    engines = [step.value for step in change.steps if isinstance(step, OtherClause) and step.name == "ENGINE"]
    engine = engines[-1] if engines else table.engine
    altered = replace(table, collation=collation, origin=origin, versioned=versioned, engine=engine)
    period = _period(table, change, new_names)
    return replace(altered, columns=tuple(columns), keys=tuple(keys), period=period).normalized()


def _period(table: TableDefinition, change: AlterTable, new_names: dict[str, str]) -> tuple[str, str] | None:
    """Return the columns of the period: as the statement says, or under their new names."""
    steps = [step for step in change.steps if isinstance(step, SetPeriod)]
    if steps:
        return steps[-1].columns
    if table.period is None:
        return None
    first, last = (new_names.get(name.lower()) for name in table.period)
    return None if first is None or last is None else (first, last)


def lineage_step(change: AlterTable, table: TableDefinition | None, origin: Position) -> LineageStep | None:
    """Return which columns ALTER TABLE renames and drops; None if it does neither.

    That is in the statement itself. The definition of the table, if there is one, has the types of dropped columns.
    """
    names: dict[str, str | None] = {}
    for step in change.steps:
        if isinstance(step, DropColumn):
            names[step.name.lower()] = None
        elif isinstance(step, RenameColumn):
            names[step.old_name.lower()] = step.new_name.lower()
        elif isinstance(step, ChangeColumn):
            names[step.old_name.lower()] = step.column.name.lower()
    changed = tuple((old, new) for old, new in names.items() if old != new)
    if not changed:
        return None
    dropped = {old for old, new in changed if new is None}
    columns = () if table is None else table.columns
    return LineageStep(
        file_position(origin), changed, tuple(column.column for column in columns if column.folded in dropped)
    )


def file_position(origin: Position) -> str:
    """Return a position as FILE:OFFSET, the same wherever the file is read from."""
    return f"{(origin.file or origin.source or '').rpartition('/')[2]}:{origin.offset or 0}"


def _collation(table: TableDefinition, change: AlterTable, database_collation: int | None) -> int | None:
    collation = table.collation
    for step in change.steps:
        if isinstance(step, ConvertCharset) and (step.charset.charset or "").upper() == "DEFAULT":
            collation = _database_default(step.charset, change.session, database_collation)
        elif isinstance(step, ConvertCharset | DefaultCharset):
            collation = change.session.collation(step.charset, database_collation)
    return collation


def _database_default(request: CharsetRequest, session: Session, database_collation: int | None) -> int | None:
    """Return the collation of CONVERT TO CHARACTER SET DEFAULT.

    It is the default collation of the database in MySQL, and that of the database's character set in MariaDB.
    """
    if request.collate or not session.mariadb or database_collation is None:
        return session.collation(CharsetRequest(None, request.collate), database_collation)
    return session.collation_of_charset(known_charset(database_collation))


def _columns(
    table: TableDefinition, change: AlterTable, collation: int | None
) -> tuple[list[DefinedColumn], dict[str, str]]:
    """Return the columns, and the new name of each old column that is not dropped."""
    known = {column.folded for column in table.columns}
    dropped = _dropped(change, known)
    changes = {
        step.old_name.lower(): step
        for step in change.steps
        if isinstance(step, ChangeColumn) and _exists(step.old_name, step.if_exists, known)
    }
    columns: list[DefinedColumn] = []
    moved: dict[int, DefinedColumn] = {}
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
        columns.append(_unsized(define_column(step.column, collation, change.session), change))
        if step.position is not None:
            moved[id(step)] = columns[-1]
    for arrival in _arrivals(change, moved, set(known), collation):
        _insert(columns, arrival)
    return columns, new_names


def _unsized(column: DefinedColumn, change: AlterTable) -> DefinedColumn:
    """Return a column that becomes a BLOB or TEXT while its table is converted, without a length.

    MySQL derives the length from the old type of the column, which the statement does not contain.
    """
    converts = any(isinstance(step, ConvertCharset) for step in change.steps)
    if (
        change.session.mariadb
        or not converts
        or column.text is not TextKind.BLOB
        or column.column.length == _LONGBLOB_LENGTH_BYTES
    ):
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
        raise NotUnderstood(f"column {name!r} is changed, but it is not in the known columns of the table")
    return name.lower() in known


def _kept(column: DefinedColumn, change: AlterTable, known: set[str]) -> DefinedColumn:
    for step in change.steps:
        if isinstance(step, RenameColumn) and _exists(step.old_name, step.if_exists, known):
            if step.old_name.lower() == column.folded:
                return replace(column, column=replace(column.column, name=step.new_name))
        elif isinstance(step, ColumnVisibility) and step.name.lower() == column.folded:
            return replace(column, column=replace(column.column, visible=step.visible))
    return column


def _arrivals(
    change: AlterTable, moved: dict[int, DefinedColumn], present: set[str], collation: int | None
) -> Iterable[_Moved]:
    for step in change.steps:
        if isinstance(step, ChangeColumn) and id(step) in moved:
            yield _Moved(moved[id(step)], step.position)
        elif isinstance(step, AddColumn) and not (step.if_not_exists and step.column.name.lower() in present):
            present.add(step.column.name.lower())
            yield _Moved(define_column(step.column, collation, change.session), step.position)


def _insert(columns: list[DefinedColumn], arrival: _Moved) -> None:
    if any(column is arrival.column for column in columns):
        columns[:] = [column for column in columns if column is not arrival.column]
    if any(column.folded == arrival.column.folded for column in columns):
        raise NotUnderstood(f"column {arrival.column.name!r} is added, but it is already in the table")
    if arrival.position is None:
        columns.append(arrival.column)
    elif arrival.position.after is None:
        columns.insert(0, arrival.column)
    else:
        names = [column.folded for column in columns]
        after = arrival.position.after.lower()
        if after not in names:
            raise NotUnderstood(f"AFTER names column {arrival.position.after!r}, which is not in the table")
        columns.insert(names.index(after) + 1, arrival.column)


def _keys(table: TableDefinition, change: AlterTable, new_names: dict[str, str]) -> list[Key]:
    """Return the keys. Old keys follow the new names of their columns, and lose columns that are dropped."""
    dropped = {step.name.lower() for step in change.steps if isinstance(step, DropKey)}
    renamed = {step.old_name.lower(): step.new_name for step in change.steps if isinstance(step, RenameKey)}
    left = [_following(key, new_names) for key in table.rebuilt().keys if key.name.lower() not in dropped]
    kept = [replace(key, name=renamed.get(key.name.lower(), key.name)) for key in left if key.parts]
    names = {key.name.lower() for key in kept}
    for step in change.steps:
        is_there = isinstance(step, AddKey) and step.if_not_exists and _name_of(step.key).lower() in names
        if isinstance(step, AddKey) and not is_there:
            kept = [key for key in kept if not (key.name == step.key.name == PRIMARY)] + [step.key]
    return named(kept)


def _name_of(key: Key) -> str:
    """Return the name of a key; of one without a name that of its first column, as MariaDB compares them."""
    return key.name or (key.parts[0].column if key.parts else "") or ""


def _following(key: Key, new_names: dict[str, str]) -> Key:
    parts = tuple(
        part if part.column is None else KeyPart(new_names[part.column.lower()], part.prefix)
        for part in key.parts
        if part.column is None or part.column.lower() in new_names
    )
    is_empty = key.overlaps and len(parts) <= _PERIOD_COLUMNS  # the columns of a period are no key
    return replace(key, parts=() if is_empty else parts)
