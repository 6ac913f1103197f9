"""Iceberg tables that other programs write, too; and what a table keeps of its state."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import AddSnapshotUpdate, SetSnapshotRefUpdate
from pyiceberg.typedef import Record
from pyiceberg.types import StringType

from binspark.files import Storage
from binspark.mirror.schema.column_changes import AddColumn, ChangeType, RenameColumn, SchemaChange
from binspark.mirror.targets.iceberg.clean_up import remove_orphans
from binspark.mirror.targets.parse import Format
from binspark.mirror.targets.target import Commit, CommitConflict, Cut, Target, TargetError, TargetTable
from tests.support.mirror.target_files import ITEMS, SCHEMA, put, rows_of, state_at, write_file

FIRST = {"id": 1, "name": "one"}
SECOND = {"id": 2, "name": "two"}
OTHER = pa.table({"id": pa.array([9], pa.int32()), "name": ["other"]})


@pytest.fixture
def kind() -> Format:
    return Format.ICEBERG


@pytest.fixture
def catalog(tmp_path: Path, items: TargetTable) -> Iterator[SqlCatalog]:
    """The catalog as another program opens it."""
    catalog = SqlCatalog("binspark", uri=f"sqlite:///{tmp_path}/lake/catalog.db")
    yield catalog
    catalog.close()


@pytest.fixture
def iceberg(items: TargetTable, catalog: SqlCatalog) -> Table:
    """The table of `items`, as another program sees it, with a row in each of two files."""
    put(items, [FIRST], 10)
    put(items, [SECOND], 20)
    return catalog.load_table("shop.items")


def test_a_table_is_found_by_its_identifier(items: TargetTable, iceberg: Table) -> None:
    assert items.address == "shop.items"
    assert iceberg.scan().to_arrow().num_rows == 2


def test_a_rewrite_that_is_stale_because_of_others_is_refused(items: TargetTable, iceberg: Table) -> None:
    base = items.read()
    iceberg.overwrite(iceberg.scan().to_arrow())
    with pytest.raises(CommitConflict):
        items.commit(Commit(base, state_at(30), [write_file(items.directory, SCHEMA, [FIRST])], base.files[:1]))
    assert rows_of(items) == [FIRST, SECOND]


def test_a_schema_change_of_others_makes_a_commit_stale(items: TargetTable, iceberg: Table) -> None:
    base = items.read()
    with iceberg.update_schema() as update:
        update.add_column("more", StringType())
    with pytest.raises(CommitConflict):
        items.commit(Commit(base, state_at(30)))
    assert items.read().foreign == (f"schema 1: columns changed after snapshot {base.version}",)


@pytest.mark.parametrize("operation", ["append", "overwrite", "delete"])
def test_rows_that_others_change_are_reported(items: TargetTable, iceberg: Table, operation: str) -> None:
    if operation == "append":
        iceberg.append(OTHER)
    elif operation == "delete":
        iceberg.delete("id = 1")
    else:
        with iceberg.transaction() as transaction, transaction.update_snapshot().overwrite() as update:
            update.delete_data_file(next(iter(iceberg.scan().plan_files())).file)
    version = items.read()
    assert version.state == state_at(20)
    assert len(version.foreign) == 1
    assert f": {operation} by an unknown program" in version.foreign[0]
    put(items, [{"id": 3, "name": "three"}], 30)
    assert (items.read().foreign, items.read().state) == ((), state_at(30))


def test_rewritten_data_files_are_not_foreign(items: TargetTable, iceberg: Table) -> None:
    """What Spark's rewrite_data_files commits: a snapshot with the operation `replace`."""
    head = iceberg.metadata.current_snapshot()
    assert head is not None
    replaced = head.model_copy(
        update={
            "snapshot_id": iceberg.metadata.new_snapshot_id(),
            "parent_snapshot_id": head.snapshot_id,
            "sequence_number": iceberg.metadata.next_sequence_number(),
            "summary": Summary(Operation.REPLACE),
        }
    )
    set_head(iceberg, replaced)
    version = items.read()
    assert (version.version, version.foreign, version.state) == (replaced.snapshot_id, (), state_at(20))
    put(items, [FIRST], 30, version.files)
    assert rows_of(items) == [FIRST]


