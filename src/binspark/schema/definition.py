"""The definition of a table, as DDL, a dump or a server describes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from binspark.event.column_types import ColumnType
from binspark.position import Position
from binspark.schema.changes import PRIMARY, Key, KeyPart, TextKind
from binspark.schema.collations import max_character_bytes
from binspark.schema.table import TableSchema
from binspark.values.column import Column

_MAX_KEY_BYTES = 3072
_FEWEST_KEY_BYTES = 767
"""The longest key of the storage engine with the shortest: InnoDB with old row formats."""

_ROW_PERIOD = (("row_start", False), ("row_end", True))
_POINT = 1
_POINT_BYTES = 25
HASH_COLUMN = "DB_ROW_HASH_"


@dataclass(frozen=True, slots=True)
class DefinedColumn:
    """A column, and what its length in bytes was computed from.

    numbered  whether it is AUTO_INCREMENT
    virtual   whether it is certainly not stored: it is computed when it is read
    digits    of FLOAT(m, n) and DOUBLE(m, n): m and n
    """

    column: Column
    text: TextKind = TextKind.NOT_TEXT
    characters: int = 0
    numbered: bool = field(default=False, compare=False)
    virtual: bool = field(default=False, compare=False)
    digits: tuple[int, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """The name of the column, empty if it has none."""
        return self.column.name or ""

    @property
    def folded(self) -> str:
        """The name as servers compare it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table as it is defined.

    keys       in the order of the server, which uses the first suitable one as the primary key
    collation  the default of columns without a character set
    origin     the position of the statement, or the source of the definition
    versioned  whether MariaDB added the columns row_start and row_end
    certain    whether this is certainly the definition of the table; after CREATE TABLE IF NOT EXISTS it is not
    engine     its storage engine, None if that is not known
    period     the first and the last column of its PERIOD FOR (MariaDB)
    """

    columns: tuple[DefinedColumn, ...]
    keys: tuple[Key, ...]
    collation: int | None
    origin: Position
    mariadb: bool = False
    versioned: bool = False
    certain: bool = True
    engine: str | None = field(default=None, compare=False)
    period: tuple[str, str] | None = None

    def table_schema(self, schema: str, table: str) -> TableSchema:
        """Return the schema of the table as in the log, which includes hidden columns."""
        visible = tuple(defined.column for defined in self.columns)
        columns = (*visible, *(_row_period() if self.versioned else ()), *_hashes(self.keys))
        key = self.primary_key
        if key is None:
            return TableSchema(schema, table, columns, ())
        at = {defined.folded: index for index, defined in enumerate(self.columns)}
        indexes = tuple(at[(part.column or "").lower()] for part in key.parts)
        return TableSchema(schema, table, columns, indexes, tuple(part.prefix for part in key.parts))

    @property
    def primary_key(self) -> Key | None:
        """The primary key, or the unique key that the server uses as one: without prefixes and NULL columns."""
        return next((key for key in self.keys if key.name == PRIMARY or self._could_be_primary(key)), None)

    @property
    def expressions(self) -> int:
        """The number of expressions in functional indexes, for which MySQL adds hidden columns."""
        return sum(part.column is None for key in self.keys for part in key.parts)

    def rebuilt(self) -> TableDefinition:
        """Return the table after a statement that makes it anew: MariaDB forgets then that a key is USING HASH."""
        return replace(self, keys=tuple(replace(key, hashed=False) for key in self.keys)).normalized()

    def with_hashes(self, count: int) -> TableDefinition | None:
        """Return the table with a number of keys that are hashes, which the log has; None if it cannot have them.

        Which keys are depends on the storage engine: MyISAM has shorter keys than InnoDB, MEMORY has its own hashes.
        """
        by_name = {defined.folded: defined for defined in self.columns}
        sizes = {key.name: _key_size(key.parts, by_name) for key in self.keys if key.unique and key.name != PRIMARY}
        likely = sorted(self.keys, key=lambda key: (-key.hashed, -key.by_hash, -sizes.get(key.name, 0)))
        able = [key.name for key in likely if key.by_hash or sizes.get(key.name, 0) > _FEWEST_KEY_BYTES]
        if not self.mariadb or count > len(able):
            return None
        hashed = set(able[:count])
        return replace(self, keys=tuple(replace(key, hashed=key.name in hashed) for key in self.keys))

    def _could_be_primary(self, key: Key) -> bool:
        spatial = {defined.folded for defined in self.columns if defined.column.type is ColumnType.GEOMETRY}
        has_prefix = any((part.column or "").lower() in spatial for part in key.parts)
        return key.unique and not key.hashed and not has_prefix and _rank(key, self._nullable()) == (1, False, False)

    def _nullable(self) -> dict[str, bool]:
        return {defined.folded: defined.column.nullable for defined in self.columns}

    def normalized(self) -> TableDefinition:
        """Return the definition as the server stores it: keys in order, columns of the primary key NOT NULL."""
        in_primary = {(part.column or "").lower() for key in self.keys if key.name == PRIMARY for part in key.parts}
        in_primary.update(name.lower() for name in self.period or ())
        columns = tuple(
            replace(defined, column=replace(defined.column, nullable=False))
            if defined.column.nullable and defined.folded in in_primary
            else defined
            for defined in self.columns
        )
        by_name = {defined.folded: defined for defined in columns}
        keys = [_normalized_key(self._with_period(key), by_name, self.mariadb) for key in self.keys]
        nullable = {name: defined.column.nullable for name, defined in by_name.items()}
        return replace(self, columns=columns, keys=tuple(sorted(keys, key=lambda key: _rank(key, nullable))))

    def _with_period(self, key: Key) -> Key:
        """Return a key WITHOUT OVERLAPS with the columns of the period: the last one comes first."""
        if not key.overlaps or self.period is None:
            return key
        first, last = self.period
        of_period = KeyPart(last), KeyPart(first)
        return key if key.parts[-2:] == of_period else replace(key, parts=(*key.parts, *of_period))


def named(keys: list[Key]) -> list[Key]:
    """Name keys without a name, as the server does: after their first column, with a number if it is taken."""
    taken: set[str] = set()
    found: list[Key] = []
    for key in keys:
        name = key.name or _free_name(key.parts[0].column or "functional_index", taken)
        taken.add(name.lower())
        found.append(replace(key, name=name))
    return found


def _free_name(wanted: str, taken: set[str]) -> str:
    number = 1
    name = wanted
    while name.lower() in taken or name.upper() == PRIMARY:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _rank(key: Key, nullable: dict[str, bool]) -> tuple[int, bool, bool]:
    """Return the sort key of a key: the primary key, unique keys (those without NULL and prefixes first), others."""
    if key.name == PRIMARY:
        return 0, False, False
    if not key.unique:
        return 2, False, False
    can_be_null = any(part.column is None or nullable.get(part.column.lower(), True) for part in key.parts)
    return 1, can_be_null, any(part.prefix for part in key.parts)


def _normalized_key(key: Key, columns: dict[str, DefinedColumn], mariadb: bool) -> Key:
    parts = tuple(_normalized_part(part, columns) for part in key.parts)
    can_be_hashed = mariadb and key.unique and key.name != PRIMARY
    hashed = can_be_hashed and ((key.by_hash and key.hashed) or _key_size(parts, columns) > _MAX_KEY_BYTES)
    return replace(key, parts=parts, hashed=hashed)


def _normalized_part(part: KeyPart, columns: dict[str, DefinedColumn]) -> KeyPart:
    """Drop a prefix that is as long as its column; a key on a POINT always has one."""
    defined = columns.get((part.column or "").lower())
    if defined is None or defined.text is TextKind.BLOB:
        return part
    if defined.column.geometry_type == _POINT:
        return KeyPart(part.column, _POINT_BYTES)
    if defined.column.type is ColumnType.GEOMETRY:
        return part
    is_complete = defined.text is TextKind.NOT_TEXT or part.prefix >= defined.characters
    return KeyPart(part.column) if is_complete else part


def _key_size(parts: tuple[KeyPart, ...], columns: dict[str, DefinedColumn]) -> int:
    """Return the bytes of a key: MariaDB stores a unique key that is too long, or of BLOBs, as a hash."""
    return sum(_key_bytes(part, columns.get((part.column or "").lower())) for part in parts)


def _key_bytes(part: KeyPart, defined: DefinedColumn | None) -> int:
    if defined is not None and defined.column.type is ColumnType.GEOMETRY:
        return part.prefix or _MAX_KEY_BYTES + 1
    if defined is None or defined.text is TextKind.NOT_TEXT:
        return 8
    width = max_character_bytes(defined.column.collation) or 1
    if part.prefix:
        return part.prefix * width
    return _MAX_KEY_BYTES + 1 if defined.text is TextKind.BLOB else defined.characters * width


def _row_period() -> tuple[Column, ...]:
    return tuple(
        Column(ColumnType.TIMESTAMP2, scale=6, nullable=False, name=name, visible=False, generated=True, row_end=is_end)
        for name, is_end in _ROW_PERIOD
    )


def _hashes(keys: tuple[Key, ...]) -> tuple[Column, ...]:
    """Return the hidden columns of hashed keys. Which of them are NOT NULL is not known: their order is not either."""
    count = sum(key.hashed for key in keys)
    return tuple(
        Column(ColumnType.LONGLONG, unsigned=True, name=f"{HASH_COLUMN}{number}", visible=False, generated=True)
        for number in range(1, count + 1)
    )
