"""Column types in DDL, with the synonyms of both families."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from binspark.event.column_types import ColumnType as T
from binspark.schema.changes import TextKind, TypeSpec
from binspark.schema.sql.reader import SqlReader
from binspark.wire.sql_modes import SqlMode

_MAX_FLOAT_BITS = 24
_DEFAULT_PRECISION = 10
_DEFAULT_DIMENSIONS = 2048
_MANY_MEMBERS = 256
_LONG_FIELD = 4
_MAX_SET_BYTES = 8

_SPATIAL = ("GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON")

_FIXED: dict[str, TypeSpec] = {
    **dict.fromkeys(("TINYINT", "INT1", "BOOL", "BOOLEAN"), TypeSpec(T.TINY, unsigned=False)),
    **dict.fromkeys(("SMALLINT", "INT2"), TypeSpec(T.SHORT, unsigned=False)),
    **dict.fromkeys(("MEDIUMINT", "INT3", "MIDDLEINT"), TypeSpec(T.INT24, unsigned=False)),
    **dict.fromkeys(("INT", "INTEGER", "INT4"), TypeSpec(T.LONG, unsigned=False)),
    **dict.fromkeys(("BIGINT", "INT8"), TypeSpec(T.LONGLONG, unsigned=False)),
    "SERIAL": TypeSpec(T.LONGLONG, unsigned=True),
    "YEAR": TypeSpec(T.YEAR, unsigned=True),
    "DATE": TypeSpec(T.DATE),
    **{
        name: TypeSpec(T.BLOB, TextKind.BLOB, size=size, charset=charset)
        for charset, names in (
            ("binary", ("TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB")),
            (None, ("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT")),
        )
        for size, name in enumerate(names, 1)
    },
    "CLOB": TypeSpec(T.BLOB, TextKind.BLOB, size=_LONG_FIELD),
    "XMLTYPE": TypeSpec(T.BLOB, TextKind.BLOB, size=_LONG_FIELD),
    "INET4": TypeSpec(T.STRING, TextKind.CHAR, size=4, charset="binary", notation="inet4"),
    "INET6": TypeSpec(T.STRING, TextKind.CHAR, size=16, charset="binary", notation="inet6"),
    "UUID": TypeSpec(T.STRING, TextKind.CHAR, size=16, charset="binary", notation="uuid"),
    **{name: TypeSpec(T.GEOMETRY, size=_LONG_FIELD, geometry_type=code) for code, name in enumerate(_SPATIAL)},
    **dict.fromkeys(
        ("GEOMETRYCOLLECTION", "GEOMCOLLECTION"), TypeSpec(T.GEOMETRY, size=_LONG_FIELD, geometry_type=len(_SPATIAL))
    ),
}
"""Types that follow from their name. A number after it is a display width, or the capacity of a BLOB or TEXT."""

_ORACLE = {"DATE": TypeSpec(T.DATETIME2), "BLOB": _FIXED["LONGBLOB"]}
"""Types that MariaDB's sql_mode ORACLE changes."""

_MEDIUM = 3


def read_type(sql: SqlReader) -> TypeSpec:
    """Read a type with its parameters: `VARCHAR(20)`, `LONG VARBINARY`, `ENUM('a', 'b')`."""
    name = sql.name().upper()
    reader = _READERS.get(name)
    if reader is not None:
        return reader(sql, name)
    if name not in _FIXED:
        raise sql.refused(f"a known type instead of {name!r}")
    numbers = _numbers(sql)
    fixed = _FIXED[name]
    if name in ("BLOB", "TEXT") and numbers:
        nothing = 2 if sql.session.mariadb else 1  # TEXT(0) is TEXT in MariaDB, TINYTEXT in MySQL
        return replace(fixed, size=0, capacity=numbers[0]) if numbers[0] else replace(fixed, size=nothing)
    if sql.session.mariadb and sql.session.has_mode(SqlMode.ORACLE):
        return _ORACLE.get(name, fixed)
    return fixed


def _numbers(sql: SqlReader) -> list[int]:
    """Read numbers in parentheses, if there are any."""
    numbers: list[int] = []
    if sql.accept_sign("("):
        while True:
            numbers.append(sql.number())
            if not sql.accept_sign(","):
                break
        sql.expect_sign(")")
    return numbers


def _char(sql: SqlReader, name: str) -> TypeSpec:
    """Read CHAR, CHARACTER, CHAR VARYING, CHAR BYTE."""
    if sql.accept_any("VARYING"):
        return _varchar(sql, name)
    return TypeSpec(T.STRING, TextKind.CHAR, size=_first(_numbers(sql), 1))


def _varchar(sql: SqlReader, _name: str) -> TypeSpec:
    return TypeSpec(T.VARCHAR, TextKind.VARCHAR, size=_first(_numbers(sql), 0))


def _national(sql: SqlReader, name: str) -> TypeSpec:
    """Read NATIONAL CHAR, NATIONAL VARCHAR, NCHAR, NCHAR VARYING, NVARCHAR, which are utf8mb3."""
    kind = sql.accept_any("CHAR", "CHARACTER", "VARCHAR") if name == "NATIONAL" else name
    varying = sql.accept_any("VARYING", "VARCHAR")
    read = _varchar if varying or kind in ("VARCHAR", "NVARCHAR") else _char
    return replace(read(sql, name), charset="utf8mb3")


def _binary(sql: SqlReader, _name: str) -> TypeSpec:
    return TypeSpec(T.STRING, TextKind.CHAR, size=_first(_numbers(sql), 1), charset="binary")


