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
from pyiceberg.manifest import DataFileContent, FileFormat, ManifestContent
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.typedef import Record

from binspark.mirror.files.data_file import DataFile
from binspark.mirror.files.directory import is_absolute
from binspark.mirror.targets.iceberg.snapshots import FORMAT_VERSION, Manifest
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


def check_writable(table: Table, snapshot: Snapshot | None, address: str) -> None:
    """Refuse a table that the library cannot write, or whose rows are not all valid."""
    position, version = Position(file=address), table.metadata.format_version
    if version != FORMAT_VERSION:
        raise TargetError(
            f"the table has format version {version}, and the mirror writes version {FORMAT_VERSION}. Drop the table "
            "in the target, and mirror it again",
            position,
        )
    manifests = snapshot.manifests(table.io) if snapshot else ()
    if snapshot is None or all(manifest.content is ManifestContent.DATA for manifest in manifests):
        return
    if any(task.delete_files for task in table.scan(snapshot_id=snapshot.snapshot_id).plan_files()):
        raise TargetError(
            "another program deleted rows by delete files, which the mirror does not read. Rewrite the data files "
            "(CALL … rewrite_data_files, with delete-file-threshold 1), and set write.delete.mode, write.update.mode "
            "and write.merge.mode to copy-on-write; then compare the table with its source by --check",
            position,
        )


def known_files(location: str, manifests: Iterable[Manifest]) -> Iterator[DataFile]:
    """Yield the data files of manifests as the mirror knows them."""
    for manifest in manifests:
        for entry in manifest.entries:
            file = entry.data_file
            yield DataFile(relative_path(location, file.file_path), file.file_size_in_bytes, file.record_count)


def full_path(location: str, path: str) -> str:
    """Return the path of a data file as Iceberg names it."""
    return path if is_absolute(path) else f"{location.rstrip('/')}/{path}"


def relative_path(location: str, path: str) -> str:
    """Return the path of a data file as the mirror names it: relative to the table, if it is below it."""
    return path.removeprefix(f"{location.rstrip('/')}/")
