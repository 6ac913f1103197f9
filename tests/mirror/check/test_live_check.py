"""A mirror that runs is checked and repaired while its source changes, and neither has to stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from binspark.mirror.check.report import TableReport
from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.state import Phase
from binspark.mirror.targets.parse import parse_target
from binspark.mirror.targets.target import Commit, CommitConflict
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.mirror.live_mirrors import make_mirror
from tests.support.servers import config_of, each_family, every_family

_ROWS = 2000


@contextmanager
def working(server: Server, table: str) -> Iterator[None]:
    """Change rows of a table all the time: most of them the newest, keys too."""
    done = threading.Event()

    def work() -> None:
        rng, last = Random(1), _ROWS
        with server.connect() as connection:
            cursor = connection.cursor()
            while not done.wait(0.002):
                last += 1
                cursor.execute(f"INSERT INTO {table} VALUES ({last}, 'new', 0.1)")
                cursor.execute(f"UPDATE {table} SET name = 'x{rng.randint(0, 99)} ' WHERE id = {rng.randint(1, last)}")
                cursor.execute(f"UPDATE {table} SET id = id + 1000000 WHERE id = {rng.randint(1, last)}")
                cursor.execute(f"DELETE FROM {table} WHERE id = {rng.randint(1, last)}")

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        done.set()
        worker.join()


@contextmanager
def mirrored(server: Server, lake: Path, tables: str, *, scd2: bool = False) -> Iterator[None]:
    """Let a mirror run that commits several times a second."""
    make_mirror(server, lake, tables, scd2=scd2).run()
    mirror = make_mirror(server, lake, tables, once=False, apply_seconds=0.3, scd2=scd2)
    runner = threading.Thread(target=mirror.run)
    runner.start()
    try:
        yield
        assert runner.is_alive()
    finally:
        mirror.stop()
        runner.join()


def all_checked(server: Server, lake: Path, table: TableName, *, repair: bool = False) -> tuple[TableReport, ...]:
    settings = CheckSettings(rows_per_range=500, repair=repair)
    patterns = TablePatterns(frozenset([str(table)]))
    return check(config_of(server.port), parse_target(str(lake)), patterns, settings).tables


def checked(server: Server, lake: Path, table: TableName, *, repair: bool = False) -> TableReport:
    (report,) = all_checked(server, lake, table, repair=repair)
    return report


def delete_row(lake: Path, name: TableName, key: int) -> None:
    """Remove a row from a mirrored table, as only a mistake would: the state stays as it is."""
    target = parse_target(str(lake))
    table = target.table(name)
    assert table is not None
    while True:
        version = table.read()
        assert version.state is not None
        (file,) = (file for file in version.files if _has(lake, name, file.path, key))
        rows = _read(lake, name, file.path)
        path = lake.joinpath(*name) / f"mistake-{key}.parquet"
        pa.parquet.write_table(rows.filter(pa.compute.not_equal(rows["id"], key)), path)
        added = type(file)(path.name, path.stat().st_size, rows.num_rows - 1, footer=_footer(path))
        try:
            table.commit(Commit(version, version.state, [added], [file]))
        except CommitConflict:
            continue
        return


def _read(lake: Path, name: TableName, path: str) -> pa.Table:
    return pa.parquet.read_table(lake.joinpath(*name) / path)


def _has(lake: Path, name: TableName, path: str, key: int) -> bool:
    return key in _read(lake, name, path)["id"].to_pylist()


def _footer(path: Path) -> bytes:
    sink = pa.BufferOutputStream()
    pa.parquet.read_metadata(path).write_metadata_file(sink)
    return bytes(sink.getvalue())


def create(server: Server, database: str) -> TableName:
    name = TableName(database, "items")
    server.query(f"CREATE DATABASE {database}")
    server.query(f"CREATE TABLE {name} (id INT PRIMARY KEY, name VARCHAR(20), share DOUBLE)")
    values = ", ".join(f"({number}, 'name', {number} / 3e0)" for number in range(_ROWS))
    server.query(f"INSERT INTO {name} VALUES {values}")
    return name


@every_family
def test_a_mirror_that_follows_is_equal(shared: Server, database: str, tmp_path: Path) -> None:
    name = create(shared, database)
    with working(shared, str(name)), mirrored(shared, tmp_path, str(name), scd2=True):
        report, versions = all_checked(shared, tmp_path, name)
    assert report.is_equal, report.describe()
    assert report.rows > _ROWS // 2
    assert versions.is_equal, versions.describe()
    assert versions.rows > _ROWS // 2


@each_family
def test_a_planted_difference_is_found_and_repaired(shared: Server, database: str, tmp_path: Path) -> None:
    name = create(shared, database)
    with working(shared, str(name)), mirrored(shared, tmp_path, str(name)):
        delete_row(tmp_path, name, 0)
        report = checked(shared, tmp_path, name)
        assert [each.describe() for each in report.differences] == ["missing id=0"]
        assert checked(shared, tmp_path, name, repair=True).repaired == 1
        again = checked(shared, tmp_path, name)
    assert again.is_equal, again.describe()
    make_mirror(shared, tmp_path, str(name)).run()
    table = parse_target(str(tmp_path)).table(name)
    assert table is not None
    state = table.read().state
    assert state is not None
    assert state.phase is Phase.CURRENT
    assert checked(shared, tmp_path, name).is_equal