def _varbinary(sql: SqlReader, _name: str) -> TypeSpec:
    return TypeSpec(T.VARCHAR, TextKind.VARCHAR, size=_first(_numbers(sql), 0), charset="binary")


def _long(sql: SqlReader, _name: str) -> TypeSpec:
    """Read LONG, LONG VARCHAR, LONG CHAR VARYING, LONG VARBINARY."""
    charset = "binary" if sql.accept("VARBINARY") else None
    if charset is None and not sql.accept_any("VARCHAR", "VARCHARACTER"):
        sql.accept("CHAR", "VARYING") or sql.accept("CHARACTER", "VARYING")
    return TypeSpec(T.BLOB, TextKind.BLOB, size=_MEDIUM, charset=charset)


def _decimal(sql: SqlReader, _name: str) -> TypeSpec:
    numbers = _numbers(sql)
    precision = _first(numbers, _DEFAULT_PRECISION) or _DEFAULT_PRECISION
    return TypeSpec(T.NEWDECIMAL, precision=precision, scale=numbers[1] if len(numbers) > 1 else 0, unsigned=False)


def _number(sql: SqlReader, name: str) -> TypeSpec:
    """Read NUMBER of MariaDB's Oracle mode: a DOUBLE unless it has a precision."""
    return _decimal(sql, name) if sql.is_sign("(") else TypeSpec(T.DOUBLE, size=8, unsigned=False)


def _float(sql: SqlReader, _name: str) -> TypeSpec:
    """Read FLOAT, FLOAT(bits), FLOAT(digits, digits)."""
    numbers = _numbers(sql)
    if len(numbers) == 1:
        wide = numbers[0] > _MAX_FLOAT_BITS
        return TypeSpec(T.DOUBLE, size=8, unsigned=False) if wide else TypeSpec(T.FLOAT, size=4, unsigned=False)
    return TypeSpec(T.FLOAT, size=4, unsigned=False, digits=tuple(numbers))


def _double(sql: SqlReader, name: str) -> TypeSpec:
    sql.accept("PRECISION")
    digits = tuple(_numbers(sql))
    if name == "REAL" and sql.session.has_mode(SqlMode.REAL_AS_FLOAT):
        return TypeSpec(T.FLOAT, size=4, unsigned=False, digits=digits)
    return TypeSpec(T.DOUBLE, size=8, unsigned=False, digits=digits)


def _bit(sql: SqlReader, _name: str) -> TypeSpec:
    return TypeSpec(T.BIT, size=_first(_numbers(sql), 1) or 1)


def _temporal(sql: SqlReader, name: str) -> TypeSpec:
    """Read TIME, DATETIME, TIMESTAMP, which is DATETIME with MariaDB's sql_mode MAXDB."""
    if sql.session.mariadb and sql.session.has_mode(SqlMode.MAXDB):
        name = name.replace("TIMESTAMP", "DATETIME")
    kind = {"TIME": T.TIME2, "DATETIME": T.DATETIME2, "TIMESTAMP": T.TIMESTAMP2}[name]
    return TypeSpec(kind, scale=_first(_numbers(sql), 0))


def _choice(sql: SqlReader, name: str) -> TypeSpec:
    sql.expect_sign("(")
    members = [sql.literal()]
    while sql.accept_sign(","):
        members.append(sql.literal())
    sql.expect_sign(")")
    if name == "ENUM":
        return TypeSpec(T.ENUM, size=1 if len(members) < _MANY_MEMBERS else 2, members=tuple(members))
    size = (len(members) + 7) // 8
    return TypeSpec(T.SET, size=size if size <= _LONG_FIELD else _MAX_SET_BYTES, members=tuple(members))


def _json(sql: SqlReader, _name: str) -> TypeSpec:
    """Read JSON: a separate type in MySQL, LONGTEXT in MariaDB."""
    if sql.session.mariadb:
        return TypeSpec(T.BLOB, TextKind.BLOB, size=_LONG_FIELD, charset="utf8mb4", collate="utf8mb4_bin")
    return TypeSpec(T.JSON, size=_LONG_FIELD)


def _vector(sql: SqlReader, _name: str) -> TypeSpec:
    """Read VECTOR: a separate type in MySQL, VARBINARY in MariaDB."""
    dimensions = _first(_numbers(sql), _DEFAULT_DIMENSIONS)
    if sql.session.mariadb:
        return TypeSpec(T.VARCHAR, TextKind.VARCHAR, size=4 * dimensions, charset="binary")
    return TypeSpec(T.VECTOR, size=_LONG_FIELD, dimensions=dimensions)


def _first(numbers: list[int], default: int) -> int:
    return numbers[0] if numbers else default


_READERS: dict[str, Callable[[SqlReader, str], TypeSpec]] = {
    **dict.fromkeys(("CHAR", "CHARACTER"), _char),
    **dict.fromkeys(("VARCHAR", "VARCHARACTER", "VARCHAR2"), _varchar),
    **dict.fromkeys(("NATIONAL", "NCHAR", "NVARCHAR"), _national),
    "BINARY": _binary,
    **dict.fromkeys(("VARBINARY", "RAW"), _varbinary),
    "LONG": _long,
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC", "FIXED"), _decimal),
    "NUMBER": _number,
    **dict.fromkeys(("FLOAT", "FLOAT4"), _float),
    **dict.fromkeys(("DOUBLE", "FLOAT8", "REAL"), _double),
    "BIT": _bit,
    **dict.fromkeys(("TIME", "DATETIME", "TIMESTAMP"), _temporal),
    **dict.fromkeys(("ENUM", "SET"), _choice),
    "JSON": _json,
    "VECTOR": _vector,
}
