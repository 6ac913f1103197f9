"""Chains of real servers are intact; whatever is removed or changed is found."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from binspark.frames import EventCode as E
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from binspark.verify import verify_logs
from tests.support.servers import StartServer
from tests.support.verify.logs import codes, cut, errors, flip, frame_of, warnings

ROTATIONS = 3
FAMILIES = [pytest.param(MySQL, marks=pytest.mark.mysql), pytest.param(MariaDB, marks=pytest.mark.mariadb)]


_RECORDED: dict[str, Path] = {}


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def recorded(
    request: pytest.FixtureRequest, start_server: StartServer, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with the four logs and the index that a server wrote and closed; each server is started once."""
    name = request.param.name
    _RECORDED[name] = _RECORDED.get(name) or _record(start_server(request.param), tmp_path_factory.mktemp(name))
    return _RECORDED[name]


def _record(server: Server, folder: Path) -> Path:
    server.run_sql("CREATE DATABASE chain; CREATE TABLE chain.t (id INT PRIMARY KEY, a TEXT)")
    for number in range(ROTATIONS):
        server.run_sql(f"INSERT INTO chain.t VALUES ({number}, REPEAT('x', 300)); FLUSH BINARY LOGS")
    server.run_sql("UPDATE chain.t SET a = 'last'")
    server.stop()
    for path in (*server.log_files(), server.datadir / "binlog.index"):
        shutil.copy(path, folder)
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    """A copy of the recorded logs that may be damaged."""
    copy = tmp_path / "logs"
    shutil.copytree(recorded, copy)
    return copy


def test_a_recorded_chain_is_intact(folder: Path) -> None:
    report = verify_logs(folder / "binlog.index")
    assert codes(report) == []
    assert report.summary.files == ROTATIONS + 1
    assert report.summary.transactions == ROTATIONS + 3


def test_a_removed_file_is_found(folder: Path) -> None:
    (folder / "binlog.000002").unlink()
    assert errors(verify_logs(folder)) == ["missing-file", "gtid-lost"]
    assert "missing-file" in errors(verify_logs(folder / "binlog.index"))


def test_a_damaged_byte_is_found(folder: Path) -> None:
    flip(folder / "binlog.000003", -10 + (folder / "binlog.000003").stat().st_size)
    assert errors(verify_logs(folder)) == ["checksum"]


def test_a_file_that_lost_its_tail_is_found(folder: Path) -> None:
    path = folder / "binlog.000002"
    cut(path, frame_of(path, E.XID).end_offset)
    assert errors(verify_logs(folder)) == ["no-end"]


def test_a_file_that_lost_its_last_transaction_is_found(folder: Path) -> None:
    path = folder / "binlog.000002"
    cut(path, frame_of(path, E.TABLE_MAP).offset)
    assert sorted(errors(verify_logs(folder))) == ["gtid-lost", "no-end", "unfinished-transaction"]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_many_sessions_and_small_files_raise_no_false_alarm(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"max-binlog-size": 4096})
    server.run_sql("CREATE DATABASE busy; CREATE TABLE busy.t (id INT PRIMARY KEY, a TEXT)")
    with ThreadPoolExecutor(4) as sessions:
        list(sessions.map(lambda session: _insert_rows(server, session), range(4)))
    report = verify_logs(server.log_files())
    assert errors(report) == []
    assert warnings(report) == ["in-use"]
    assert report.summary.transactions == 2 + 4 * 30
    assert report.summary.files > 5


def _insert_rows(server: Server, session: int) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        for number in range(30):
            cursor.execute("INSERT INTO busy.t VALUES (%s, REPEAT('x', 200))", (session * 100 + number,))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_killed_server_leaves_warnings_only(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    server.run_sql("CREATE DATABASE crash; CREATE TABLE crash.t (id INT PRIMARY KEY)")
    server.kill()
    server.launch()
    server.run_sql("INSERT INTO crash.t VALUES (1)")
    report = verify_logs(server.log_files())
    assert errors(report) == []
    assert "no-end" in warnings(report)


@pytest.mark.mysql
def test_gtids_set_as_purged_are_not_reported_as_lost(start_server: StartServer) -> None:
    server = start_server(MySQL)
    server.run_sql("CREATE DATABASE purged; FLUSH BINARY LOGS")
    server.run_sql("SET GLOBAL gtid_purged = '+11111111-2222-3333-4444-555555555555:1-5'; FLUSH BINARY LOGS")
    assert errors(verify_logs(server.log_files())) == []


@pytest.mark.mariadb
def test_a_domain_that_the_server_deleted_is_info(start_server: StartServer) -> None:
    server = start_server(MariaDB)
    server.run_sql("SET gtid_domain_id = 9; CREATE DATABASE deleted; FLUSH BINARY LOGS")
    server.run_sql("CREATE DATABASE kept")
    server.restart()  # so that recovery needs none of the older files, and they can be purged
    server.run_sql(f"PURGE BINARY LOGS TO '{server.log_files()[-1].name}'")
    server.run_sql("FLUSH BINARY LOGS DELETE_DOMAIN_ID = (9)")
    assert codes(verify_logs(server.log_files())) == ["chain-begins-late", "in-use", "gtid-domain-deleted"]
