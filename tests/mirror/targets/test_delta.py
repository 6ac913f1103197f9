"""Delta tables that other programs write, too; and what the log of a table keeps."""

from __future__ import annotations

import json
import struct
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from binspark.mirror.schema.column_changes import AddColumn, ChangeType, SchemaChange
from binspark.mirror.targets.delta.log import user_metadata
from binspark.mirror.targets.parse import Format
from binspark.mirror.targets.target import Commit, CommitConflict, Target, TargetError, TargetTable
from tests.support.mirror.target_files import ITEMS, SCHEMA, put, rows_of, state_at, write_file

FIRST = {"id": 1, "name": "one"}
SECOND = {"id": 2, "name": "two"}
OTHER = pa.table({"id": pa.array([9], pa.int32()), "name": ["other"]})


@pytest.fixture
def kind() -> Format:
    return Format.DELTA


@pytest.fixture
def delta(items: TargetTable) -> DeltaTable:
    """The table of `items`, as another program sees it, with a row in each of two files."""
    put(items, [FIRST], 10)
    put(items, [SECOND], 20)
    return DeltaTable(items.address)


def test_a_table_is_found_by_its_path(tmp_path: Path, delta: DeltaTable) -> None:
    assert DeltaTable(tmp_path / "lake" / "shop" / "items").version() == delta.version()
    assert delta.metadata().name == "shop.items"


def test_a_rewrite_that_is_stale_because_of_optimize_is_refused(items: TargetTable, delta: DeltaTable) -> None:
    base = items.read()
    delta.optimize.compact()
    with pytest.raises(CommitConflict):
        items.commit(Commit(base, state_at(30), [write_file(items.directory, SCHEMA, [FIRST])], base.files[:1]))
    assert rows_of(items) == [FIRST, SECOND]


def test_optimize_is_not_foreign_and_its_files_are_found(items: TargetTable, delta: DeltaTable) -> None:
    delta.optimize.compact()
    version = items.read()
    assert (len(version.files), version.foreign, version.state) == (1, (), state_at(20))
    put(items, [FIRST], 30, version.files)
    assert rows_of(items) == [FIRST]


@pytest.mark.parametrize("operation", ["DELETE", "UPDATE", "WRITE", "ADD COLUMN", "RESTORE"])
def test_rows_and_columns_that_others_change_are_reported(
    items: TargetTable, delta: DeltaTable, operation: str
) -> None:
    if operation == "DELETE":
        delta.delete("id = 1")
    elif operation == "UPDATE":
        delta.update(updates={"name": "'x'"}, predicate="id = 1")
    elif operation == "WRITE":
        write_deltalake(delta, OTHER, mode="append")
    elif operation == "RESTORE":
        delta.restore(1)
    else:
        delta.alter.add_columns(deltalake.Field("more", deltalake.schema.PrimitiveType("string")))
    version = items.read()
    assert version.state == state_at(20)
    assert len(version.foreign) == 1
    assert version.foreign[0].startswith(f"version 3: {operation} ")


def test_the_mirror_continues_after_others_committed(items: TargetTable, delta: DeltaTable) -> None:
    write_deltalake(delta, OTHER, mode="append")
    delta.alter.set_table_properties({"delta.appendOnly": "false"})
    assert [text.partition(":")[0] for text in items.read().foreign] == ["version 3"]
    put(items, [{"id": 3, "name": "three"}], 30)
    assert [row["id"] for row in rows_of(items)] == [1, 2, 3, 9]
    assert (items.read().foreign, items.read().state) == ((), state_at(30))


def test_an_append_with_an_unknown_column_is_reported_and_hides_it(items: TargetTable, delta: DeltaTable) -> None:
    unknown = SCHEMA.append(pa.field("unknown", pa.string()))
    file = write_file(items.directory, unknown, [{"id": 7, "name": "seven", "unknown": "x"}])
    add = deltalake.transaction.AddAction(file.path, file.size, {}, 0, True, '{"numRecords": 1}')
    delta.create_write_transaction([add], "append", unknown)
    version = items.read()
    assert (version.schema, len(version.foreign)) == (SCHEMA, 1)
    assert rows_of(items)[-1] == {"id": 7, "name": "seven"}


