"""What a real MariaDB server says about positions and binlog states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from binspark.gtid import MariadbPosition, MariadbState
from binspark.testing.servers import MariaDB, Server
from tests.gtid.test_gtid_mariadb import REFUSED, TAKEN
from tests.support.examples import examples
from tests.support.gtid.gtid_strategies import positions
from tests.support.servers import StartServer

pytestmark = pytest.mark.mariadb

ask_server = settings(
    deadline=None,
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""A server may be slow. All examples share one: each sets the variables that it reads."""

TAKEN_BY_US_ALONE = {"0-1-100\n"}


class EmptyServer:
    """A server whose GTID variables a test may set."""

    def __init__(self, server: Server) -> None:
        self._cursor = server.connect().cursor()

    def set_position(self, text: str) -> str:
        """Set the position; return what the server makes of it."""
        self.run("SET GLOBAL gtid_slave_pos = %s", text)
        return self.read("gtid_slave_pos")

    def set_state(self, text: str) -> str:
        """Set the binlog state, which only an empty log allows; return what the server makes of it."""
        self.run("RESET MASTER")
        self.run("SET GLOBAL gtid_binlog_state = %s", text)
        return self.read("gtid_binlog_state")

    def read(self, variable: str) -> str:
        self.run(f"SELECT @@GLOBAL.{variable}")
        return str(self._cursor.fetchone()[0])

    def run(self, statement: str, *arguments: Any) -> None:
        self._cursor.execute(statement, arguments)

    def close(self) -> None:
        self._cursor.connection.close()


@pytest.fixture
def server(start_server: StartServer) -> Iterator[EmptyServer]:
    """A server without any GTID, for one test."""
    empty = EmptyServer(start_server(MariaDB))
    yield empty
    empty.close()


def test_the_server_takes_and_prints_every_form_as_we_do(server: EmptyServer) -> None:
    for text in TAKEN.keys() - TAKEN_BY_US_ALONE:
        assert server.set_position(text) == str(MariadbPosition(text))


def test_the_server_refuses_what_we_refuse(server: EmptyServer) -> None:
    for text in REFUSED:
        with pytest.raises(Exception, match="Could not parse GTID list"):
            server.set_position(text)
    with pytest.raises(Exception, match="duplicate domain id 0"):
        server.set_position("0-1-100,0-2-101")


@ask_server
@given(positions)
def test_the_server_prints_positions_in_our_order(server: EmptyServer, position: MariadbPosition) -> None:
    assert server.set_position(",".join(map(str, reversed(position.gtids)))) == str(position)


def test_the_server_reads_the_same_state_and_position_from_a_list(server: EmptyServer) -> None:
    for text in ("0-5-9,0-1-10,0-2-3,1-7-7,1-3-8,0-9-1", "0-1-100,0-2-99,0-1-50", "2-1-1,0-3-3,0-3-2,2-2-2,0-1-7"):
        state = MariadbState(text)
        assert MariadbState(server.set_state(text)) == state
        assert server.read("gtid_binlog_pos") == str(state.position)


def test_the_server_assigns_the_number_that_we_predict(server: EmptyServer) -> None:
    state = MariadbState(server.set_state("0-2-100,0-1-99"))
    server.run("CREATE DATABASE foretold")
    after = state.add(state.next_gtids()[0])
    assert server.read("gtid_binlog_state") == str(after) == "0-2-100,0-1-101"
