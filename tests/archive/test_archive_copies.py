"""Archives of real servers: byte for byte the server's files, whatever the server does meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.files import read_events
from binspark.testing.servers import Family
from binspark.verify import verify_logs
from tests.support.archive.archiving import (
    archive,
    archiving,
    big_options,
    files_in,
    files_of_server,
    insert,
    is_same,
    make_table,
    settle,
    wait_until,
)
from tests.support.servers import StartServer, each_stopped_family, every_family

pytestmark = pytest.mark.timeout(180)


@every_family
@pytest.mark.parametrize("checksum", ["CRC32", "NONE"])
def test_an_archive_is_the_servers_files(
    family: Family, checksum: str, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family, {"binlog-checksum": checksum})
    make_table(server)
    insert(server, 50)
    server.query("FLUSH BINARY LOGS")
    insert(server, 3, pad=100_000)
    server.run_sql("ALTER TABLE d.t ADD COLUMN more INT; DROP TABLE d.t")
    archive(server, tmp_path)
    assert files_in(tmp_path) == files_of_server(server)
    assert verify_logs(tmp_path).ok
    assert verify_logs(tmp_path / "binlog.index").ok


@every_family
def test_an_archive_grows_with_the_server(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(family)
    make_table(server)
    with archiving(server, tmp_path):
        for _ in range(3):
            insert(server, 20)
            wait_until(lambda: is_same(server, tmp_path))
            server.query("FLUSH BINARY LOGS")
            wait_until(lambda: is_same(server, tmp_path))


@every_family
def test_events_over_16_mb_are_copied(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(family, big_options(family))
    make_table(server)
    for size in ((1 << 24) - 60, 1 << 24, 34_000_000):
        server.run_sql(f"INSERT INTO d.t (pad) VALUES (REPEAT('x', {size}))", "--max-allowed-packet=256M")
    insert(server)
    archive(server, tmp_path)
    assert files_in(tmp_path) == files_of_server(server)
    assert max(len(event.frame.data) for event in read_events(tmp_path)) > 34_000_000


@each_stopped_family
def test_restarts_and_crashes_of_a_server_are_followed(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family)
    make_table(server)
    with archiving(server, tmp_path):
        for end in (server.stop, server.kill, server.kill, server.stop):
            insert(server, 5)
            wait_until(lambda: is_same(server, tmp_path))
            end()
            server.launch()
            insert(server, 5)
            wait_until(lambda: is_same(server, tmp_path))
    assert len(files_in(tmp_path)) == 5


@every_family
def test_checksums_may_change_from_log_to_log(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(family)
    make_table(server)
    for checksum in ("NONE", "CRC32", "NONE", "CRC32"):
        server.query(f"SET GLOBAL binlog_checksum = {checksum}")
        insert(server, 5)
    settle(server)
    archive(server, tmp_path)
    assert files_in(tmp_path) == files_of_server(server)
    assert len(files_in(tmp_path)) == 5
