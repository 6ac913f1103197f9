"""The same batches, decoded before: the upper limit of what Spark can take as Arrow from Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from binspark.spark.source import BinlogDataSource


class FilePartition(InputPartition):
    """One file of batches."""


def write_batches(options: dict[str, str], folder: Path) -> list[Path]:
    """Decode each split of a query, and write its batches to a file."""
    source = BinlogDataSource(options)
    reader = source.reader(source.schema())
    files = []
    for number, partition in enumerate(reader.partitions()):
        path = folder / f"{number:04}.arrow"
        batches = reader.read(partition)
        first = next(batches)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, first.schema) as writer:
            writer.write_batch(first)
            for batch in batches:
                writer.write_batch(batch)
        files.append(path)
    return files


class DecodedSource(DataSource):
    """A data source that decodes nothing."""

    @classmethod
    def name(cls) -> str:
        return "decoded"

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 (Spark's signature)
        return DecodedReader(self.options["path"])


class DecodedReader(DataSourceReader):
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def partitions(self) -> list[InputPartition]:
        return [FilePartition(str(path)) for path in sorted(Path(self._folder).glob("*.arrow"))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(partition.value) as file, pa.ipc.open_file(file) as reader:
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index)
