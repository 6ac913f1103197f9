"""The SQL of a snapshot: which expressions give a table's columns exactly, and the ranges of its key.

Values of keys are written as SQL literals, which the server made itself: what it compares them with is what it sent, in
any character set and whatever a date is. Comparisons of several columns are written out, because servers use an index
for those, and not for `(a, b) > (1, 2)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from binspark.columns.result_forms import Cast, result_form
from binspark.event.column_types import ColumnType as T
from binspark.mirror.schema.mirrored_table import MirroredTable, has_history
from binspark.schema.table import TableSchema
from binspark.server.connection import Row, quoted_name
from binspark.values.charsets import charset_of
from binspark.values.column import BINARY_COLLATION, Column

Literals = tuple[str, ...]
"""The values of a key's columns, as SQL literals."""

SESSION = (
    "SET SESSION time_zone = '+00:00', sql_mode = '', character_set_results = NULL, net_write_timeout = 3600, "
    "sql_select_limit = 18446744073709551615 /*!50708 , max_execution_time = 0 */ "
    "/*M!100101 , max_statement_time = 0 */"
)
"""What makes values exact: TIMESTAMP in UTC, CHAR without padding, text in the character set of its column. The rest
lifts limits that would end a long query; one comment is executed by MySQL, the other by MariaDB."""

_NUMBERS = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.NEWDECIMAL})
_FLOATS = frozenset({T.FLOAT, T.DOUBLE})
_COUNTED = frozenset({T.ENUM, T.SET, T.BIT})
_LONG_SET = 8
_TEMPORAL = frozenset({T.YEAR, T.DATE, T.NEWDATE, T.TIME, T.TIME2, T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2})


# --- Columns ----------------------------------------------------------------------------------------------------------


def queried_schema(table: MirroredTable) -> TableSchema:
    """Return the source's schema with the columns that are mirrored, in the order of the target."""
    at = dict(zip(table.source.column_names, table.source.columns, strict=True))
    columns = tuple(at[name] for name in table.schema.names)
    return replace(table.source, columns=columns, primary_key=(), prefixes=())


def selected(columns: Sequence[Column]) -> str:
    """Return the list of expressions that give the values of columns exactly."""
    return ", ".join(map(_exact, columns))


def table_name(table: MirroredTable) -> str:
    """Return the name of the source's table in a statement."""
    return f"{quoted_name(table.source.schema)}.{quoted_name(table.source.table)}"


def all_rows(table: MirroredTable) -> str:
    """Return what rows are selected from: the table, with the old rows that it keeps."""
    return f"{table_name(table)} FOR SYSTEM_TIME ALL" if has_history(table.source) else table_name(table)


def _exact(column: Column) -> str:
    name = quoted_name(column.name or "")
    form = result_form(column)
    if form.cast is Cast.UNSIGNED:
        return f"CAST({name} AS UNSIGNED)"
    return f"CAST({name} AS BINARY({column.length}))" if form.cast is Cast.BINARY else name


# --- Keys -------------------------------------------------------------------------------------------------------------


def key_columns(table: MirroredTable) -> tuple[Column, ...]:
    """Return the columns of the key, in its order."""
    columns = dict(zip(table.source.column_names, table.source.columns, strict=True))
    return tuple(columns[name] for name in table.key)


def key_texts(columns: Sequence[Column]) -> str:
    """Return the list of expressions from whose texts `literals` makes the values of a key."""
    return ", ".join(_text_of(column) for column in columns)


def literals(columns: Sequence[Column], row: Row) -> Literals:
    """Return the values of a key, of the texts that a query has returned."""
    return tuple(_literal(column, _plain_text(text)) for column, text in zip(columns, row, strict=True))


def key_order(columns: Sequence[Column]) -> str:
    """Return the list of columns that rows are sorted by."""
    return ", ".join(quoted_name(column.name or "") for column in columns)


def between(columns: Sequence[Column], low: Literals | None, high: Literals | None) -> str:
    """Return the condition that a key is after `low` and not after `high`; None for no limit."""
    names = list(map(_comparable, columns))
    conditions = []
    if low is not None:
        conditions.append(_compared(names, low, ">", ">"))
    if high is not None:
        conditions.append(_compared(names, high, "<", "<="))
    return " AND ".join(conditions) or "TRUE"


def equal_to(columns: Sequence[Column], keys: Sequence[Literals]) -> str:
    """Return the condition that a key is one of some."""
    names = list(map(_comparable, columns))
    if len(names) == 1:
        return f"{names[0]} IN ({', '.join(key[0] for key in keys)})"
    alternatives = (" AND ".join(f"{name} = {value}" for name, value in zip(names, key, strict=True)) for key in keys)
    return " OR ".join(f"({alternative})" for alternative in alternatives)


def _compared(names: Sequence[str], values: Literals, sign: str, last_sign: str) -> str:
    """Write a comparison of all columns out: `a >= 1 AND (a > 1 OR (a = 1 AND b > 2))`."""
    condition = f"{names[-1]} {last_sign} {values[-1]}"
    for name, value in zip(reversed(names[:-1]), reversed(values[:-1]), strict=True):
        condition = f"{name} {sign}= {value} AND ({name} {sign} {value} OR ({condition}))"
    return f"({condition})"


def _comparable(column: Column) -> str:
    """Return what is compared with a literal. A SET of 64 members would be taken for a negative number."""
    name = quoted_name(column.name or "")
    return f"CAST({name} AS UNSIGNED)" if column.type == T.SET and column.length == _LONG_SET else name


def _text_of(column: Column) -> str:
    name = quoted_name(column.name or "")
    if column.type in _COUNTED:
        return f"CAST({name} AS UNSIGNED)"
    if column.type in _FLOATS:
        return f"{name} + 0e0"
    if column.type in _NUMBERS or column.type in _TEMPORAL or column.notation is not None:
        return f"CAST({name} AS CHAR)"
    return f"HEX({name})"


def _literal(column: Column, text: str) -> str:
    if column.type in _NUMBERS or column.type in _COUNTED:
        return text
    if column.type in _FLOATS:
        return text if "e" in text.lower() else f"{text}e0"
    if column.type in _TEMPORAL or column.notation is not None:
        return f"'{text}'"
    return _bytes_literal(column, text)


def _bytes_literal(column: Column, digits: str) -> str:
    """Return bytes in the column's own character set, so that nothing is converted."""
    if column.collation is None or column.collation == BINARY_COLLATION:
        return f"X'{digits}'"
    return f"_{charset_of(column.collation)} X'{digits}'"


def _plain_text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
