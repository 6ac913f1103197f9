"""A table's schema compiled once: what each column becomes, and whether kernels can fill all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.columns.types import Form, form_of
from binspark.errors import OptionError
from binspark.kernels.layout import Column as C
from binspark.kernels.layout import Op
from binspark.kernels.text_writers import text_writer_address
from binspark.schema.table import TableSchema
from binspark.values.charsets import charset_of, single_byte_table
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.exact import exact_columns

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class PlannedColumn:
    """One column of the table: its definition, and what it becomes.

    wanted  whether its values are decoded
    shown   whether they are a column of the batch: a part of the key may be decoded only for the key
    old     whether those of before images are decoded, too
    table   what the opcode looks values up in: the members of an ENUM, the characters of a character set
    """

    column: Column
    name: str
    form: Form
    wanted: bool
    shown: bool
    old: bool
    table: Bytes | None


@dataclass(frozen=True)
class TablePlan:
    """How the rows of a table become a batch."""

    schema: TableSchema
    columns: tuple[PlannedColumn, ...]
    options: ColumnOptions

    @property
    def wanted(self) -> tuple[PlannedColumn, ...]:
        """The selected columns."""
        return tuple(column for column in self.columns if column.wanted)

    @cached_property
    def by_kernel(self) -> bool:
        """Whether kernels decode the table. They must at least know the size of every value, selected or not."""
        return all(planned.form.kernel for planned in self.columns)

    @cached_property
    def reference_columns(self) -> tuple[Column, ...]:
        """The columns for the reference decoder: bytes that the batch keeps, or nobody selects, need not be text."""
        if self.options.exact:
            return exact_columns(tuple(planned.column for planned in self.columns))
        return tuple(
            _unread(planned.column) if planned.form.keeps_bytes or not planned.wanted else planned.column
            for planned in self.columns
        )

    @cached_property
    def unread_columns(self) -> tuple[Column, ...]:
        """The columns for the reference decoder, where it skips all values."""
        return tuple(_unread(planned.column) for planned in self.columns)

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """The indexes of the columns that are columns of a batch."""
        return tuple(index for index, planned in enumerate(self.columns) if planned.shown)

    @cached_property
    def key(self) -> tuple[int, ...]:
        """The indexes of the key's columns, if they are decoded."""
        key = self.schema.primary_key or ()
        return key if all(self.columns[index].wanted for index in key) else ()

    @cached_property
    def old_range(self) -> tuple[int, int]:
        """The first column whose values in before images are decoded, and the one after the last."""
        old = [index for index, planned in enumerate(self.columns) if planned.old]
        return (old[0], old[-1] + 1) if old else (0, 0)

    def field(self, index: int) -> pa.Field:
        """Return the field of a column."""
        planned = self.columns[index]
        return pa.field(planned.name, planned.form.type)

    @cached_property
    def fields(self) -> tuple[pa.Field, ...]:
        """The fields of the columns of a batch."""
        return tuple(map(self.field, self.shown))

    @cached_property
    def key_type(self) -> pa.DataType | None:
        """The type of the key: a struct of its columns; None if there is no key."""
        return pa.struct([self.field(index) for index in self.key]) if self.key else None


def compile_plan(
    schema: TableSchema,
    options: ColumnOptions,
    projection: tuple[str, ...] | None = None,
    *,
    key: bool = False,
    before: bool = False,
) -> TablePlan:
    """Compile the plan of a table; with a projection, columns that it does not name are skipped.

    With `key` the columns of the key are decoded whatever the projection is, with `before` also before images. Where a
    column of the key is selected, its value in before images is decoded in any case: with `binlog_row_image=MINIMAL`,
    the after image of an update does not contain it.
    """
    names = schema.column_names
    if projection is not None and schema.columns:
        unknown = [name for name in projection if name not in names]
        if unknown:
            raise OptionError(f"{schema.name} has no column {unknown[0]!r}; it has {', '.join(names)}")
    columns = []
    for index, (column, name) in enumerate(zip(schema.columns, names, strict=True)):
        is_key = index in (schema.primary_key or ())
        shown = projection is None or name in projection
        wanted = shown or (key and is_key)
        columns.append(_planned(column, name, options, wanted=wanted, shown=shown, old=wanted and (before or is_key)))
    return TablePlan(schema, tuple(columns), options)


def describe(planned: PlannedColumn, options: ColumnOptions, *, before: bool = False) -> npt.NDArray[np.int64]:
    """Return the numbers of a column, or of its values in before images, that do not change from batch to batch."""
    row = np.zeros(C.WIDTH, dtype=np.int64)
    form = planned.form
    row[C.OP] = form.op if (planned.old if before else planned.wanted) else Op.SKIP
    row[C.P1], row[C.P2] = form.p1, form.p2
    row[C.LENGTH_BYTES], row[C.FIXED_SIZE] = form.length_bytes, form.fixed_size
    row[C.MAX_LENGTH] = form.max_length
    row[C.ON_INVALID_DATE] = options.zero_dates is ZeroDates.ERROR
    if planned.table is not None:
        row[C.AUX] = planned.table.ctypes.data
    elif row[C.OP] in (Op.JSON, Op.TEMPORAL_TEXT):
        row[C.AUX] = text_writer_address(planned.column.type)
    return row


def _planned(
    column: Column, name: str, options: ColumnOptions, *, wanted: bool, shown: bool, old: bool
) -> PlannedColumn:
    form = form_of(column, options)
    table = _lookup_table(column, form) if wanted else None
    return PlannedColumn(column, name, form, wanted, shown, old, table)


def _unread(column: Column) -> Column:
    """Return a column that takes as many bytes, but need be neither text nor a member."""
    return replace(column, collation=BINARY_COLLATION, members=None)


def _lookup_table(column: Column, form: Form) -> Bytes | None:
    if form.op in (Op.ENUM, Op.SET):
        return members_table(column.members or ())
    if form.op is Op.TEXT_TABLE and column.collation is not None:
        return characters_table(charset_of(column.collation))
    return None


def members_table(members: tuple[str, ...]) -> Bytes:
    """Return int32 offsets of the members' text, one more than there are members, then the text."""
    texts = [member.encode() for member in members]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return np.frombuffer(offsets.tobytes() + b"".join(texts) + bytes(16), dtype=np.uint8)


def characters_table(charset: str) -> Bytes:
    """Return four bytes for each byte of a character set: its UTF-8 in three, and their count; 0 if it is undefined."""
    table = bytearray()
    for point in single_byte_table(charset):
        text = b"" if point < 0 else chr(point).encode()
        table += text.ljust(3, b"\0") + bytes((len(text),))
    return np.frombuffer(bytes(table), dtype=np.uint8)
