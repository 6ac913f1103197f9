"""DDL statements as values: what a statement changes. The effect depends on the tables that exist (see `Catalog`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType
from binspark.schema.session import CharsetRequest, Session
from binspark.schema.table import TableName

PRIMARY = "PRIMARY"


class NotUnderstood(SchemaError):
    """A statement defines tables, but in a way that binspark does not support."""


class TextKind(Enum):
    """How the length of a column depends on its character set."""

    NOT_TEXT = auto()
    CHAR = auto()
    VARCHAR = auto()
    BLOB = auto()


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A type as it is written in a statement.

    size      CHAR, VARCHAR: characters; BLOB: bytes of the length field, 0 if it follows from `capacity`
    capacity  BLOB(n), TEXT(n): n bytes or characters must fit
    charset   the character set that the name of the type implies, as NCHAR does
    collate   the collation that it implies, as JSON does in MariaDB
    digits    FLOAT(m, n), DOUBLE(m, n): m and n, to which values are rounded
    members   of ENUM and SET; bytes are in the character set of the column
    """

    type: ColumnType
    text: TextKind = TextKind.NOT_TEXT
    size: int = 0
    capacity: int = 0
    precision: int = 0
    scale: int = 0
    unsigned: bool | None = None
    members: tuple[str | bytes, ...] | None = None
    geometry_type: int | None = None
    dimensions: int | None = None
    charset: str | None = None
    collate: str | None = None
    notation: str | None = None
    digits: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column as it is written in a statement.

    nullable  None if it has neither NULL nor NOT NULL
    default   the text of a constant after DEFAULT, None for NULL or no default
    computed  whether the server computes its values: they are generated, numbered, or the default is an expression
    numbered  whether it is AUTO_INCREMENT
    generated whether no statement may set its values
    virtual   whether it is generated, and not stored
    row_period, row_end  whether it is AS ROW START or AS ROW END, and whether it is the latter
    versioned whether it is WITH SYSTEM VERSIONING
    """

    name: str
    type: TypeSpec
    charset: CharsetRequest
    unsigned: bool = False
    nullable: bool | None = None
    visible: bool = True
    compressed: bool = False
    primary: bool = False
    unique: bool = False
    row_period: bool = False
    row_end: bool = False
    generated: bool = False
    versioned: bool = False
    default: str | None = field(default=None, compare=False)
    computed: bool = field(default=False, compare=False)
    numbered: bool = field(default=False, compare=False)
    virtual: bool = field(default=False, compare=False)


class KeyPart(NamedTuple):
    """A column of a key, and the number of its characters in the key, 0 for all. An expression has no column."""

    column: str | None
    prefix: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table. The name of the primary key is PRIMARY; `name` is empty if the server chooses one.

    hashed     whether MariaDB stores a unique key as a hash in a hidden column
    by_hash    whether a statement or the server says that it is USING HASH
    overlaps   whether it is WITHOUT OVERLAPS: the columns of the table's period come after its parts
    """

    name: str
    parts: tuple[KeyPart, ...]
    unique: bool = True
    hashed: bool = False
    by_hash: bool = False
    overlaps: bool = False


class ColumnPosition(NamedTuple):
    """The position of a column in ALTER TABLE: AFTER a column, or FIRST if that is None."""

    after: str | None


@dataclass(frozen=True, slots=True)
class AddColumn:
    """ADD COLUMN, with FIRST or AFTER if the statement has it."""

    column: ColumnSpec
    position: ColumnPosition | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """CHANGE COLUMN and MODIFY COLUMN, for which both names are the same."""

    old_name: str
    column: ColumnSpec
    position: ColumnPosition | None = None
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """RENAME COLUMN."""

    old_name: str
    new_name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn:
    """DROP COLUMN."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ColumnVisibility:
    """ALTER COLUMN ... SET VISIBLE or SET INVISIBLE."""

    name: str
    visible: bool


@dataclass(frozen=True, slots=True)
class AddKey:
    """ADD KEY, ADD UNIQUE, ADD PRIMARY KEY."""

    key: Key
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropKey:
    """DROP KEY and DROP PRIMARY KEY."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameKey:
    """RENAME KEY."""

    old_name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class ConvertCharset:
    """CONVERT TO CHARACTER SET: changes all text columns and the default of the table."""

    charset: CharsetRequest


