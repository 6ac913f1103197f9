"""`binspark.table_at`: a table as it was after any transaction, equal to what the server selected then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark import OptionError, UnknownTable
from binspark.files.log_head import read_head
from binspark.files.sources import LogSource
from binspark.gtid import GtidSet
from binspark.mirror.source.log_start import LogFiles, LogStart
from binspark.mirror.targets.parse import parse_target
from binspark.mirror.targets.target import Cut, Target, TargetTable
from binspark.schema.table import TableName
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.mirror.copies import mirror_table, position_of
from tests.support.mirror.dumps import dump_with
from tests.support.mirror.live_mirrors import run_mirror
from tests.support.replicas import catch_up, promote, replicate
from tests.support.servers import StartServer
from tests.support.spark.random_work import NAMES, RandomWork, rows, stored

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]
STOCK = TableName("table_at", "stock")


class Moment(NamedTuple):
    """What the table was after a transaction."""

    gtid: str
    time: datetime
    rows: list[tuple[Any, ...]]


class World(NamedTuple):
    """A server after some work, a mirror from the middle of it, and moments before and after the mirror."""

    server: Server
    target: Target
    before: Moment
    after: Moment
    earlier: frozenset[Path]
    first_gtid: str

    @property
    def logs(self) -> list[str]:
        return [str(log) for log in self.server.log_files() if log not in self.earlier]


@pytest.fixture(scope="module")
def world(mysql: Server, tmp_path_factory: pytest.TempPathFactory) -> World:
    server, earlier = mysql, frozenset(mysql.log_files())
    server.query("FLUSH BINARY LOGS")
    server.query(f"CREATE DATABASE {STOCK.schema}")
    work = RandomWork(str(STOCK), seed=5)
    work.create(server)
    first = moment(server).gtid
    work.run(server, 25)
    before = moment(server)
    target = parse_target(str(tmp_path_factory.mktemp("lake")))
    table, _ = mirror_table(server, target, STOCK)
    add_cut(target, table)
    server.query("FLUSH BINARY LOGS")
    server.query(f"INSERT INTO {STOCK} VALUES (900, 1, 'new', 3)")
    server.query(f"UPDATE {STOCK} SET amount = 77")
    after = moment(server)
    work.run(server, 5)
    return World(server, target, before, after, earlier, first)


def add_cut(target: Target, table: TargetTable) -> None:
    position = position_of(table)
    target.cuts.append(Cut(1, str(position), str(position.gtids), 0, ((STOCK, table.read().version),), "test"))


def moment(server: Server) -> Moment:
    uuid, last = server.query("SELECT @@server_uuid, @@gtid_executed")[0]
    number = str(last).rpartition(":")[2].rpartition("-")[2]
    now = server.query("SELECT UTC_TIMESTAMP(6)")[0][0]
    return Moment(f"{uuid}:{number}", now.replace(tzinfo=UTC), stored(server, str(STOCK)))


def test_the_log_alone_gives_the_table_after_a_transaction_and_at_a_time(spark: SparkSession, world: World) -> None:
    for known in (world.before, world.after):
        assert rows(binspark.table_at(spark, world.logs, str(STOCK), gtid=known.gtid)) == known.rows
        assert rows(binspark.table_at(spark, world.logs, str(STOCK), time=known.time)) == known.rows


def test_a_mirror_needs_only_the_log_after_its_version(spark: SparkSession, world: World) -> None:
    found = binspark.table_at(spark, world.logs, str(STOCK), gtid=world.after.gtid, mirror=world.target)
    assert rows(found) == world.after.rows
    config = {"host": "127.0.0.1", "port": world.server.port, "user": "root"}
    from_server = binspark.table_at(spark, config, str(STOCK), time=world.after.time, mirror=world.target)
    assert rows(from_server) == world.after.rows
    first = world.first_gtid
    with pytest.raises(OptionError, match=r"mirror has no version of table_at\.stock before"):
        binspark.table_at(spark, world.logs, str(STOCK), gtid=first, mirror=world.target)


def test_a_mirror_is_enough_for_a_table_that_the_log_does_not_mention(
    spark: SparkSession, world: World, tmp_path: Path
) -> None:
    world.server.query("FLUSH BINARY LOGS")
    target = parse_target(str(tmp_path / "other"))
    add_cut(target, mirror_table(world.server, target, STOCK)[0])
    world.server.query("CREATE TABLE table_at.other (id INT PRIMARY KEY)")
    found = binspark.table_at(spark, world.logs[-1], str(STOCK), gtid=moment(world.server).gtid, mirror=target)
    assert rows(found) == stored(world.server, str(STOCK))


def test_a_version_of_the_log_of_another_server_is_refused(spark: SparkSession, world: World, tmp_path: Path) -> None:
    """All servers name their files alike: a name that the log has, too, does not say that it is the same file."""
    target = parse_target(str(tmp_path / "other"))
    table, _ = mirror_table(world.server, target, STOCK)
    own = position_of(table)
    uuid = "11111111-2222-3333-4444-555555555555"
    for number, (gtids, created) in enumerate(((GtidSet(f"{uuid}:1-5"), 0), (None, 0), (None, 1)), 1):
        other = replace(own, server=uuid, gtids=gtids, created=created)
        target.cuts.append(Cut(number, str(other), str(gtids), 0, ((STOCK, table.read().version),), "test"))
    world.server.query(f"INSERT INTO {STOCK} VALUES (901, 1, 'later', 3)")
    with pytest.raises(OptionError, match=rf"not known to have all that follows {own.file}.*{uuid}, without GTIDs"):
        binspark.table_at(spark, world.logs, str(STOCK), gtid=moment(world.server).gtid, mirror=target)


def test_a_version_is_found_by_its_file_or_by_its_gtids(spark: SparkSession, world: World, tmp_path: Path) -> None:
    world.server.query("FLUSH BINARY LOGS")
    target = parse_target(str(tmp_path / "again"))
    table, _ = mirror_table(world.server, target, STOCK)
    own = position_of(table)
    [log] = [LogSource(path) for path in world.logs if path.endswith(own.file)]
    with log.open() as file:
        created = read_head(file, log.name).frame.header.timestamp
    files = LogFiles([LogSource(path) for path in world.logs])
    assert files.start_at(replace(own, created=created)) == LogStart(own.describe())
    assert files.start_at(replace(own, created=created, gtids=None)) == LogStart(own.describe())
    assert files.start_at(replace(own, created=created - 1)) == LogStart(f"{own.file}:4", str(own.gtids))
    assert files.start_at(replace(own, created=created - 1, gtids=None)) is None
    add_cut(target, table)
    world.server.query(f"UPDATE {STOCK} SET amount = 78 WHERE id >= 900")
    found = binspark.table_at(spark, world.logs, str(STOCK), gtid=moment(world.server).gtid, mirror=target)
    assert rows(found) == stored(world.server, str(STOCK))


def test_any_snapshot_with_its_position_is_a_start(spark: SparkSession, world: World) -> None:
    first = binspark.table_at(spark, world.logs, str(STOCK), gtid=world.before.gtid)
    copied = spark.createDataFrame(first.collect(), first.schema)
    position = world.target.cuts.all()[0].position
    start = binspark.BinlogPosition.parse(position).describe()
    found = binspark.table_at(spark, world.logs, str(STOCK), gtid=world.after.gtid, snapshot=(copied, start))
    assert found.columns == list(NAMES)
    assert rows(found) == world.after.rows


def test_a_dump_is_a_start(spark: SparkSession, world: World, tmp_path: Path) -> None:
    path = dump_with(world.server, tmp_path / "dump.sql", "--databases", STOCK.schema)
    world.server.query(f"DELETE FROM {STOCK} WHERE id < 900")
    known = moment(world.server)
    found = binspark.table_at(spark, world.logs, str(STOCK), gtid=known.gtid, snapshot=str(path))
    assert rows(found) == known.rows
    with pytest.raises(OptionError, match=r"snapshot .* is of .*, which is not before"):
        binspark.table_at(spark, world.logs, str(STOCK), gtid=world.before.gtid, snapshot=str(path))


def test_wrong_use_is_named(spark: SparkSession, world: World) -> None:
    with pytest.raises(OptionError, match="either gtid or time"):
        binspark.table_at(spark, world.logs, str(STOCK))
    with pytest.raises(OptionError, match=r"gtid names .*:999999, which is not a complete transaction"):
        binspark.table_at(spark, world.logs, str(STOCK), gtid=world.after.gtid.rpartition(":")[0] + ":999999")
    with pytest.raises(OptionError, match=r"time .* is before the log begins"):
        binspark.table_at(spark, world.logs, str(STOCK), time="2001-01-01")
    with pytest.raises(OptionError, match="time must be a time such as"):
        binspark.table_at(spark, world.logs, str(STOCK), time="yesterday")
    with pytest.raises(OptionError, match="spark must be a Spark session, got None"):
        binspark.table_at(None, world.logs, str(STOCK), time=world.after.time)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"source must be logs .* or the options of a server .*, got None"):
        binspark.table_at(spark, None, str(STOCK), time=world.after.time)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"table must be the name of one table, schema\.table, got 'stock'"):
        binspark.table_at(spark, world.logs, "stock", time=world.after.time)
    with pytest.raises(UnknownTable, match=r"no rows of table_at\.stocks"):
        binspark.table_at(spark, world.logs, "table_at.stocks", time=world.after.time)


def last_gtid(server: Server) -> str:
    """Return the GTID of the last transaction, which this server has written."""
    if server.query("SELECT VERSION()")[0][0].find("MariaDB") >= 0:
        return str(server.query("SELECT @@gtid_binlog_pos")[0][0])
    uuid, executed = server.query("SELECT @@server_uuid, @@gtid_executed")[0]
    own = next(part for part in executed.replace("\n", "").split(",") if part.startswith(uuid))
    return f"{uuid}:{own.rpartition(':')[2].rpartition('-')[2]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "family", [pytest.param(MySQL, marks=pytest.mark.mysql), pytest.param(MariaDB, marks=pytest.mark.mariadb)]
)
def test_a_version_from_before_a_failover_counts(
    spark: SparkSession, start_server: StartServer, family: Family, tmp_path: Path
) -> None:
    updates = {"log-slave-updates": "ON"} if family is MariaDB else {}
    one, two = (start_server(family, {"server-id": number, **updates}) for number in (1, 2))
    one.query("CREATE DATABASE shop")
    one.query("CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(9))")
    replicate(two, one)
    one.query("INSERT INTO shop.items VALUES (1, 'one'), (2, 'two'), (3, 'three')")
    run_mirror(one, tmp_path, "shop.items")
    catch_up(two, one)
    two.query("FLUSH BINARY LOGS")  # what the mirror has is not read from here
    two.query(f"PURGE BINARY LOGS TO '{two.query('SHOW BINARY LOGS')[-1][0]}'")
    one.query("UPDATE shop.items SET name = 'uno' WHERE id = 1")
    run_mirror(one, tmp_path, "shop.items")
    catch_up(two, one)
    one.kill()
    promote(two)
    two.query("DELETE FROM shop.items WHERE id = 2")
    expected, then = two.query("SELECT * FROM shop.items ORDER BY id"), last_gtid(two)
    two.query("DELETE FROM shop.items")
    source = {"host": f"127.0.0.1:{two.port}", "user": "root", "sslMode": "disabled"}
    found = binspark.table_at(spark, source, "shop.items", gtid=then, mirror=str(tmp_path))
    assert [tuple(row) for row in found.orderBy("id").collect()] == expected
    schema = tmp_path / "schema.sql"  # its logs begin after the table was created
    schema.write_text("CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(9));")
    logs = [str(log) for log in two.log_files()]
    found = binspark.table_at(spark, logs, "shop.items", gtid=then, mirror=str(tmp_path), schemaFile=str(schema))
    assert [tuple(row) for row in found.orderBy("id").collect()] == expected
