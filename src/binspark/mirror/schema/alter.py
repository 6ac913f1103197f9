"""What ALTER TABLE means for a mirrored table: which columns stay, under what names, and whether their values do.

Where the log does not contain what the statement did to values, the table has to be copied again: that is a
`Resnapshot`, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from binspark.documents.conversion import widens
from binspark.event.column_types import ColumnType as T
from binspark.mirror.schema import column_changes
from binspark.mirror.schema.column_changes import ChangeType, ColumnChange, SchemaChange
from binspark.mirror.schema.defaults import NotConstant, constant
from binspark.mirror.schema.definitions import read_stored, stored
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.schema.changes import (
    AddColumn,
    AddKey,
    AlterTable,
    ChangeColumn,
    ColumnVisibility,
    ConvertCharset,
    DefaultCharset,
    DropColumn,
    DropKey,
    OtherClause,
    RenameColumn,
    RenameKey,
    RenameTo,
    Step,
    TextKind,
)
from binspark.schema.collations import max_character_bytes
from binspark.schema.definition import DefinedColumn, TableDefinition
from binspark.schema.lineage import Lineage
from binspark.schema.table import TableName
from binspark.schema.text import WIDE_CHARSETS
from binspark.values.charsets import charset_of
from binspark.values.column import Column
from binspark.wire.sql_modes import SqlMode

_MOVING = "__binspark_moving"
_DATES = (T.DATE, T.NEWDATE, T.DATETIME, T.DATETIME2)
_CHOICES = (T.ENUM, T.SET)
_INTEGERS = (T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG)


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


KEEPS_VALUES: dict[type[Step] | str, str] = {
    AddColumn: "rows get its default; `_defaults` refuses one that is not a constant",
    ChangeColumn: "`keeps_values` refuses types that do not have all old values",
    ConvertCharset: "the same, for all columns with text",
    RenameColumn: "only the name changes",
    DropColumn: "the other columns stay",
    ColumnVisibility: "only what SELECT * returns changes",
    AddKey: "rows that are not unique are an error, unless with IGNORE",
    DropKey: "rows stay without it",
    RenameKey: "only the name changes",
    DefaultCharset: "for columns that are added later",
    RenameTo: "rows follow their table",
    "ADD CONSTRAINT": "FOREIGN KEY or CHECK: rows that contradict it are an error",
    **dict.fromkeys(("ADD FOREIGN", "ADD CHECK"), "rows that contradict it are an error"),
    **dict.fromkeys(("DROP FOREIGN", "DROP CHECK"), "rows stay without it"),
    **dict.fromkeys(("ALTER CHECK", "ALTER CONSTRAINT"), "rows that contradict a constraint are an error"),
    **dict.fromkeys(("ALTER INDEX", "ALTER KEY"), "an index without use stays"),
    **dict.fromkeys(("ALTER COLUMN SET DEFAULT", "ALTER COLUMN DROP DEFAULT"), "for rows that are inserted later"),
    "ORDER BY": "all rows stay, in another order",
    "ENGINE": "`_ENGINES` store all rows, and values as they are; a table of another engine is copied",
    **dict.fromkeys(("ALGORITHM", "LOCK"), "how the statement runs"),
    **dict.fromkeys(("WITH VALIDATION", "WITHOUT VALIDATION"), "rows that contradict a virtual column are an error"),
    "FORCE": "all rows are written again as they are",
    **dict.fromkeys(("ENABLE KEYS", "DISABLE KEYS"), "when indexes are written"),
    **dict.fromkeys(
        ("ADD PARTITION", "COALESCE PARTITION", "REORGANIZE PARTITION"), "rows without a partition are an error"
    ),
    **dict.fromkeys(("PARTITION BY", "REMOVE PARTITIONING"), "rows without a partition are an error"),
    **dict.fromkeys(("ANALYZE PARTITION", "CHECK PARTITION"), "rows are only read"),
    **dict.fromkeys(("OPTIMIZE PARTITION", "REBUILD PARTITION"), "all rows are written again as they are"),
    "AUTO_INCREMENT": "for rows that are inserted later",
    "COMMENT": "text about the table",
    **dict.fromkeys(
        (
            *("ROW_FORMAT", "KEY_BLOCK_SIZE", "PACK_KEYS", "CHECKSUM", "TABLE_CHECKSUM", "PAGE_CHECKSUM"),
            *("COMPRESSION", "ENCRYPTION", "ENCRYPTED", "ENCRYPTION_KEY_ID", "PAGE_COMPRESSED"),
            *("TRANSACTIONAL", "TABLESPACE", "AUTOEXTEND_SIZE", "DELAY_KEY_WRITE"),
        ),
        "how and where rows are stored",
    ),
    **dict.fromkeys(("AVG_ROW_LENGTH", "MIN_ROWS", "MAX_ROWS"), "how many rows are expected"),
    **dict.fromkeys(("STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES"), "statistics for the optimizer"),
    "SECONDARY_ENGINE": "a second copy of the rows",
}
"""The clauses of ALTER TABLE after which rows have the values of before, and why. After any other one the table is
copied again. A test runs every clause of both servers."""

_ENGINES = frozenset({"innodb", "myisam", "aria"})


def plan_alter(name: TableName, change: AlterTable, altered: AlteredTable, types: dict[str, pa.DataType]) -> Pending:
    """Return what has to be made of a table; raise `Resnapshot` if its rows have to be copied again.

    `types` are those of its columns in the target after the statement.
    """
    for step in change.steps:
        _require_listed(step, altered.before.engine)
    old = {column.name: column for column in altered.before.columns}
    new = {column.name: column for column in altered.after.columns}
    _require_no_other_computation(change.steps, (*old.values(), *new.values()))
    is_strict = change.session.has_mode(SqlMode.STRICT_TRANS_TABLES) or change.session.has_mode(
        SqlMode.STRICT_ALL_TABLES
    )
    names = altered.names
    has_date_texts = any(types[new_name] == pa.string() for _, new_name in names if new[new_name].column.type in _DATES)
    if has_date_texts and not (is_strict or altered.before.mariadb):
        raise Resnapshot("the server may have made zeros of dates that are not in the calendar")
    for old_name, new_name in names:
        if not keeps_values(old[old_name], new[new_name], is_strict=is_strict):
            raise Resnapshot(f"the values of {new_name} may have changed with its definition")
    return Pending(name, altered.after, names, _defaults(change, altered, types))


def _require_no_other_computation(steps: Iterable[Step], columns: Iterable[DefinedColumn]) -> None:
    """Raise `Resnapshot` if generated columns may have other values: those of another expression, or another session.

    A statement that writes rows again also computes their stored columns again, with the time zone and the SQL mode of
    its session. The log does not contain whether it has written them.
    """
    generated = [defined for defined in columns if defined.column.generated]
    is_stored = not all(defined.virtual for defined in generated)
    is_other = any(isinstance(step, ChangeColumn | ConvertCharset) for step in steps)
    if generated and (is_other or (is_stored and not all(isinstance(step, RenameTo) for step in steps))):
        raise Resnapshot("the server may have computed other values for its generated columns")


def _require_listed(step: Step, engine: str | None) -> None:
    """Raise `Resnapshot` unless a clause is known to keep all values."""
    if isinstance(step, OtherClause):
        clause = f"{step.name} {step.value}".strip()
        if step.name not in KEEPS_VALUES:
            raise Resnapshot(f"{clause} may have changed its rows, and the log does not contain how")
        if step.name == "ENGINE" and not {str(engine).lower(), step.value.lower()} <= _ENGINES:
            raise Resnapshot(f"{clause} may have changed its rows: its engine was {engine or 'not known'}")
    elif type(step) not in KEEPS_VALUES:
        raise Resnapshot("rows were added or removed that the log does not contain")


def _defaults(
    change: AlterTable, altered: AlteredTable, types: dict[str, pa.DataType]
) -> tuple[tuple[str, str | None], ...]:
    """Return the defaults of new columns; raise `Resnapshot` if rows have other values in one."""
    kept = {new_name for _, new_name in altered.names}
    specs = {step.column.name.lower(): step.column for step in change.steps if isinstance(step, AddColumn)}
    defaults: list[tuple[str, str | None]] = []
    for column in altered.after.columns:
        if column.name in kept:
            continue
        spec = specs.get(column.folded)
        is_rounded = spec is not None and bool(spec.type.digits and spec.default)
        if spec is None or spec.computed or is_rounded:
            raise Resnapshot(f"the server computed the values of {column.name}, which is new")
        try:
            constant(spec.default, column.column, types[column.name])
        except NotConstant as error:
            raise Resnapshot(str(error)) from None
        defaults.append((column.name, spec.default))
    return tuple(defaults)


def keeps_values(old: DefinedColumn, new: DefinedColumn, *, is_strict: bool) -> bool:
    """Return whether a column of another definition certainly has the same values.

    With a strict SQL mode, a statement fails that would make NULL something else, or lose characters. It does not fail
    if it cuts spaces off, or numbers rows anew.
    """
    before, after = old.column, new.column
    is_less = before.nullable and not after.nullable
    if is_less and (not is_strict or after.type is T.TIMESTAMP2):
        return False  # NULL becomes a default, or the current time
    if (new.numbered and not old.numbered) or (new.digits and new.digits != old.digits):
        return False  # 0 becomes the next number, or numbers are rounded
    if old == replace(new, column=replace(after, name=before.name, nullable=before.nullable, visible=before.visible)):
        return before.type not in _CHOICES or before.members is not None
    if before.type in _INTEGERS and after.type in _INTEGERS:
        grows = _bits(before.type, signed=not before.unsigned) <= _bits(after.type, signed=not after.unsigned)
        return grows and _keeps_sign(before, after)
    if old.text is not TextKind.NOT_TEXT and new.text is not TextKind.NOT_TEXT:
        return _keeps_text(old, new, is_strict=is_strict)
    keeps = _KEEPS_TYPE.get((before.type, after.type))
    return keeps is not None and keeps(before, after)


def _keeps_sign(before: Column, after: Column) -> bool:
    return bool(before.unsigned) or not after.unsigned


def _keeps_decimals(before: Column, after: Column) -> bool:
    """Return whether all digits have room. Numbers with too many digits are text in the mirror, with all zeros."""
    integral, new_integral = before.precision - before.scale, after.precision - after.scale
    if max(before.precision, after.precision) > _MAX_DIGITS and before.scale != after.scale:
        return False
    return new_integral >= integral and after.scale >= before.scale and _keeps_sign(before, after)


def _keeps_members(before: Column, after: Column) -> bool:
    """Return whether members are only added at the end, and mean the same: their numbers and texts stay.

    Servers may leave the bytes of members as they are in another character set, where they mean something else.
    """
    old, new = before.members, after.members
    if old is None or new is None or new[: len(old)] != old:
        return False
    if before.collation == after.collation:
        return True
    if before.collation is None or after.collation is None:
        return False
    charsets = {charset_of(before.collation), charset_of(after.collation)}
    if len(charsets) == 1 or charsets == _SAME_BYTES:
        return True
    return "".join(new).isascii() and not charsets & WIDE_CHARSETS.keys()


_SAME_BYTES = {"utf8mb3", "utf8mb4"}
_MAX_DIGITS = 38
_KEEPS_TYPE: dict[tuple[T, T], Callable[[Column, Column], bool]] = {
    (T.NEWDECIMAL, T.NEWDECIMAL): _keeps_decimals,
    (T.FLOAT, T.DOUBLE): _keeps_sign,
    (T.ENUM, T.ENUM): _keeps_members,
    (T.SET, T.SET): _keeps_members,
}
"""Pairs of types of which the second may have all values of the first; integers and text have rules of their own."""


def _bits(kind: T, *, signed: bool) -> int:
    """Return how large integers of a type are, in bits without a sign."""
    return {T.TINY: 8, T.SHORT: 16, T.INT24: 24, T.LONG: 32, T.LONGLONG: 64}.get(kind, 0) - signed


_TEXT_KINDS = frozenset(
    {
        (TextKind.CHAR, TextKind.CHAR),
        (TextKind.VARCHAR, TextKind.VARCHAR),
        (TextKind.VARCHAR, TextKind.BLOB),
        (TextKind.BLOB, TextKind.BLOB),
    }
)
"""Kinds of text that may become another without spaces being added or removed at the end."""


def _keeps_text(old: DefinedColumn, new: DefinedColumn, *, is_strict: bool) -> bool:
    before, after = old.column, new.column
    if before.notation != after.notation or (old.text, new.text) not in _TEXT_KINDS:
        return False
    if before.collation is None or after.collation is None:
        return False
    if before.collation != after.collation and _BINARY in (before.collation, after.collation):
        return False  # bytes become characters, or the other way round
    if old.text is TextKind.CHAR and before.collation == _BINARY:
        return False  # it is filled up with zeros
    if not is_strict and not _has_characters_of(after.collation, before.collation):
        return False  # characters became question marks
    return _has_room(old, new)


def _has_room(old: DefinedColumn, new: DefinedColumn) -> bool:
    """Return whether a column has room for all texts of another. Spaces are cut off even with a strict SQL mode."""
    before, after = old.column, new.column
    if new.text is not TextKind.BLOB:
        return new.characters >= old.characters
    if old.text is not TextKind.BLOB:
        return old.characters * (max_character_bytes(after.collation) or 1) < 1 << 8 * after.length
    if not before.length or _charset(before) == _charset(after):
        return 0 < before.length <= after.length
    return after.length > before.length or after.length == _LONGTEXT_LENGTH_BYTES


_LONGTEXT_LENGTH_BYTES = 4


def _charset(column: Column) -> str:
    return "" if column.collation is None else charset_of(column.collation)


def _has_characters_of(collation: int, other: int) -> bool:
    """Return whether the character set of a collation has all characters of that of another."""
    charset, before = charset_of(collation), charset_of(other)
    if charset in _BASIC_PLANE:
        return before not in _UNICODE
    return charset == before or charset in _UNICODE or (before, charset) == ("ascii", "latin1")


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
    steps: list[ColumnChange] = [column_changes.DropColumn(name) for name in old.schema.names if name not in renamed]
    steps += _renames(pending.names)
    kept = {new_name: old_name for old_name, new_name in pending.names}
    for field in new.schema:
        if field.name not in kept:
            steps.append(column_changes.AddColumn(field))
        elif old.schema.field(kept[field.name]).type != field.type:
            steps.append(ChangeType(field.name, field.type))
    return SchemaChange(new.schema, tuple(steps))


def _renames(names: Iterable[tuple[str, str]]) -> Iterator[column_changes.RenameColumn]:
    """Yield renames one after the other, each to a name that is free: columns may exchange their names."""
    waiting = {old: new for old, new in names if old != new}
    while waiting:
        free = next((old for old, new in waiting.items() if new not in waiting), None)
        if free is not None:
            yield column_changes.RenameColumn(free, waiting.pop(free))
            continue
        old = next(iter(waiting))
        waiting[f"{old}{_MOVING}"] = waiting.pop(old)
        yield column_changes.RenameColumn(old, f"{old}{_MOVING}")
