"""Data files of Iceberg tables, with statistics from their Parquet footers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.manifest import DataFileContent, FileFormat
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.typedef import Record

from binspark.mirror.data_file import DataFile
from binspark.mirror.filesystem import is_absolute
from binspark.mirror.targets.target import TargetError
from binspark.position import Position


def new_files(files: Iterable[DataFile], metadata: TableMetadata) -> Iterator[IcebergFile]:
    """Yield new data files as the manifest of a table contains them."""
    schema = metadata.schema()
    plan, columns = compute_statistics_plan(schema, metadata.properties), parquet_path_to_id_mapping(schema)
    for file in files:
        footer = pq.read_metadata(pa.BufferReader(file.footer))
        found = data_file_statistics_from_parquet_metadata(footer, plan, columns)
        entry = IcebergFile.from_args(
            content=DataFileContent.DATA,
            file_path=full_path(metadata.location, file.path),
            file_format=FileFormat.PARQUET,
            partition=Record(),
            file_size_in_bytes=file.size,
            sort_order_id=None,
            equality_ids=None,
            key_metadata=None,
            **found.to_serialized_dict(),
        )
        entry.spec_id = metadata.default_spec_id
        yield entry


def stored_files(table: Table, snapshot_id: int | None, address: str) -> dict[str, IcebergFile]:
    """Return the data files of a snapshot by their paths; refuse those of which rows were deleted by delete files."""
    found: dict[str, IcebergFile] = {}
    for task in table.scan(snapshot_id=snapshot_id).plan_files() if table.metadata.snapshots else ():
        if task.delete_files:
            raise TargetError(
                "another program deleted rows by delete files or deletion vectors, which the mirror does not read. "
                "Rewrite the data files (CALL … rewrite_data_files, with delete-file-threshold 1), and set "
                "write.delete.mode, write.update.mode and write.merge.mode to copy-on-write; then compare the table "
                "with its source by --check",
                Position(file=address),
            )
        found[relative_path(table.metadata.location, task.file.file_path)] = task.file
    return found


def known_file(path: str, file: IcebergFile) -> DataFile:
    """Return a stored data file as the mirror knows it."""
    return DataFile(path, file.file_size_in_bytes, file.record_count)


def full_path(location: str, path: str) -> str:
    """Return the path of a data file as Iceberg names it."""
    return path if is_absolute(path) else f"{location.rstrip('/')}/{path}"


def relative_path(location: str, path: str) -> str:
    """Return the path of a data file as the mirror names it: relative to the table, if it is below it."""
    return path.removeprefix(f"{location.rstrip('/')}/")
