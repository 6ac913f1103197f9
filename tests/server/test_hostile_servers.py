"""Whoever answers on a port: what it gets of the password, and what it can do to a client that connects."""

from __future__ import annotations

import itertools
import logging
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from binspark.errors import Authentication, BinlogError, ConnectionLost, OptionError, Server
from binspark.serve.protocol import CACHING_SHA2, NATIVE, encode_ok
from binspark.server import session
from binspark.server.connection import connect
from tests.support.fake_server import FULL_LOGIN, NONCE, FakeServer, fake_server
from tests.support.servers import config_of

pytestmark = pytest.mark.timeout(60)

SECRET = "open-sesame"
SHA256, CLEAR_TEXT = "sha256_password", "mysql_clear_password"
STEPS = {CACHING_SHA2: [FULL_LOGIN], SHA256: []}
"""What a server sends before the client requests its key."""


class RsaServer:
    """A server with a key of its own, which decrypts what clients encrypt with it."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.public_key = self._key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def passwords(self, received: bytearray) -> Iterator[bytes]:
        """Yield what 256 bytes anywhere in what was received decrypt to."""
        scheme = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
        for start in range(len(received) - 255):
            try:
                scrambled = self._key.decrypt(bytes(received[start : start + 256]), scheme)
            except ValueError:
                continue
            yield bytes(a ^ b for a, b in zip(scrambled, itertools.cycle(NONCE), strict=False))


@pytest.fixture(scope="module")
def rsa_server() -> RsaServer:
    return RsaServer()


def log_in(server: FakeServer, **arguments: Any) -> None:
    connect(config_of(server.port, **{"user": "app", "password": SECRET, "connect_timeout": 20, **arguments})).close()


def full_login(server: FakeServer) -> None:
    server.greet()
    server.ask(FULL_LOGIN)
    server.accept_login()


def clear_text(server: FakeServer) -> None:
    server.greet()
    server.switch(CLEAR_TEXT, b"")
    server.accept_login()


# --- The password -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"ssl_mode": "disabled"}])
def test_a_server_with_a_key_of_its_own_gets_nothing_by_caching_sha2(
    rsa_server: RsaServer, arguments: dict[str, Any]
) -> None:
    def script(server: FakeServer) -> None:
        full_login(server)
        server.ask(rsa_server.public_key)

    expected = r"error 2061.*server_public_key_path.*get_server_public_key"
    with fake_server(script) as server, pytest.raises(Authentication, match=expected):
        log_in(server, **arguments)
    assert list(rsa_server.passwords(server.received)) == []
    assert SECRET.encode() not in server.received


@pytest.mark.parametrize("is_switched", [True, False])
def test_a_server_with_a_key_of_its_own_gets_nothing_by_sha256(rsa_server: RsaServer, is_switched: bool) -> None:
    def switched(server: FakeServer) -> None:
        server.greet()
        server.switch(SHA256)
        server.ask(rsa_server.public_key)

    def greeted(server: FakeServer) -> None:
        server.greet()
        server.ask(rsa_server.public_key)

    with fake_server(switched if is_switched else greeted, SHA256) as server, pytest.raises((Authentication, Server)):
        log_in(server)
    assert list(rsa_server.passwords(server.received)) == []
    assert SECRET.encode() not in server.received


@pytest.mark.parametrize("plugin", [CACHING_SHA2, SHA256])
def test_a_key_that_was_asked_for_encrypts_the_password(rsa_server: RsaServer, plugin: str) -> None:
    def script(server: FakeServer) -> None:
        server.greet()
        server.switch(plugin)
        for data in STEPS[plugin]:
            server.ask(data)
        server.ask(rsa_server.public_key)
        server.accept_login()

    with fake_server(script, NATIVE) as server:
        log_in(server, get_server_public_key=True)
    assert f"{SECRET}\0".encode() in list(rsa_server.passwords(server.received))
    assert SECRET.encode() not in server.received


@pytest.mark.parametrize("plugin", [CACHING_SHA2, SHA256])
def test_only_the_key_of_the_file_encrypts_the_password(rsa_server: RsaServer, plugin: str, tmp_path: Path) -> None:
    """A server that sends another key does not get it used."""
    right, file = RsaServer(), tmp_path / "public_key.pem"
    file.write_bytes(right.public_key)

    def script(server: FakeServer) -> None:
        server.greet()
        server.switch(plugin)
        for data in STEPS[plugin]:
            server.ask(data)
        server.ask(rsa_server.public_key)

    with fake_server(script, NATIVE) as server, pytest.raises(BinlogError):
        log_in(server, server_public_key_path=str(file), get_server_public_key=True)
    assert list(rsa_server.passwords(server.received)) == []
    assert f"{SECRET}\0".encode() in list(right.passwords(server.received))


def test_a_missing_key_file_is_an_option_that_is_wrong(tmp_path: Path) -> None:
    with fake_server(full_login) as server, pytest.raises(OptionError, match=r"key\.pem cannot be read"):
        log_in(server, server_public_key_path=str(tmp_path / "key.pem"))


@pytest.mark.parametrize(("tls", "ssl_mode"), [(True, "preferred"), (True, "required"), (False, "preferred")])
def test_a_request_for_clear_text_is_refused_unless_it_was_enabled(tls: bool, ssl_mode: str) -> None:
    with fake_server(clear_text, tls=tls) as server, pytest.raises(Authentication, match="enable_cleartext_plugin"):
        log_in(server, ssl_mode=ssl_mode)
    assert SECRET.encode() not in server.received


def test_clear_text_that_was_enabled_needs_a_connection_that_others_cannot_read() -> None:
    with fake_server(clear_text) as server, pytest.raises(Authentication, match="connection is not encrypted"):
        log_in(server, enable_cleartext_plugin=True)
    assert SECRET.encode() not in server.received
    with fake_server(clear_text, tls=True) as server:
        log_in(server, enable_cleartext_plugin=True)
    assert f"{SECRET}\0".encode() in server.received


@pytest.fixture
def far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """No address is one of this machine, and nobody was warned yet."""
    monkeypatch.setattr(session, "is_loopback", lambda _address: False)
    monkeypatch.setattr(session, "_warned", set())


@pytest.mark.usefixtures("far_away")
def test_a_password_for_a_server_that_nobody_verified_is_sent_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As by MySQL's own clients: a server that made its certificate itself can be reached."""
    with fake_server(full_login, tls=True) as server, caplog.at_level(logging.WARNING):
        log_in(server)
        log_in(server)
    assert f"{SECRET}\0".encode() in server.received
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [f"127.0.0.1:{server.port}"]
    assert "verify_identity or verify_ca, with ssl_ca" in caplog.text
    assert SECRET not in caplog.text


