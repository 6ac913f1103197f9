"""New snapshots of an Iceberg table.

The library's own way to replace files reads all manifests for each commit and never drops those whose files are gone,
so that a commit takes longer with each one before it. Here what the manifests contain is known from the commit before:
nothing is read, those with removed files are rewritten, and small ones are joined.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.manifest import (
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import (
    Operation,
    Snapshot,
    SnapshotSummaryCollector,
    Summary,
    update_snapshot_summaries,
)

FORMAT_VERSION: Literal[2] = 2
_COMPRESSION: Literal["deflate"] = "deflate"
_MAX_ENTRIES = 100
_MAX_SMALL_MANIFESTS = 10


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest of a snapshot, and its entries of files that are in the table."""

    file: ManifestFile
    entries: tuple[ManifestEntry, ...]

    @property
    def is_small(self) -> bool:
        """Whether it is worth joining with others."""
        return len(self.entries) <= _MAX_ENTRIES // 2

    def has(self, paths: set[str]) -> bool:
        """Return whether it has one of these files."""
        return any(entry.data_file.file_path in paths for entry in self.entries)


@dataclass(frozen=True, slots=True)
class NewSnapshot:
    """A snapshot that is to be committed, and its manifests."""

    snapshot: Snapshot
    manifests: tuple[Manifest, ...]


def read_manifests(snapshot: Snapshot | None, io: FileIO) -> tuple[Manifest, ...]:
    """Return the manifests of a snapshot that have data files."""
    found = snapshot.manifests(io) if snapshot else ()
    data = (manifest for manifest in found if manifest.content is ManifestContent.DATA)
    return tuple(Manifest(manifest, tuple(manifest.fetch_manifest_entry(io))) for manifest in data)


class SnapshotWriter:
    """Writes the manifests of a new snapshot of a table, on top of the current one."""

    def __init__(self, metadata: TableMetadata, io: FileIO) -> None:
        self._metadata = metadata
        self._io = io
        self._id = metadata.new_snapshot_id()
        self._sequence_number = metadata.next_sequence_number()
        self._parent = metadata.current_snapshot()
        self._uuid = uuid.uuid4()
        self._count = 0

    def write(
        self,
        manifests: Sequence[Manifest],
        added: Sequence[IcebergFile],
        removed: Sequence[IcebergFile],
        properties: dict[str, str],
    ) -> NewSnapshot:
        """Write the snapshot after files were added and removed. Nothing refers to it before it is committed."""
        gone = {file.file_path for file in removed}
        changed = [manifest for manifest in manifests if manifest.has(gone)]
        others = [manifest for manifest in manifests if manifest.entries and not manifest.has(gone)]
        small = [manifest for manifest in others if manifest.is_small]
        joined = [*changed, *small] if len(small) > _MAX_SMALL_MANIFESTS else changed
        kept = [manifest for manifest in others if manifest not in joined]
        entries = [*(entry for manifest in joined for entry in manifest.entries), *map(self._entry, added)]
        new = list(self._manifests(entries, gone))
        written = (*kept, *new)
        return NewSnapshot(self._snapshot(written, self._summary(added, removed, properties)), written)

    def _manifests(self, entries: Iterable[ManifestEntry], gone: set[str]) -> Iterator[Manifest]:
        rest = iter(entries)
        while part := list(islice(rest, _MAX_ENTRIES)):
            with write_manifest(
                FORMAT_VERSION,
                self._metadata.spec(),
                self._metadata.schema(),
                self._io.new_output(self._path(f"{self._uuid}-m{self._count}.avro")),
                self._id,
                _COMPRESSION,
            ) as writer:
                for entry in part:
                    if entry.data_file.file_path in gone:
                        writer.delete(entry)
                    elif entry.snapshot_id == self._id:
                        writer.add(entry)
                    else:
                        writer.existing(entry)
            self._count += 1
            live = (entry for entry in part if entry.data_file.file_path not in gone)
            yield Manifest(writer.to_manifest_file(), tuple(live))

    def _entry(self, file: IcebergFile) -> ManifestEntry:
        """Return the entry of a new file, with the numbers that it gets by this commit."""
        return ManifestEntry.from_args(
            status=ManifestEntryStatus.EXISTING,
            snapshot_id=self._id,
            sequence_number=self._sequence_number,
            file_sequence_number=self._sequence_number,
            data_file=file,
        )

    def _snapshot(self, manifests: Sequence[Manifest], summary: Summary) -> Snapshot:
        path = self._path(f"snap-{self._id}-0-{self._uuid}.avro")
        parent = self._parent.snapshot_id if self._parent else None
        with write_manifest_list(
            FORMAT_VERSION, self._io.new_output(path), self._id, parent, self._sequence_number, _COMPRESSION
        ) as writer:
            writer.add_manifests([manifest.file for manifest in manifests])
        fields = {
            "snapshot-id": self._id,
            "parent-snapshot-id": parent,
            "manifest-list": path,
            "sequence-number": self._sequence_number,
            "summary": summary,
            "schema-id": self._metadata.current_schema_id,
        }
        return Snapshot.model_validate(fields)

    def _summary(
        self, added: Sequence[IcebergFile], removed: Sequence[IcebergFile], properties: dict[str, str]
    ) -> Summary:
        collector, schema = SnapshotSummaryCollector(), self._metadata.schema()
        for file in added:
            collector.add_file(file, schema)
        for file in removed:
            collector.remove_file(file, schema)
        operation = Operation.APPEND if not removed else Operation.OVERWRITE if added else Operation.DELETE
        summary = Summary(operation, **collector.build(), **properties)
        return update_snapshot_summaries(summary, self._parent.summary if self._parent else None)

    def _path(self, name: str) -> str:
        return f"{self._metadata.location.rstrip('/')}/metadata/{name}"
