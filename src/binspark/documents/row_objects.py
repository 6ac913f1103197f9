"""Rows as objects: one value for each row, whatever its table, as VARIANT or as JSON text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.documents.fields import Writers, describe_fields, field_names
from binspark.documents.output import Output, Workspace, write_all
from binspark.documents.variant import bitmap_of, keys_of_rows, repeated, variants
from binspark.errors import OptionError
from binspark.kernels.objects.layout import SLACK, Field, Rows
from binspark.kernels.objects.rows import WRITERS as JSON_WRITERS
from binspark.kernels.objects.rows import write_json_rows
from binspark.kernels.variant import WRITERS as VARIANT_WRITERS
from binspark.kernels.variant import write_variant_rows
from binspark.values.column import Column

Valid = npt.NDArray[np.bool_] | None
"""Which rows become objects; the others become NULL. None: all of them."""

_FIELD_ROOM = 64  # maximum bytes of a value, besides those of variable size
_SHORT_FIELD = 8  # usual bytes of a value


@dataclass(frozen=True, eq=False, slots=True)
class PresentColumns:
    """Which columns are in the rows of a batch. A column that is not in a row is not in its object.

    images    the number of the image of each row
    columns   for each image, which columns are in it
    """

    images: npt.NDArray[np.int32]
    columns: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        if len(self.images) and not 0 <= self.images.min() <= self.images.max() < len(self.columns):
            found = f"from {self.images.min()} to {self.images.max()}"
            raise OptionError(f"rows have images {found}, but the columns of {len(self.columns)} images are known")


class _Input:
    """Rows for a kernel: its numbers, and the arrays that they point to."""

    def __init__(
        self,
        columns: Sequence[Column],
        arrays: Sequence[pa.Array],
        valid: Valid,
        present: PresentColumns | None,
        writers: Writers,
    ) -> None:
        self.rows = len(arrays[0]) if arrays else 0
        _check_lengths(self.rows, arrays, valid, present)
        self.fields = describe_fields(columns, arrays, writers)
        self.numbers = np.zeros(Rows.WIDTH, dtype=np.int64)
        self._kept_alive: list[npt.NDArray[np.generic]] = []
        self.numbers[Rows.ROWS], self.numbers[Rows.FIELD_COUNT] = self.rows, len(columns)
        self.numbers[Rows.FIELDS] = self.fields.ctypes.data
        if valid is not None:
            self._point(Rows.VALID, np.ascontiguousarray(valid, dtype=np.uint8))
        if present is not None:
            self._point(Rows.IMAGES, np.ascontiguousarray(present.images, dtype=np.int32))
            self._point(Rows.PRESENT, np.ascontiguousarray(present.columns, dtype=np.uint8))
        self.expected_bytes = sum(array.nbytes for array in arrays) + 64

    def _point(self, number: Rows, array: npt.NDArray[np.generic]) -> None:
        self._kept_alive.append(array)
        self.numbers[number] = array.ctypes.data


def variant_rows(
    columns: Sequence[Column], arrays: Sequence[pa.Array], *, valid: Valid = None, present: PresentColumns | None = None
) -> pa.StructArray:
    """Return the rows of a table as VARIANT, an object for each row; its fields are the columns.

    The arrays are those of a batch. Integers, decimals, floats, dates and times of day keep their types; TIME is text,
    as in JSON lines. The documents of JSON columns become part of the object.
    """
    keys = keys_of_rows(tuple(columns))
    order = list(keys.order)
    if present is not None:
        present = PresentColumns(present.images, present.columns[:, order])
    rows = _Input(
        [columns[index] for index in order], [arrays[index] for index in order], valid, present, VARIANT_WRITERS
    )
    numbers, fields = rows.numbers, rows.fields
    entries = np.empty(len(columns), dtype=np.int64)
    numbers[Rows.ENTRIES], numbers[Rows.KEY_BYTES] = entries.ctypes.data, keys.key_bytes
    fields[:, [Field.KEY_BYTES, Field.SRID_KEY, Field.WKB_KEY]] = keys.key_bytes, *keys.geometry
    room = _FIELD_ROOM * (len(columns) + 1) + SLACK
    expected = rows.expected_bytes + rows.rows * len(columns) * _SHORT_FIELD
    values = Output(numbers[Rows.AT : Rows.META_AT], rows.rows, expected, room)
    if not any(column.is_document for column in columns):
        shared = repeated(keys.dictionary, rows.rows, valid)
        write_all(write_variant_rows, numbers, values)
        return variants(values.buffers(), shared, rows.rows, valid)
    workspace = Workspace(keys.keys)
    numbers[Rows.WORKSPACE] = fields[:, Field.WORKSPACE] = workspace.address
    expected = rows.rows * (len(keys.dictionary) + 64)
    dictionaries = Output(numbers[Rows.META_AT : Rows.ENTRIES], rows.rows, expected)
    write_all(write_variant_rows, numbers, values, dictionaries, workspace)
    return variants(values.buffers(), dictionaries.buffers(), rows.rows, valid)


def json_rows(
    columns: Sequence[Column], arrays: Sequence[pa.Array], *, valid: Valid = None, present: PresentColumns | None = None
) -> pa.StringArray:
    """Return the rows of a table as JSON text, an object for each row, as `values.row_json` writes them.

    The arrays are those of a batch. Where it has dates as text (`zero_dates="string"`), zero dates are kept.
    """
    rows = _Input(columns, arrays, valid, present, JSON_WRITERS)
    names = [f"{json.dumps(name, ensure_ascii=False)}: ".encode() for name in field_names(columns)]
    text = np.frombuffer(b"".join(names) + bytes(8), dtype=np.uint8)
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    rows.fields[:, Field.NAME_LENGTH] = lengths
    rows.fields[:, Field.NAME] = text.ctypes.data + np.cumsum(lengths) - lengths
    expected = rows.expected_bytes + rows.rows * (len(text) + len(columns) * _SHORT_FIELD)
    output = Output(rows.numbers[Rows.AT : Rows.META_AT], rows.rows, expected, 2 * SLACK)
    write_all(write_json_rows, rows.numbers, output)
    bitmap, nulls = bitmap_of(valid)
    return pa.Array.from_buffers(pa.string(), rows.rows, [bitmap, *output.buffers()], nulls)


def _check_lengths(rows: int, arrays: Sequence[pa.Array], valid: Valid, present: PresentColumns | None) -> None:
    lengths = {len(array) for array in arrays} | ({len(valid)} if valid is not None else set())
    if present is not None:
        lengths.add(len(present.images))
        if present.columns.shape[1] != len(arrays):
            raise OptionError(f"row images have {present.columns.shape[1]} columns, the rows have {len(arrays)}")
    if lengths - {rows}:
        raise OptionError(f"arrays of different lengths: {', '.join(map(str, sorted(lengths)))}")
