"""What a statement changes, as the grammar understood it; what that means depends on the tables that there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from binspark.event.column_types import ColumnType
from binspark.schema.session import CharsetRequest, Session
from binspark.schema.sql.reader import TableName

PRIMARY = "PRIMARY"


class TextKind(Enum):
    """How the length of a column depends on its character set."""

    NOT_TEXT = auto()
    CHAR = auto()
    VARCHAR = auto()
    BLOB = auto()


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A type as a statement writes it.

    size     CHAR, VARCHAR: characters; BLOB: bytes of the length field, 0 where `room` decides
    room     BLOB(n), TEXT(n): the bytes or characters that must fit
    charset  the character set that the type's own name asks for, as NCHAR does
    collate  the collation that it asks for, as JSON does in MariaDB
    """

    type: ColumnType
    text: TextKind = TextKind.NOT_TEXT
    size: int = 0
    room: int = 0
    precision: int = 0
    scale: int = 0
    unsigned: bool | None = None
    members: tuple[str, ...] | None = None
    geometry_type: int | None = None
    dimensions: int | None = None
    charset: str | None = None
    collate: str | None = None
    notation: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column as a statement writes it. `nullable` is None where it does not say."""

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


class KeyPart(NamedTuple):
    """A column of a key and how many characters of it, 0 for all. An expression has no column."""

    column: str | None
    prefix: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table; the primary key is called PRIMARY. `name` is empty where the server chooses one."""

    name: str
    parts: tuple[KeyPart, ...]
    unique: bool = True
    hashed: bool = False


class Place(NamedTuple):
    """Where a column goes: behind another one, or before all."""

    after: str | None


@dataclass(frozen=True, slots=True)
class AddColumn:
    """ADD COLUMN, with FIRST or AFTER where the statement says so."""

    column: ColumnSpec
    place: Place | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """CHANGE COLUMN and MODIFY COLUMN, for which both names are the same."""

    old_name: str
    column: ColumnSpec
    place: Place | None = None
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
class ShowColumn:
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
    """CONVERT TO CHARACTER SET: of every text column, and of the table."""

    charset: CharsetRequest


@dataclass(frozen=True, slots=True)
class DefaultCharset:
    """CHARACTER SET, COLLATE: of columns to come."""

    charset: CharsetRequest


@dataclass(frozen=True, slots=True)
class RenameTo:
    """ALTER TABLE ... RENAME TO."""

    name: TableName


@dataclass(frozen=True, slots=True)
class KeepHistory:
    """ADD or DROP SYSTEM VERSIONING."""

    keep: bool


Step = (
    AddColumn
    | ChangeColumn
    | RenameColumn
    | DropColumn
    | ShowColumn
    | AddKey
    | DropKey
    | RenameKey
    | ConvertCharset
    | DefaultCharset
    | RenameTo
    | KeepHistory
)


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CREATE TABLE, or OR REPLACE TABLE. `columns` is None where they follow from a SELECT."""

    name: TableName
    columns: tuple[ColumnSpec, ...] | None
    keys: tuple[Key, ...]
    charset: CharsetRequest
    session: Session
    versioned: bool = False
    if_not_exists: bool = False
    replaces: bool = False


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
    """CREATE or DROP TEMPORARY TABLE: they hide tables of the same name from their own session only."""

    names: tuple[TableName, ...]
    created: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A statement about tables that was not understood: what they are is not known from here on."""

    names: tuple[TableName, ...]
    statement: str
    reason: str


Change = (
    CreateTable
    | CopyTable
    | AlterTable
    | RenameTables
    | DropTables
    | CreateDatabase
    | AlterDatabase
    | DropDatabase
    | TemporaryTables
    | Unreadable
)