def test_after_a_rollback_the_state_is_that_of_the_rows(items: TargetTable, catalog: SqlCatalog) -> None:
    first = put(items, [FIRST], 10)
    put(items, [SECOND], 20)
    table = catalog.load_table("shop.items")
    table.manage_snapshots().rollback_to_snapshot(first.version).commit()
    version = items.read()
    assert (version.version, version.state, rows_of(items)) == (first.version, state_at(10), [FIRST])
    put(items, [SECOND], 20)
    assert rows_of(items) == [FIRST, SECOND]


def test_the_state_survives_expiry_by_others(items: TargetTable, iceberg: Table) -> None:
    from datetime import datetime, timedelta

    iceberg.append(OTHER)
    iceberg.maintenance.expire_snapshots().older_than(datetime.now() + timedelta(days=1)).commit()
    assert len(iceberg.refresh().metadata.snapshots) == 1
    assert items.read().state == state_at(20)
    assert len(items.read().foreign) == 1


def test_definitions_are_kept_once_and_only_as_long_as_they_are_needed(items: TargetTable, catalog: SqlCatalog) -> None:
    def definitions() -> list[str]:
        properties = catalog.load_table("shop.items").properties
        return [text for name, text in properties.items() if name.startswith("binspark.definition.")]

    first = items.commit(Commit(items.read(), replace(state_at(10), definition="first " * 100)))
    items.commit(Commit(first, replace(state_at(20), definition="second")))
    assert len(definitions()) == 3
    state = items.read(first.version).state
    assert state is not None
    assert state.definition == "first " * 100
    items.clean_up(0)
    assert definitions() == ["second"]
    assert items.read().state == replace(state_at(20), definition="second")


def test_retries_that_a_user_switches_on_do_not_hide_a_conflict(items: TargetTable, iceberg: Table) -> None:
    with iceberg.transaction() as transaction:
        transaction.set_properties({"commit.retry.num-retries": "10"})
    base = items.read()
    iceberg.refresh().append(OTHER)
    with pytest.raises(CommitConflict):
        items.commit(Commit(base, state_at(30), [write_file(items.directory, SCHEMA, [FIRST])]))
    assert [row["id"] for row in rows_of(items)] == [1, 2, 9]


def test_delete_files_of_others_are_refused(items: TargetTable, iceberg: Table) -> None:
    """What Spark commits with write.delete.mode = merge-on-read: a file with positions of deleted rows."""
    head = iceberg.metadata.current_snapshot()
    assert head is not None
    deleted = next(iter(iceberg.scan().plan_files())).file.file_path
    set_head(iceberg, with_position_delete(iceberg, head, deleted))
    with pytest.raises(TargetError, match="deleted rows by delete files, which the mirror does not read"):
        items.read()


def test_a_table_of_another_format_version_is_refused(items: TargetTable, iceberg: Table) -> None:
    path = Path(iceberg.metadata_location.removeprefix("file://"))
    path.write_text(path.read_text().replace('"format-version":2', '"format-version":3'))
    with pytest.raises(TargetError, match="format version 3, and the mirror writes version 2"):
        items.read()


def test_a_scale_of_decimals_is_not_changed_in_place(target: Target) -> None:
    prices = pa.schema([pa.field("id", pa.int32()), pa.field("price", pa.decimal128(9, 2))])
    table = target.create(ITEMS, prices, state_at(4))
    base = put(table, [{"id": 1, "price": Decimal("1.25")}], 10)
    widened = prices.set(1, pa.field("price", pa.decimal128(12, 2)))
    assert not table.needs_rewrite(SchemaChange(widened, (ChangeType("price", pa.decimal128(12, 2)),)))
    finer = prices.set(1, pa.field("price", pa.decimal128(12, 4)))
    change = SchemaChange(finer, (ChangeType("price", pa.decimal128(12, 4)),))
    assert table.needs_rewrite(change)
    with pytest.raises(TargetError, match="needs all data files to be rewritten"):
        table.commit(Commit(base, state_at(20), schema_change=change))
    file = write_file(table.directory_after(change), finer, [{"id": 1, "price": Decimal("1.2500")}])
    table.commit(Commit(base, state_at(20), [file], base.files, change))
    assert rows_of(table) == [{"id": 1, "price": Decimal("1.2500")}]
    assert dict(table.directory.field_ids)["price"] == 3


