"""What goes wrong around a mirror: it continues where it can, and says what to do where it cannot."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable

from binspark.errors import Malformed, Purged, SourceError
from binspark.mirror import run as run_module
from binspark.mirror.run import Mirror
from binspark.mirror.runners.local import LocalRunner
from binspark.mirror.runners.runner import Result, TableWork, TaskResult
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS
from binspark.mirror.settings import MirrorSettings, SnapshotMode
from binspark.mirror.source.change_source import ArchiveChanges, ReadTask, ServerChanges, TablePatterns
from binspark.mirror.tables.open_table import ForeignChanges, OpenTable
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import OtherMirror
from binspark.testing.servers import Family, MySQL, Server
from binspark.values.options import Undecodable
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal, each_family, each_format, make_mirror, rows_of, run_mirror
from tests.support.replicas import catch_up, promote, replicate
from tests.support.servers import StartServer, config_of

pytestmark = pytest.mark.timeout(180)


UPDATES = {"mysql": {}, "mariadb": {"log-slave-updates": "ON"}}


class _Interrupted:
    """A runner that lets something happen before it returns what it has written: nothing is committed yet."""

    def __init__(self, happens: Callable[[], None], *, always: bool = False) -> None:
        self._happens: Callable[[], None] | None = happens
        self._always = always

    def run(self, parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> list[TaskResult]:
        results = LocalRunner().run(parts, tables)
        if self._happens is not None:
            happens, self._happens = self._happens, self._happens if self._always else None
            happens()
        return results

    @property
    def readers(self) -> int:
        return LocalRunner().readers

    def each(self, jobs: Sequence[Callable[[], Result]], description: str) -> list[Result]:
        return LocalRunner().each(jobs, description)


def interrupted(
    server: Server, lake: Path, tables: str, happens: Callable[[], None], *, always: bool = False
) -> Mirror:
    """Return a mirror during whose first range, or always, something happens."""
    patterns = TablePatterns(frozenset({tables}))
    settings = MirrorSettings(once=True, local_bytes=0, retry_attempts=int(always))
    source = ServerChanges(config_of(server.port), patterns)
    runner = _Interrupted(happens, always=always)
    return Mirror(source, parse_target(str(lake)), patterns, settings, spark_runner=lambda: runner)


@pytest.mark.mysql
def test_a_range_that_fails_each_time_ends_the_mirror(mysql: Server, database: str, lake: Path) -> None:
    """A worker that is out of memory is lost again, however often a range is applied."""
    mysql.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.items (id INT PRIMARY KEY)")
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"INSERT INTO {database}.items VALUES (1)")
    failures: list[int] = []

    def fail() -> None:
        failures.append(1)
        raise SourceError("Spark lost a process that worked for it")

    with pytest.raises(SourceError, match="Spark lost a process"):
        interrupted(mysql, lake, f"{database}.*", fail, always=True).run()
    assert len(failures) == 2


def purge_all_but_the_last(server: Server) -> None:
    """Purge logs. MariaDB keeps those that a connection which has just ended may still read, and says nothing."""
    for _ in range(200):
        logs = server.query("SHOW BINARY LOGS")
        if len(logs) == 1:
            return
        server.query(f"PURGE BINARY LOGS TO '{logs[-1][0]}'")
        time.sleep(0.05)
    raise AssertionError(f"the server keeps {logs}")


@each_family
def test_purged_logs_are_named_with_the_way_out(family: Family, start_server: StartServer, lake: Path) -> None:
    server = start_server(family)
    orders = create_orders(server, "shop")
    run_mirror(server, lake, "shop.*")
    server.query(f"UPDATE {orders} SET amount = 0")
    server.query("FLUSH BINARY LOGS")
    server.query("FLUSH BINARY LOGS")
    purge_all_but_the_last(server)
    with pytest.raises(Purged, match=r"copy its tables again with --resnapshot shop\.orders"):
        run_mirror(server, lake, "shop.*")
    run_mirror(server, lake, "shop.*", resnapshot=("shop.orders",))
    server.query(f"DELETE FROM {orders} WHERE id < 9")
    run_mirror(server, lake, "shop.*")
    assert_equal(server, lake, orders)


@each_family
def test_another_server_continues_by_gtids(family: Family, start_server: StartServer, lake: Path) -> None:
    one, two = (start_server(family, {"server-id": number, **UPDATES[family.name]}) for number in (1, 2))
    orders = create_orders(one, "shop")
    replicate(two, one)
    catch_up(two, one)
    patterns = TablePatterns(frozenset({"shop.*"}))

    def run() -> None:
        source = ServerChanges(config_of(one.port, two.port, connect_timeout=2), patterns)
        settings = MirrorSettings(once=True, retry_attempts=3)
        Mirror(source, parse_target(str(lake)), patterns, settings).run()

    run()
    one.query(f"UPDATE {orders} SET amount = -amount WHERE id < 200")
    catch_up(two, one)
    one.kill()
    promote(two)
    two.query(f"DELETE FROM {orders} WHERE id > 450")
    two.query(f"ALTER TABLE {orders} ADD COLUMN state INT DEFAULT 4")
    two.query(f"UPDATE {orders} SET state = 5 WHERE id = 77")
    run()
    assert_equal(two, lake, orders)


@pytest.mark.mysql
def test_rows_that_another_program_deletes_stop_the_mirror(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*")
    DeltaTable(str(lake / database / "orders")).delete("id < 10")
    mysql.query(f"UPDATE {orders} SET amount = 5 WHERE id = 100")
    with pytest.raises(ForeignChanges, match=rf"changed rows of .*orders.*--resnapshot {orders} copies it again"):
        run_mirror(mysql, lake, f"{database}.*")
    run_mirror(mysql, lake, f"{database}.*", accept_foreign=True)
    assert len(rows_of(lake, orders)) == 500 - 9
    run_mirror(mysql, lake, f"{database}.*", resnapshot=(orders,))
    assert_equal(mysql, lake, orders)


@pytest.mark.mysql
def test_files_that_another_program_joins_do_not_matter(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", rows_per_chunk=50)
    mysql.query(f"UPDATE {orders} SET amount = amount * 2 WHERE id % 2 = 0")
    path = str(lake / database / "orders")
    joined: list[int] = []

    def optimize() -> None:
        joined.append(int(DeltaTable(path).optimize.compact()["numFilesRemoved"]))

    interrupted(mysql, lake, f"{database}.*", optimize).run()
    assert joined[0] > 1
    assert_equal(mysql, lake, orders)
    mysql.query(f"DELETE FROM {orders} WHERE id % 5 = 0")
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, orders)


@pytest.mark.mysql
def test_a_second_process_of_a_mirror_is_noticed(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"UPDATE {orders} SET amount = amount + 1")
    other = interrupted(mysql, lake, f"{database}.*", lambda: void(run_mirror(mysql, lake, f"{database}.*")))
    with pytest.raises(OtherMirror, match=r"another process of this mirror writes .*orders.*stop one of them"):
        other.run()
    assert_equal(mysql, lake, orders)
    with pytest.raises(OtherMirror, match=r"written by the mirror 'server:.*', and this is the mirror 'second'"):
        run_mirror(mysql, lake, f"{database}.*", mirror_id="second")


def void(_value: object) -> None:
    """Return nothing."""


@pytest.mark.mysql
def test_a_target_that_fails_is_tried_again(
    mysql: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    orders = create_orders(mysql, database)
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"UPDATE {orders} SET amount = amount + 1")
    commit, failures = OpenTable.commit, [2]

    def failing(table: OpenTable, *arguments: object, **named: object) -> None:
        if failures[0]:
            failures[0] -= 1
            raise SourceError("no space left on device")
        commit(table, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(OpenTable, "commit", failing)
    monkeypatch.setattr(run_module, "_FIRST_WAIT_SECONDS", 0.01)
    run_mirror(mysql, lake, f"{database}.*", retry_attempts=3)
    assert caplog.text.count("no space left on device; trying again") == 2
    assert_equal(mysql, lake, orders)


@pytest.mark.mysql
def test_a_target_that_cannot_be_created_is_an_error_at_once(
    mysql: Server, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    create_orders(mysql, database)
    lake.write_text("a file in the way")
    with pytest.raises(SourceError, match="Not a directory"):
        run_mirror(mysql, lake / "tables", f"{database}.*", retry_attempts=3)
    assert "trying again" not in caplog.text


@pytest.mark.mysql
@each_format
def test_a_clock_that_jumps_loses_nothing(
    mysql: Server, database: str, lake: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders, now = create_orders(mysql, database), time.time
    for number, days in enumerate((0, -1, 30, 0)):
        monkeypatch.setattr(time, "time", lambda days=days: now() + 86400 * days)
        mysql.query(f"UPDATE {orders} SET amount = {number} WHERE id % 4 = {number}")
        run_mirror(mysql, lake, f"{database}.*", kind, clean_up_seconds=1e-9)
        assert_equal(mysql, lake, orders, kind=kind)
    target = parse_target(str(lake), kind)
    cut = target.cuts.last()
    assert cut is not None
    for name, version in cut.versions:
        table = target.table(name)
        assert table is not None
        assert table.read(version).state == table.read().state
    target.close()


@pytest.mark.mysql
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_thousand_tables_are_mirrored(start_server: StartServer, lake: Path) -> None:
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    names = [f"shop.t{number}" for number in range(1000)]
    server.run_sql(
        "".join(f"CREATE TABLE {name} (id INT PRIMARY KEY, n INT) AS SELECT 1 AS id, 2 AS n;" for name in names)
    )
    copied = run_mirror(server, lake, "shop.*")
    assert [table.rows for table in copied.tables] == [1] * len(names)
    for name in names[::100]:
        server.query(f"INSERT INTO {name} VALUES (2, 3)")
    server.query("ALTER TABLE shop.t500 ADD state INT")
    run_mirror(server, lake, "shop.*")
    assert_equal(server, lake, *names[::100], "shop.t999")


@each_family
def test_log_files_alone_are_a_source(family: Family, start_server: StartServer, lake: Path) -> None:
    server = start_server(family)
    orders = create_orders(server, "shop")
    server.query("FLUSH BINARY LOGS")
    server.query(f"ALTER TABLE {orders} ADD state VARCHAR(5) NOT NULL DEFAULT 'new'")
    server.query(f"UPDATE {orders} SET state = 'old' WHERE id < 30")
    patterns = TablePatterns(frozenset({"shop.*"}))

    def run() -> None:
        source = ArchiveChanges((str(server.datadir / "binlog.0*"),), patterns)
        Mirror(source, parse_target(str(lake)), patterns, MirrorSettings(once=True)).run()

    run()
    assert_equal(server, lake, orders)
    server.query("CREATE TABLE shop.copied AS SELECT * FROM shop.orders")
    server.query(f"TRUNCATE TABLE {orders}")
    run()
    assert_equal(server, lake, orders, "shop.copied")


@pytest.mark.mysql
def test_a_copy_is_left_out_where_the_log_begins_with_the_tables(start_server: StartServer, lake: Path) -> None:
    server = start_server(MySQL)
    orders = create_orders(server, "shop")
    report = run_mirror(server, lake, "shop.*", snapshot=SnapshotMode.NEVER)
    assert [table.rows for table in report.tables] == [500]
    assert_equal(server, lake, orders)


@pytest.mark.mysql
def test_a_mirror_that_goes_on_is_stopped_in_order(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    mirror = make_mirror(mysql, lake, f"{database}.*", once=False, apply_seconds=0.1)
    applied = [0]

    def change(_report: object) -> None:
        applied[0] += 1
        if applied[0] <= 5:
            mysql.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 5 = {applied[0] % 5}")
        elif applied[0] > 20 and mirror.progress.lag is not None and not mirror.progress.lag.lag_bytes:
            mirror.stop()

    mirror = Mirror(
        ServerChanges(config_of(mysql.port), TablePatterns(frozenset({f"{database}.*"}))),
        parse_target(str(lake)),
        TablePatterns(frozenset({f"{database}.*"})),
        MirrorSettings(apply_seconds=0.05),
        on_report=change,
    )
    mirror.run()
    assert_equal(mysql, lake, orders)


@pytest.mark.mysql
@each_format
def test_old_versions_are_removed_on_a_schedule(mysql: Server, database: str, lake: Path, kind: Format) -> None:
    orders = create_orders(mysql, database)
    for number in range(4):
        mysql.query(f"UPDATE {orders} SET amount = {number}")
        run_mirror(mysql, lake, f"{database}.*", kind, clean_up_seconds=1e-9, keep_seconds=0.0)
    mysql.query(f"UPDATE {orders} SET amount = 9")
    run_mirror(mysql, lake, f"{database}.*", kind, clean_up_seconds=1e-9, keep_seconds=0.0)
    assert len(list(lake.rglob("leaf-*.parquet"))) <= 2
    assert_equal(mysql, lake, orders, kind=kind)


@each_family
def test_text_that_is_not_valid_names_the_option_that_accepts_it(shared: Server, database: str, lake: Path) -> None:
    words, more = f"{database}.words", f"{database}.more"
    shared.query(f"CREATE DATABASE {database}")
    for name in (words, more):
        shared.query(f"CREATE TABLE {name} (id INT PRIMARY KEY, word VARCHAR(9) CHARACTER SET sjis)")
    run_mirror(shared, lake, more)
    for name in (words, more):
        shared.query(f"INSERT INTO {name} VALUES (1, _sjis X'418540')")  # no character, but the server accepts it
        with pytest.raises(Malformed, match=r"not valid sjis.*--undecodable replace or binary"):
            run_mirror(shared, lake, name)
        run_mirror(shared, lake, name, columns=replace(MIRROR_OPTIONS, undecodable=Undecodable.REPLACE))
        assert rows_of(lake, name).to_pylist() == [{"id": 1, "word": "A\N{REPLACEMENT CHARACTER}"}]
