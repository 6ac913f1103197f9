"""A mirror whose tables other programs touch, too, and whose old versions are removed while it runs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog

from binspark.errors import BinlogError
from binspark.mirror.targets.parse import Format, parse_target
from binspark.testing.servers import Server
from tests.support.mirror.live_mirrors import assert_equal, rows_of, run_mirror

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]


def fill(server: Server, database: str) -> str:
    server.query(f"CREATE DATABASE {database}")
    server.query(f"CREATE TABLE {database}.items (id INT PRIMARY KEY, name VARCHAR(20))")
    server.query(f"INSERT INTO {database}.items VALUES (1, 'one'), (2, 'two'), (3, 'three')")
    return f"{database}.items"


def change(server: Server, name: str, number: int) -> None:
    server.query(f"INSERT INTO {name} VALUES ({number}, 'new')")
    server.query(f"UPDATE {name} SET name = 'changed {number}' WHERE id = 1")


def delete_a_row(lake: Path, name: str, kind: Format) -> None:
    """Delete a row as another program does."""
    if kind is Format.DELTA:
        DeltaTable(lake.joinpath(*name.split("."))).delete("id = 2")
        return
    catalog = SqlCatalog("binspark", uri=f"sqlite:///{lake}/catalog.db")
    catalog.load_table(name).delete("id = 2")
    catalog.close()


def test_a_mirror_goes_on_while_old_versions_are_removed(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    name = fill(mysql, database)
    for number in range(10, 13):
        run_mirror(mysql, lake, f"{database}.*", kind, clean_up_seconds=1e-9, keep_seconds=0)
        change(mysql, name, number)
    run_mirror(mysql, lake, f"{database}.*", kind)
    assert_equal(mysql, lake, name, kind=kind)
    target = parse_target(str(lake), kind)
    cut = target.cuts.last()
    assert cut is not None
    for table, version in cut.versions:
        found = target.table(table)
        assert found is not None
        assert found.read(version).state == found.read().state
    target.close()


def test_short_runs_remove_old_versions_once_in_each_interval(
    mysql: Server, database: str, lake: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = fill(mysql, database)
    hour = 3600 * 10**9
    this_hour = time.time_ns() // hour * hour
    counts = []
    for number, clock in enumerate((this_hour - hour, this_hour, this_hour + hour // 2), 10):
        monkeypatch.setattr(time, "time_ns", lambda clock=clock: clock)
        run_mirror(mysql, lake, f"{database}.*", kind, clean_up_seconds=3600.0, keep_seconds=0)
        change(mysql, name, number)
        target = parse_target(str(lake), kind)
        counts.append(len(target.cuts.all()))
        target.close()
    assert counts == [1, 1, 2]


def test_a_mirror_goes_on_after_optimize(mysql: Server, database: str, lake: Path) -> None:
    name = fill(mysql, database)
    run_mirror(mysql, lake, f"{database}.*")
    change(mysql, name, 10)
    DeltaTable(lake / database / "items").optimize.z_order(["name"])
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, name)


def test_rows_that_another_program_deletes_stop_the_mirror(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    name = fill(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", kind)
    delete_a_row(lake, name, kind)
    change(mysql, name, 10)
    with pytest.raises(BinlogError, match=r"another program has changed rows of .*items.*--accept-foreign"):
        run_mirror(mysql, lake, f"{database}.*", kind)
    run_mirror(mysql, lake, f"{database}.*", kind, accept_foreign=True)
    rows = {row["id"]: row["name"] for row in rows_of(lake, name, kind).to_pylist()}
    assert rows == {1: "changed 10", 3: "three", 10: "new"}


def test_another_mirror_does_not_write_the_tables(mysql: Server, database: str, lake: Path, kind: Format) -> None:
    name = fill(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", kind)
    change(mysql, name, 10)
    with pytest.raises(BinlogError, match=r"written by the mirror 'server:[-0-9a-f]+', and this is the mirror 'other'"):
        run_mirror(mysql, lake, f"{database}.*", kind, mirror_id="other")
