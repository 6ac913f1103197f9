"""Logs with and without checksums, and servers that change their mind: every place of every file can be read from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from binspark.client.follow import follow
from binspark.client.follow_files import follow_files
from binspark.client.group import Group, GroupKind
from binspark.client.resume import ResumePoint
from binspark.client.start import AtFile, AtGtids, StartFrom
from binspark.frames import EventCode
from binspark.frames.checksum import ChecksumState
from binspark.gtid import GtidSet, MariadbPosition
from binspark.testing.servers import Family, MariaDB, MySQL, Server, start
from tests.support.client.client_help import (
    StartServer,
    every_family,
    ids_of,
    insert,
    make_table,
    options_of,
    quick,
    quick_stream,
)
from tests.support.client.copy_help import copied_files, copy_now, copying, wait_for_size, write_cut
from tests.support.client.stream_help import (
    files_on_disk,
    follow_from,
    kill_dump,
    places_of,
    settle,
    streamed_files,
    to_the_end,
    until_commit,
)

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


def transactions(server: Server, begin: StartFrom | ResumePoint) -> list[Group]:
    groups = follow(options_of(server.port), begin, quick(stream=quick_stream(until_end=True)))
    return [group for group in groups if group.kind is GroupKind.TRANSACTION]


def ends_of(groups: list[Group]) -> list[tuple[str, int]]:
    return [(group.resume.file, group.resume.offset) for group in groups]


@changing_servers
def test_files_are_followed_from_every_event(changing: Server) -> None:
    whole = follow_from(changing, FIRST)
    assert streamed_files(whole) == files_on_disk(changing)
    places = places_of(whole)
    for number, (file, offset, _) in enumerate(places):
        assert places_of(follow_from(changing, file, offset)) == places[number:]


@changing_servers
def test_transactions_are_followed_from_every_resume_point(changing: Server) -> None:
    whole = transactions(changing, AtFile(FIRST))
    assert ids_of(whole, "d") == [1, 20, 21, 30, 31, 100]
    for number, group in enumerate(whole, 1):
        by_file = transactions(changing, AtFile(group.resume.file, group.resume.offset))
        assert ends_of(by_file) == ends_of(whole)[number:]
        assert ends_of(transactions(changing, group.resume)) == ends_of(whole)[number:]


@changing_servers
def test_a_copy_that_was_cut_off_anywhere_goes_on(changing: Server, tmp_path: Path) -> None:
    files = files_on_disk(changing)
    events = [event for event in to_the_end(changing, AtFile(FIRST)) if event.in_file]
    for event in events[::3]:
        folder = tmp_path / f"{event.file}-{event.offset}"
        write_cut(folder, files, event.file, event.end_offset)
        assert copy_now(changing, folder) == files


@changing_servers
def test_by_gtids_transactions_are_left_out_whatever_the_checksums_are(changing: Server) -> None:
    gtids = {
        MySQL: lambda: GtidSet(f"{changing.query('SELECT @@server_uuid')[0][0]}:1-2"),
        MariaDB: lambda: MariadbPosition("0-1-2"),
    }[changing.family]()
    groups = transactions(changing, AtGtids(gtids))
    assert ids_of(groups, "d") == [1, 20, 21, 30, 31, 100]


@every_family
def test_a_repeated_format_description_has_no_checksum_where_the_file_has_none(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family, {"binlog-checksum": "NONE"})
    make_table(server, "d")
    *_, last = to_the_end(server, AtFile(FIRST))
    first, repeated = (
        next(event for event in to_the_end(server, place) if event.type_code == EventCode.FORMAT_DESCRIPTION)
        for place in (AtFile(FIRST), AtFile(FIRST, last.offset))
    )
    assert (first.in_file, first.frame.checksum) == (True, ChecksumState.OK)
    assert (repeated.in_file, repeated.frame.checksum) == (False, ChecksumState.NONE)
    assert (repeated.offset, repeated.end_offset) == (last.offset, last.offset)


@every_family
def test_without_checksums_files_go_on_where_a_connection_was_killed(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"binlog-checksum": "NONE"})
    make_table(server, "d")
    follower = follow_files(options_of(server.port), "earliest", quick())
    seen = []
    for number in range(3):
        insert(server, "d", number)
        seen += until_commit(follower)
        kill_dump(server)
    server.query("FLUSH LOGS")
    seen += takewhile(lambda event: event.file == FIRST, follower)
    follower.close()
    assert streamed_files(seen)[FIRST] == files_on_disk(server)[FIRST]
    assert sum(event.type_code == EventCode.FORMAT_DESCRIPTION for event in seen) == 4


@every_family
def test_without_checksums_a_copy_goes_on_where_its_connection_was_killed(
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
