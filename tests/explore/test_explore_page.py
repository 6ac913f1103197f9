"""`docs/explore.md`: every command of the page works as it is written."""

from __future__ import annotations

import gzip
import os
import re
import shlex
from pathlib import Path

import pytest

from tests.support.encryption.encrypting import encrypt_mysql, mysql_log, save_mysql_keyring
from tests.support.explore.logs import many_transactions
from tests.support.explore.running import running

PAGE = Path(__file__).parents[2] / "docs" / "explore.md"
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the commands read."""
    (path,) = many_transactions(3).save(tmp_path)
    data = path.read_bytes()
    path.unlink()
    for name in ("archive", "encrypted"):
        (tmp_path / name).mkdir()
    (tmp_path / "binlog.000042").write_bytes(data)
    (tmp_path / "archive" / "binlog.000001").write_bytes(data)
    (tmp_path / "binlog.000041.gz").write_bytes(gzip.compress(data))
    (tmp_path / "encrypted" / "binlog.000001").write_bytes(encrypt_mysql(mysql_log(3)))
    save_mysql_keyring(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_of_the_page_works(words: list[str], folder: Path) -> None:
    assert words[:2] == ["binspark", "explore"]
    browser = folder / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {folder / "opened"}\n')
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    with running(*words[2:], folder=folder, environment=environment) as command:
        assert command.ask("search?kind=type&text=XID")["hits"]
        assert all(each["problems"] == [] for each in command.ask("logs")["logs"])
        if "--browser" in words:
            assert (folder / "opened").read_text().strip().startswith(command.address)


def test_the_page_has_commands() -> None:
    assert len(COMMANDS) >= 4
