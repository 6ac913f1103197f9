"""A table that is copied again has its rows of before until all new rows are there, also if the copy is killed."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from binspark.mirror import copying
from binspark.mirror.files.data_file import TableDirectory
from binspark.mirror.leaves.leaf_reader import LeafReader
from binspark.mirror.schema.definitions import as_mirrored, read_stored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS, MirroredTable
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.copy import ChunkCopier, CopiedChunk
from binspark.mirror.state import Phase
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import TableVersion, TargetError
from binspark.schema.table import TableName
from binspark.testing.servers import MySQL, Server
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal, make_mirror, rows_of, run_mirror, stored
from tests.support.servers import StartServer

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(180)]

CHUNK = 60


class Killed(BaseException):
    """What a kill looks like to a process."""


class Steps:
    """Notes the steps of copies, and lets something happen at the n-th chunk."""

    def __init__(self, number: int, happens: Callable[[], None]) -> None:
        self.names: list[str] = []
        self._number = number
        self._happens = happens

    def __call__(self, step: str) -> None:
        self.names.append(step)
        if step == "chunk" and self.names.count("chunk") == self._number:
            self._happens()


def kill() -> None:
    """Kill a mirror."""
    raise Killed


def killed_copy(server: Server, lake: Path, name: str, kind: Format, number: int = 2) -> Steps:
    """Begin to copy a table again; the mirror is killed when some of its chunks are there."""
    steps = Steps(number, kill)
    with pytest.raises(Killed):
        make_mirror(server, lake, name, kind, steps, resnapshot=(name,), rows_per_chunk=CHUNK).run()
    return steps


def version_of(lake: Path, name: str, kind: Format) -> TableVersion:
    """Return the newest version of a mirrored table."""
    target = parse_target(str(lake), kind)
    try:
        table = target.table(TableName(*name.split(".")))
        assert table is not None
        return table.read()
    finally:
        target.close()


def clean_up(lake: Path, name: str, kind: Format) -> None:
    """Remove all versions but the newest, and all files that no version has."""
    target = parse_target(str(lake), kind)
    table = target.table(TableName(*name.split(".")))
    assert table is not None
    table.clean_up(0)
    target.close()


def rows_at(lake: Path, name: str, kind: Format, version: int) -> Counter[tuple[str, ...]]:
    """Return the rows of a version as the library of a format reads them."""
    if kind is Format.DELTA:
        found = pa.table(DeltaTable(str(lake.joinpath(*name.split("."))), version).to_pyarrow_table())
    else:
        from pyiceberg.catalog.sql import SqlCatalog

        catalog = SqlCatalog("binspark", uri=f"sqlite:///{lake}/catalog.db")
        found = catalog.load_table(tuple(name.split("."))).scan(snapshot_id=version).to_arrow()
        catalog.close()
    return Counter(tuple(map(str, row.values())) for row in found.to_pylist())


def leaves_at(lake: Path, name: str, kind: Format, version: int) -> Counter[tuple[str, ...]]:
    """Return the rows of a version as the mirror itself reads them."""
    target = parse_target(str(lake), kind)
    table = target.table(TableName(*name.split(".")))
    assert table is not None
    found = table.read(version)
    assert found.state is not None
    mirrored = as_mirrored(*read_stored(found.state.definition), target.column_type, MIRROR_OPTIONS)
    reader = LeafReader(table.directory_at(version), mirrored)
    rows = [row for file in found.files for part in reader.batches(file) for row in part.rows.to_pylist()]
    target.close()
    return Counter(tuple(map(str, row.values())) for row in rows)


def leftovers(lake: Path) -> list[Path]:
    """Return what copies have left of their records."""
    return list(lake.rglob("_binspark_copy-*"))


def test_readers_have_the_rows_of_before_until_a_copy_is_complete(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, kind)
    before, version = stored(lake, orders, kind), version_of(lake, orders, kind).version
    mysql.query(f"UPDATE {orders} SET amount = -amount")
    seen: list[bool] = []
    steps = Steps(3, lambda: seen.append(stored(lake, orders, kind) == before))
    make_mirror(mysql, lake, orders, kind, steps, resnapshot=(orders,), rows_per_chunk=CHUNK).run()
    assert (seen, steps.names.count("copied")) == ([True], 1)
    assert_equal(mysql, lake, orders, kind=kind)
    assert rows_at(lake, orders, kind, version) == before
    assert leftovers(lake) == []
    assert version_of(lake, orders, kind).state.phase is Phase.CURRENT  # type: ignore[union-attr]


def test_a_copy_that_was_killed_continues_with_the_chunks_that_it_has(
    mysql: Server, database: str, lake: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_GROUP", 1)  # otherwise all chunks may be recorded when the fourth step is reached
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, kind)
    before = stored(lake, orders, kind)
    mysql.query(f"UPDATE {orders} SET amount = -amount")
    killed_copy(mysql, lake, orders, kind, 4)
    mysql.query(f"DELETE FROM {orders} WHERE id % 4 = 0")
    clean_up(lake, orders, kind)
    assert stored(lake, orders, kind) == before
    copied = {path.name for path in lake.rglob("leaf-*.parquet")}
    steps = Steps(0, kill)
    make_mirror(mysql, lake, orders, kind, steps, rows_per_chunk=CHUNK).run()
    assert 1 <= steps.names.count("chunk") <= 500 // CHUNK + 1 - 4 + 1
    assert_equal(mysql, lake, orders, kind=kind)
    used = {Path(file.path).name for file in version_of(lake, orders, kind).files}
    assert copied - used, "the rows of before are no longer in the newest version"
    assert leftovers(lake) == []


def test_the_same_command_continues_a_copy(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders)
    killed_copy(mysql, lake, orders, Format.DELTA, 5)
    steps = Steps(0, kill)
    make_mirror(mysql, lake, orders, Format.DELTA, steps, rows_per_chunk=CHUNK, resnapshot=(orders,)).run()
    assert steps.names.count("chunk") <= 5
    assert_equal(mysql, lake, orders)


@pytest.mark.parametrize("step", ["before", "after"])
def test_a_copy_that_is_killed_at_its_commit_is_committed_once(
    mysql: Server, database: str, lake: Path, kind: Format, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from binspark.mirror.tables.open_table import OpenTable

    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, kind)
    before = stored(lake, orders, kind)
    mysql.query(f"UPDATE {orders} SET amount = -amount")
    replace_rows = OpenTable.replace_rows

    def killed(table: OpenTable, *arguments: Any, **named: Any) -> None:
        if step == "after":
            replace_rows(table, *arguments, **named)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(OpenTable, "replace_rows", killed)
        with pytest.raises(Killed):
            run_mirror(mysql, lake, orders, kind, resnapshot=(orders,), rows_per_chunk=CHUNK)
    assert (stored(lake, orders, kind) == before) is (step == "before")
    mysql.query(f"DELETE FROM {orders} WHERE id < 30")
    run_mirror(mysql, lake, orders, kind, clean_up_seconds=1e-9)
    assert_equal(mysql, lake, orders, kind=kind)
    assert leftovers(lake) == []


def test_a_statement_that_needs_a_copy_changes_rows_and_columns_in_one_commit(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, kind)
    before, version = stored(lake, orders, kind), version_of(lake, orders, kind).version
    mysql.query(f"ALTER TABLE {orders} MODIFY amount VARCHAR(9), DROP name, ADD n INT AS (id * 2) STORED FIRST")
    seen: list[bool] = []
    steps = Steps(2, lambda: seen.append(stored(lake, orders, kind) == before))
    make_mirror(mysql, lake, orders, kind, steps, rows_per_chunk=CHUNK).run()
    assert seen == [True]
    assert_equal(mysql, lake, orders, kind=kind)
    assert rows_of(lake, orders, kind).schema.names == ["n", "id", "amount"]
    assert rows_at(lake, orders, kind, version) == before
    assert leaves_at(lake, orders, kind, version) == before
    mysql.query(f"UPDATE {orders} SET amount = 'x' WHERE id % 2 = 0")
    run_mirror(mysql, lake, orders, kind)
    assert_equal(mysql, lake, orders, kind=kind)


def test_a_copy_of_a_table_that_is_altered_begins_again_and_leaves_nothing(
    mysql: Server, database: str, lake: Path, kind: Format, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, kind)
    killed_copy(mysql, lake, orders, kind, 4)
    mysql.query(f"ALTER TABLE {orders} DROP name, ADD state VARCHAR(9) NOT NULL DEFAULT 'open'")
    abandoned = len(list(lake.rglob("leaf-*.parquet")))
    run_mirror(mysql, lake, orders, kind, rows_per_chunk=1000)
    assert f"{orders} is copied again from the beginning" in caplog.text
    assert_equal(mysql, lake, orders, kind=kind)
    assert len(list(lake.rglob("leaf-*.parquet"))) < abandoned
    assert leftovers(lake) == []


def test_a_copy_whose_files_were_removed_begins_again(
    mysql: Server, database: str, lake: Path, kind: Format, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, kind)
    known = {path.name for path in lake.rglob("leaf-*.parquet")}
    killed_copy(mysql, lake, orders, kind)
    for path in lake.rglob("leaf-*.parquet"):
        if path.name not in known:
            path.unlink()
    run_mirror(mysql, lake, orders, kind)
    assert "another program removed" in caplog.text
    assert_equal(mysql, lake, orders, kind=kind)


def test_what_others_do_to_the_rows_of_before_does_not_matter(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, rows_per_chunk=CHUNK)
    path = str(lake.joinpath(*orders.split(".")))
    steps = Steps(2, lambda: void(DeltaTable(path).delete("id < 100")))
    make_mirror(mysql, lake, orders, Format.DELTA, steps, resnapshot=(orders,), rows_per_chunk=CHUNK).run()
    assert_equal(mysql, lake, orders)


def void(_value: object) -> None:
    """Return nothing."""


def test_a_table_that_is_dropped_while_it_is_copied_again_keeps_its_rows(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", kind)
    before = stored(lake, orders, kind)
    killed_copy(mysql, lake, orders, kind)
    mysql.query(f"DROP TABLE {orders}")
    run_mirror(mysql, lake, f"{database}.*", kind)
    assert stored(lake, orders, kind) == before
    assert version_of(lake, orders, kind).state.phase is Phase.DROPPED  # type: ignore[union-attr]
    assert leftovers(lake) == []


def test_a_table_without_a_key_is_copied_again(mysql: Server, database: str, lake: Path, kind: Format) -> None:
    log = f"{database}.log"
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {log} (a INT)")
    mysql.query(f"INSERT INTO {log} VALUES (7), (7), (8)")
    run_mirror(mysql, lake, log, kind)
    killed_copy(mysql, lake, log, kind, 1)
    mysql.query(f"INSERT INTO {log} VALUES (7), (9)")
    mysql.query(f"DELETE FROM {log} WHERE a = 8")
    run_mirror(mysql, lake, log, kind)
    assert_equal(mysql, lake, log, kind=kind)


def test_a_table_without_a_key_that_is_altered_before_it_is_locked_is_copied_from_the_beginning(
    mysql: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = f"{database}.log"
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {log} (a INT, b VARCHAR(9), c INT)")
    mysql.query(f"INSERT INTO {log} VALUES (1, 'x', 10), (2, 'y', 20)")
    statements = iter(("MODIFY c INT AFTER a", "ADD d INT"))

    class Altering(ChunkCopier):
        def copy(self, table: MirroredTable, directory: TableDirectory, chunk: Chunk) -> CopiedChunk:
            for steps in statements:
                mysql.query(f"ALTER TABLE {log} {steps}")
                break
            return super().copy(table, directory, chunk)

    monkeypatch.setattr("binspark.mirror.copying.ChunkCopier", Altering)
    run_mirror(mysql, lake, log)
    assert caplog.text.count(f"{log} was altered while it was read") == 2
    mysql.query(f"UPDATE {log} SET c = 11 WHERE a = 1")
    mysql.query(f"DELETE FROM {log} WHERE a = 2")
    run_mirror(mysql, lake, log)
    assert_equal(mysql, lake, log)


def test_a_position_right_before_the_end_of_a_log_is_reached(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    mysql.query(f"CREATE TABLE {database}.log (a INT)")
    mysql.query(f"INSERT INTO {database}.log VALUES (1), (1), (2)")
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"DELETE FROM {orders} WHERE id < 5")
    mysql.query(f"DELETE FROM {database}.log WHERE a = 2")

    def kill_after_copy(step: str) -> None:
        if step == "copied":
            raise Killed

    with pytest.raises(Killed):
        make_mirror(mysql, lake, f"{database}.*", checkpoint=kill_after_copy, resnapshot=(f"{database}.log",)).run()
    mysql.query("FLUSH BINARY LOGS")  # what it writes comes after the position of the table that was copied
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, orders, f"{database}.log")


def test_the_only_column_of_a_table_becomes_another(mysql: Server, database: str, lake: Path, kind: Format) -> None:
    codes = f"{database}.codes"
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {codes} (code VARCHAR(5) PRIMARY KEY)")
    mysql.query(f"INSERT INTO {codes} VALUES ('1'), ('2')")
    run_mirror(mysql, lake, codes, kind)
    mysql.query(f"ALTER TABLE {codes} MODIFY code INT")
    mysql.query(f"INSERT INTO {codes} VALUES (3)")
    run_mirror(mysql, lake, codes, kind)
    assert_equal(mysql, lake, codes, kind=kind)
    assert pa.types.is_integer(rows_of(lake, codes, kind).schema.field("code").type)


def test_a_table_that_is_created_again_keeps_its_versions(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, orders, kind)
    before, version = stored(lake, orders, kind), version_of(lake, orders, kind).version
    mysql.query(f"DROP TABLE {orders}")
    mysql.query(f"CREATE TABLE {orders} (id VARCHAR(5) PRIMARY KEY, other DATE)")
    mysql.query(f"INSERT INTO {orders} VALUES ('a', '2024-02-29')")
    run_mirror(mysql, lake, orders, kind)
    assert_equal(mysql, lake, orders, kind=kind)
    assert rows_at(lake, orders, kind, version) == before


def test_a_table_that_no_mirror_wrote_is_not_touched(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    path = str(lake.joinpath(*orders.split(".")))
    write_deltalake(path, pa.table({"mine": [1, 2, 3]}))
    for again in ((), (orders,)):
        with pytest.raises(TargetError, match="a table of this name that no mirror wrote"):
            run_mirror(mysql, lake, orders, resnapshot=again)
    assert DeltaTable(path).to_pyarrow_table().num_rows == 3


def test_a_copy_after_purged_logs_continues_without_them(start_server: StartServer, lake: Path) -> None:
    server = start_server(MySQL)
    orders = create_orders(server, "shop")
    run_mirror(server, lake, "shop.*")
    server.query(f"UPDATE {orders} SET amount = 0")
    server.query("FLUSH BINARY LOGS")
    server.query(f"PURGE BINARY LOGS TO '{server.query('SHOW BINARY LOGS')[-1][0]}'")
    killed_copy(server, lake, orders, Format.DELTA)
    server.query(f"DELETE FROM {orders} WHERE id < 9")
    run_mirror(server, lake, "shop.*")
    assert_equal(server, lake, orders)
