"""Logs with and without checksums, and servers that change their mind: every offset of every file can be read from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from binspark.frames import EventCode
from binspark.frames.checksum import ChecksumState
from binspark.gtid import GtidSet, MariadbPosition
from binspark.replication.chunk import LogChunk
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.testing.servers import Family, MariaDB, MySQL, Server, start
from tests.support.archive.copies import copied_files, copy_now, copying, wait_for_size, write_cut
from tests.support.replication.following import ids_of, insert, make_table, read_to_end
from tests.support.replication.streams import (
    bytes_as_they_come,
    chunk_files,
    copying_follower,
    files_on_disk,
    in_file,
    kill_dump,
    positions_of,
    settle,
    to_the_end,
    until_size,
)
from tests.support.servers import StartServer, config_of, every_family

pytestmark = pytest.mark.timeout(180)

FIRST = "binlog.000001"


@pytest.fixture(scope="module")
def changing(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server with files that have checksums and files that have none, in turn; of either kind is the last."""
    family, last = request.param
    order = {"NONE": ["CRC32", "NONE"], "CRC32": ["NONE", "CRC32"]}[last]
    with start(family, {"binlog-checksum": last}) as server:
        make_table(server, "d")
        insert(server, "d", 1)
        for number, checksum in enumerate(order, 2):
            server.query(f"SET GLOBAL binlog_checksum = {checksum}")
            insert(server, "d", 10 * number, 10 * number + 1)
        server.query("FLUSH LOGS")
        insert(server, "d", 100)
        settle(server)
        yield server


changing_servers = pytest.mark.parametrize(
    "changing",
    [
        pytest.param((MySQL, "NONE"), marks=pytest.mark.mysql, id="mysql-none"),
        pytest.param((MySQL, "CRC32"), marks=pytest.mark.mysql, id="mysql-crc32"),
        pytest.param((MariaDB, "NONE"), marks=pytest.mark.mariadb, id="mariadb-none"),
        pytest.param((MariaDB, "CRC32"), marks=pytest.mark.mariadb, id="mariadb-crc32"),
    ],
    indirect=True,
    scope="module",
)


def transactions(server: Server, start: BinlogPosition) -> list[LogChunk]:
    chunks = read_to_end(config_of(server.port), start, one_per_chunk=True)
    return [chunk for chunk in chunks if chunk.is_transaction]


def ends_of(chunks: list[LogChunk]) -> list[tuple[str, int]]:
    return [(chunk.end_position.file, chunk.end_position.offset) for chunk in chunks]


@changing_servers
def test_files_are_followed_from_every_event(changing: Server) -> None:
    files = files_on_disk(changing)
    assert chunk_files(bytes_as_they_come(changing.port, in_file(FIRST))) == files
    for file, offset, _ in positions_of(to_the_end(changing, in_file(FIRST))):
        rest = {name: content for name, content in files.items() if name > file}
        expected = {file: files[file][offset:], **{name: content[4:] for name, content in rest.items()}}
        found = chunk_files(bytes_as_they_come(changing.port, in_file(file, offset)), magic=b"")
        assert found == expected


@changing_servers
def test_transactions_are_followed_from_every_position(changing: Server) -> None:
    all_of_them = transactions(changing, in_file(FIRST))
    assert ids_of(all_of_them, "d") == [1, 20, 21, 30, 31, 100]
    for number, chunk in enumerate(all_of_them, 1):
        end = chunk.end_position
        by_file = transactions(changing, in_file(end.file, end.offset))
        assert ends_of(by_file) == ends_of(all_of_them)[number:]
        assert ends_of(transactions(changing, end)) == ends_of(all_of_them)[number:]
        in_bulk = [part for part in read_to_end(config_of(changing.port), end) if part.data]
        assert ids_of(in_bulk, "d") == ids_of(all_of_them[number:], "d")


@changing_servers
def test_a_copy_that_was_cut_off_anywhere_is_continued(changing: Server, tmp_path: Path) -> None:
    files = files_on_disk(changing)
    events = [event for event in to_the_end(changing, in_file(FIRST)) if event.in_file]
    for event in events[::3]:
        folder = tmp_path / f"{event.file}-{event.offset}"
        write_cut(folder, files, event.file, event.end_offset)
        assert copy_now(changing, folder) == files


@changing_servers
def test_by_gtids_transactions_are_skipped_whatever_the_checksums_are(changing: Server) -> None:
    uuid = {MySQL: "server_uuid", MariaDB: "server_id"}[changing.family]
    found = changing.query(f"SELECT @@{uuid}")[0][0]
    gtids: Gtids = GtidSet(f"{found}:1-2") if changing.family is MySQL else MariadbPosition("0-1-2")
    chunks = transactions(changing, BinlogPosition.after_gtids(gtids))
    assert ids_of(chunks, "d") == [1, 20, 21, 30, 31, 100]


@every_family
def test_a_repeated_format_description_has_no_checksum_where_the_file_has_none(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family, {"binlog-checksum": "NONE"})
    make_table(server, "d")
    *_, last = to_the_end(server, in_file(FIRST))
    first, repeated = (
        next(event for event in to_the_end(server, start) if event.type_code == EventCode.FORMAT_DESCRIPTION)
        for start in (in_file(FIRST), in_file(FIRST, last.offset))
    )
    assert (first.in_file, first.frame.checksum) == (True, ChecksumState.OK)
    assert (repeated.in_file, repeated.frame.checksum) == (False, ChecksumState.NONE)
    assert (repeated.offset, repeated.end_offset) == (last.offset, last.offset)


@every_family
def test_without_checksums_files_are_continued_where_a_connection_was_killed(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family, {"binlog-checksum": "NONE"})
    make_table(server, "d")
    seen: list[tuple[LogChunk, bytes]] = []
    with copying_follower(server.port, "earliest") as follower:
        for number in range(3):
            insert(server, "d", number)
            until_size(follower, seen, server.log_files()[0].stat().st_size)
            kill_dump(server)
        server.query("FLUSH LOGS")
        seen += [(chunk, bytes(chunk.data)) for chunk in takewhile(lambda chunk: chunk.file == FIRST, follower)]
    assert chunk_files(seen)[FIRST] == files_on_disk(server)[FIRST]
    descriptions = [chunk for chunk, _ in seen if chunk.event and chunk.event.type_code == EventCode.FORMAT_DESCRIPTION]
    assert len(descriptions) == 4


@every_family
def test_without_checksums_a_copy_is_continued_where_its_connection_was_killed(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family, {"binlog-checksum": "NONE"})
    make_table(server, "d")
    with copying(server, tmp_path / "copy"):
        for number in range(3):
            insert(server, "d", number)
            wait_for_size(tmp_path / "copy" / FIRST, server.log_files()[0].stat().st_size)
            kill_dump(server)
        insert(server, "d", 3)
        wait_for_size(tmp_path / "copy" / FIRST, server.log_files()[0].stat().st_size)
    assert copied_files(tmp_path / "copy") == files_on_disk(server)
