"""What holds for tables of both formats."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from binspark.errors import SourceError
from binspark.mirror.files.access import is_there
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.files.directory import open_directory
from binspark.mirror.schema.column_changes import AddColumn, ChangeType, DropColumn, RenameColumn, SchemaChange
from binspark.mirror.state import Phase, StagedCopy
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Commit, CommitConflict, Cut, Target, TargetError, TargetTable
from binspark.schema.table import TableName
from tests.support.mirror.target_files import ITEMS, SCHEMA, put, rows_of, state_at, write_file

FIRST = {"id": 1, "name": "one"}
SECOND = {"id": 2, "name": "two"}
WIDE = pa.schema([pa.field("id", pa.int32()), pa.field("price", pa.decimal128(9, 2)), pa.field("name", pa.string())])


def test_a_new_table_is_empty_and_has_its_state(target: Target, items: TargetTable) -> None:
    version = items.read()
    assert (version.schema, version.state, version.files) == (SCHEMA, state_at(4), ())
    assert target.tables() == [ITEMS]
    assert rows_of(items) == []


def test_rows_and_state_are_committed_together(items: TargetTable) -> None:
    committed = put(items, [FIRST, SECOND], 10)
    assert rows_of(items) == [FIRST, SECOND]
    found = items.read()
    assert (found.version, found.state, found.foreign) == (committed.version, state_at(10), ())
    assert [(file.path, file.rows) for file in found.files] == [(file.path, 2) for file in committed.files]
    assert found.files[0].size == committed.files[0].size


def test_a_commit_keeps_what_is_known_of_files(items: TargetTable) -> None:
    first = put(items, [FIRST], 10)
    file = write_file(items.directory, SCHEMA, [SECOND])
    second = items.commit(Commit(first, state_at(20), [file]))
    assert [(known.low, known.high, known.footer) for known in second.files] == [(b"low", b"high", b"")] * 2


def test_files_are_replaced(items: TargetTable) -> None:
    first = put(items, [FIRST], 10)
    second = put(items, [SECOND], 20, first.files)
    assert rows_of(items) == [SECOND]
    assert rows_of(items, first.version) == [FIRST]
    assert second.version != first.version


def test_all_rows_can_be_removed(items: TargetTable) -> None:
    first = put(items, [FIRST], 10)
    emptied = items.commit(Commit(first, state_at(20), removed=first.files))
    assert rows_of(items) == []
    assert (emptied.files, items.read().files, items.read().state) == ((), (), state_at(20))


def test_a_state_can_be_committed_without_rows(items: TargetTable) -> None:
    moved = items.commit(Commit(items.read(), replace(state_at(20), pending="{}")))
    again = items.commit(Commit(moved, state_at(30)))
    assert items.read().state == again.state == state_at(30)


def test_a_version_can_be_read_again(items: TargetTable) -> None:
    first = put(items, [FIRST], 10)
    put(items, [SECOND], 20)
    assert items.read(first.version) == replace(first, files=items.read(first.version).files)
    assert [file.path for file in items.read(first.version).files] == [file.path for file in first.files]


def test_a_version_that_is_not_there_is_an_error(items: TargetTable) -> None:
    with pytest.raises((SourceError, TargetError), match="items"):
        items.read(12345)


def test_a_stale_commit_is_refused(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    first, second = (write_file(items.directory, SCHEMA, [row]) for row in (FIRST, SECOND))
    items.commit(Commit(base, state_at(20), [first], base.files))
    with pytest.raises(CommitConflict, match="another program"):
        items.commit(Commit(base, state_at(20), [second], base.files))
    assert rows_of(items) == [FIRST]


def test_another_process_makes_a_commit_stale(target: Target, items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    other = target.table(ITEMS)
    assert other is not None
    put(other, [SECOND], 20)
    with pytest.raises(CommitConflict):
        items.commit(Commit(base, state_at(20), [write_file(items.directory, SCHEMA, [SECOND])]))
    assert rows_of(items) == [FIRST, SECOND]


def test_a_stale_commit_of_a_state_alone_is_refused(target: Target, items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    other = target.table(ITEMS)
    assert other is not None
    other.commit(Commit(other.read(), state_at(30)))
    with pytest.raises(CommitConflict):
        items.commit(Commit(base, state_at(20)))
    assert items.read().state == state_at(30)


def test_the_same_changes_are_not_applied_twice(target: Target, items: TargetTable) -> None:
    """After a crash right after the commit the position is read, and it is known that the rows are there."""
    put(items, [FIRST], 10)
    restarted = target.table(ITEMS)
    assert restarted is not None
    state = restarted.read().state
    assert state is not None
    assert state.position.reaches(state_at(10).position)


def test_a_table_of_another_mirror_is_not_written(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    with pytest.raises(TargetError, match="written by the mirror 'm1', and this is the mirror 'm2'"):
        items.commit(Commit(base, state_at(20, mirror="m2")))


def test_a_table_is_not_created_over_that_of_another_mirror(target: Target, items: TargetTable) -> None:
    with pytest.raises(TargetError, match="Give each mirror a --target of its own"):
        target.create(ITEMS, SCHEMA, state_at(4, mirror="m2"))
    with pytest.raises(TargetError, match="exists already"):
        target.create(ITEMS, SCHEMA, state_at(4))


def test_a_column_is_added_without_writing_files(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    change = SchemaChange(WIDE, (AddColumn(WIDE.field("price")),))
    assert not items.needs_rewrite(change)
    changed = items.commit(Commit(base, state_at(20), schema_change=change))
    assert sorted(changed.schema.names) == sorted(WIDE.names)
    assert rows_of(items) == [{**FIRST, "price": None}]
    assert (items.read().schema, items.read().state) == (changed.schema, state_at(20))
    put(items, [SECOND], 30)
    assert rows_of(items) == [{**FIRST, "price": None}, {**SECOND, "price": None}]


def test_a_column_is_added_together_with_rows(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    change = SchemaChange(WIDE, (AddColumn(WIDE.field("price")),))
    file = write_file(items.directory_after(change), WIDE, [{**SECOND, "price": None}])
    items.commit(Commit(base, state_at(20), [file], schema_change=change))
    assert [row["id"] for row in rows_of(items)] == [1, 2]
    assert items.read().state == state_at(20)


def test_a_column_with_a_default_is_added_in_new_files(items: TargetTable) -> None:
    base = put(items, [FIRST], 10)
    change = SchemaChange(WIDE, (AddColumn(WIDE.field("price")),))
    file = write_file(items.directory_after(change), WIDE, [{**FIRST, "price": 7}])
    changed = items.commit(Commit(base, state_at(20), [file], base.files, change))
    assert changed.schema == items.read().schema == WIDE
    assert [str(row["price"]) for row in rows_of(items)] == ["7.00"]


CHANGES = {
    "dropped": SchemaChange(SCHEMA.remove(1), (DropColumn("name"),)),
    "renamed": SchemaChange(SCHEMA.set(1, pa.field("title", pa.string())), (RenameColumn("name", "title"),)),
    "widened": SchemaChange(SCHEMA.set(0, pa.field("id", pa.int64())), (ChangeType("id", pa.int64()),)),
    "reordered": SchemaChange(pa.schema([SCHEMA.field("name"), SCHEMA.field("id")]), ()),
    "another type": SchemaChange(SCHEMA.set(0, pa.field("id", pa.string())), (ChangeType("id", pa.string()),)),
    "all at once": SchemaChange(
        pa.schema(
            [pa.field("title", pa.string()), pa.field("more", pa.list_(pa.string())), pa.field("id", pa.int64())]
        ),
        (
            ChangeType("id", pa.int64()),
            RenameColumn("name", "title"),
            AddColumn(pa.field("more", pa.list_(pa.string()))),
        ),
    ),
    "names swapped": SchemaChange(
        pa.schema([pa.field("name", pa.int32()), pa.field("id", pa.string())]),
        (RenameColumn("id", "x"), RenameColumn("name", "id"), RenameColumn("x", "name")),
    ),
    "dropped and added anew": SchemaChange(
        SCHEMA.set(1, pa.field("name", pa.binary())), (DropColumn("name"), AddColumn(pa.field("name", pa.binary())))
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_columns_are(items: TargetTable, case: str) -> None:
    base, change = put(items, [FIRST], 10), CHANGES[case]
    values = {"id": 1, "name": "one", "title": "one", "more": ["a"]}
    if case == "another type":
        values["id"] = "1"
    if case == "names swapped":
        values = {"name": 1, "id": "one"}
    if case == "dropped and added anew":
        values["name"] = b"1"
    row = {name: values[name] for name in change.schema.names}
    if items.needs_rewrite(change):
        file = write_file(items.directory_after(change), change.schema, [row])
        items.commit(Commit(base, state_at(20), [file], base.files, change))
    else:
        items.commit(Commit(base, state_at(20), schema_change=change))
        row = {**row, "more": None} if "more" in row else row
        row = {**row, "name": None} if case == "dropped and added anew" else row
    version = items.read()
    assert version.schema == change.schema
    assert (version.state, version.foreign) == (state_at(20), ())
    assert rows_of(items) == [row]
    put(items, [row], 30, version.files)
    assert rows_of(items) == [row]


def test_a_schema_change_is_made_on_an_empty_table(items: TargetTable) -> None:
    change = CHANGES["all at once"]
    items.commit(Commit(items.read(), state_at(20), schema_change=change))
    assert items.read().schema == change.schema


def test_a_table_is_renamed_with_its_rows(target: Target, items: TargetTable) -> None:
    put(items, [FIRST], 10)
    renamed = target.rename(ITEMS, TableName("stock", "goods of 2026"))
    assert target.tables() == [TableName("stock", "goods of 2026")]
    assert (rows_of(renamed), renamed.read().state) == ([FIRST], state_at(10))
    put(renamed, [SECOND], 20)
    assert rows_of(renamed) == [FIRST, SECOND]
    again = target.rename(ITEMS, TableName("stock", "goods of 2026"))
    assert again.read().state == state_at(20)


def test_a_table_is_not_renamed_over_another(target: Target, items: TargetTable) -> None:
    target.create(TableName("shop", "goods"), SCHEMA, state_at(5))
    with pytest.raises(TargetError, match="there is another table"):
        target.rename(ITEMS, TableName("shop", "goods"))
    with pytest.raises(TargetError, match="it is not in the target"):
        target.rename(TableName("shop", "a"), TableName("shop", "b"))


def test_a_table_is_dropped_and_created_anew(target: Target, items: TargetTable) -> None:
    put(items, [FIRST], 10)
    target.drop(ITEMS)
    target.drop(ITEMS)
    assert (target.table(ITEMS), target.tables()) == (None, [])
    again = target.create(ITEMS, WIDE, state_at(30))
    assert (rows_of(again), again.read().state) == ([], state_at(30))


@pytest.mark.parametrize("table", ["Größe", "a b", "a/b", "a.b", "@0020", "_x", "😀", "100%"])
def test_a_table_may_have_any_name(target: Target, table: str) -> None:
    name = TableName("my shop", table)
    created = target.create(name, SCHEMA, state_at(4))
    put(created, [FIRST], 10)
    found = target.table(name)
    assert found is not None
    assert (target.tables(), rows_of(found)) == ([name], [FIRST])


def test_clean_up_removes_old_versions_and_files_and_keeps_the_state(target: Target, items: TargetTable) -> None:
    first = put(items, [FIRST], 10)
    put(items, [SECOND], 20, first.files)
    orphan = write_file(items.directory, SCHEMA, [FIRST])
    assert items.clean_up(0) == 2
    assert (rows_of(items), items.read().state, items.read().foreign) == ([SECOND], state_at(20), ())
    assert [file.path for file in (*first.files, orphan) if is_stored(items, file)] == []
    put(items, [FIRST], 30)
    assert rows_of(items) == [FIRST, SECOND]


def is_stored(table: TargetTable, file: DataFile) -> bool:
    directory = open_directory(table.directory.uri, table.directory.storage)
    return bool(directory.files.get_file_info(directory.path(file.path)).is_file)


def test_clean_up_keeps_what_is_younger(items: TargetTable) -> None:
    first = put(items, [FIRST], 10)
    put(items, [SECOND], 20, first.files)
    assert items.clean_up(3600) == 0
    assert rows_of(items, first.version) == [FIRST]


def test_clean_up_keeps_the_version_that_a_later_cut_refers_to(items: TargetTable) -> None:
    """A table that does not change for long keeps its version: it is current when cuts are made."""
    first = put(items, [FIRST], 10)
    second = put(items, [SECOND], 20, first.files)
    time.sleep(2.2)
    replaced = time.time()
    put(items, [FIRST], 30, second.files)
    items.clean_up(time.time() - replaced + 2)  # older than that is the second version, but not its end
    assert (rows_of(items, second.version), items.read(second.version).state) == ([SECOND], state_at(20))


def test_a_table_that_does_not_change_needs_no_clean_up(items: TargetTable) -> None:
    put(items, [FIRST], 10)
    items.clean_up(60)
    version = items.read().version
    items.clean_up(60)
    assert items.read().version == version


def cut(number: int, time_us: int = 1, mirror: str = "m1") -> Cut:
    versions = ((ITEMS, 7 * number), (TableName("shop", "orders"), 8 * number))
    return Cut(number, f"binlog.000001:{number}", f"gtids {number}", time_us, versions, mirror)


def test_cuts_are_read_as_they_were_written(target: Target) -> None:
    assert (target.cuts.last(), target.cuts.all()) == (None, [])
    for number in (1, 2, 3):
        target.cuts.append(cut(number))
    assert target.cuts.last() == cut(3)
    assert target.cuts.all() == [cut(1), cut(2), cut(3)]
    assert target.tables() == []


def test_the_files_of_many_cuts_are_joined(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("binspark.mirror.targets.delta.cuts.FILES_TO_JOIN", 4)
    for number in range(1, 8):
        target.cuts.append(cut(number))
    assert target.cuts.all() == [cut(number) for number in range(1, 8)]


def test_old_cuts_are_removed_but_not_the_newest(target: Target) -> None:
    now = time.time_ns() // 1000
    target.cuts.clean_up(60)
    for number in (1, 2):
        target.cuts.append(cut(number))
    target.cuts.clean_up(60)
    assert target.cuts.all() == [cut(2)]
    target.cuts.append(cut(3, now))
    target.cuts.clean_up(60)
    assert target.cuts.all() == [cut(3, now)]
    target.cuts.append(cut(4, now))
    target.cuts.clean_up(60)
    assert target.cuts.all() == [cut(3, now), cut(4, now)]


def test_two_mirrors_do_not_share_a_target(target: Target) -> None:
    target.cuts.append(cut(1))
    with pytest.raises(TargetError, match="Give each mirror a --target of its own"):
        target.cuts.append(cut(2, mirror="m2"))
    with pytest.raises(TargetError, match="cut 1 was expected to follow cut 1"):
        target.cuts.append(cut(1))


def test_a_second_process_of_a_mirror_is_noticed(kind: Format, tmp_path: Path, target: Target) -> None:
    other = parse_target(str(tmp_path / "lake"), kind)
    target.cuts.append(cut(1))
    assert other.cuts.last() == cut(1)
    target.cuts.append(cut(2))
    with pytest.raises(TargetError, match="another process of this mirror is running"):
        other.cuts.append(cut(2, 7))
    other.close()


def test_files_of_a_copy_that_no_version_has_yet_are_not_cleaned_up(items: TargetTable) -> None:
    staged = StagedCopy("copy", state_at(9).position, "{}", int(time.time()))
    before = items.commit(Commit(items.read(), state_at(4), [write_file(items.directory, SCHEMA, [FIRST])]))
    version = items.commit(Commit(before, replace(state_at(4), phase=Phase.SNAPSHOT, staged=staged)))
    assert items.read().state == version.state
    written = write_file(items.directory, SCHEMA, [{"id": 2, "name": "copied"}])
    assert items.clean_up(0) == 0
    assert rows_of(items) == [FIRST]
    items.commit(Commit(items.read(), state_at(9), [written], items.read().files))
    assert rows_of(items) == [{"id": 2, "name": "copied"}]
    abandoned = write_file(items.directory, SCHEMA, [FIRST])
    assert items.clean_up(0) == 2
    assert rows_of(items) == [{"id": 2, "name": "copied"}]
    assert not is_there(items.directory, abandoned.path)


def test_tables_are_committed_in_parallel(target: Target) -> None:
    names = [TableName("shop", f"t{number}") for number in range(8)]
    tables = [target.create(name, SCHEMA, state_at(4)) for name in names]

    def commit_often(table: TargetTable) -> None:
        version = table.read()
        for offset in range(10, 15):
            file = write_file(table.directory, SCHEMA, [{"id": offset, "name": "x"}])
            version = table.commit(Commit(version, state_at(offset), [file], version.files))

    with ThreadPoolExecutor(len(tables)) as pool:
        list(pool.map(commit_often, tables))
    assert target.tables() == names
    assert [rows_of(table) for table in tables] == [[{"id": 14, "name": "x"}]] * len(tables)


def test_a_hundred_tables_are_found(target: Target) -> None:
    names = [TableName("shop", f"t{number:03}") for number in range(100)]
    for name in names:
        target.create(name, SCHEMA, state_at(4))
    assert target.tables() == names
