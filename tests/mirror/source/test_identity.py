"""Which mirror this is: by default that of its source, so that two mirrors do not write the same tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.source.change_source import ArchiveChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import OtherMirror
from binspark.testing.builder import BinlogBuilder
from binspark.testing.servers import MySQL, Server
from tests.support.mirror.live_mirrors import rows_of, run_mirror
from tests.support.servers import StartServer


def fill(server: Server, database: str) -> str:
    server.query(f"CREATE DATABASE IF NOT EXISTS {database}")
    server.query(f"CREATE TABLE {database}.items (id INT PRIMARY KEY)")
    server.query(f"INSERT INTO {database}.items VALUES (1), (2)")
    return f"{database}.items"


def written_by(lake: Path, kind: Format = Format.DELTA) -> str:
    """Return the mirror that the tables of a target and its cuts name: one, and the same."""
    target = parse_target(str(lake), kind)
    cut = target.cuts.last()
    assert cut is not None
    names = {cut.mirror}
    for name in target.tables():
        table = target.table(name)
        assert table is not None
        state = table.read().state
        assert state is not None
        names.add(state.mirror)
    target.close()
    assert len(names) == 1
    return names.pop()


@pytest.mark.mysql
@pytest.mark.mariadb
def test_mirrors_of_two_servers_do_not_share_a_target(
    mysql: Server, mariadb: Server, database: str, lake: Path, kind: Format
) -> None:
    name, other = fill(mysql, database), fill(mariadb, f"{database}_b")
    try:
        run_mirror(mysql, lake, name, kind)
        stored = written_by(lake, kind)
        assert stored == f"server:{mysql.query('SELECT @@server_uuid')[0][0]}"
        for tables in (name, other):  # also if no table is the same
            with pytest.raises(
                OtherMirror, match=rf"written by the mirror '{stored}'.*a --target of its own.*--mirror-id"
            ):
                run_mirror(mariadb, lake, tables, kind)
        assert rows_of(lake, name, kind).num_rows == 2
        mysql.query(f"INSERT INTO {name} VALUES (3)")
        run_mirror(mysql, lake, name, kind)
        assert rows_of(lake, name, kind).num_rows == 3
    finally:
        mariadb.query(f"DROP DATABASE {database}_b")


@pytest.mark.mysql
def test_a_name_that_was_given_is_needed_again(mysql: Server, database: str, lake: Path) -> None:
    name = fill(mysql, database)
    run_mirror(mysql, lake, name, mirror_id="shop")
    assert written_by(lake) == "shop"
    with pytest.raises(OtherMirror, match=r"written by the mirror 'shop'.*continue with --mirror-id 'shop'"):
        run_mirror(mysql, lake, name)
    run_mirror(mysql, lake, name, mirror_id="shop")


def mirror_logs(pattern: str, lake: Path) -> None:
    patterns = TablePatterns(frozenset({"shop.*"}))
    Mirror(ArchiveChanges((pattern,), patterns), parse_target(str(lake)), patterns, MirrorSettings(once=True)).run()


def test_logs_are_known_by_their_directory(tmp_path: Path, lake: Path) -> None:
    for directory in ("one", "two"):
        (tmp_path / directory).mkdir()
        log = BinlogBuilder()
        log.ddl("CREATE TABLE shop.items (id INT PRIMARY KEY)", schema="shop")
        log.save(tmp_path / directory)
    mirror_logs(str(tmp_path / "one"), lake)
    mirror_logs(str(tmp_path / "one" / "binlog.0*"), lake)
    assert written_by(lake) == f"logs:{tmp_path}/one"
    with pytest.raises(
        OtherMirror, match=r"written by the mirror 'logs:.*/one', and this would be the mirror 'logs:.*/two'"
    ):
        mirror_logs(str(tmp_path / "two"), lake)


@pytest.mark.mysql
@pytest.mark.slow
def test_logs_of_the_server_continue_its_mirror(start_server: StartServer, tmp_path: Path, lake: Path) -> None:
    server, other = start_server(MySQL), start_server(MySQL, {"server-id": 2})
    name = fill(server, "shop")
    fill(other, "shop")
    for number in (3, 4):
        run_mirror(server, lake, "shop.*")
        server.query(f"INSERT INTO {name} VALUES ({number})")
    for source, directory in ((server, "own"), (other, "others")):
        source.query("FLUSH BINARY LOGS")
        (tmp_path / directory).mkdir()
        for log in source.datadir.glob("binlog.0*"):
            shutil.copy(log, tmp_path / directory)
    with pytest.raises(OtherMirror, match="not known to have all transactions of the first"):
        mirror_logs(str(tmp_path / "others"), lake)
    mirror_logs(str(tmp_path / "own"), lake)
    assert rows_of(lake, name).num_rows == 4
