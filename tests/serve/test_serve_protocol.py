"""The server's side of the protocol: bytes that real replicas have sent, and what clients in Python understand."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import DecodeError
from binspark.serve.authentication import caching_sha2_response, is_known, is_right, native_response
from binspark.serve.protocol import (
    CACHING_SHA2,
    NATIVE,
    OFFERED,
    Capability,
    Greeting,
    Login,
    Result,
    decode_login,
    encode_greeting,
    encode_result,
)

NONCE = bytes(range(33, 53))
MYSQL_LOGIN = bytes.fromhex("85a2b899671000 40ff".replace(" ", "")) + bytes(23) + b"repl\0\x20" + bytes(range(32))
MYSQL_LOGIN += b"caching_sha2_password\0\x0c\x03_os\x05Linux"
MARIADB_LOGIN = bytes.fromhex("05a238807b03004008") + bytes(23) + b"repl\0\x14" + bytes(range(20))
MARIADB_LOGIN += b"mysql_native_password\0\x16\x03_os\x10debian-linux-gnu"


def pymysql_auth() -> Any:
    return import_module("pymysql._auth")


@pytest.mark.parametrize(
    ("packet", "response", "plugin"),
    [(MYSQL_LOGIN, bytes(range(32)), CACHING_SHA2), (MARIADB_LOGIN, bytes(range(20)), NATIVE)],
    ids=["mysql", "mariadb"],
)
def test_the_login_of_a_replica_is_read(packet: bytes, response: bytes, plugin: str) -> None:
    login = decode_login(packet)
    assert (login.user, login.response, login.plugin) == ("repl", response, plugin)
    assert login.capabilities & Capability.PROTOCOL_41


def test_the_request_to_encrypt_is_a_login_without_a_user() -> None:
    login = decode_login(MYSQL_LOGIN[:32])
    assert login.user is None


def test_a_login_shows_no_response() -> None:
    assert "response" not in repr(Login(OFFERED, "repl", b"secret", NATIVE))


@given(st.binary(max_size=100))
def test_any_bytes_are_a_login_or_an_error(packet: bytes) -> None:
    try:
        decode_login(packet)
    except DecodeError:
        return


@pytest.mark.parametrize("password", [b"x", b"s\xc3\xa4cret", b"p" * 100])
def test_responses_are_those_of_a_client(password: bytes) -> None:
    auth = pymysql_auth()
    assert native_response(password, NONCE) == auth.scramble_native_password(password, NONCE)
    assert caching_sha2_response(password, NONCE) == auth.scramble_caching_sha2(password, NONCE)


@pytest.mark.parametrize("plugin", [NATIVE, CACHING_SHA2])
def test_only_the_right_response_is_right(plugin: str) -> None:
    right = {NATIVE: native_response, CACHING_SHA2: caching_sha2_response}[plugin](b"secret", NONCE)
    assert is_right(plugin, b"secret", NONCE, right)
    assert not is_right(plugin, b"secret", NONCE[::-1], right)
    assert not is_right(plugin, b"Secret", NONCE, right)
    assert not is_right(plugin, b"secret", NONCE, b"")
    assert not is_right(plugin, b"", NONCE, right)
    assert is_right(plugin, b"", NONCE, b"")


def test_other_plugins_are_not_known() -> None:
    assert not is_known("mysql_clear_password")


def test_a_client_reads_the_greeting() -> None:
    greeting = encode_greeting(Greeting("9.7.4", 77, NONCE, OFFERED | Capability.SSL, CACHING_SHA2))
    assert greeting[0] == 10
    assert greeting[1:7] == b"9.7.4\0"
    assert greeting[7:11] == (77).to_bytes(4, "little")
    assert greeting[11:19] + greeting[38:50] == NONCE
    assert greeting[51:] == CACHING_SHA2.encode() + b"\0"
    capabilities = int.from_bytes(greeting[20:22], "little") | int.from_bytes(greeting[25:27], "little") << 16
    assert capabilities == OFFERED | Capability.SSL


def test_a_result_has_definitions_and_rows() -> None:
    count, *definitions, end, first, second, last = encode_result(Result(("a", "b"), ((1, None), (2, "ü" * 200))))
    assert count == b"\x02"
    assert [definition[:10] for definition in definitions] == [b"\x03def\0\0\0\x01a\0", b"\x03def\0\0\0\x01b\0"]
    assert end == last == b"\xfe\0\0\2\0"
    assert first == b"\x011\xfb"
    assert second == b"\x012\xfc\x90\x01" + ("ü" * 200).encode()
