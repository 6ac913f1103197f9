"""Option files are read as MySQL's own programs read them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from binspark.errors import OptionError, SourceError
from binspark.server.option_files import read_option_file
from binspark.testing.servers import Server

VALUES = {
    "plain": "secret",
    "spaces around": "  secret  ",
    "inner space": "two words",
    "double quotes": '"se#cret"',
    "single quotes": "'se#cret'",
    "one quote": "se'cret",
    "quote of the other kind": '"se\'cret"',
    "comment": "secret # not of it",
    "comment without space": "secret#not of it",
    "semicolon": "se;cret",
    "escapes": r"a\tb\sc\\d\qe",
    "quoted escapes": r'"a\"b"',
    "trailing backslash": "abc\\",
    "empty": "",
    "only quotes": '""',
    "equals": "a=b==c",
    "not ASCII": "pässwörd",
}


def write(folder: Path, text: str, name: str = "my.cnf") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def client_password(path: Path) -> str | None:
    return read_option_file(path, ["client"])["client"]["password"]


@pytest.mark.mysql
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_is_what_mysql_makes_of_it(mysql: Server, tmp_path: Path, value: str) -> None:
    path = write(tmp_path, f"[client]\nuser = {value}\npassword = {value}\n")
    printed = subprocess.run(
        mysql.programs.command("mysql", f"--defaults-file={path}", "--print-defaults"),
        capture_output=True,
        check=False,
    ).stdout.decode()
    assert f"--user={client_password(path)} " in printed


def test_names_may_have_dashes_underscores_or_any_case(tmp_path: Path) -> None:
    path = write(tmp_path, "[client]\nssl_ca=a\nSSL-Cert=b\nloose_ssl-key=c\n")
    assert read_option_file(path, ["client"])["client"] == {"ssl-ca": "a", "ssl-cert": "b", "ssl-key": "c"}


def test_only_the_requested_groups_are_returned(tmp_path: Path) -> None:
    path = write(tmp_path, "[mysqld]\nport=1\n[client]\nport=2\n[binspark]\nuser=x\n[client]\nport=3\n")
    assert read_option_file(path, ["client", "binspark"]) == {"client": {"port": "3"}, "binspark": {"user": "x"}}


def test_an_option_may_have_no_value(tmp_path: Path) -> None:
    assert client_password(write(tmp_path, "[client]\npassword\n")) is None


def test_other_files_are_included_in_place(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    write(tmp_path, "[client]\npassword=from-include\nport=1\n", "other.cnf")
    write(tmp_path / "more", "[client]\nport=2\n", "b.cnf")
    write(tmp_path / "more", "[client]\nport=3\n", "c.txt")
    path = write(tmp_path, f"!include other.cnf\n[client]\nuser=me\n!includedir {tmp_path}/more\n")
    assert read_option_file(path, ["client"])["client"] == {"password": "from-include", "port": "2", "user": "me"}


def test_files_that_include_each_other_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "!include my.cnf\n")
    with pytest.raises(OptionError, match="without end"):
        read_option_file(path, ["client"])


def test_an_option_file_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "[client]\npassword=x\n")
    path.chmod(0o666)
    with pytest.raises(OptionError, match="chmod o-w"):
        read_option_file(path, ["client"])


@pytest.mark.parametrize("text", ["password=hidden\n", "[client\npassword=hidden\n", "!password=hidden\n"])
def test_a_wrong_line_is_named_by_its_number_and_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(OptionError, match=r"my\.cnf: line 1") as caught:
        read_option_file(write(tmp_path, text), ["client"])
    assert "hidden" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"missing\.cnf"):
        read_option_file(tmp_path / "missing.cnf", ["client"])
