"""How to reach a server: where it comes from, and that nobody sees the password."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import pytest

from binspark.errors import OptionError
from binspark.server.config import (
    Address,
    ConnectionConfig,
    PasswordRules,
    Tls,
    TlsMode,
    connection_config,
    is_loopback,
)

SECRET = "correct horse"


def config_of(**arguments: Any) -> ConnectionConfig:
    return connection_config(**{"user": "me", "environ": {}, **arguments})


def option_file(folder: Path, text: str) -> Path:
    path = folder / "my.cnf"
    path.write_text(text)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("db1", Address("db1", 3306)),
        ("db1:3307", Address("db1", 3307)),
        ("10.0.0.1:3307", Address("10.0.0.1", 3307)),
        ("[::1]:3307", Address("::1", 3307)),
        ("[fe80::1]", Address("fe80::1", 3306)),
    ],
)
def test_an_address_is_read_and_written(text: str, address: Address) -> None:
    assert Address.parse(text) == address
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("text", ["", "a:b", "a:0", "a:65536", "::1", "a b", "mysql://a"])
def test_a_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(OptionError):
        Address.parse(text)


@pytest.mark.parametrize("host", ["db1, db2:3307", ["db1", "db2:3307"]])
def test_several_hosts_are_given_as_a_text_or_a_list(host: Any) -> None:
    assert config_of(host=host, port=4000).addresses == (Address("db1", 4000), Address("db2", 3307))


def test_without_a_host_it_is_this_machine() -> None:
    assert config_of().addresses == (Address("localhost", 3306),)


def test_a_socket_is_an_address_of_this_machine() -> None:
    assert str(config_of(socket="/run/mysqld.sock").addresses[0]) == "/run/mysqld.sock"


def test_hosts_and_a_socket_exclude_each_other() -> None:
    with pytest.raises(OptionError, match="host and socket cannot be combined"):
        config_of(host="db1", socket="/run/mysqld.sock")


def test_the_option_file_fills_in_what_is_not_given(tmp_path: Path) -> None:
    text = "[client]\nhost=db1\nport=3307\nuser=a\npassword=b\nssl-ca=/ca.pem\nconnect-timeout=3\n[binspark]\nuser=c\n"
    options = connection_config(defaults_file=option_file(tmp_path, text), port=3308, environ={})
    expected = ConnectionConfig(
        (Address("db1", 3308),), "c", "b", Tls(TlsMode.VERIFY_CA, "/ca.pem"), connect_timeout=3.0
    )
    assert options == expected


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("host=localhost\nsocket=/s", "/s"),
        ("socket=/s", "/s"),
        ("host=db1\nsocket=/s", "db1:3306"),
    ],
)
def test_a_socket_of_the_option_file_is_for_this_machine_only(tmp_path: Path, text: str, address: str) -> None:
    assert str(config_of(defaults_file=option_file(tmp_path, "[client]\n" + text)).addresses[0]) == address


def test_a_given_host_puts_the_socket_of_the_option_file_aside(tmp_path: Path) -> None:
    path = option_file(tmp_path, "[client]\nsocket=/s\n")
    assert config_of(defaults_file=path, host="db1").addresses == (Address("db1"),)


def test_a_misspelt_option_of_the_own_group_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    path = option_file(tmp_path, "[client]\nanything=1\n[binspark]\npasword=x\n")
    with pytest.raises(OptionError, match="pasword; did you mean password"):
        config_of(defaults_file=path)


ENVIRONMENT = {"BINSPARK_PASSWORD": "ours", "MYSQL_PWD": "theirs"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"password": "given"}, "given"),
        ({"password": ""}, ""),
        ({"environ": ENVIRONMENT}, "ours"),
        ({"environ": {"MYSQL_PWD": "theirs"}}, "theirs"),
        ({}, "typed for me at db1:3306"),
        ({"prompt": None}, ""),
    ],
)
def test_the_password_comes_from_the_first_source_that_has_one(given: dict[str, Any], expected: str) -> None:
    def prompt(question: str) -> str:
        return question.replace("Password of", "typed for").removesuffix(": ")

    assert config_of(**{"host": "db1", "prompt": prompt, **given}).password == expected


def test_the_option_file_counts_more_than_the_environment(tmp_path: Path) -> None:
    path = option_file(tmp_path, "[client]\npassword=filed\n")
    assert config_of(defaults_file=path, environ=ENVIRONMENT).password == "filed"


def test_a_password_option_without_value_prompts_for_it(tmp_path: Path) -> None:
    path = option_file(tmp_path, "[client]\npassword\n")
    assert config_of(defaults_file=path, prompt=lambda _: "typed").password == "typed"


@pytest.mark.parametrize("show", [repr, str, "{}".format])
def test_the_password_is_not_shown(show: Any) -> None:
    assert SECRET not in show(config_of(password=SECRET))


def test_options_travel_with_their_password() -> None:
    options = config_of(host="db1,db2", password=SECRET)
    assert pickle.loads(pickle.dumps(options)) == options


@pytest.mark.parametrize(
    ("arguments", "tls"),
    [
        ({}, Tls(TlsMode.PREFERRED)),
        ({"ssl_ca": "/ca"}, Tls(TlsMode.VERIFY_CA, "/ca")),
        ({"ssl_mode": "REQUIRED", "ssl_ca": "/ca"}, Tls(TlsMode.REQUIRED, "/ca")),
        ({"ssl_mode": "verify_identity", "ssl_cert": "/c", "ssl_key": "/k"},
         Tls(TlsMode.VERIFY_IDENTITY, None, "/c", "/k")),
    ],
)  # fmt: skip
def test_tls_is_chosen_as_mysqls_clients_choose_it(arguments: dict[str, Any], tls: Tls) -> None:
    assert config_of(**arguments).tls == tls


@pytest.mark.parametrize(
    "arguments",
    [{"ssl_mode": "maybe"}, {"ssl_cert": "/c"}, {"ssl_key": "/k"}, {"connect_timeout": -1.0}, {"port": 70000}],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        config_of(**arguments)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("ssl-verify-server-cert", TlsMode.VERIFY_IDENTITY),
        ("ssl_verify_server_cert=ON\nssl-ca=/ca", TlsMode.VERIFY_IDENTITY),
        ("ssl-verify-server-cert=0", TlsMode.PREFERRED),
        ("ssl-verify-server-cert\nssl-mode=VERIFY_CA", TlsMode.VERIFY_CA),
    ],
)
def test_the_switch_of_mariadbs_clients_verifies_the_server(tmp_path: Path, text: str, mode: TlsMode) -> None:
    assert config_of(defaults_file=option_file(tmp_path, f"[client-mariadb]\n{text}\n")).tls.mode is mode


RULES = PasswordRules(get_server_public_key=True, server_public_key_path="/key", enable_cleartext_plugin=True)


@pytest.mark.parametrize(
    ("text", "arguments", "rules"),
    [
        ("", {}, PasswordRules()),
        ("get-server-public-key\nserver-public-key-path=/key\nenable-cleartext-plugin=1", {}, RULES),
        ("get-server-public-key=off", {}, PasswordRules()),
        ("get-server-public-key", {"get_server_public_key": False}, PasswordRules()),
        ("", dataclasses.asdict(RULES), RULES),
    ],
)
def test_a_password_is_given_away_only_where_an_option_says_so(
    tmp_path: Path, text: str, arguments: dict[str, Any], rules: PasswordRules
) -> None:
    path = option_file(tmp_path, f"[client]\n{text}\n")
    assert config_of(defaults_file=path, **arguments).password_rules == rules


def test_a_switch_of_an_option_file_that_is_neither_on_nor_off_is_refused(tmp_path: Path) -> None:
    path = option_file(tmp_path, "[client]\nenable-cleartext-plugin=maybe\n")
    with pytest.raises(OptionError, match="must be one of on, true, 1, off, false, 0, got 'maybe'"):
        config_of(defaults_file=path)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1", "localhost"])
def test_an_address_of_this_machine_alone_is_loopback(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1%lo", "0.0.0.0", "::", "localhost.example"])
def test_an_address_that_others_reach_is_not_loopback(address: str) -> None:
    assert not is_loopback(address)
