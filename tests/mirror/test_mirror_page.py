"""`docs/mirror.md`: every block of the page works as it is, one after the other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from binspark.testing.servers import MySQL
from tests.support.mirror.live_mirrors import assert_equal
from tests.support.servers import StartServer

PAGE = Path(__file__).parents[2] / "docs" / "mirror.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Return the blocks of the page: their language and their text."""
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def run(folder: Path, *words: str, text: str) -> str:
    """Run a program with a block as its input; return what it prints."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(words, input=text, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.timeout(300)
def test_every_block_of_the_page_works(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    command = tmp_path / "bin" / "binspark"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m binspark "$@"\n')
    command.chmod(0o755)
    printed = []
    for language, text in blocks():
        match language:
            case "sql":
                server.run_sql(text)
            case "ini":
                (tmp_path / "my.cnf").write_text(text.replace("3306", str(server.port)))
            case "sh":
                printed.append(run(tmp_path, "bash", "-e", text=text))
            case "python":
                printed.append(run(tmp_path, sys.executable, "-", text=text))
            case _:
                pytest.fail(f"a block of {language} is not executed")
    assert "shop.orders: copy, about 3 rows, key id" in printed[0]
    assert "20.00" in printed[2]
    assert "('shop.orders', 'current')" in printed[4]
    assert_equal(server, tmp_path / "lake", "shop.orders", "shop.customers")