@dataclass(frozen=True, slots=True)
class DefaultCharset:
    """CHARACTER SET, COLLATE: the default for columns that are added later."""

    charset: CharsetRequest


@dataclass(frozen=True, slots=True)
class RenameTo:
    """ALTER TABLE ... RENAME TO."""

    name: TableName


@dataclass(frozen=True, slots=True)
class SystemVersioning:
    """ADD or DROP SYSTEM VERSIONING."""

    enabled: bool


@dataclass(frozen=True, slots=True)
class SetPeriod:
    """ADD PERIOD FOR and DROP PERIOD FOR: the first and the last column of the period; None without one."""

    columns: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class ReplaceRows:
    """DROP, TRUNCATE or EXCHANGE PARTITION, IMPORT or DISCARD TABLESPACE: the log has no rows events of the rows.

    other    the table that a partition is exchanged with
    creates  whether that table is new: CONVERT PARTITION ... TO TABLE
    drops    whether that table is no longer there: CONVERT TABLE ... TO PARTITION
    """

    other: TableName | None = None
    creates: bool = False
    drops: bool = False


@dataclass(frozen=True, slots=True)
class OtherClause:
    """A clause that changes neither columns nor keys: its first words, or the name of an option and its value."""

    name: str
    value: str = ""


Step = (
    AddColumn
    | ChangeColumn
    | RenameColumn
    | DropColumn
    | ColumnVisibility
    | AddKey
    | DropKey
    | RenameKey
    | ConvertCharset
    | DefaultCharset
    | RenameTo
    | SystemVersioning
    | SetPeriod
    | ReplaceRows
    | OtherClause
)


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CREATE TABLE or CREATE OR REPLACE TABLE. `columns` is None if they follow from a SELECT."""

    name: TableName
    columns: tuple[ColumnSpec, ...] | None
    keys: tuple[Key, ...]
    charset: CharsetRequest
    session: Session
    versioned: bool = False
    if_not_exists: bool = False
    replaces: bool = False
    engine: str | None = field(default=None, compare=False)
    period: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CopyTable:
    """CREATE TABLE ... LIKE."""

    name: TableName
    model: TableName
    if_not_exists: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class AlterTable:
    """ALTER TABLE: its steps in the order of the statement."""

    name: TableName
    steps: tuple[Step, ...]
    session: Session


@dataclass(frozen=True, slots=True)
class RenameTables:
    """RENAME TABLE: pairs of the old and the new name."""

    pairs: tuple[tuple[TableName, TableName], ...]


@dataclass(frozen=True, slots=True)
class DropTables:
    """DROP TABLE."""

    names: tuple[TableName, ...]


@dataclass(frozen=True, slots=True)
class TruncateTable:
    """TRUNCATE TABLE: the table loses its rows, its definition remains."""

    name: TableName


@dataclass(frozen=True, slots=True)
class CreateDatabase:
    """CREATE DATABASE."""

    name: str
    charset: CharsetRequest
    session: Session
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterDatabase:
    """ALTER DATABASE: another default character set."""

    name: str
    charset: CharsetRequest
    session: Session


@dataclass(frozen=True, slots=True)
class DropDatabase:
    """DROP DATABASE, and with it all its tables."""

    name: str


@dataclass(frozen=True, slots=True)
class TemporaryTables:
    """CREATE or DROP TEMPORARY TABLE: it hides a table of the same name, in its own session only."""

    names: tuple[TableName, ...]
    created: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A statement about tables that is not supported: their definitions are not known after it."""

    names: tuple[TableName, ...]
    statement: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoggedRows:
    """A statement that was logged without the rows that it changes. `schema` is that of names without one."""

    statement: str
    schema: str


@dataclass(frozen=True, slots=True)
class RolledBackRows:
    """A statement that rolls back rows which the log has before it. `names` is None if their tables are not known."""

    names: tuple[TableName, ...] | None
    reason: str


Change = (
    CreateTable
    | CopyTable
    | AlterTable
    | RenameTables
    | DropTables
    | TruncateTable
    | CreateDatabase
    | AlterDatabase
    | DropDatabase
    | TemporaryTables
    | Unreadable
    | LoggedRows
    | RolledBackRows
)
