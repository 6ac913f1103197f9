"""The options of commands that talk to a server: where they lead, and that nobody sees the password."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from binspark.cli.command import Command
from binspark.cli.main import exit_code
from binspark.cli.server_options import Account, server_options
from binspark.server.config import Address, ConnectionConfig, PasswordRules, Tls, TlsMode

SECRET = "correct horse"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty home directory, and no password in the environment."""
    for name in ("BINSPARK_PASSWORD", "MYSQL_PWD", "MYSQL_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr("binspark.server.option_files._DEFAULT_FILES", ("$MYSQL_HOME/my.cnf", "~/.my.cnf"))
    return folder


class Probe:
    """A command that keeps what it is handed."""

    def __init__(self) -> None:
        self.connections: list[ConnectionConfig] = []

    def run(self, *arguments: str, typed: str | None = None) -> Result:
        @click.command(cls=Command)
        @server_options
        @click.option("--follow", is_flag=True)
        @click.pass_context
        def command(context: click.Context, connection: ConnectionConfig, follow: bool) -> None:
            self.connections.append(connection)
            context.exit(7 if follow else 0)

        return CliRunner().invoke(command, arguments, input=typed)

    def connection(self, *arguments: str, typed: str | None = None) -> ConnectionConfig:
        result = self.run("--user", "me", *arguments, typed=typed)
        assert result.exit_code == 0, result.output
        return self.connections[-1]


def test_without_options_it_is_this_machine() -> None:
    assert Probe().connection() == ConnectionConfig((Address("localhost", 3306),), "me")


@pytest.mark.parametrize(
    "arguments",
    [["--host", "db1", "--host", "db2:3307"], ["--host", "db1,db2:3307"]],
    ids=["repeated", "with commas"],
)
def test_several_hosts_are_given_in_two_ways(arguments: list[str]) -> None:
    expected = (Address("db1", 4000), Address("db2", 3307))
    assert Probe().connection("--port", "4000", *arguments).addresses == expected


def test_a_socket_is_an_address() -> None:
    assert Probe().connection("--socket", "/run/mysqld.sock").addresses[0].socket == "/run/mysqld.sock"


def test_tls_is_configured_under_the_names_of_mysqls_clients() -> None:
    arguments = ("--ssl-mode", "VERIFY_IDENTITY", "--ssl-ca", "/ca", "--ssl-cert", "/cert", "--ssl-key", "/key")
    assert Probe().connection(*arguments).tls == Tls(TlsMode.VERIFY_IDENTITY, "/ca", "/cert", "/key")


def test_a_password_is_given_away_under_the_names_of_mysqls_clients() -> None:
    arguments = ("--get-server-public-key", "--server-public-key-path", "/key", "--enable-cleartext-plugin")
    assert Probe().connection(*arguments).password_rules == PasswordRules(True, "/key", True)
    assert Probe().connection().password_rules == PasswordRules()


def test_a_flag_that_is_not_given_leaves_the_option_file_its_say(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\nget-server-public-key\n")
    assert Probe().connection("--defaults-file", str(path)).password_rules.get_server_public_key


def test_servers_that_are_named_by_urls_have_the_same_options() -> None:
    given = {
        "password": None,
        "user": "me",
        "defaults_file": None,
        "no_defaults": True,
        "enable_cleartext_plugin": True,
    }
    assert Account(given).connection("mysql://db1").password_rules.enable_cleartext_plugin


def test_the_option_file_fills_in_what_is_not_given(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(f"[client]\nhost=db1\nport=3307\npassword='{SECRET}'\n")
    connection = Probe().connection("--defaults-file", str(path), "--port", "3308")
    assert connection == ConnectionConfig((Address("db1", 3308),), "me", SECRET)


@pytest.mark.parametrize("variable", ["BINSPARK_PASSWORD", "MYSQL_PWD"])
def test_the_environment_has_a_password(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, SECRET)
    assert Probe().connection().password == SECRET


@pytest.mark.parametrize("option", ["-p", "--password"])
def test_a_password_is_prompted_for_and_not_shown(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "of the environment")
    probe = Probe()
    result = probe.run("--user", "me", option, "--host", "db1", typed=f"{SECRET}\n")
    assert probe.connections[0].password == SECRET
    assert "Password of me at db1:3306" in result.stderr
    assert SECRET not in result.output


def test_an_empty_password_can_be_typed() -> None:
    assert Probe().connection("-p", typed="\n").password == ""


@pytest.mark.parametrize("option", [f"-p{SECRET}", f"--password={SECRET}"])
def test_a_password_on_the_command_line_is_attached_and_warned_of(option: str) -> None:
    probe = Probe()
    result = probe.run("--user", "me", option)
    assert probe.connections[0].password == SECRET
    assert result.stderr == (
        "binspark: every user of this machine can see a password on the command line; use -p without a value\n"
    )


def test_short_names_are_those_of_mysqls_clients() -> None:
    connection = Probe().connection("-h", "db1", "-P3307", "-u", "you")
    assert (connection.addresses, connection.user) == ((Address("db1", 3307),), "you")
    assert Probe().connection("-S", "/run/mysqld.sock").addresses[0].socket == "/run/mysqld.sock"


def test_a_lone_h_asks_for_help() -> None:
    assert Probe().run("-h").stdout.startswith("Usage:")


def test_option_files_of_mysqls_clients_are_read(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".my.cnf").write_text("[client]\nhost=db1\npassword=first\n[mysql]\nhost=not-ours\n")
    assert Probe().connection() == ConnectionConfig((Address("db1"),), "me", "first")
    (tmp_path / "my.cnf").write_text("[client]\nhost=db0\nport=3307\n")
    monkeypatch.setenv("MYSQL_HOME", str(tmp_path))
    assert Probe().connection() == ConnectionConfig((Address("db1", 3307),), "me", "first")
    assert Probe().connection("--no-defaults") == ConnectionConfig((Address("localhost"),), "me")
    other = tmp_path / "other.cnf"
    other.write_text("[client]\nhost=db9\n")
    assert Probe().connection("--defaults-file", str(other)) == ConnectionConfig((Address("db9"),), "me")


def test_a_world_writable_option_file_is_ignored_with_a_warning(home: Path) -> None:
    file = home / ".my.cnf"
    file.write_text("[client]\nhost=db1\n")
    file.chmod(0o666)
    probe = Probe()
    result = probe.run("--user", "me")
    assert probe.connections[0].addresses == (Address("localhost"),)
    assert result.stderr == f"binspark: {file} is ignored: it is world-writable; run chmod o-w on it\n"


def test_localhost_is_the_socket_of_the_option_file(home: Path) -> None:
    (home / ".my.cnf").write_text("[client]\nsocket=/run/db.sock\n")
    assert Probe().connection("-h", "localhost").addresses[0].socket == "/run/db.sock"
    assert Probe().connection().addresses[0].socket == "/run/db.sock"
    assert Probe().connection("-h", "localhost", "-P", "3307").addresses == (Address("localhost", 3307),)
    assert Probe().connection("-h", "db2").addresses == (Address("db2"),)


def test_other_options_and_the_context_reach_the_command() -> None:
    assert Probe().run("--follow").exit_code == 7


@pytest.mark.parametrize(
    "arguments",
    [
        ["--host", "not a host"],
        ["--host", "db1", "--socket", "/s"],
        ["--ssl-cert", "/only-half"],
        ["--defaults-file", "/no/such/file"],
        ["--defaults-file", "/dev/null", "--no-defaults"],
    ],
    ids=["no host", "host and socket", "certificate without key", "no option file", "defaults and none"],
)
def test_what_cannot_be_is_wrong_use(arguments: list[str]) -> None:
    result = Probe().run("--user", "me", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("binspark: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "0"], "--port must be from 1 to 65535, got '0'"),
        (["--port", "x"], "--port must be an integer, got 'x'"),
        (["--ssl-mode", "maybe"], "Invalid value for '--ssl-mode': 'maybe' is not one of 'disabled', 'preferred'"),
        (["--connect-timeout", "-1"], "--connect-timeout must be positive, got '-1'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_value_that_is_not_valid_is_refused_with_the_name_of_its_option(arguments: list[str], message: str) -> None:
    result = Probe().run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("option", ["-p", "--password"])
def test_a_password_after_a_space_is_not_taken_for_something_else(option: str) -> None:
    result = Probe().run("--user", "me", option, SECRET)
    assert result.exit_code == 2
    assert "--password takes a value only without a space (--password=TEXT or -pTEXT)" in result.output
    assert SECRET not in result.output


@pytest.mark.parametrize("command", ["rows", "mirror", "sql"])
def test_a_password_after_a_space_is_not_taken_for_a_log(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = ["--target", "lake"] if command == "mirror" else []
    assert exit_code([command, "--tables", "shop.*", "--host", "db1", "--password", SECRET, *target]) == 2
    shown = capsys.readouterr().err
    assert "--password takes a value only without a space" in shown
    assert SECRET not in shown