def test_a_password_for_this_machine_is_sent_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with fake_server(full_login, tls=True) as server, caplog.at_level(logging.WARNING):
        log_in(server)
    assert f"{SECRET}\0".encode() in server.received
    assert caplog.records == []


@pytest.mark.parametrize("ssl_mode", ["verify_ca", "verify_identity"])
def test_a_server_that_cannot_prove_who_it_is_gets_nothing(ssl_mode: str) -> None:
    with fake_server(full_login, tls=True) as server, pytest.raises(Authentication, match="TLS with this server"):
        log_in(server, ssl_mode=ssl_mode)
    assert b"app" not in server.received


@pytest.mark.parametrize("ssl_mode", ["required", "verify_ca", "verify_identity"])
def test_a_server_that_has_no_tls_gets_nothing_where_it_is_required(ssl_mode: str) -> None:
    with fake_server(full_login) as server, pytest.raises(Authentication, match="does not support TLS"):
        log_in(server, ssl_mode=ssl_mode)
    assert bytes(server.received) == b""


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    "plugin",
    [
        "mysql_old_password",
        "dialog",
        "parsec",
        "auth_gssapi_client",
        "authentication_ldap_sasl_client",
        "authentication_kerberos_client",
        "authentication_oci_client",
        "authentication_webauthn_client",
        "../../tmp/plugin",
        "\x1b]0;title\x07",
    ],
)
def test_a_plugin_that_is_not_on_the_list_is_refused(plugin: str, tls: bool) -> None:
    def script(server: FakeServer) -> None:
        server.greet()
        server.switch(plugin, b"\x02Password: ")
        server.accept_login()

    with fake_server(script, tls=tls) as server, pytest.raises(Authentication, match="does not have") as caught:
        log_in(server, enable_cleartext_plugin=True, get_server_public_key=True)
    assert SECRET.encode() not in server.received
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("plugin", [SHA256, CLEAR_TEXT, "dialog", "mysql_old_password", "unknown"])
def test_the_first_response_to_a_greeting_never_has_the_password(plugin: str, tls: bool) -> None:
    def script(server: FakeServer) -> None:
        server.greet()

    with fake_server(script, plugin, tls=tls) as server, pytest.raises(ConnectionLost):
        log_in(server)
    assert b"app\0" in server.received
    assert SECRET.encode() not in server.received


@pytest.mark.parametrize("nonce", [b"", b"short"])
def test_a_nonce_of_a_servers_choice_that_makes_guessing_easy_is_refused(nonce: bytes) -> None:
    def script(server: FakeServer) -> None:
        server.greet()
        server.switch(NATIVE, nonce)

    with fake_server(script) as server, pytest.raises(Server, match="nonce"):
        log_in(server)


