"""What ALTER TABLE means for a mirrored table: which columns stay, under what names, and whether their values do.

Where the log does not contain what the statement did to values, the table has to be copied again: that is a
`Resnapshot`, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from binspark.documents.conversion import widens
from binspark.event.column_types import ColumnType as T
from binspark.mirror.schema.column_changes import (
    AddColumn,
    ChangeType,
    ColumnChange,
    DropColumn,
    RenameColumn,
    SchemaChange,
)
from binspark.mirror.schema.defaults import NotConstant, constant
from binspark.mirror.schema.definitions import read_stored, stored
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.schema.changes import AddColumn as AddedColumn
from binspark.schema.changes import AlterTable, ConvertCharset, ReplaceRows, SystemVersioning, TextKind
from binspark.schema.definition import DefinedColumn, TableDefinition
from binspark.schema.lineage import Lineage
from binspark.schema.table import TableName
from binspark.schema.text import WIDE_CHARSETS
from binspark.values.charsets import charset_of
from binspark.values.column import Column
from binspark.wire.sql_modes import SqlMode

_MOVING = "__binspark_moving"
_INTEGERS = (T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG)
_TIMES = (T.TIME, T.TIME2)
_SCALED = (T.NEWDECIMAL, T.DATETIME2, T.TIMESTAMP2, T.TIME2)


class Resnapshot(Exception):
    """A table has to be copied again: the log does not contain what a statement did to its rows."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A change of a table that its position is after, but that has yet to be made.

    name         its name afterwards
    definition   its definition afterwards
    names        the columns that stay: pairs of the old and the new name
    defaults     the columns that are new: pairs of the name and the text of the default, None if there is none
    """

    name: TableName
    definition: TableDefinition
    names: tuple[tuple[str, str], ...]
    defaults: tuple[tuple[str, str | None], ...] = ()

    def to_json(self) -> str:
        """Return the change as JSON, for `TableState.pending`."""
        fields = {
            "name": list(self.name),
            "definition": stored(self.name, self.definition),
            "names": self.names,
            "defaults": self.defaults,
        }
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Pending:
        """Return the change of a JSON text."""
        fields = json.loads(text)
        _, definition = read_stored(fields["definition"])
        names = tuple((old, new) for old, new in fields["names"])
        defaults = tuple((name, default) for name, default in fields["defaults"])
        return cls(TableName(*fields["name"]), definition, names, defaults)


@dataclass(frozen=True, slots=True)
class AlteredTable:
    """A table before and after a statement, with how its columns were renamed."""

    before: TableDefinition
    after: TableDefinition
    old_lineage: Lineage
    new_lineage: Lineage

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """The columns that stay: pairs of the old and the new name."""
        new_names = {column.folded: column.name for column in self.after.columns}
        pairs = []
        for column in self.before.columns:
            found = self.old_lineage.name_in(column.folded, self.new_lineage)
            if found is not None and found in new_names:
                pairs.append((column.name, new_names[found]))
        return tuple(pairs)


def plan_alter(name: TableName, change: AlterTable, altered: AlteredTable, types: dict[str, pa.DataType]) -> Pending:
    """Return what has to be made of a table; raise `Resnapshot` if its rows have to be copied again.

    `types` are those of its columns in the target after the statement.
    """
    if any(isinstance(step, ReplaceRows | SystemVersioning) for step in change.steps):
        raise Resnapshot("rows were added or removed that the log does not contain")
    old = {column.name: column for column in altered.before.columns}
    new = {column.name: column for column in altered.after.columns}
    names = altered.names
    is_strict = change.session.has_mode(SqlMode.STRICT_TRANS_TABLES) or change.session.has_mode(
        SqlMode.STRICT_ALL_TABLES
    )
    is_converted = any(isinstance(step, ConvertCharset) for step in change.steps)
    for old_name, new_name in names:
        if not keeps_values(old[old_name], new[new_name], is_strict=is_strict):
            raise Resnapshot(f"the values of {new_name} may have changed with its type")
        if is_converted and not _keeps_members(old[old_name].column, new[new_name].column):
            raise Resnapshot(f"the members of {new_name} may differ in its new character set")
    return Pending(name, altered.after, names, _defaults(change, altered, types))


def _defaults(
    change: AlterTable, altered: AlteredTable, types: dict[str, pa.DataType]
) -> tuple[tuple[str, str | None], ...]:
    """Return the defaults of new columns; raise `Resnapshot` if rows have other values in one."""
    kept = {new_name for _, new_name in altered.names}
    specs = {step.column.name.lower(): step.column for step in change.steps if isinstance(step, AddedColumn)}
    defaults: list[tuple[str, str | None]] = []
    for column in altered.after.columns:
        if column.name in kept:
            continue
        spec = specs.get(column.folded)
        if spec is None or spec.computed:
            raise Resnapshot(f"the server computed the values of {column.name}, which is new")
        try:
            constant(spec.default, column.column, types[column.name])
        except NotConstant as error:
            raise Resnapshot(str(error)) from None
        defaults.append((column.name, spec.default))
    return tuple(defaults)


def keeps_values(old: DefinedColumn, new: DefinedColumn, *, is_strict: bool) -> bool:
    """Return whether a column of another type has the same values: none was cut, rounded or converted by rules of SQL.

    With a strict SQL mode, a statement fails that would cut values or make NULL something else.
    """
    before, after = old.column, new.column
    if before.nullable and not after.nullable and not is_strict:
        return False
    if before.type in _SCALED and before.type is after.type:
        is_text = before.type in _TIMES or max(before.precision, after.precision) > _MAX_DIGITS
        is_same = (before.precision - before.scale, before.scale) == (after.precision - after.scale, after.scale)
        return is_same if is_text else _fits(before.precision, before.scale, after.precision, after.scale)
    if before.type in _INTEGERS and after.type in _INTEGERS:
        has_sign = not before.unsigned
        grows = _bits(before.type, signed=has_sign) <= _bits(after.type, signed=not after.unsigned)
        return grows and not (has_sign and after.unsigned)
    if before.members is not None and after.members is not None:
        return before.type is after.type and set(before.members) <= set(after.members)
    if old.text is not TextKind.NOT_TEXT and new.text is not TextKind.NOT_TEXT:
        return _keeps_text(old, new, is_strict=is_strict)
    if before.type is after.type:
        return (before.unsigned, before.length, before.scale) == (after.unsigned, after.length, after.scale)
    return (before.type, after.type) in _WIDER


def _keeps_members(before: Column, after: Column) -> bool:
    """Return whether CONVERT TO CHARACTER SET keeps the members of a column, and the values of its rows.

    Servers may leave the bytes of members as they are, which then mean something else, and lose values by that.
    """
    if after.members is None or before.collation is None or after.collation is None:
        return True
    charsets = {charset_of(before.collation), charset_of(after.collation)}
    if len(charsets) == 1 or charsets == _SAME_BYTES:
        return True
    return "".join(after.members).isascii() and not charsets & WIDE_CHARSETS.keys()


_SAME_BYTES = {"utf8mb3", "utf8mb4"}
_MAX_DIGITS = 38
_WIDER = {(T.FLOAT, T.DOUBLE)}
"""Pairs of types of which the second has all values of the first, and the same text."""


def _fits(precision: int, scale: int, new_precision: int, new_scale: int) -> bool:
    return new_scale >= scale and new_precision - new_scale >= precision - scale


def _bits(kind: T, *, signed: bool) -> int:
    """Return how large integers of a type are, in bits without a sign."""
    return {T.TINY: 8, T.SHORT: 16, T.INT24: 24, T.LONG: 32, T.LONGLONG: 64}.get(kind, 0) - signed


def _keeps_text(old: DefinedColumn, new: DefinedColumn, *, is_strict: bool) -> bool:
    before, after = old.column, new.column
    if (before.collation == _BINARY) != (after.collation == _BINARY) or before.notation != after.notation:
        return False
    if not is_strict and not _has_characters_of(after.collation, before.collation):
        return False  # characters became question marks
    if old.text is TextKind.BLOB and new.text is TextKind.BLOB:
        return is_strict or after.length >= before.length
    if old.text is TextKind.CHAR and new.text is TextKind.CHAR and before.collation == _BINARY:
        return old.characters == new.characters  # it is filled up with zeros
    if new.text is TextKind.CHAR and old.text is not TextKind.CHAR:
        return False  # spaces at the end are gone
    return (
        is_strict or new.text is TextKind.BLOB or (old.text is not TextKind.BLOB and new.characters >= old.characters)
    )


def _has_characters_of(collation: int | None, other: int | None) -> bool:
    """Return whether the character set of a collation has all characters of that of another."""
    if collation is None or other is None:
        return collation == other
    charset, before = charset_of(collation), charset_of(other)
    if charset in _BASIC_PLANE:
        return before not in _UNICODE
    return charset == before or charset in _UNICODE or before == "ascii"


_BINARY = 63
_UNICODE = frozenset({"utf8mb4", "utf16", "utf16le", "utf32", "gb18030"})
_BASIC_PLANE = frozenset({"utf8mb3", "ucs2"})


def check_types(old: MirroredTable, new: MirroredTable, pending: Pending) -> None:
    """Raise `Resnapshot` if the type of a column cannot become another without reading its values again."""
    for old_name, new_name in pending.names:
        have, want = old.schema.field(old_name).type, new.schema.field(new_name).type
        if have != want and not widens(have, want):
            raise Resnapshot(f"{new_name} is {have} in the mirror and becomes {want}")


def fills(new: MirroredTable, pending: Pending) -> dict[str, pa.Scalar]:
    """Return the values that rows get in new columns, where they are not NULL."""
    columns = {column.name: column.column for column in pending.definition.columns}
    values = {name: constant(default, columns[name], new.schema.field(name).type) for name, default in pending.defaults}
    return {name: value for name, value in values.items() if value.is_valid}


def schema_change(old: MirroredTable, new: MirroredTable, pending: Pending) -> SchemaChange:
    """Return the change in the terms of targets, without steps if all columns stay as they are."""
    renamed = dict(pending.names)
    steps: list[ColumnChange] = [DropColumn(name) for name in old.schema.names if name not in renamed]
    steps += _renames(pending.names)
    kept = {new_name: old_name for old_name, new_name in pending.names}
    for field in new.schema:
        if field.name not in kept:
            steps.append(AddColumn(field))
        elif old.schema.field(kept[field.name]).type != field.type:
            steps.append(ChangeType(field.name, field.type))
    return SchemaChange(new.schema, tuple(steps))


def _renames(names: Iterable[tuple[str, str]]) -> Iterator[RenameColumn]:
    """Yield renames one after the other, each to a name that is free: columns may exchange their names."""
    waiting = {old: new for old, new in names if old != new}
    while waiting:
        free = next((old for old, new in waiting.items() if new not in waiting), None)
        if free is not None:
            yield RenameColumn(free, waiting.pop(free))
            continue
        old = next(iter(waiting))
        waiting[f"{old}{_MOVING}"] = waiting.pop(old)
        yield RenameColumn(old, f"{old}{_MOVING}")
