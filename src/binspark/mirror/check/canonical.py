"""The canonical text of a value, which a server and a mirror both can write: one row for each type of column.

Equal texts mean equal values, bit for bit: floats are their shortest digits with the sign of zero, text is UTF-8 with
its trailing spaces, a date that is not in the calendar is what the mirror's policy makes of it. A server writes the
text by an SQL expression, a mirror by Arrow functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import column_type_name
from binspark.mirror.check import arrow_text
from binspark.mirror.check.arrow_text import Texts
from binspark.mirror.schema.definitions import has_members_without_text
from binspark.server.connection import quoted_name
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.options import Undecodable


@dataclass(frozen=True, slots=True)
class CanonicalColumn:
    """How the values of a column are written.

    name     of the column
    sql      the expression of a server; NULL for NULL
    texts    makes the same of an Arrow array
    digest   whether rows contain the hash of a value, because it may be of any size
    counted  whether a value may contain any character: rows contain its length before it
    """

    name: str
    sql: str
    texts: Texts
    digest: bool = False
    counted: bool = False


@dataclass(frozen=True, slots=True)
class _Server:
    """What an expression depends on beside the column."""

    options: ColumnOptions
    mariadb: bool


_Sql = Callable[[str, Column, _Server], str]


@dataclass(frozen=True, slots=True)
class _Type:
    sql: _Sql
    texts: Callable[[pa.Array, Column], pa.Array]
    digest: bool = False
    counted: bool = False


def canonical_column(column: Column, options: ColumnOptions, *, mariadb: bool) -> CanonicalColumn:
    """Return how the values of a column are written."""
    found = _TYPES.get(column.type)
    if found is None or column.name is None:
        raise SchemaError(f"columns of type {column_type_name(column.type)} cannot be compared")
    if has_members_without_text(column) and column.type == T.SET and not mariadb:
        found = _COUNTED_MEMBERS
    sql = found.sql(quoted_name(column.name), column, _Server(options, mariadb))
    texts = found.texts
    return CanonicalColumn(column.name, sql, lambda array: texts(array, column), found.digest, found.counted)


def _number(name: str, _column: Column, _server: _Server) -> str:
    """Adding 0 drops the zeros of ZEROFILL, and makes numbers of BIT and YEAR."""
    return f"{name}+0"


def _float(name: str, _column: Column, server: _Server) -> str:
    """MySQL shortens the digits of expressions to 22 characters, but not those of JSON; MariaDB does not."""
    if server.mariadb:
        return f"{name}*1e0"
    digits = f"TRIM(TRAILING ']' FROM REPLACE(SUBSTRING(CAST(JSON_ARRAY({name}) AS CHAR), 2), '.0]', ''))"
    return f"IF({name} IS NULL, NULL, {digits})"


def _dated(text: str) -> _Sql:
    """Return the expression of a date: NULL if it is not in the calendar, unless the policy keeps it as text."""

    def make(name: str, _column: Column, server: _Server) -> str:
        if server.options.zero_dates is ZeroDates.STRING:
            return f"CAST({name} AS CHAR)"
        days = f"DAYOFMONTH({name}) BETWEEN 1 AND DAYOFMONTH(LAST_DAY({name}))"
        return f"IF(YEAR({name}) > 0 AND {days}, CAST({text.format(name)} AS CHAR), NULL)"

    return make


def _timestamp(name: str, _column: Column, server: _Server) -> str:
    """Return the expression of a timestamp. The session is in UTC, and only the zero date is not a point in time."""
    if server.options.zero_dates is ZeroDates.STRING:
        return f"IF(UNIX_TIMESTAMP({name}) = 0, CAST({name} AS CHAR), CONCAT({name}, '+00:00'))"
    return f"IF(UNIX_TIMESTAMP({name}) = 0, NULL, CAST(CAST({name} AS DATETIME(6)) AS CHAR))"


def _plain(name: str, _column: Column, _server: _Server) -> str:
    return f"CAST({name} AS CHAR)"


def _bytes(name: str, _column: Column, _server: _Server) -> str:
    return f"CAST({name} AS BINARY)"


def _text(name: str, column: Column, server: _Server) -> str:
    is_bytes = column.collation == BINARY_COLLATION and column.notation is None and column.members is None
    if is_bytes or server.options.undecodable is Undecodable.BINARY:
        return f"CAST({name} AS BINARY)"
    return f"CAST(CONVERT({name} USING utf8mb4) AS BINARY)"


def _member_count(name: str, _column: Column, _server: _Server) -> str:
    """MySQL joins members that are not text in UTF-16 to bytes that mean other characters: only their number counts."""
    return f"BIT_COUNT(CAST({name} AS UNSIGNED))"


_COUNTED_MEMBERS = _Type(_member_count, arrow_text.member_counts)
_NUMBER = _Type(_number, arrow_text.numbers)
_REAL = _Type(_float, arrow_text.reals)
_LIMITED = _Type(_text, arrow_text.strings, counted=True)
_UNLIMITED = _Type(_text, arrow_text.strings, digest=True)
_DATE = _Type(_dated("{}"), arrow_text.dates)
_DATETIME = _Type(_dated("CAST({} AS DATETIME(6))"), arrow_text.timestamps)
_TIMESTAMP = _Type(_timestamp, arrow_text.timestamps)
_TIME = _Type(_plain, arrow_text.times)

_TYPES: dict[int, _Type] = {
    **dict.fromkeys((T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.YEAR, T.BIT, T.NEWDECIMAL), _NUMBER),
    T.DECIMAL: _Type(_plain, arrow_text.strings),
    **dict.fromkeys((T.FLOAT, T.DOUBLE), _REAL),
    **dict.fromkeys((T.DATE, T.NEWDATE), _DATE),
    **dict.fromkeys((T.DATETIME, T.DATETIME2), _DATETIME),
    **dict.fromkeys((T.TIMESTAMP, T.TIMESTAMP2), _TIMESTAMP),
    **dict.fromkeys((T.TIME, T.TIME2), _TIME),
    **dict.fromkeys((T.STRING, T.VARCHAR, T.VAR_STRING, T.VARCHAR_COMPRESSED, T.ENUM), _LIMITED),
    T.SET: _Type(_text, arrow_text.members, counted=True),
    **dict.fromkeys((T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB, T.BLOB_COMPRESSED), _UNLIMITED),
    T.JSON: _Type(lambda name, _column, _server: f"CAST({name} AS CHAR)", arrow_text.strings, digest=True),
    T.GEOMETRY: _Type(_bytes, arrow_text.geometries, digest=True),
    T.VECTOR: _Type(_bytes, arrow_text.vectors, digest=True),
}
