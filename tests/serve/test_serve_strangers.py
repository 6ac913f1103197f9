"""Clients that have not logged in: what they can take of the server, and of the time of others."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.errors import Authentication, ConnectionLost
from binspark.serve import admission, session
from binspark.serve.admission import Admission
from binspark.serve.errors import ClientError
from binspark.serve.server import ArchiveServer
from tests.support.serve.clients import config_of, serving

pytestmark = pytest.mark.timeout(120)

MYSQL = Path(__file__).parents[1] / "corpus" / "mysql" / "rotation"


class Client:
    """A client as the limits see it."""

    def __init__(self, host: str = "10.0.0.1") -> None:
        self.host = host
        self.is_shut = False

    def shut(self) -> None:
        self.is_shut = True


def connected(limits: Admission, *hosts: str) -> list[Any]:
    clients: list[Any] = [Client(host) for host in hosts]
    for client in clients:
        limits.connected(client)
    return clients


def shut(clients: list[Any]) -> list[int]:
    return [number for number, client in enumerate(clients) if client.is_shut]


# --- Limits -----------------------------------------------------------------------------------------------------------


def test_the_oldest_login_of_an_address_gives_way_to_a_new_one() -> None:
    limits = Admission()
    others = connected(limits, "10.0.0.2", "10.0.0.3")
    clients = connected(limits, *["10.0.0.1"] * (admission.MAX_LOGINS_OF_ADDRESS + 2))
    assert shut(others) == []
    assert shut(clients) == [0, 1]


def test_an_address_of_ipv6_is_its_network() -> None:
    count = admission.MAX_LOGINS_OF_ADDRESS + 1
    assert shut(connected(Admission(), *(f"2001:db8::{number:x}" for number in range(count)))) == [0]
    assert shut(connected(Admission(), *(f"2001:db8:0:{number:x}::1" for number in range(count)))) == []
    assert shut(connected(Admission(), *(f"::ffff:10.0.0.{number}" for number in range(count)))) == []


def test_of_too_many_logins_the_oldest_of_the_busiest_address_is_ended() -> None:
    limits = Admission()
    first = connected(limits, "10.0.0.9")
    busy = connected(limits, *["10.0.0.1"] * 3)
    rest = connected(limits, *(f"10.1.0.{number}" for number in range(admission.MAX_LOGINS - 3)))
    assert (shut(first), shut(busy), shut(rest)) == ([], [0], [])


def test_clients_that_have_logged_in_are_not_ended_by_strangers() -> None:
    limits = Admission()
    known = connected(limits, *["10.0.0.1"] * 3)
    for client in known:
        limits.logged_in(client)
    connected(limits, *["10.0.0.1"] * (2 * admission.MAX_LOGINS))
    assert shut(known) == []


def test_one_address_cannot_take_all_connections() -> None:
    limits = Admission()
    for client in connected(limits, *["10.0.0.1"] * admission.MAX_LOGINS_OF_ADDRESS):
        limits.logged_in(client)
    for _ in range(admission.MAX_CLIENTS_OF_ADDRESS - admission.MAX_LOGINS_OF_ADDRESS):
        limits.logged_in(*connected(limits, "10.0.0.1"))
    with pytest.raises(ClientError, match=r"200 clients of 10\.0\.0\.1 are connected"):
        limits.logged_in(*connected(limits, "10.0.0.1"))
    limits.logged_in(*connected(limits, "10.0.0.2"))


def test_a_client_that_is_gone_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MAX_CLIENTS", 2)
    limits = Admission()
    clients = connected(limits, "10.0.0.1", "10.0.0.2")
    limits.logged_in(clients[0])
    with pytest.raises(ClientError, match="2 clients are connected"):
        connected(limits, "10.0.0.3")
    limits.gone(clients[0])
    connected(limits, "10.0.0.3")


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_address_waits_longer_after_each_wrong_password_up_to_a_limit() -> None:
    limits, stranger, other = Admission(Clock()), Client("10.0.0.1"), Client("10.0.0.2")
    delays = []
    for _ in range(8):
        delays.append(limits.delay(stranger))  # type: ignore[arg-type]
        limits.failed(stranger)  # type: ignore[arg-type]
    assert delays == [0.0, 0.0, 0.0, 0.5, 1.0, 2.0, 4.0, 4.0]
    assert limits.delay(other) == 0.0  # type: ignore[arg-type]


def test_a_right_password_or_time_ends_the_delay() -> None:
    clock = Clock()
    limits, stranger = Admission(clock), connected(Admission(clock), "10.0.0.1")[0]
    for _ in range(5):
        limits.failed(stranger)
    limits.logged_in(stranger)
    assert limits.delay(stranger) == 0.0
    for _ in range(5):
        limits.failed(stranger)
    clock.now = 1000.0
    assert limits.delay(stranger) == 0.0


def test_addresses_with_wrong_passwords_take_a_bounded_amount_of_memory() -> None:
    limits = Admission(Clock())
    for number in range(admission._MAX_ADDRESSES + 10):
        limits.failed(Client(f"10.0.{number >> 8}.{number & 255}"))  # type: ignore[arg-type]
    assert len(limits._failures) == admission._MAX_ADDRESSES


# --- A server ---------------------------------------------------------------------------------------------------------


def open_socket(served: ArchiveServer, source: str = "127.0.0.1") -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", served.port), 30, source_address=(source, 0))
    assert opened.recv(1 << 16)
    return opened


def answer(opened: socket.socket) -> bytes:
    received = b""
    while chunk := opened.recv(1 << 16):
        received += chunk
    return received


@pytest.mark.parametrize("length", [(1 << 16) + 1, 0xFFFFFF])
def test_a_login_of_more_than_64_kib_is_refused_before_it_has_arrived(length: int) -> None:
    with serving(MYSQL, password="secret") as served, open_socket(served) as stranger:
        stranger.sendall(length.to_bytes(3, "little") + b"\x01")
        assert answer(stranger) == b""
        assert served.status().errors == {"Malformed": 1}


def test_a_login_that_comes_byte_by_byte_ends_after_the_time_of_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "LOGIN_SECONDS", 1.0)
    with serving(MYSQL, password="secret") as served, open_socket(served) as stranger:
        stranger.settimeout(0.2)
        stranger.sendall(b"\x00\x10\x00\x01")

        def is_open() -> bool:
            try:
                stranger.sendall(b"\x20")
                return stranger.recv(1) != b""
            except TimeoutError:
                return True
            except OSError:
                return False

        sent = 0
        while is_open():
            sent += 1
            assert sent < 300  # of 4096 bytes; a limit of time for each read would begin again with each


def test_idle_strangers_of_one_address_do_not_lock_out_the_rest() -> None:
    with serving(MYSQL, password="secret") as served, ExitStack() as opened:
        for _ in range(admission.MAX_LOGINS_OF_ADDRESS + 5):
            opened.enter_context(open_socket(served, "127.0.0.2"))
        with binspark.connect(config_of(served, password="secret")) as connection:
            assert connection.rows("SELECT 1") == [(1,)]


def test_a_wrong_password_delays_the_next_answers_of_its_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "FIRST_DELAY", 1000.0)
    monkeypatch.setattr(admission, "MAX_DELAY", 1000.0)
    with serving(MYSQL, password="secret") as served:
        for _ in range(admission.FREE_FAILURES):
            with pytest.raises(Authentication, match="Access denied"):
                binspark.connect(config_of(served, password="guess"))
        with pytest.raises(ConnectionLost, match="connect_timeout"):
            binspark.connect(config_of(served, password="secret", connect_timeout=1))
        with open_socket(served, "127.0.0.2") as other:
            other.sendall(bytes.fromhex("230000018da20000ffffff002d") + bytes(23) + b"x\0\0")
            assert b"Access denied for user 'x'@'127.0.0.2'" in answer(other)


def test_a_user_name_of_a_stranger_is_no_text_for_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    name = b"\x1b[2J\nroot" * 5000
    login = bytes.fromhex("8da20000ffffff002d") + bytes(23) + name + b"\0\0\0\0"
    with serving(MYSQL, password="secret") as served, open_socket(served) as stranger:
        stranger.sendall(len(login).to_bytes(3, "little") + b"\x01" + login)
        answer(stranger)
        while not caplog.records:
            time.sleep(0.01)
    assert "Access denied" in caplog.messages[0]
    assert caplog.messages[0].isprintable()
    assert len(caplog.messages[0]) < 1000
