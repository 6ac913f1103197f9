"""The canonical text of a row and its hash, on a server and from Arrow: two writers of one format.

A row is the texts of its columns with commas between them. `N` is NULL. A text that may contain any character has its
length before it (`5:a,b c`), and one of any size is replaced by its SHA-256 in hex: so rows stay far below
`max_allowed_packet`, beyond which servers make NULL of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.mirror.check.canonical import CanonicalColumn, canonical_column
from binspark.mirror.schema.mirrored_table import MirroredTable

NULL = "N"
_HASH_DIGITS = 16
_HASH_BYTES = 8

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class RowText:
    """How the rows of a table are written and hashed.

    columns   all columns
    key       those of the key; all columns of a table without a key
    """

    columns: tuple[CanonicalColumn, ...]
    key: tuple[CanonicalColumn, ...]

    @property
    def row_sql(self) -> str:
        """The expression of a row's hash: an integer of 64 bits."""
        return f"CAST(CONV(LEFT(SHA2({_joined(self.columns)}, 256), {_HASH_DIGITS}), 16, 10) AS UNSIGNED)"

    @property
    def key_sql(self) -> str:
        """The expression of the text of a row's key."""
        return _joined(self.key)

    def bucket_sql(self, count: int) -> str:
        """Return the expression of the bucket that the key of a row is in; their number is a power of two."""
        return f"CRC32({self.key_sql}) & {count - 1}"

    def hashes(self, batch: pa.RecordBatch) -> Hashes:
        """Return the hash of each row."""
        digests = b"".join([sha256(text).digest()[:_HASH_BYTES] for text in _texts(batch, self.columns)])
        return np.frombuffer(digests, dtype=">u8").astype(np.uint64)

    def keys(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the text of each row's key."""
        return _texts(batch, self.key)


def row_text(table: MirroredTable, *, mariadb: bool) -> RowText:
    """Return how the rows of a mirrored table are written."""
    columns = {
        name: canonical_column(column, table.options, mariadb=mariadb)
        for name, column in zip(table.source.column_names, table.source.columns, strict=True)
    }
    key = tuple(columns[name] for name in table.key)
    return RowText(tuple(columns.values()), key or tuple(columns.values()))


def buckets(keys: Iterable[bytes], count: int) -> npt.NDArray[np.int64]:
    """Return the bucket of each key."""
    return np.fromiter((crc32(key) for key in keys), dtype=np.int64) & (count - 1)


def column_texts(column: CanonicalColumn, array: pa.Array) -> list[bytes | None]:
    """Return the texts of a column's values as they are, for people."""
    return [None if text is None else bytes(text) for text in column.texts(array).to_pylist()]


def _joined(columns: Sequence[CanonicalColumn]) -> str:
    return f"CONCAT_WS(',', {', '.join(map(_element, columns))})"


def _element(column: CanonicalColumn) -> str:
    sql = column.sql
    if column.digest:
        sql = f"SHA2({sql}, 256)"
    elif column.counted:
        sql = f"CONCAT(LENGTH({sql}), ':', {sql})"
    return f"COALESCE({sql}, '{NULL}')"


def _texts(batch: pa.RecordBatch, columns: Sequence[CanonicalColumn]) -> list[bytes]:
    written = [_written(column, batch.column(column.name)) for column in columns]
    joined = pc.binary_join_element_wise(*written, pa.scalar(b",", pa.large_binary()))
    return joined.to_pylist()  # type: ignore[no-any-return]


def _written(column: CanonicalColumn, array: pa.Array) -> pa.Array:
    texts = column.texts(array)
    if column.digest:
        digests = [None if text is None else sha256(text).hexdigest() for text in texts.to_pylist()]
        texts = pa.array(digests, pa.large_string()).cast(pa.large_binary())
    elif column.counted:
        lengths = pc.binary_length(texts).cast(pa.large_string()).cast(pa.large_binary())
        texts = pc.binary_join_element_wise(lengths, texts, pa.scalar(b":", pa.large_binary()))
    return pc.fill_null(texts, NULL.encode())
