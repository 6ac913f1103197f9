"""Columns as written in statements into columns as servers create them: lengths in bytes, collations, signs."""

from __future__ import annotations

from dataclasses import replace

from binspark.event.column_types import ColumnType
from binspark.position import Position
from binspark.schema.changes import ColumnSpec, CreateTable, TextKind
from binspark.schema.collations import max_character_bytes
from binspark.schema.definition import DefinedColumn, TableDefinition, named
from binspark.schema.session import CharsetRequest, Session
from binspark.schema.text import limited_text, literal_member, member_text
from binspark.values.charsets import encode_text
from binspark.values.column import BINARY_COLLATION, Column

_MAX_VARCHAR_BYTES = 65535
_MAX_VARCHAR_BYTES_OF_MARIADB = 65532
_MAX_LENGTH_BYTES = 4
_CHOICES = (ColumnType.ENUM, ColumnType.SET)
_COMPRESSED = {
    ColumnType.VARCHAR: ColumnType.VARCHAR_COMPRESSED,
    ColumnType.BLOB: ColumnType.BLOB_COMPRESSED,
}


def define_table(change: CreateTable, database_collation: int | None, origin: Position) -> TableDefinition:
    """Return the table that CREATE TABLE creates."""
    session = change.session
    collation = session.collation(change.charset, database_collation)
    columns = tuple(define_column(spec, collation, session) for spec in change.columns or ())
    has_own_period = any(spec.row_period for spec in change.columns or ())
    return TableDefinition(
        columns,
        tuple(named(list(change.keys))),
        collation,
        origin,
        mariadb=session.mariadb,
        versioned=change.versioned and not has_own_period,
        engine=change.engine,
        period=change.period,
    ).normalized()


def define_column(spec: ColumnSpec, table_collation: int | None, session: Session) -> DefinedColumn:
    """Return the column that a definition creates in a table with this default collation."""
    defined = _defined_column(spec, table_collation, session)
    return replace(defined, numbered=spec.numbered, virtual=spec.virtual, digits=spec.type.digits)


def _defined_column(spec: ColumnSpec, table_collation: int | None, session: Session) -> DefinedColumn:
    kind = spec.type
    column = Column(
        kind.type,
        length=kind.size,
        precision=kind.precision,
        scale=kind.scale,
        nullable=_nullable(spec, session),
        unsigned=None if kind.unsigned is None else kind.unsigned or spec.unsigned,
        name=spec.name,
        visible=spec.visible,
        geometry_type=kind.geometry_type,
        notation=kind.notation,
        dimensions=kind.dimensions,
        generated=spec.generated,
        row_end=spec.row_end,
    )
    if kind.text is TextKind.NOT_TEXT and kind.type not in _CHOICES:
        return DefinedColumn(column)
    column = replace(column, collation=_collation(spec, table_collation, session))
    if kind.type in _CHOICES:
        return DefinedColumn(replace(column, members=_members(kind.members or (), column.collation, session)))
    characters = kind.capacity if kind.text is TextKind.BLOB else kind.size
    return _sized(DefinedColumn(column, kind.text, characters), spec.compressed, session)


def convert_column(defined: DefinedColumn, collation: int, session: Session) -> DefinedColumn:
    """Return a column after CONVERT TO CHARACTER SET: a TEXT grows if its characters need more bytes.

    Servers do not convert the members of ENUM and SET: their bytes mean something else then.
    """
    column = defined.column
    is_text = defined.text is not TextKind.NOT_TEXT or column.type in _CHOICES
    if not is_text or column.collation == BINARY_COLLATION:
        return defined
    compressed = column.type in _COMPRESSED.values()
    changed = replace(defined, column=replace(column, collation=collation))
    if column.members is not None and column.collation is not None:
        members = tuple(_reinterpreted(text, column.collation, collation, session) for text in column.members)
        return replace(changed, column=replace(changed.column, members=members))
    if defined.text is TextKind.BLOB:
        return replace(changed, column=_converted_blob(column, collation))
    return _sized(changed, compressed, session) if defined.text is not TextKind.NOT_TEXT else changed


