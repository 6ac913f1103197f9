"""Connecting again: how often, when, and to which server."""

from __future__ import annotations

import logging
import pickle
import random

import pytest

from binspark.errors import ConnectionLost, OptionError
from binspark.server import retry as retry_module
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection
from binspark.server.retry import Reconnector, Retry, RetryingConnection
from tests.support.servers import config_of


def test_delays_double_up_to_the_maximum() -> None:
    retry = Retry(None, 1.0, 10.0)
    for round_number, longest in enumerate([1, 2, 4, 8, 10, 10, 10], 1):
        delays = [retry.delay(round_number) for _ in range(50)]
        assert longest / 2 <= min(delays) <= max(delays) <= longest
    assert retry.delay(10_000) <= 10.0


@pytest.mark.parametrize("wrong", [{"limit": -1}, {"first_seconds": -1}, {"first_seconds": 9, "max_seconds": 8}])
def test_attempts_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        Retry(**wrong)  # type: ignore[arg-type]


class Attempts:
    """Stands for `connect`: remembers which ports were connected to."""

    def __init__(self) -> None:
        self.ports: list[int] = []

    def connect(self, config: ConnectionConfig) -> Connection:
        (address,) = config.addresses
        self.ports.append(address.port)
        return Connection(None, config)


def test_servers_are_tried_in_turn_from_the_one_that_made_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts()
    monkeypatch.setattr(retry_module, "connect", attempts.connect)
    reconnector = Reconnector(config_of(1, 2, 3), Retry(None, 0, 0))
    for _ in range(5):
        reconnector.connect()
        reconnector.failed(ConnectionLost("x"))
    reconnector.connect()
    reconnector.progressed()
    reconnector.failed(ConnectionLost("x"))
    reconnector.connect()
    assert attempts.ports == [1, 1, 2, 3, 1, 2, 2]


def test_a_connection_that_is_open_is_used_first(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts()
    monkeypatch.setattr(retry_module, "connect", attempts.connect)
    first = Connection(None, config_of(7))
    reconnector = Reconnector(config_of(1), Retry(None, 0, 0), first)
    assert reconnector.connect() is first
    assert reconnector.connect() is not first
    assert attempts.ports == [1]


def test_queries_are_run_again_over_another_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts()
    monkeypatch.setattr(retry_module, "connect", attempts.connect)
    monkeypatch.setattr(Connection, "close", lambda _connection: None)
    failures = iter([ConnectionLost("gone"), ConnectionLost("gone")])

    def query(connection: Connection) -> int:
        if failure := next(failures, None):
            raise failure
        return connection.address.port

    connection = RetryingConnection(config_of(1, 2), Retry(None, 0, 0))
    assert connection.run(query) == 2
    assert connection.run(query) == 2
    assert attempts.ports == [1, 1, 2]


def test_queries_fail_once_no_attempt_is_left() -> None:
    with pytest.raises(ConnectionLost, match=r"giving up after 1 attempt; last error: 127\.0\.0\.1:1: no server"):
        RetryingConnection(config_of(1), Retry(limit=0)).run(lambda connection: connection.server_version)


def test_how_to_connect_again_travels() -> None:
    retry = Retry(3)
    assert pickle.loads(pickle.dumps(retry)) == retry


def test_nothing_that_is_logged_contains_the_password(caplog: pytest.LogCaptureFixture) -> None:
    secret = f"secret-{random.randrange(1 << 40)}"
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ConnectionLost):
        RetryingConnection(config_of(1, password=secret), Retry(2, 0, 0)).run(lambda connection: connection.id)
    assert "attempt 2" in caplog.text
    assert secret not in caplog.text