def test_the_same_transaction_twice_is_recorded_by_others_but_refused_by_the_mirror(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    table = DeltaTable(items.address)
    assert table.transaction_version("binspark") == base.version
    with pytest.raises(CommitConflict):
        items.commit(Commit(items.read(0), state_at(10), [write_file(items.directory, SCHEMA, [FIRST])]))
    assert rows_of(items) == [FIRST]


def test_the_state_survives_checkpoints_and_log_clean_up_of_others(items: TargetTable, delta: DeltaTable) -> None:
    items.clean_up(0)
    delta = DeltaTable(items.address)
    delta.alter.set_table_properties({"delta.logRetentionDuration": "interval 0 days"})
    for _ in range(3):
        write_deltalake(delta, OTHER, mode="append")
        time.sleep(0.01)
    delta.create_checkpoint()
    time.sleep(1.1)
    delta.cleanup_metadata()
    logs = sorted(path.name for path in Path(items.address, "_delta_log").glob("*.json"))
    assert not any(name.startswith(f"{delta.transaction_version('binspark'):020}") for name in logs)
    version = items.read()
    assert version.state == state_at(20)
    assert version.foreign[0].endswith(": no longer in the log")


def test_clean_up_does_not_hide_what_others_committed(items: TargetTable, delta: DeltaTable) -> None:
    delta.delete("id = 1")
    items.clean_up(0)
    assert items.read().foreign[0].startswith("version 3: DELETE")


def test_a_state_that_log_clean_up_removed_is_an_error(items: TargetTable, delta: DeltaTable) -> None:
    log = Path(items.address, "_delta_log", f"{delta.version():020}.json")
    log.write_text(log.read_text().replace("binspark.state", "other"))
    with pytest.raises(TargetError, match="the position of the mirror is lost: log clean-up removed version 2"):
        items.read()


def test_log_clean_up_is_left_to_the_mirror(delta: DeltaTable) -> None:
    assert delta.metadata().configuration["delta.enableExpiredLogCleanup"] == "false"


def test_checkpoints_are_made_while_the_mirror_runs(items: TargetTable) -> None:
    version = items.read()
    for number in range(101):
        version = items.commit(Commit(version, state_at(100 + number)))
    assert list(Path(items.address, "_delta_log").glob("*.checkpoint.parquet"))
    assert items.read().state == state_at(200)


def test_a_table_with_column_mapping_is_refused(items: TargetTable, delta: DeltaTable) -> None:
    action = {**metadata_of(delta), "configuration": {"delta.columnMapping.mode": "name"}}
    append_commit(delta, {"metaData": action})
    with pytest.raises(TargetError, match=r"delta.columnMapping.mode = name, which the mirror cannot write"):
        items.read()


def test_deletion_vectors_that_are_only_switched_on_do_not_matter(items: TargetTable, delta: DeltaTable) -> None:
    delta.alter.add_feature(deltalake.TableFeatures.DeletionVectors, allow_protocol_versions_increase=True)
    delta.alter.set_table_properties({"delta.enableDeletionVectors": "true"})
    put(items, [{"id": 3, "name": "three"}], 30)
    assert [row["id"] for row in rows_of(items)] == [1, 2, 3]


def test_rows_deleted_by_deletion_vectors_are_refused(items: TargetTable, delta: DeltaTable) -> None:
    delta.alter.add_feature(deltalake.TableFeatures.DeletionVectors, allow_protocol_versions_increase=True)
    file = items.read().files[0]
    added: dict[str, Any] = {"path": file.path, "size": file.size, "partitionValues": {}, "modificationTime": 0}
    removed = {"path": file.path, "deletionTimestamp": 0, "dataChange": True}
    vector = {**inline_vector(0), "cardinality": 1}
    append_commit(
        DeltaTable(items.address),
        {"remove": removed},
        {"add": {**added, "dataChange": True, "deletionVector": vector, "stats": '{"numRecords": 1}'}},
    )
    with pytest.raises(TargetError, match="deleted rows by deletion vectors, which the mirror does not read"):
        items.read()


def test_files_without_statistics_have_an_unknown_number_of_rows(items: TargetTable, delta: DeltaTable) -> None:
    file = write_file(items.directory, SCHEMA, [FIRST])
    add = {"path": file.path, "size": file.size, "partitionValues": {}, "modificationTime": 0, "dataChange": True}
    append_commit(delta, {"add": add})
    assert sorted(known.rows for known in items.read().files) == [-1, 1, 1]


def test_another_order_is_kept_when_columns_are_added(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    wide = pa.schema([pa.field("first", pa.string()), *SCHEMA])
    changed = items.commit(
        Commit(base, state_at(20), schema_change=SchemaChange(wide, (AddColumn(wide.field("first")),)))
    )
    assert changed.schema.names == ["id", "name", "first"]


def test_a_change_of_type_without_new_files_is_refused(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    change = SchemaChange(SCHEMA.set(0, pa.field("id", pa.int64())), (ChangeType("id", pa.int64()),))
    assert items.needs_rewrite(change)
    with pytest.raises(TargetError, match="needs all data files to be rewritten"):
        items.commit(Commit(base, state_at(20), schema_change=change))


def test_columns_that_were_added_before_a_crash_are_not_added_again(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    price = pa.field("price", pa.decimal128(9, 2))
    change = SchemaChange(SCHEMA.append(price), (AddColumn(price),))
    DeltaTable(items.address).alter.add_columns(deltalake.Schema.from_arrow(pa.schema([price])).fields)
    with pytest.raises(CommitConflict):
        items.commit(Commit(base, state_at(20), schema_change=change))
    items.commit(Commit(items.read(), state_at(20), schema_change=change))
    assert (items.read().schema, items.read().state) == (change.schema, state_at(20))


TYPES = {
    pa.int8(): pa.int8(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.duration("us"): pa.int64(),
    pa.time64("us"): pa.int64(),
    pa.decimal128(38, 10): pa.decimal128(38, 10),
    pa.decimal256(65, 30): pa.string(),
    pa.timestamp("us"): pa.timestamp("us"),
    pa.timestamp("us", tz="UTC"): pa.timestamp("us", tz="UTC"),
    pa.null(): pa.string(),
    pa.dictionary(pa.int32(), pa.string()): pa.string(),
    pa.list_(pa.uint8()): pa.list_(pa.int16()),
    pa.struct([pa.field("srid", pa.uint32())]): pa.struct([pa.field("srid", pa.int64())]),
    pa.large_string(): pa.string(),
}


def test_every_type_has_one_that_delta_stores(target: Target) -> None:
    assert {kind: target.column_type(kind) for kind in TYPES} == TYPES
    schema = pa.schema([pa.field(f"c{number}", kind) for number, kind in enumerate(TYPES.values())])
    table = target.create(ITEMS, schema, state_at(4))
    row: dict[str, Any] = dict.fromkeys(schema.names)
    big = {**row, "c1": Decimal(2**64 - 1), "c4": Decimal("1234567890123456789012345678.0123456789")}
    put(table, [row, big], 10)
    assert table.read().schema == schema
    found = pa.table(DeltaTable(table.address).to_pyarrow_table())
    assert found["c1"].to_pylist() == [None, big["c1"]]
    assert found["c4"].to_pylist() == [None, big["c4"]]


def metadata_of(table: DeltaTable) -> dict[str, Any]:
    first = Path(table.table_uri.removeprefix("file://"), "_delta_log", f"{0:020}.json")
    actions = [json.loads(line) for line in first.read_text().splitlines()]
    found: dict[str, Any] = next(action["metaData"] for action in actions if "metaData" in action)
    return found


def append_commit(table: DeltaTable, *actions: dict[str, Any]) -> None:
    """Write a commit by hand, as a program that delta-rs is not."""
    log = Path(table.table_uri.removeprefix("file://"), "_delta_log", f"{table.version() + 1:020}.json")
    log.write_text("".join(f"{json.dumps(action)}\n" for action in actions))


def inline_vector(row: int) -> dict[str, Any]:
    """Return a deletion vector that deletes one row: a 64-bit Roaring bitmap, in Z85."""
    container = struct.pack("<IIHHIH", 12346, 1, 0, 0, 16, row)
    content = struct.pack("<IQI", 1681511377, 1, 0) + container
    padded = content + bytes(-len(content) % 4)
    return {"storageType": "i", "pathOrInlineDv": z85(padded), "sizeInBytes": len(content)}


def z85(content: bytes) -> str:
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    text = ""
    for start in range(0, len(content), 4):
        value = int.from_bytes(content[start : start + 4], "big")
        text += "".join(alphabet[value // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return text


def merge_by_the_jar(items: TargetTable, number: int, offset: int) -> None:
    """Write a commit as `MERGE` of the JVM does, planned on the version before a number; its rows do not matter."""
    info = {"operation": "MERGE", "engineInfo": "Delta-Lake/4.4.0", "userMetadata": user_metadata(state_at(offset))}
    transaction = {"appId": "binspark", "version": number, "lastUpdated": 0}
    version = DeltaTable(items.address).version() + 1
    content = "\n".join(json.dumps(action) for action in ({"commitInfo": info}, {"txn": transaction}))
    Path(items.address, "_delta_log", f"{version:020}.json").write_text(content)


def test_the_state_of_a_merge_is_read(items: TargetTable, delta: DeltaTable) -> None:
    merge_by_the_jar(items, delta.version() + 1, 30)
    version = items.read()
    assert (version.state, version.foreign) == (state_at(30), ())
    put(items, [FIRST], 40)
    assert items.read().state == state_at(40)


def test_a_merge_after_a_commit_of_another_program_does_not_hide_it(items: TargetTable, delta: DeltaTable) -> None:
    base = delta.version()
    delta.alter.set_table_properties({"delta.checkpointInterval": "7"})
    delta.delete("id = 1")
    merge_by_the_jar(items, base + 1, 30)
    version = items.read()
    assert version.state == state_at(30)
    assert [commit.partition(" by ")[0] for commit in version.foreign] == [
        f"version {base + 2}: DELETE (predicate id = 1)"
    ]
