"""`binspark explore` as a process, and a client that asks as its page does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen


class Running:
    """The command, and the address that it printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("open http://127.0.0.1:"), line
        self.address, _, self.token = line.split()[1].partition("?token=")

    def ask(self, question: str) -> Any:
        """Return the answer to a question, which must not be refused."""
        request = Request(f"{self.address}api/{question}", headers={"authorization": f"Bearer {self.token}"})
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)


@contextmanager
def running(
    *arguments: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """Run the command, until the block ends."""
    command = [sys.executable, "-m", "binspark", "explore", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment
    ) as process:
        try:
            yield Running(process)
        finally:
            process.terminate()  # not killed: it deletes its temporary files
            process.wait(60)
