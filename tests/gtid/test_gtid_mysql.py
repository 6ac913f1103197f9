"""What a real MySQL server says about GTID sets."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from binspark.errors import Malformed
from binspark.gtid import GtidSet, decode_gtid_set, encode_gtid_set
from binspark.testing.servers import MySQL, Server
from binspark.wire import Cursor, Writer
from tests.gtid.test_gtid_text import REFUSED, TAKEN
from tests.support.examples import examples
from tests.support.gtid.gtid_strategies import gtid_sets, set_like_texts
from tests.support.servers import StartServer

pytestmark = pytest.mark.mysql

UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
ask_server = settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
"""A server answers when it likes."""

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def ask(mysql: Server) -> Iterator[Ask]:
    """A function that evaluates an expression on the server."""
    with mysql.connect() as connection, connection.cursor() as cursor:

        def evaluate(expression: str, *arguments: str) -> Any:
            cursor.execute(f"SELECT {expression}", arguments)
            return cursor.fetchone()[0]

        yield evaluate


@ask_server
@given(gtid_sets, gtid_sets)
def test_the_server_subtracts_to_the_same_text(ask: Ask, left: GtidSet, right: GtidSet) -> None:
    assert ask("GTID_SUBTRACT(%s, %s)", str(left), str(right)) == (left - right).server_text()


@ask_server
@given(gtid_sets, gtid_sets)
def test_the_server_finds_the_same_subsets(ask: Ask, left: GtidSet, right: GtidSet) -> None:
    assert ask("GTID_SUBSET(%s, %s)", str(left), str(right)) == (left <= right)
    assert ask("GTID_SUBSET(%s, %s)", str(left & right), str(left)) == 1


@ask_server
@given(gtid_sets, gtid_sets)
def test_the_server_unites_a_list_to_the_same_text(ask: Ask, left: GtidSet, right: GtidSet) -> None:
    assert ask("GTID_SUBTRACT(%s, '')", f"{left},{right}") == (left | right).server_text()


@pytest.mark.parametrize("text", TAKEN)
def test_the_server_takes_every_form_that_we_take(ask: Ask, text: str) -> None:
    assert ask("GTID_SUBTRACT(%s, '')", text) == GtidSet(text).server_text()


@pytest.mark.parametrize("text", REFUSED)
def test_the_server_refuses_every_form_that_we_refuse(ask: Ask, text: str) -> None:
    with pytest.raises(Exception, match="Malformed GTID set specification"):
        ask("GTID_SUBTRACT(%s, '')", text)
    with pytest.raises(Malformed):
        GtidSet(text)


def our_answer(text: str) -> str:
    try:
        return GtidSet(text).server_text()
    except Malformed:
        return "refused"


def the_servers_answer(ask: Ask, text: str) -> str:
    try:
        return str(ask("GTID_SUBTRACT(%s, '')", text))
    except Exception as error:
        return "refused" if "Malformed GTID set specification" in str(error) else str(error)


@settings(ask_server, max_examples=examples(500))
@given(set_like_texts)
def test_the_server_takes_and_refuses_random_texts_as_we_do(ask: Ask, text: str) -> None:
    assert our_answer(text) == the_servers_answer(ask, text)


def previous_gtids(log: Path) -> bytes:
    """Return the body of a log's PREVIOUS_GTIDS event, which is its second; the checksum cut off."""
    data = log.read_bytes()
    event_offset = 4 + struct.unpack_from("<I", data, 4 + 9)[0]
    event_size = struct.unpack_from("<I", data, event_offset + 9)[0]
    return data[event_offset + 19 : event_offset + event_size - 4]


def test_the_server_writes_the_bytes_that_we_write(start_server: StartServer) -> None:
    server = start_server(MySQL)
    for text in (f"{UUID}:1-11:13", f"c{UUID[1:]}:7,{UUID}:9:b:1:a_b:2-3:a0:1:_:5,0{UUID[1:]}:z:1-5:8"):
        server.query("RESET BINARY LOGS AND GTIDS")
        server.run_sql("".join(f"SET gtid_next = '{gtid}'; BEGIN; COMMIT;" for gtid in GtidSet(text)))
        server.query("FLUSH BINARY LOGS")
        written = previous_gtids(server.log_files()[-1])
        writer = Writer()
        encode_gtid_set(GtidSet(text), writer)
        assert writer.take() == written
        assert decode_gtid_set(Cursor(written))[0] == GtidSet(text)


def test_the_server_assigns_the_gtids_that_we_predict(start_server: StartServer) -> None:
    server = start_server(MySQL)
    uuid = server.query("SELECT @@server_uuid")[0][0]
    executed = GtidSet(f"{uuid}:2:4-5:9:t:1-2")
    server.query("RESET BINARY LOGS AND GTIDS")
    server.query("SET GLOBAL gtid_purged = %s", (str(executed),))
    for statement, tag, gtid_next in (
        ("CREATE DATABASE a", "", "AUTOMATIC"),
        ("CREATE DATABASE b", "", "AUTOMATIC"),
        ("DROP DATABASE a", "", "AUTOMATIC"),
        ("DROP DATABASE b", "t", "AUTOMATIC:t"),
    ):
        server.run_sql(f"SET gtid_next = '{gtid_next}'; {statement}")
        executed = executed.add(executed.next_gtid(uuid, tag))
        assert server.query("SELECT @@global.gtid_executed")[0][0] == executed.server_text()
