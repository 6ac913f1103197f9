"""Expiry of old snapshots of an Iceberg table, and of the files that no snapshot needs."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from itertools import pairwise

from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata

from binspark.files.storage.options import Storage
from binspark.files.storage.store import base_name
from binspark.mirror.files.directory import open_directory
from binspark.mirror.targets.cuts import FREQUENT_SECONDS
from binspark.mirror.targets.iceberg.state import unused_definitions

_DATA = ".parquet"
_SUFFIXES = (_DATA, ".avro", ".metadata.json")
_NANOSECONDS = 1_000_000_000
_MILLISECONDS = 1000


def expire(table: Table, retention_seconds: float, needed: Collection[int] | None = None) -> Table:
    """Remove snapshots that were replaced longer ago than this, and what only they needed of the state.

    needed   if it is given, of the snapshots that were replaced more than an hour ago only these stay. Each commit
             writes what the table knows of all its snapshots, so that hundreds are no problem, and thousands are
    """
    metadata, now = table.metadata, time.time()
    oldest, recent = (int((now - age) * _MILLISECONDS) for age in (retention_seconds, FREQUENT_SECONDS))
    outdated = [
        number
        for number, replaced in _replaced(metadata)
        if number not in (needed or ()) and replaced <= (oldest if needed is None else max(oldest, recent))
    ]
    if outdated:
        table.maintenance.expire_snapshots().by_ids(outdated).commit()
        table = table.refresh()
    if unused := unused_definitions(table.metadata):
        with table.transaction() as transaction:
            transaction.remove_properties(*unused)
    return table


def _replaced(metadata: TableMetadata) -> Iterator[tuple[int, int]]:
    """Yield the snapshots that are not current, and when each was replaced by another. Earlier cuts refer to it."""
    heads = {ref.snapshot_id for ref in metadata.refs.values()}
    for snapshot, successor in pairwise(sorted(metadata.snapshots, key=lambda each: each.timestamp_ms)):
        if snapshot.snapshot_id not in heads:
            yield snapshot.snapshot_id, successor.timestamp_ms


def remove_orphans(table: Table, storage: Storage, retention_seconds: float) -> int:
    """Remove files below the table's location that no snapshot needs and that are older than this.

    Return how many data files were removed. Younger files may belong to a commit that is being prepared. Files are
    compared by their names, which are unique: programs and catalogs write the same location in several ways.
    """
    from pyarrow.fs import FileSelector, FileType

    directory = open_directory(table.metadata.location, storage)
    needed = {base_name(path) for path in _needed(table)}
    oldest = time.time_ns() - int(retention_seconds * _NANOSECONDS)
    found = directory.files.get_file_info(FileSelector(directory.root, recursive=True))
    if base_name(table.metadata_location) not in {info.base_name for info in found}:
        return 0  # the catalog keeps metadata somewhere else: it is not known what is needed here
    removed = 0
    for info in found:
        is_ours = info.type is FileType.File and info.base_name.endswith(_SUFFIXES)
        if is_ours and info.base_name not in needed and info.mtime_ns <= oldest:
            directory.files.delete_file(info.path)
            removed += info.base_name.endswith(_DATA)
    return removed


def _needed(table: Table) -> Iterator[str]:
    """Yield the path of each file that the table's metadata refers to."""
    metadata = table.metadata
    yield table.metadata_location
    yield from (entry.metadata_file for entry in metadata.metadata_log)
    yield from (entry.statistics_path for entry in metadata.statistics)
    yield from (entry.statistics_path for entry in metadata.partition_statistics)
    manifests: dict[str, ManifestFile] = {}
    for snapshot in metadata.snapshots:
        yield snapshot.manifest_list
        manifests.update({manifest.manifest_path: manifest for manifest in snapshot.manifests(table.io)})
    for path, manifest in manifests.items():
        yield path
        yield from (entry.data_file.file_path for entry in manifest.fetch_manifest_entry(table.io))
