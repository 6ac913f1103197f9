"""Iceberg tables in a REST catalog that Iceberg's own project wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from binspark.mirror.schema.column_changes import AddColumn, ChangeType, RenameColumn, SchemaChange
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Commit, CommitConflict, Cut, Target
from binspark.schema.table import TableName
from tests.support.mirror.rest_catalog import NoRestCatalog, rest_catalog
from tests.support.mirror.target_files import ITEMS, SCHEMA, put, state_at, write_file

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
FIRST = {"id": 1, "name": "one"}
SECOND = {"id": 2, "name": "two"}


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with rest_catalog(tmp_path_factory.mktemp("warehouse")) as uri:
            yield uri
    except NoRestCatalog as reason:
        pytest.skip(str(reason))


@pytest.fixture
def target(uri: str, tmp_path: Path) -> Iterator[Target]:
    opened = parse_target(str(tmp_path / "lake"), Format.ICEBERG, f"type=rest,uri={uri}")
    yield opened
    for name in opened.tables():
        opened.drop(name)
    opened.close()


def test_a_table_lives_in_a_rest_catalog(target: Target, uri: str) -> None:
    table = target.create(ITEMS, SCHEMA, state_at(4))
    first = put(table, [FIRST], 10)
    put(table, [SECOND], 20, first.files)
    assert load_catalog("rest", type="rest", uri=uri).load_table("shop.items").scan().to_arrow().to_pylist() == [SECOND]
    other = target.table(ITEMS)
    assert other is not None
    assert other.read().state == state_at(20)
    assert other.clean_up(0) == 1
    assert (other.read().state, len(other.read().files)) == (state_at(20), 1)


def test_the_catalog_refuses_a_stale_commit(target: Target) -> None:
    table = target.create(ITEMS, SCHEMA, state_at(4))
    other = target.table(ITEMS)
    assert other is not None
    base = other.read()
    put(table, [FIRST], 10)
    with pytest.raises(CommitConflict, match="while the mirror prepared a commit"):
        other.commit(Commit(base, state_at(20), [write_file(table.directory, SCHEMA, [SECOND])]))
    assert other.read().state == state_at(10)


def test_columns_rows_and_state_are_one_commit(target: Target) -> None:
    table = target.create(ITEMS, SCHEMA, state_at(4))
    base = put(table, [FIRST], 10)
    wide = pa.schema(
        [pa.field("title", pa.string()), pa.field("id", pa.int64()), pa.field("tags", pa.list_(pa.string()))]
    )
    steps = (RenameColumn("name", "title"), ChangeType("id", pa.int64()), AddColumn(wide.field("tags")))
    change = SchemaChange(wide, steps)
    file = write_file(table.directory_after(change), wide, [{"title": "two", "id": 2**40, "tags": ["a"]}])
    table.commit(Commit(base, state_at(20), [file], schema_change=change))
    version = table.read()
    assert (version.schema, version.state, version.foreign) == (wide, state_at(20), ())
    assert table.read(base.version).schema == SCHEMA


def test_tables_are_renamed_and_cuts_stored(target: Target) -> None:
    put(target.create(ITEMS, SCHEMA, state_at(4)), [FIRST], 10)
    renamed = target.rename(ITEMS, TableName("stock", "goods"))
    assert (target.tables(), renamed.read().state) == ([TableName("stock", "goods")], state_at(10))
    cut = Cut(1, "binlog.000001:4", "", 1, ((TableName("stock", "goods"), renamed.read().version),), "m1")
    target.cuts.append(cut)
    assert target.cuts.last() == cut
