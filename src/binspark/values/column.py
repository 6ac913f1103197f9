"""What one column is, as far as a decoder of its values needs to know."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.column_types import ColumnType

BINARY_COLLATION = 63


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table at the time of a row event.

    type        the real type: ENUM and SET are told apart from STRING, whatever type code the log used
    length      CHAR, VARCHAR: most bytes of a value; BLOB, TEXT, JSON, GEOMETRY, VECTOR: bytes of the length field;
                ENUM, SET: bytes of the number; BIT: bits; FLOAT, DOUBLE: bytes; the DECIMAL of tables made before
                5.0.3: characters, 0 where nothing tells; else 0
    precision   DECIMAL: digits in all
    scale       DECIMAL: digits after the point; TIME, DATETIME, TIMESTAMP: digits of the fraction
    nullable    whether the column can be NULL
    unsigned    of a number; None where neither the log nor the schema history tells
    collation   of text, ENUM and SET; 63 is binary; None where nothing tells
    members     of an ENUM or SET, as text; None where nothing tells
    notation    how MariaDB writes the bytes of its types INET4, INET6 and UUID, which only a schema tells
    name        None where nothing tells; shown as @1, @2, ...
    """

    type: ColumnType
    length: int = 0
    precision: int = 0
    scale: int = 0
    nullable: bool = True
    unsigned: bool | None = None
    collation: int | None = None
    members: tuple[str, ...] | None = None
    name: str | None = None
    visible: bool = True
    geometry_type: int | None = None
    dimensions: int | None = None
    notation: str | None = None
