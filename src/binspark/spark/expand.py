"""The view `chunks` as typed DataFrames."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from binspark.documents.conversion import Conversion, conversion
from binspark.errors import SchemaError
from binspark.spark.schemas import arrow_schema


def chunk_tables(chunks: DataFrame) -> list[str]:
    """Return the names of the tables whose rows are in chunks."""
    return sorted(row["_table"] for row in chunks.select("_table").distinct().collect())


def expand(chunks: DataFrame, table: str, schema: StructType | None = None) -> DataFrame | None:
    """Return the rows of one table as a typed DataFrame; None if there are no rows.

    >>> def apply(chunks, batch_id):  # doctest: +SKIP
    ...     chunks.persist()
    ...     for table in binspark.chunk_tables(chunks):
    ...         binspark.expand(chunks, table).write.mode("append").parquet(f"lake/{table}")
    ...     chunks.unpersist()

    If the schema of the table changed between the chunks, the newest one is used, unless `schema` is given.
    """
    own = chunks.where(F.col("_table") == table)
    if schema is None:
        newest = own.orderBy(F.desc("_seq")).select("_schema").first()
        if newest is None:
            return None
        schema = StructType.fromJson(json.loads(newest["_schema"]))
    return own.select("_chunk").mapInArrow(_unpack(schema, table), schema)


def _unpack(schema: StructType, table: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        target = arrow_schema(schema)
        for batch in batches:
            for chunk in batch.column(0):
                with pa.ipc.open_stream(chunk.as_buffer()) as stream:
                    for rows in stream:
                        yield _conformed(rows, target, table)

    return unpack


def _conformed(rows: pa.RecordBatch, target: pa.Schema, table: str) -> pa.RecordBatch:
    """Return rows in the newest schema: missing columns are null, narrower types are widened."""
    if rows.schema.equals(target):
        return rows
    arrays = []
    for field in target:
        index = rows.schema.get_field_index(field.name)
        arrays.append(pa.nulls(rows.num_rows, field.type) if index < 0 else _converted(rows, index, field, table))
    return pa.RecordBatch.from_arrays(arrays, schema=target)


def _converted(rows: pa.RecordBatch, index: int, field: pa.Field, table: str) -> pa.Array:
    have = rows.schema.field(index).type
    step: Conversion | None = conversion(have, field.type)
    if step is None:
        raise SchemaError(f"{table}.{field.name} was {have}, which cannot be converted to {field.type} without loss")
    return step(rows.column(index))