def test_a_server_cannot_ask_for_other_logins_without_an_end() -> None:
    def script(server: FakeServer) -> None:
        server.greet()
        for plugin in itertools.cycle([NATIVE, CACHING_SHA2]):
            server.switch(plugin)

    with fake_server(script) as server, pytest.raises(Server, match="multiple auth switch"):
        log_in(server)


def test_a_redirect_is_not_followed() -> None:
    """MariaDB announces another server in the OK packet of a login."""
    tracked = b"\x01\x22\x0credirect_url\x13mysql://127.0.0.1:1"
    redirect = b"\x00\x00\x00\x02\x40\x00\x00\x00" + bytes((len(tracked),)) + tracked

    def script(server: FakeServer) -> None:
        server.greet()
        server.send(redirect)
        server.read()
        server.send(encode_ok())
        server.read()

    with fake_server(script) as server:
        log_in(server)
    assert server.accepted == 1


# --- Files, memory, time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scripts", [False, True])
@pytest.mark.parametrize("in_login", [True, False])
def test_a_request_for_a_file_of_this_machine_is_not_answered(tmp_path: Path, scripts: bool, in_login: bool) -> None:
    private = tmp_path / "private"
    private.write_text("nobody's business")
    request = b"\xfb" + str(private).encode()

    def script(server: FakeServer) -> None:
        server.greet()
        server.send(encode_ok())
        for _ in range(0 if in_login else 1):  # SET NAMES
            server.read()
            server.send(encode_ok())
        while server.read():
            server.send(request)

    def read(server: FakeServer) -> None:
        with connect(config_of(server.port, user="app", connect_timeout=5), scripts=scripts) as connection:
            connection.rows("SELECT 1")

    with fake_server(script) as server, pytest.raises(BinlogError):
        read(server)
    assert b"nobody" not in server.received


def endless_packets(server: FakeServer) -> None:
    server.greet()
    while True:
        server.send(b"\x01\x03")  # the login succeeds, and again


def huge_greeting(server: FakeServer) -> None:
    server.send_raw(b"\xff\xff\xff\x00" + bytes(1 << 17))
    server.read()


def endless_keys(server: FakeServer) -> None:
    server.greet()
    while True:
        server.ask(FULL_LOGIN)


@pytest.mark.parametrize("script", [huge_greeting, endless_packets, endless_keys])
def test_a_login_takes_a_bounded_amount(script: Any) -> None:
    with fake_server(script, tls=True) as server, pytest.raises(Server, match="too much"):
        log_in(server, connect_timeout=40)


def dripping(server: FakeServer) -> None:
    server.send_raw(b"\x4a\x00\x00\x00")
    while not server.ended.wait(0.2):
        server.send_raw(b"\x0a")


def without_handshake(server: FakeServer) -> None:
    """Offer TLS, and then send nothing."""
    server._tls = None
    server.greet()
    server.ended.wait(30)


def silent_after_login(server: FakeServer) -> None:
    server.greet()
    server.send(encode_ok())
    server.ended.wait(30)


@pytest.mark.parametrize("script", [dripping, without_handshake, silent_after_login])
def test_one_limit_of_time_is_for_the_whole_login(script: Any) -> None:
    with fake_server(script, tls=True) as server, pytest.raises(ConnectionLost):
        log_in(server, connect_timeout=1)


@pytest.mark.parametrize(
    "greeting",
    [
        b"\x0a",
        b"",
        b"\x0a9.7\0",
        b"\x0anot a version\0" + bytes(80),
        b"\xff",
        b"\xff\x15\x04#28000" + b"\x1b[2J" * 9000,
    ],
)
def test_a_greeting_without_the_form_of_the_protocol_is_a_server_error(greeting: bytes) -> None:
    def script(server: FakeServer) -> None:
        server.send(greeting)
        server.read()

    with fake_server(script) as server, pytest.raises(BinlogError) as caught:
        log_in(server)
    assert len(str(caught.value)) < 2000
    assert str(caught.value).isprintable()


def test_an_answer_to_a_statement_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_MAX_RESULT_BYTES", 1 << 20)
    column = b"\x03def\x00\x00\x00\x01a\x00" + b"\x0c" + struct.pack("<HIBHB2s", 45, 1, 0xFD, 0, 0, b"")

    def script(server: FakeServer) -> None:
        server.greet()
        server.send(encode_ok())
        server.read()  # SET NAMES
        server.send(encode_ok())
        server.read()
        for packet in (b"\x01", column, b"\xfe\x00\x00\x02\x00"):
            server.send(packet)
        while True:
            server.send(b"\x01x")

    with (
        fake_server(script) as server,
        connect(config_of(server.port, user="app")) as connection,
        pytest.raises(Server, match="too much"),
    ):
        connection.rows("SHOW BINARY LOGS")
