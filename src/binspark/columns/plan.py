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

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class PlannedColumn:
    """One column of the table: its definition, what it becomes, and whether it is selected."""

    column: Column
    name: str
    form: Form
    wanted: bool
    table: Bytes | None
    """What the opcode looks values up in: the members of an ENUM, the characters of a character set."""


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
        return tuple(
            _unread(planned.column) if planned.form.keeps_bytes or not planned.wanted else planned.column
            for planned in self.columns
        )

    @cached_property
    def unread_columns(self) -> tuple[Column, ...]:
        """The columns for the reference decoder, where it skips all values."""
        return tuple(_unread(planned.column) for planned in self.columns)

    @cached_property
    def fields(self) -> tuple[pa.Field, ...]:
        """The fields of the selected columns in a batch."""
        return tuple(pa.field(planned.name, planned.form.type) for planned in self.wanted)


def compile_plan(schema: TableSchema, options: ColumnOptions, projection: tuple[str, ...] | None = None) -> TablePlan:
    """Compile the plan of a table; with a projection, columns that it does not name are skipped."""
    names = schema.column_names
    if projection is not None:
        unknown = [name for name in projection if name not in names]
        if unknown:
            raise OptionError(f"{schema.name} has no column {unknown[0]!r}; it has {', '.join(names)}")
    columns = tuple(
        _planned(column, name, options, wanted=projection is None or name in projection)
        for column, name in zip(schema.columns, names, strict=True)
    )
    return TablePlan(schema, columns, options)


def describe(planned: PlannedColumn, options: ColumnOptions) -> npt.NDArray[np.int64]:
    """Return the numbers of a column that do not change from batch to batch."""
    row = np.zeros(C.WIDTH, dtype=np.int64)
    form = planned.form
    row[C.OP] = form.op if planned.wanted else Op.SKIP
    row[C.P1], row[C.P2] = form.p1, form.p2
    row[C.LENGTH_BYTES], row[C.FIXED_SIZE] = form.length_bytes, form.fixed_size
    row[C.MAX_LENGTH] = form.max_length
    row[C.ON_INVALID_DATE] = options.zero_dates is ZeroDates.ERROR
    if planned.table is not None:
        row[C.AUX] = planned.table.ctypes.data
    elif row[C.OP] in (Op.JSON, Op.TEMPORAL_TEXT):
        row[C.AUX] = text_writer_address(planned.column.type)
    return row


def _planned(column: Column, name: str, options: ColumnOptions, *, wanted: bool) -> PlannedColumn:
    form = form_of(column, options)
    table = _lookup_table(column, form) if wanted else None
    return PlannedColumn(column, name, form, wanted, table)


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
