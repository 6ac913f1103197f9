"""Encrypted logs of MariaDB: they come in clear from every offset, and say only once that they were encrypted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from binspark.errors import Server as ServerError
from binspark.frames import EventCode
from binspark.replication.chunk import LogChunk
from binspark.testing.servers import MariaDB, Server, start
from tests.support.archive.copies import copied_files, copy_now, copying, wait_for_size, write_cut
from tests.support.replication.following import insert, make_table
from tests.support.replication.streams import (
    bytes_as_they_come,
    chunk_files,
    copying_follower,
    in_file,
    kill_dump,
    positions_of,
    settle,
    to_the_end,
    until_size,
)

pytestmark = [pytest.mark.timeout(180), pytest.mark.mariadb]

FIRST = "binlog.000001"
OPENING = (EventCode.ROTATE, EventCode.FORMAT_DESCRIPTION, EventCode.START_ENCRYPTION)


@pytest.fixture(scope="module", params=["CRC32", "NONE"])
def encrypting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that encrypts its logs, of which there are two."""
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text("1;" + "ab" * 32 + "\n")
    options = {
        "plugin-load-add": "file_key_management",
        "file-key-management-filename": str(keys),
        "encrypt-binlog": "ON",
        "binlog-checksum": request.param,
    }
    with start(MariaDB, options) as server:
        make_table(server, "d")
        insert(server, "d", 1, 2)
        server.query("FLUSH LOGS")
        insert(server, "d", 3)
        settle(server)
        yield server


def test_an_encrypted_log_is_followed_from_every_event(encrypting: Server) -> None:
    files = chunk_files(bytes_as_they_come(encrypting.port, in_file(FIRST)))
    for file, offset, _ in positions_of(to_the_end(encrypting, in_file(FIRST))):
        rest = {name: content[4:] for name, content in files.items() if name > file}
        found = chunk_files(bytes_as_they_come(encrypting.port, in_file(file, offset)), magic=b"")
        assert found == {file: files[file][offset:], **rest}


def test_a_stream_may_be_opened_at_every_event(encrypting: Server) -> None:
    events = [event for event in to_the_end(encrypting, in_file(FIRST)) if event.in_file]
    for number, first in enumerate(events):
        opened = to_the_end(encrypting, in_file(first.file, first.offset))
        found = [(event.offset, event.data) for event in opened if event.in_file]
        assert found == [(event.offset, event.data) for event in events[number:]]


def test_what_says_that_a_log_is_encrypted_is_repeated_in_no_file(encrypting: Server) -> None:
    offset = next(event.offset for event in to_the_end(encrypting, in_file(FIRST)) if event.type_code == EventCode.XID)
    opened = {start: to_the_end(encrypting, in_file(FIRST, start))[:3] for start in (4, offset)}
    assert [tuple(event.type_code for event in events) for events in opened.values()] == [OPENING, OPENING]
    assert [event.in_file for event in opened[4]] == [False, True, True]
    assert [event.in_file for event in opened[offset]] == [False, False, False]
    assert {event.end_offset for event in opened[offset]} == {offset}


def test_an_offset_inside_the_first_event_is_refused(encrypting: Server) -> None:
    with pytest.raises(ServerError, match=r"binlog\.000001:100: no event begins at 100"):
        bytes_as_they_come(encrypting.port, in_file(FIRST, 100))


def test_a_copy_of_an_encrypted_log_is_continued_wherever_it_was_cut_off(encrypting: Server, tmp_path: Path) -> None:
    complete = copy_now(encrypting, tmp_path / "complete")
    for event in to_the_end(encrypting, in_file(FIRST)):
        folder = tmp_path / f"{event.file}-{event.offset}-{event.type_code}"
        write_cut(folder, complete, event.file, event.end_offset)
        assert copy_now(encrypting, folder) == complete


def test_an_encrypted_log_is_continued_where_a_connection_was_killed(encrypting: Server) -> None:
    encrypting.query("FLUSH LOGS")
    log = encrypting.log_files()[-1]
    seen: list[tuple[LogChunk, bytes]] = []
    with copying_follower(encrypting.port, in_file(log.name)) as follower:
        for number in range(3):
            insert(encrypting, "d", 100 + number)
            until_size(follower, seen, log.stat().st_size)
            kill_dump(encrypting)
        encrypting.query("FLUSH LOGS")
        seen += [(chunk, bytes(chunk.data)) for chunk in takewhile(lambda chunk: chunk.file == log.name, follower)]
    types = [chunk.event.type_code for chunk, _ in seen if chunk.event]
    assert types.count(EventCode.START_ENCRYPTION) == 4
    complete = chunk_files(bytes_as_they_come(encrypting.port, in_file(log.name)))
    assert chunk_files(seen)[log.name] == complete[log.name]


def test_a_copy_of_an_encrypted_log_is_continued_where_its_connection_was_killed(
    encrypting: Server, tmp_path: Path
) -> None:
    encrypting.query("FLUSH LOGS")
    log = encrypting.log_files()[-1]
    with copying(encrypting, tmp_path / "killed"):
        for number in range(4):
            insert(encrypting, "d", 200 + number)
            wait_for_size(tmp_path / "killed" / log.name, log.stat().st_size)
            kill_dump(encrypting)
    settle(encrypting)
    assert copy_now(encrypting, tmp_path / "killed") == copy_now(encrypting, tmp_path / "complete")
    assert copied_files(tmp_path / "killed")[log.name][256 + 4] == EventCode.IGNORABLE