def _reinterpreted(member: str, collation: int, new_collation: int, session: Session) -> str:
    try:
        return member_text(encode_text(member, collation), new_collation, mariadb=session.mariadb)
    except UnicodeEncodeError:  # the statement that defined it was not in the character set that it claims
        return member


def blob_length_bytes(size: int) -> int:
    """Return the number of bytes of the length field of a BLOB with this maximum size."""
    return min(_MAX_LENGTH_BYTES, max(1, (size.bit_length() + 7) // 8))


def _collation(spec: ColumnSpec, table_collation: int | None, session: Session) -> int | None:
    given = spec.charset
    request = CharsetRequest(spec.type.charset or given.charset, given.collate or spec.type.collate, given.binary)
    return session.collation(request, table_collation)


def _nullable(spec: ColumnSpec, session: Session) -> bool:
    if spec.nullable is not None:
        return spec.nullable
    return session.explicit_timestamps or spec.type.type is not ColumnType.TIMESTAMP2


def _members(literals: tuple[str | bytes, ...], collation: int | None, session: Session) -> tuple[str, ...] | None:
    """Return the members as the server stores them: without trailing spaces, unless they are binary.

    None if they are bytes in a character set that is not known.
    """
    members = [_member(literal, collation, session) for literal in literals]
    known = tuple(member for member in members if member is not None)
    if len(known) < len(members):
        return None
    return known if collation == BINARY_COLLATION else tuple(member.rstrip(" ") for member in known)


def _member(literal: str | bytes, collation: int | None, session: Session) -> str | None:
    if collation == BINARY_COLLATION and isinstance(literal, str) and session.connection_collation is not None:
        literal = encode_text(literal, session.connection_collation)
    if isinstance(literal, bytes):
        return literal_member(literal, collation, mariadb=session.mariadb)
    return literal if collation in (None, BINARY_COLLATION) else limited_text(literal, collation)


def _sized(defined: DefinedColumn, compressed: bool, session: Session) -> DefinedColumn:
    """Return a text column with its length in bytes: 0 if its collation, and so its length, is not known.

    A VARCHAR that is too long for a row becomes a BLOB or TEXT.
    """
    column = defined.column
    size = defined.characters * max_character_bytes(column.collation)
    if defined.text is TextKind.BLOB:
        length = (blob_length_bytes(size) if size else 0) if defined.characters else column.length
        return replace(defined, column=_compressed(replace(column, length=length), compressed))
    longest = _MAX_VARCHAR_BYTES_OF_MARIADB if session.mariadb else _MAX_VARCHAR_BYTES
    if size > longest and defined.text is TextKind.VARCHAR:
        blob = replace(column, type=ColumnType.BLOB, length=blob_length_bytes(size))
        return DefinedColumn(_compressed(blob, compressed), TextKind.BLOB)
    return replace(defined, column=_compressed(replace(column, length=size), compressed))


def _compressed(column: Column, compressed: bool) -> Column:
    """Return MariaDB's compressed type of a column; a VARCHAR has one more byte for the method."""
    if not compressed:
        return column
    kind = _COMPRESSED.get(column.type, column.type)
    one_more = kind is ColumnType.VARCHAR_COMPRESSED and column.length > 0
    return replace(column, type=kind, length=column.length + one_more)


def _converted_blob(column: Column, collation: int) -> Column:
    if column.length in (0, _MAX_LENGTH_BYTES):
        return replace(column, collation=collation)
    old_width, new_width = max_character_bytes(column.collation), max_character_bytes(collation)
    if not (old_width and new_width):
        return replace(column, collation=collation, length=0)
    characters = ((1 << 8 * column.length) - 1) // old_width
    return replace(column, collation=collation, length=blob_length_bytes(characters * new_width))
