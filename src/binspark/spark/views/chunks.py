"""The view `chunks`: rows of several tables in one pass, some thousand at a time, each chunk an Arrow stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from binspark.columns.metadata import Metadata
from binspark.columns.reader import TableBatch
from binspark.position import Position
from binspark.schema.table import TableSchema
from binspark.spark.options import SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.schemas import arrow_schema, table_schema
from binspark.spark.views.base import LogReader, batch_readers
from binspark.spark.views.conform import Conformer

_CHUNK_BYTES = 4 << 20
_POSITION = (Metadata.SEQ, Metadata.LOG_FILE, Metadata.LOG_POS, Metadata.LOG_ROW)


@dataclass(frozen=True)
class ChunksView:
    """Packs the batches of each table, in the types of its typed DataFrame."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the chunks of a part of the logs."""
        packers: dict[TableSchema, _Packer] = {}
        selection = self.options.selection
        selection = replace(selection, max_bytes=min(selection.max_bytes, _CHUNK_BYTES))
        for found in reader.batches(part, batch_readers(selection, self.options)):
            packer = packers.get(found.table)
            if packer is None:
                packer = packers[found.table] = _Packer(found.table, self.options)
            yield self._record(packer, found)

    def _record(self, packer: _Packer, found: TableBatch) -> pa.RecordBatch:
        first = {f"_{name}": found.origin(name)[0].as_py() for name in _POSITION}
        values = {
            **first,
            "_table": found.table.name,
            "_rows": found.batch.num_rows,
            "_schema": packer.schema,
            "_chunk": packer.packed(found),
        }
        arrays = [pa.array([values[field.name]], field.type) for field in self.target]
        return pa.RecordBatch.from_arrays(arrays, schema=self.target)


class _Packer:
    """Packs batches of one schema version of a table."""

    def __init__(self, table: TableSchema, options: SourceOptions) -> None:
        schema = table_schema(table, options)
        self.schema = schema.json()
        version = SchemaVersion(table, Position())
        self._conformer = Conformer(arrow_schema(schema), version, replace(options, streaming=False))

    def packed(self, found: TableBatch) -> bytes:
        batch = self._conformer.conform(found)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        packed: bytes = sink.getvalue().to_pybytes()
        return packed
