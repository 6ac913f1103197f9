"""The rows of a table on its server: checksums, hashes of single rows, and their values as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from binspark.mirror.check.listing import Listing
from binspark.mirror.check.row_text import RowText
from binspark.mirror.check.sums import BucketSums
from binspark.mirror.schema.mirrored_table import ROW_END, MirroredTable, has_history
from binspark.mirror.snapshot.borders import if_unchanged, index_hint
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.select import (
    Literals,
    all_rows,
    between,
    equal_to,
    key_columns,
    key_texts,
    literals,
    table_name,
)
from binspark.server.connection import Connection, Row

SESSION = "SET SESSION time_zone = '+00:00', sql_mode = '', sql_select_limit = 18446744073709551615"
_KEYS_PER_QUERY = 1000


class SourceRows:
    """Reads a table over one connection: of the moment of each query, or of the connection's consistent snapshot."""

    def __init__(self, connection: Connection, table: MirroredTable, text: RowText) -> None:
        connection.rows(SESSION)
        self._connection = connection
        self._table = table
        self._text = text
        self._columns = key_columns(table)
        self._name = all_rows(table)
        self._hint = index_hint(connection, table) if table.key else ""

    def sums(self, chunks: Sequence[Chunk], buckets: int) -> BucketSums:
        """Return the checksums of chunks."""
        sums = BucketSums.empty(buckets, keyed=bool(self._table.key))
        combine = "BIT_XOR" if self._table.key else "SUM"
        for chunk in chunks:
            sql = (
                f"SELECT {self._text.bucket_sql(buckets)} AS bucket, COUNT(*), {combine}({self._text.row_sql}) "  # noqa: S608
                f"FROM {self._name}{self._hint} WHERE {self._within(chunk)} GROUP BY bucket"
            )
            sums.add_sums((int(bucket), int(count), int(combined or 0)) for bucket, count, combined in self._rows(sql))
        return sums

    def listed(self, chunks: Sequence[Chunk], buckets: int, wanted: Sequence[int]) -> Listing:
        """Return the rows of some buckets of chunks."""
        listing = Listing()
        chosen = f"{self._text.bucket_sql(buckets)} IN ({', '.join(map(str, wanted))})"
        for chunk in chunks:
            self._add_rows(listing, f"{self._hint} WHERE {self._within(chunk)} AND ({chosen})")
        return listing

    def at_keys(self, keys: Sequence[Literals]) -> Listing:
        """Return the rows with some keys."""
        listing = Listing()
        for condition in self._conditions(keys):
            self._add_rows(listing, f" WHERE {condition}")
        return listing

    def values(self, keys: Sequence[Literals]) -> dict[bytes, list[bytes | None]]:
        """Return the canonical texts of all columns of rows, by their keys."""
        shown = ", ".join(f"CONCAT({column.sql}, '')" for column in self._text.columns)
        found: dict[bytes, list[bytes | None]] = {}
        for condition in self._conditions(keys):
            sql = f"SELECT {self._text.key_sql}, {shown} FROM {self._name} WHERE {condition}"  # noqa: S608 (quoted)
            for key, *texts in self._rows(sql):
                found[_bytes(key) or b""] = [_bytes(text) for text in texts]
        return found

    def _add_rows(self, listing: Listing, source: str) -> None:
        key = f", {key_texts(self._columns)}" if self._columns else ""
        sql = f"SELECT {self._text.key_sql}, {self._text.row_sql}{key} FROM {self._name}{source}"  # noqa: S608 (quoted)
        for text, hashed, *parts in self._rows(sql):
            key_text = _bytes(text) or b""
            written = literals(self._columns, tuple(parts)) if self._columns else (text_literal(key_text),)
            listing.add(key_text, int(hashed), written)

    def _within(self, chunk: Chunk) -> str:
        return between(self._columns, chunk.low, chunk.high)

    def _conditions(self, keys: Sequence[Literals]) -> Iterator[str]:
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            portion = keys[start : start + _KEYS_PER_QUERY]
            if self._columns:
                yield equal_to(self._columns, portion)
            else:
                yield f"{self._text.key_sql} IN ({', '.join(text for (text,) in portion)})"

    def _rows(self, sql: str) -> list[Row]:
        return if_unchanged(lambda: self._connection.rows(sql))


def column_names(connection: Connection, table: MirroredTable) -> list[str]:
    """Return the names of the columns that a table has now; those of its history are not shown by the server."""
    shown = if_unchanged(lambda: connection.rows(f"SHOW COLUMNS FROM {table_name(table)}"))
    period = ["row_start", ROW_END] if has_history(table.source) else []
    return [*(row[0].decode() if isinstance(row[0], bytes) else str(row[0]) for row in shown), *period]


def text_literal(text: bytes) -> str:
    """Return the text of a row without a key as an SQL literal, which stands for its key."""
    return f"X'{text.hex()}'"


def _bytes(value: object) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode()
