"""Rows as digests of their values: equal for rows that are written the same, whatever log they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.columns.options import ZeroDates
from binspark.columns.selection import Selection
from binspark.documents.row_images import RowImages
from binspark.documents.row_objects import json_rows
from binspark.kernels.digests import digest_texts
from binspark.kernels.layout import Operation
from binspark.schema.table import TableSchema

Digests = npt.NDArray[np.uint64]
"""Two words for each row or text."""

_OFFSET_BYTES = 4
_METADATA = frozenset({Metadata.OP, Metadata.LOG_POS})


def for_digests(selection: Selection) -> Selection:
    """Return what must be decoded of the rows of a selection for their digests."""
    options = replace(selection.options, zero_dates=ZeroDates.STRING)
    images = replace(selection, before=True, images=True, diffs=True, absent=False, origins=False, options=options)
    return replace(images, metadata=True, metadata_columns=_METADATA)


def row_digests(found: TableBatch) -> Digests:
    """Return the digests of rows: of their table, operation, and values before and after the change.

    Columns count by their number, because not every log has their names.
    """
    images = RowImages(replace(found, table=_by_number(found.table)), json_rows)
    operations = images.operations
    seeds = np.array([text_digest(found.table.name, operation.name) for operation in Operation], dtype=np.uint64)
    digests: Digests = np.ascontiguousarray(seeds[operations])
    for texts in (images.before(), images.after()):
        _continue(digests, texts)
    for (row, column), diffs in found.diffs.items():
        digests[row] += np.array(text_digest(str(column), repr(diffs)), dtype=np.uint64)
    return digests


def value_digests(columns: Sequence[pa.Array], count: int, *seed: str) -> Digests:
    """Return the digests of the values that rows have in some columns. The seed distinguishes rows of other tables."""
    digests: Digests = np.tile(np.array(text_digest(*seed), dtype=np.uint64), (count, 1))
    for column in columns:
        kind = column.type
        _continue(digests, column if pa.types.is_string(kind) or pa.types.is_binary(kind) else column.cast(pa.string()))
    return digests


def text_digest(*texts: str | bytes) -> tuple[int, int]:
    """Return the digest of texts."""
    digest = blake2b(digest_size=16)
    for text in texts:
        raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    found = digest.digest()
    return int.from_bytes(found[:8], "little"), int.from_bytes(found[8:], "little")


def _continue(digests: Digests, texts: pa.Array) -> None:
    """Continue the digests of rows with a text of each."""
    _, offsets, data = texts.buffers()
    valid = np.ascontiguousarray(texts.is_valid().to_numpy(zero_copy_only=False), dtype=np.uint8)
    address = 0 if data is None else data.address
    first = offsets.address + _OFFSET_BYTES * texts.offset
    digest_texts(digests.ctypes.data, len(texts), first, address, valid.ctypes.data)


@lru_cache(maxsize=64)
def _by_number(table: TableSchema) -> TableSchema:
    columns = tuple(replace(column, name=f"@{number}") for number, column in enumerate(table.columns, 1))
    return replace(table, columns=columns)