def test_old_files_are_read_through_a_new_schema(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    wide = pa.schema([pa.field("title", pa.string()), pa.field("id", pa.int64()), pa.field("name", pa.string())])
    steps = (RenameColumn("name", "title"), AddColumn(wide.field("name")), ChangeType("id", pa.int64()))
    change = SchemaChange(wide, steps)
    assert not items.needs_rewrite(change)
    changed = items.commit(Commit(base, state_at(20), schema_change=change))
    row = {"title": "two", "id": 2**40, "name": "new"}
    items.commit(Commit(changed, state_at(30), [write_file(items.directory, wide, [row])]))
    assert rows_of(items) == [{"title": "one", "id": 1, "name": None}, row]
    assert rows_of(items, base.version) == [FIRST]
    assert items.read(base.version).schema == SCHEMA


def test_a_schema_that_was_there_before_is_used_again(items: TargetTable, catalog: SqlCatalog) -> None:
    there = SchemaChange(SCHEMA.set(1, pa.field("title", pa.string())), (RenameColumn("name", "title"),))
    back = SchemaChange(SCHEMA, (RenameColumn("title", "name"),))
    version = items.read()
    for offset, change in enumerate([there, back, there, back], 10):
        version = items.commit(Commit(version, state_at(offset), schema_change=change))
    assert len(catalog.load_table("shop.items").schemas()) == 2
    assert (items.read().schema, items.read().foreign) == (SCHEMA, ())


def test_commits_do_not_take_longer_with_each_one(items: TargetTable, catalog: SqlCatalog) -> None:
    version = items.read()
    for number in range(40):
        file = write_file(items.directory, SCHEMA, [{"id": number, "name": "x"}])
        version = items.commit(Commit(version, state_at(10 + number), [file], version.files[:-3]))
    table = catalog.load_table("shop.items")
    snapshot = table.current_snapshot()
    assert snapshot is not None
    manifests = snapshot.manifests(table.io)
    assert len(manifests) <= 11
    assert {manifest.content for manifest in manifests} == {ManifestContent.DATA}
    assert [row["id"] for row in rows_of(items)] == [36, 37, 38, 39]
    assert snapshot.summary is not None
    assert snapshot.summary["total-data-files"] == "4"
    assert snapshot.summary["total-records"] == "4"


def test_many_files_are_in_several_manifests(items: TargetTable, catalog: SqlCatalog) -> None:
    files = [write_file(items.directory, SCHEMA, [{"id": number, "name": "x"}]) for number in range(250)]
    version = items.commit(Commit(items.read(), state_at(10), files))
    version = items.commit(Commit(version, state_at(20), removed=version.files[:1]))
    table = catalog.load_table("shop.items")
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert len(snapshot.manifests(table.io)) == 3
    assert table.scan().count() == len(items.read().files) == len(version.files) == 249


def test_of_older_snapshots_only_those_of_cuts_are_kept(
    items: TargetTable, catalog: SqlCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each commit writes what is known of all snapshots: thousands of them would make it slow."""
    versions = [put(items, [FIRST], 10 + number).version for number in range(4)]
    items.clean_up(3600, [versions[1]])
    assert [each.snapshot_id for each in catalog.load_table("shop.items").snapshots()] == versions
    monkeypatch.setattr("binspark.mirror.targets.iceberg.clean_up.FREQUENT_SECONDS", -1)
    items.clean_up(3600, [versions[1]])
    assert [each.snapshot_id for each in catalog.load_table("shop.items").snapshots()] == [versions[1], versions[3]]
    assert items.read(versions[1]).state == state_at(11)
    assert (len(rows_of(items)), items.read().state, items.read().foreign) == (4, state_at(13), ())


def test_cuts_of_older_hours_are_one_for_each(target: Target) -> None:
    hour = 3600 * 1_000_000
    now = time.time_ns() // 1000
    begin = now // hour * hour - 5 * hour
    times = [begin, begin + 1, begin + 2, begin + hour, begin + hour + 1, now - 2, now - 1]
    for number, moment in enumerate(times):
        target.cuts.append(Cut(number, "", "", moment, ((ITEMS, number),)))
    assert [cut.number for cut in target.cuts.clean_up(24 * 3600)] == [2, 4, 5, 6]
    assert [cut.number for cut in target.cuts.all()] == [2, 4, 5, 6]


@pytest.mark.parametrize("prefix", ["file:", "FILE://localhost", ""])
def test_clean_up_finds_files_however_a_catalog_writes_their_location(
    items: TargetTable, iceberg: Table, prefix: str
) -> None:
    location = iceberg.metadata_location.replace("file://", prefix)
    other = Table(iceberg.name(), iceberg.metadata, location, iceberg.io, iceberg.catalog)
    assert remove_orphans(other, Storage(), 0) == 0
    assert Path(iceberg.metadata_location.removeprefix("file://")).exists()
    assert rows_of(items) == [FIRST, SECOND]


def test_clean_up_touches_nothing_if_metadata_is_somewhere_else(items: TargetTable, iceberg: Table) -> None:
    orphan = write_file(items.directory, SCHEMA, [FIRST])
    other = Table(iceberg.name(), iceberg.metadata, "s3://other/x.metadata.json", iceberg.io, iceberg.catalog)
    assert remove_orphans(other, Storage(), 0) == 0
    assert remove_orphans(iceberg, Storage(), 0) == 1
    assert not Path(items.directory.uri.removeprefix("file://"), orphan.path).exists()


def test_statistics_let_readers_skip_files(items: TargetTable, iceberg: Table) -> None:
    tasks = list(iceberg.scan(row_filter="id = 2").plan_files())
    assert len(tasks) == 1
    assert tasks[0].file.null_value_counts == {1: 0, 2: 0}


TYPES = {
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.duration("us"): pa.int64(),
    pa.time64("us"): pa.time64("us"),
    pa.decimal128(38, 10): pa.decimal128(38, 10),
    pa.decimal256(65, 30): pa.string(),
    pa.timestamp("us"): pa.timestamp("us"),
    pa.timestamp("us", tz="UTC"): pa.timestamp("us", tz="UTC"),
    pa.null(): pa.string(),
    pa.list_(pa.uint8()): pa.list_(pa.int32()),
    pa.struct([pa.field("srid", pa.uint32()), pa.field("wkb", pa.binary())]): pa.struct(
        [pa.field("srid", pa.int64()), pa.field("wkb", pa.binary())]
    ),
}


def test_every_type_has_one_that_iceberg_stores(target: Target) -> None:
    assert {kind: target.column_type(kind) for kind in TYPES} == TYPES
    schema = pa.schema([pa.field(f"c{number}", kind) for number, kind in enumerate(TYPES.values())])
    table = target.create(ITEMS, schema, state_at(4))
    row: dict[str, Any] = dict.fromkeys(schema.names)
    big = {**row, "c2": Decimal(2**64 - 1), "c10": [1, None], "c11": {"srid": 4326, "wkb": b"\x01"}}
    put(table, [row, big], 10)
    assert table.read().schema == schema
    assert sorted(rows_of(table), key=str) == sorted([row, big], key=str)


def set_head(table: Table, snapshot: Snapshot) -> None:
    """Commit a snapshot that another program made."""
    branch = {"ref-name": MAIN_BRANCH, "type": "branch", "snapshot-id": snapshot.snapshot_id}
    updates = (AddSnapshotUpdate(snapshot=snapshot), SetSnapshotRefUpdate.model_validate(branch))
    table.catalog.commit_table(table, (), updates)


def with_position_delete(table: Table, head: Snapshot, path: str) -> Snapshot:
    """Return a snapshot with a position delete file for the first row of a data file."""
    from pyiceberg.manifest import ManifestEntry, ManifestEntryStatus, ManifestWriterV2, write_manifest_list

    class DeleteManifestWriter(ManifestWriterV2):
        def content(self) -> ManifestContent:
            return ManifestContent.DELETES

    number, sequence = table.metadata.new_snapshot_id(), table.metadata.next_sequence_number()
    location = f"{table.location()}/metadata/{number}"
    bounds = {2147483546: path.encode()}
    file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=f"{location}-deletes.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=1,
        file_size_in_bytes=1,
        lower_bounds=bounds,
        upper_bounds=bounds,
    )
    file.spec_id = 0
    output = table.io.new_output(f"{location}-m0.avro")
    with DeleteManifestWriter(table.spec(), table.schema(), output, number, "null") as writer:
        writer.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=number, data_file=file))
    listed = f"{location}-list.avro"
    with write_manifest_list(2, table.io.new_output(listed), number, head.snapshot_id, sequence, "null") as list_writer:
        list_writer.add_manifests([*head.manifests(table.io), writer.to_manifest_file()])
    return head.model_copy(
        update={
            "snapshot_id": number,
            "parent_snapshot_id": head.snapshot_id,
            "sequence_number": sequence,
            "manifest_list": listed,
            "summary": Summary(Operation.DELETE),
        }
    )
