"""Archives that are continued, and servers that are no longer the ones that they were."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from binspark import rows
from binspark.archive.archiver import open_archiver
from binspark.archive.directory import ArchiveFolder
from binspark.archive.progress import ProgressMeter
from binspark.archive.retention import Retention
from binspark.archive.target import LocalTarget
from binspark.archive.writer import ArchiveWriter
from binspark.errors import ConnectionLost, Malformed, OptionError, Purged
from binspark.replication.sources import BulkSource
from binspark.testing.builder import BinlogBuilder
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.archive.archiving import (
    archive,
    archiving,
    files_in,
    files_of_server,
    insert,
    is_same,
    logs_in,
    make_table,
    quick,
    settle,
    wait_until,
)
from tests.support.replication.scripted_channel import rotation
from tests.support.replication.scripted_server import FILE, event_packets, events_of, streamed
from tests.support.servers import ServerOptions, StartServer, config_of, every_family

pytestmark = pytest.mark.timeout(180)


def purge_to(server: Server, file: str) -> None:
    """Purge older logs. A server puts that off while it may need one for its own recovery."""

    def purged() -> bool:
        server.query(f"PURGE BINARY LOGS TO '{file}'")
        return bool(server.query("SHOW BINARY LOGS")[0][0] == file)

    wait_until(purged)


def rotated(server: Server, logs: int = 1) -> None:
    """Write some rows, and let the server continue in the next log."""
    for _ in range(logs):
        insert(server, 3)
        server.query("FLUSH BINARY LOGS")
    settle(server)


def write_all(folder: Path, chunks: BulkSource) -> None:
    """Write what a server sends to a folder."""
    archive_folder, settings = ArchiveFolder(folder), quick()
    meter = ProgressMeter(config_of(1))
    writer = ArchiveWriter(archive_folder, LocalTarget(archive_folder, settings.keep), meter, settings)
    try:
        for chunk in chunks:
            writer.take(chunk)
    finally:
        writer.close()


@every_family
def test_logs_that_are_purged_while_they_are_followed_stay(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family)
    make_table(server)
    with archiving(server, tmp_path):
        rotated(server, 3)
        wait_until(lambda: is_same(server, tmp_path))
        before = files_in(tmp_path)
        purge_to(server, "binlog.000004")
        insert(server, 3)
        wait_until(lambda: (tmp_path / "binlog.000004").read_bytes() == files_of_server(server)["binlog.000004"])
    assert {name: content for name, content in files_in(tmp_path).items() if name < "binlog.000004"} == {
        name: content for name, content in before.items() if name < "binlog.000004"
    }


@every_family
def test_a_log_that_is_complete_may_be_purged_before_the_copy_is_continued(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family)
    make_table(server)
    rotated(server)
    archive(server, tmp_path)
    (tmp_path / "binlog.000002").unlink()
    first = (tmp_path / "binlog.000001").read_bytes()
    purge_to(server, "binlog.000002")
    archive(server, tmp_path)
    assert files_in(tmp_path) == {"binlog.000001": first} | files_of_server(server)


@every_family
def test_a_log_that_is_not_complete_must_still_be_there(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family)
    make_table(server)
    archive(server, tmp_path)
    rotated(server, 2)
    purge_to(server, "binlog.000002")
    with pytest.raises(Purged, match=r"binlog\.000001.*its copy is not complete"):
        archive(server, tmp_path)


@every_family
def test_logs_that_were_purged_between_are_missed(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(family)
    make_table(server)
    rotated(server)
    archive(server, tmp_path)
    (tmp_path / "binlog.000002").unlink()
    rotated(server, 2)
    purge_to(server, "binlog.000004")
    with pytest.raises(Purged, match=r"neither this log nor binlog\.000002"):
        archive(server, tmp_path)


@every_family
def test_an_archive_is_of_one_server(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    first, other = start_server(family), start_server(family)
    archive(first, tmp_path)
    with pytest.raises(OptionError, match="the folder contains logs of server"):
        archive(other, tmp_path)


@pytest.mark.mysql
def test_a_folder_of_an_earlier_version_is_continued(start_server: StartServer, tmp_path: Path) -> None:
    """Beside the logs and their index, a folder contains the state and the lock as they were written then."""
    server = start_server(MySQL)
    make_table(server)
    archive(server, tmp_path)
    uuid = server.query("SELECT @@server_uuid")[0][0]
    assert (tmp_path / "archive.json").read_text() == f'{{"server": "{uuid}"}}\n'
    (tmp_path / "archive.json").write_text(f'{{"server": "{uuid}"}}\n')
    (tmp_path / "archive.lock").write_text('{"pid": 1, "host": "db1", "since": "2026-01-01T00:00:00Z"}\n')
    last = tmp_path / "binlog.000001"
    last.write_bytes(last.read_bytes()[:-30])
    insert(server, 3)
    archive(server, tmp_path)
    assert files_in(tmp_path) == files_of_server(server)
    (tmp_path / "archive.json").write_text('{"server": "another"}\n')
    with pytest.raises(OptionError, match="the folder contains logs of server another"):
        archive(server, tmp_path)


@every_family
def test_logs_that_were_reset_are_not_mixed_with_those_before(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 10)
    archive(server, tmp_path)
    before = files_in(tmp_path)
    time.sleep(1.1)  # logs are identified by the second in which they were created
    server.query("RESET BINARY LOGS AND GTIDS" if family is MySQL else "RESET MASTER")
    insert(server, 30)
    with pytest.raises(Purged):
        archive(server, tmp_path)
    assert files_in(tmp_path) == before


@every_family
def test_a_server_that_lost_what_it_had_sent_is_refused(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family)
    make_table(server)
    insert(server, 5)
    archive(server, tmp_path)
    before = files_in(tmp_path)
    log = server.log_files()[-1]
    server.kill()
    log.write_bytes(log.read_bytes()[:-600])
    server.launch()
    insert(server, 5)
    with pytest.raises(Purged, match="lost transactions"):
        archive(server, tmp_path)
    assert files_in(tmp_path) == before


@every_family
@pytest.mark.parametrize(
    ("start", "first"), [("earliest", 1), ("latest", 4), ("binlog.000002", 2), ("binlog.000003:300", 3)]
)
def test_a_copy_begins_with_the_complete_log_of_a_position(
    family: Family, start: str, first: int, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family)
    make_table(server)
    rotated(server, 3)
    archive(server, tmp_path, start=start)
    assert files_in(tmp_path) == dict(list(files_of_server(server).items())[first - 1 :])


@every_family
def test_a_copy_begins_with_the_log_of_a_time(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(family)
    make_table(server)
    rotated(server)
    time.sleep(2.1)
    moment = datetime.now(UTC).isoformat()
    time.sleep(1.1)
    rotated(server)
    archive(server, tmp_path, start=f"timestamp:{moment}")
    assert logs_in(tmp_path) == ["binlog.000002", "binlog.000003"]


def test_gtids_are_no_start_of_a_copy(mysql: Server, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="GTIDs"):
        archive(mysql, tmp_path, start="gtid:")


@every_family
def test_the_oldest_logs_are_dropped(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(family)
    make_table(server)
    rotated(server, 5)
    sizes = {name: len(content) for name, content in files_of_server(server).items()}
    keep = Retention(bytes=sum(list(sizes.values())[-3:]))
    archive(server, tmp_path, keep=keep)
    assert files_in(tmp_path) == dict(list(files_of_server(server).items())[-3:])
    assert logs_in(tmp_path) == list(sizes)[-3:]
    rotated(server)
    archive(server, tmp_path, keep=Retention(days=1))
    assert len(logs_in(tmp_path)) == 4


@every_family
def test_the_rows_of_an_archive_are_those_of_the_server(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family, {"binlog-row-metadata": "FULL"})
    make_table(server)
    rotated(server, 2)
    server.query("UPDATE d.t SET pad = 'new' WHERE id = 2")
    archive(server, tmp_path)
    copied, written = (
        [(change.op, change.after) for change in rows(paths)] for paths in (tmp_path, server.log_files())
    )
    assert copied == written
    assert len(copied) == 7
    assert [change.after for change in rows(tmp_path / "binlog.index")] == [after for _, after in written]


@pytest.mark.mariadb
def test_an_encrypted_log_is_copied_in_clear(start_server: StartServer, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("1;770A8A65DA156D24EE2A093277530142\n")
    options: ServerOptions = {
        "plugin-load-add": "file_key_management",
        "file-key-management-filename": str(keys),
        "encrypt-binlog": 1,
        "binlog-row-metadata": "FULL",
    }
    server = start_server(MariaDB, options)
    make_table(server)
    insert(server, 3)
    server.query("FLUSH BINARY LOGS")
    insert(server, 2)
    folder = tmp_path / "archive"
    archive(server, folder)
    assert [change.after["id"] for change in rows(folder) if change.after] == [1, 2, 3, 4, 5]
    assert len(files_in(folder)["binlog.000001"]) == len(files_of_server(server)["binlog.000001"])


@pytest.mark.parametrize("name", ["../evil.000001", "/tmp/evil.000001", "evil", ".evil.1", "binlog.index"])
def test_a_server_does_not_choose_where_to_write(name: str, tmp_path: Path) -> None:
    sent = event_packets([rotation(name), *events_of(BinlogBuilder().files[0].content)])
    with streamed(sent) as chunks, pytest.raises(Malformed, match="the server names a log"):
        write_all(tmp_path / "archive", chunks)
    assert list(tmp_path.rglob("*")) == [tmp_path / "archive"]


def test_the_middle_of_a_log_is_no_beginning(tmp_path: Path) -> None:
    first, *events = events_of(BinlogBuilder().files[0].content)
    sent = event_packets([rotation(FILE, 4 + len(first)), first, *events])
    with streamed(sent) as chunks, pytest.raises(Malformed, match="expected its format description first"):
        write_all(tmp_path, chunks)


def test_a_server_that_does_not_answer_is_reported_at_once(tmp_path: Path) -> None:
    archiver = open_archiver(config_of(1), tmp_path, quick())
    with pytest.raises(ConnectionLost, match="no server listens there"):
        archiver.run()
