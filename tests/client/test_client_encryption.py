"""Encrypted logs of MariaDB: they come in clear from every place, and say only once that they were encrypted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from binspark.client.follow_files import follow_files
from binspark.client.start import AtFile
from binspark.errors import Server as ServerError
from binspark.frames import EventCode
from binspark.testing.servers import MariaDB, Server, start
from tests.support.client.client_help import insert, make_table, options_of, quick
from tests.support.client.copy_help import copied_files, copy_now, copying, wait_for_size, write_cut
from tests.support.client.stream_help import (
    follow_from,
    kill_dump,
    places_of,
    settle,
    streamed_files,
    to_the_end,
    until_commit,
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
    places = places_of(follow_from(encrypting, FIRST))
    for number, (file, offset, _) in enumerate(places):
        assert places_of(follow_from(encrypting, file, offset)) == places[number:]


def test_a_stream_may_be_opened_at_every_event(encrypting: Server) -> None:
    whole = [event for event in to_the_end(encrypting, AtFile(FIRST)) if event.in_file]
    for number, first in enumerate(whole):
        opened = to_the_end(encrypting, AtFile(first.file, first.offset))
        found = [(event.offset, event.data) for event in opened if event.in_file]
        assert found == [(event.offset, event.data) for event in whole[number:]]


def test_what_says_that_a_log_is_encrypted_is_repeated_in_no_file(encrypting: Server) -> None:
    whole = to_the_end(encrypting, AtFile(FIRST))
    place = next(event.offset for event in whole if event.type_code == EventCode.XID)
    opened = {start: to_the_end(encrypting, AtFile(FIRST, start))[:3] for start in (4, place)}
    assert [tuple(event.type_code for event in events) for events in opened.values()] == [OPENING, OPENING]
    assert [event.in_file for event in opened[4]] == [False, True, True]
    assert [event.in_file for event in opened[place]] == [False, False, False]
    assert {event.end_offset for event in opened[place]} == {place}


def test_a_place_inside_the_first_event_is_refused(encrypting: Server) -> None:
    with pytest.raises(ServerError, match=r"binlog\.000001:100: no event begins at 100"):
        follow_from(encrypting, FIRST, 100)


def test_a_copy_of_an_encrypted_log_goes_on_wherever_it_was_cut_off(encrypting: Server, tmp_path: Path) -> None:
    whole = copy_now(encrypting, tmp_path / "whole")
    for event in to_the_end(encrypting, AtFile(FIRST)):
        folder = tmp_path / f"{event.file}-{event.offset}-{event.type_code}"
        write_cut(folder, whole, event.file, event.end_offset)
        assert copy_now(encrypting, folder) == whole


def test_an_encrypted_log_goes_on_where_a_connection_was_killed(encrypting: Server) -> None:
    encrypting.query("FLUSH LOGS")
    file = encrypting.log_files()[-1].name
    follower = follow_files(options_of(encrypting.port), AtFile(file), quick())
    seen = []
    for number in range(3):
        insert(encrypting, "d", 100 + number)
        seen += until_commit(follower)
        kill_dump(encrypting)
    encrypting.query("FLUSH LOGS")
    seen += takewhile(lambda event: event.file == file, follower)
    follower.close()
    assert sum(event.type_code == EventCode.START_ENCRYPTION for event in seen) == 4
    assert streamed_files(seen)[file] == streamed_files(to_the_end(encrypting, AtFile(file)))[file]


def test_a_copy_of_an_encrypted_log_goes_on_where_its_connection_was_killed(encrypting: Server, tmp_path: Path) -> None:
    encrypting.query("FLUSH LOGS")
    log = encrypting.log_files()[-1]
    with copying(encrypting, tmp_path / "killed"):
        for number in range(4):
            insert(encrypting, "d", 200 + number)
            wait_for_size(tmp_path / "killed" / log.name, log.stat().st_size)
            kill_dump(encrypting)
    settle(encrypting)
    assert copy_now(encrypting, tmp_path / "killed") == copy_now(encrypting, tmp_path / "whole")
    assert copied_files(tmp_path / "killed")[log.name][256 + 4] == EventCode.IGNORABLE
