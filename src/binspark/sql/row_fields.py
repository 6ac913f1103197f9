"""Columns of exact values, described for the kernel that writes statements; `literals` writes them one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.documents.fields import describe_array
from binspark.documents.texts import words_of
from binspark.event.column_types import ColumnType as T
from binspark.kernels.compiler import Writer, callback_address
from binspark.kernels.objects.layout import Source
from binspark.kernels.objects.rows import WRITERS
from binspark.kernels.sql.documents import write_document_value
from binspark.kernels.sql.layout import Guards, Plain
from binspark.kernels.sql.layout import SqlField as F
from binspark.kernels.sql.literals import write_exact, write_float, write_moment, write_text
from binspark.schema.collations import known_charset
from binspark.schema.table import TableSchema
from binspark.sql.literals import Literal
from binspark.sql.statements import statements_of
from binspark.sql.transactions import COUNT_MISSED
from binspark.values.column import BINARY_COLLATION, Column

Numbers = npt.NDArray[np.int64]

_UTF8 = ("utf8mb4", "utf8mb3")
_WIDE = ("ucs2", "utf16", "utf16le", "utf32")
_NEVER_PLAIN = ("", "swe7", *_WIDE)
_TEXTS = frozenset(
    {T.STRING, T.VARCHAR, T.VAR_STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB}
    | {T.VARCHAR_COMPRESSED, T.BLOB_COMPRESSED}
)
_BYTES = frozenset({T.GEOMETRY, T.VECTOR})
_MOMENTS = frozenset({T.DATE, T.NEWDATE, T.TIME, T.TIME2, T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2})
_TIMESTAMPS = frozenset({T.TIMESTAMP, T.TIMESTAMP2})
_NUMBERS: Mapping[int, Source] = {
    pa.int8().id: Source.INT8,
    pa.int16().id: Source.INT16,
    pa.int32().id: Source.INT32,
    pa.int64().id: Source.INT64,
    pa.decimal128(1).id: Source.UNSIGNED,
    pa.float64().id: Source.DOUBLE,
}
_WRITERS: dict[Source, Writer] = {
    **{source: WRITERS[source] for source in (Source.INT8, Source.INT16, Source.INT32, Source.INT64, Source.UNSIGNED)},
    Source.DECIMAL: write_exact,
    Source.DOUBLE: write_float,
    Source.TEXT: write_moment,
    Source.BINARY: write_text,
    Source.DOCUMENT: WRITERS[Source.DOCUMENT],
}
_FIELD_TEXTS = (F.NAME, F.SETS, F.KEEPS, F.IS_NULL, F.COMPARES, F.INTRODUCER)
_MAX_NUMBER = 2 * 64  # bytes that a value of fixed size takes, and those that are used while it is written


class RowFields:
    """The columns of the rows of one batch for the kernel: how values are written, then how they are compared."""

    def __init__(self, table: TableSchema, arrays: Sequence[pa.Array], *, undo: bool) -> None:
        count = len(table.columns)
        self._arrays: list[pa.Array] = []
        self.numbers = table_texts(table, undo=undo).numbers.copy()
        writers = statements_of(table).columns
        for index, (column, writer, array) in enumerate(zip(table.columns, writers, arrays, strict=True)):
            written = self.numbers[index]
            self._describe(written, column, writer.literal, array)
            compared = self.numbers[count + index]
            if writer.compared is writer.literal:
                compared[:] = written
            else:
                compared[F.PLAIN], compared[F.INTRODUCER + 1] = _plain(column), 0
                self._point(compared, array, Source.BINARY)

    @property
    def bytes(self) -> int:
        """About how many bytes the values take."""
        return int(sum(array.nbytes for array in self._arrays))

    def _describe(self, row: Numbers, column: Column, literal: Literal, array: pa.Array) -> None:
        """Describe how the values of a column are written."""
        kind = array.type
        if pa.types.is_null(kind):
            return
        if column.is_document:
            self._point(row, array, Source.BINARY)
            row[F.WRITER] = callback_address(write_document_value)
        elif column.type in _MOMENTS:
            row[F.DIGITS] = column.type in _TIMESTAMPS
            self._point(row, array, Source.TEXT)
        elif column.type in _BYTES or (column.type in _TEXTS and _is_by_kernel(column)):
            row[F.PLAIN] = _plain(column) if column.type in _TEXTS else Plain.NONE
            self._point(row, array, Source.BINARY)
        elif column.type in (T.ENUM, T.SET) and column.members is not None:
            self._point(row, _members(array, literal), Source.DOCUMENT)
        elif column.type in (T.FLOAT, T.DOUBLE):
            self._point(row, array.cast(pa.float64()), Source.DOUBLE)
        elif column.type is T.NEWDECIMAL and pa.types.is_decimal(kind):
            row[F.DIGITS] = column.scale
            self._point(row, array, Source.DECIMAL)
        elif kind.id in _NUMBERS:
            self._point(row, array, _NUMBERS[kind.id])
        elif pa.types.is_string(kind):
            self._point(row, array, Source.DOCUMENT)
        else:
            self._point(row, _one_by_one(array, literal), Source.DOCUMENT)

    def _point(self, row: Numbers, array: pa.Array, source: Source) -> None:
        self._arrays.append(array)
        describe_array(row, array, source, _WRITERS)
        row[F.SIZE] = 0 if source >= Source.TEXT else array.type.bit_width // 8


class TableTexts:
    """What is the same in all statements of a table: the numbers of its columns, and the texts that they point to."""

    def __init__(self, table: TableSchema, *, undo: bool) -> None:
        columns = statements_of(table).columns
        count = len(columns)
        self._words = words_of([text for index in range(count) for text in _texts_of(table, index)])
        self.numbers = np.zeros((2 * count, F.WIDTH), dtype=np.int64)
        for index, column in enumerate(columns):
            for row in (self.numbers[index], self.numbers[count + index]):
                row[F.SETTABLE], row[F.KEEPS_TIME] = column.settable, column.keeps_time
                row[F.GUARDS] = _guards(table, index)
                for number, field in enumerate(_FIELD_TEXTS):
                    row[field : field + 2] = self._words.words[len(_FIELD_TEXTS) * index + number]
        name, settable = statements_of(table).name, [column.name for column in columns if column.settable]
        self.statements = words_of(
            [
                f"INSERT INTO {name} ({', '.join(settable)}) VALUES (",  # noqa: S608 (everything is quoted)
                f"INSERT INTO {name} (",
                f"DELETE FROM {name} WHERE ",  # noqa: S608
                f"UPDATE {name} SET ",  # noqa: S608
                COUNT_MISSED if undo else "",
            ]
        )
        self.row_bytes = 2 * self._words.bytes + self.statements.bytes + 3 * _MAX_NUMBER * (count + 1)
        """The maximum bytes of a statement, besides its values of variable size."""


@lru_cache(maxsize=256)
def table_texts(table: TableSchema, *, undo: bool) -> TableTexts:
    """Return what is the same in all statements of a table."""
    return TableTexts(table, undo=undo)


def _guards(table: TableSchema, index: int) -> Guards:
    """Return whether the condition of an undo compares a column besides the key."""
    if index not in statements_of(table).guards:
        return Guards.NEVER
    return Guards.IF_EXACT if table.columns[index].is_document else Guards.ALWAYS


def _texts_of(table: TableSchema, index: int) -> tuple[str, ...]:
    """Return the texts of a column in the order of `_FIELD_TEXTS`."""
    column = statements_of(table).columns[index]
    name = column.name
    described = table.columns[index]
    charset = known_charset(described.collation) if described.type in _TEXTS else ""
    introducer = f"_{charset} " if charset and described.collation != BINARY_COLLATION else ""
    return name, f"{name} = ", f"{name} = {name}", f"{name} IS NULL", f"{column.comparable} <=> ", introducer


def _is_by_kernel(column: Column) -> bool:
    """Return whether the kernel writes the text of a column: not in characters of two or four bytes, nor a notation."""
    return column.notation is None and known_charset(column.collation) not in _WIDE


def _plain(column: Column) -> Plain:
    if column.collation is None or column.collation == BINARY_COLLATION:
        return Plain.NONE
    charset = known_charset(column.collation)
    if charset in _NEVER_PLAIN:
        return Plain.NONE
    return Plain.UTF8 if charset in _UTF8 else Plain.ASCII


def _one_by_one(values: pa.Array, literal: Literal) -> pa.Array:
    return pa.array([None if value is None else literal(value) for value in values.to_pylist()], pa.string())


def _members(values: pa.Array, literal: Literal) -> pa.Array:
    """Return the names of members, of which most are in many rows."""
    numbers = values.dictionary_encode()
    return _one_by_one(numbers.dictionary, lambda number: literal(int(number))).take(numbers.indices)
