"""`python -m benchmarks.pages.explore`: how long `binspark explore` takes until its page shows a log.

--sizes N,…    megabytes of each log (default 10,100,1000; of small transactions at most 400)
--files N      how many files the archive has, each of the first size (default 100; 0 for none)
--rounds N     how often each is opened (default 3); the least time counts
--cold         forget the logs in the page cache of the system before each command
--browser      also measure Chromium: from the start of the command to the first line on the page

first view    from the start of the process until it has answered what the page asks first
complete      until the index has all logs
memory        the peak of the process

There is no other program that shows a log as a page. The commands that print one are run in turns with it: the first
200 lines of `mysqlbinlog -v`, and `binspark stat`, which reads the log once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

import click

from benchmarks.decode.logs import PRINT_ROWS, get_log
from benchmarks.memory import peak_bytes
from benchmarks.timing import program_environment
from benchmarks.workloads import BULK, OLTP
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs

_LINES = 200
_MAX_SMALL = 400.0
"""Megabytes. A log of small transactions takes a server long to write."""
_NONE = float("inf")
_COLUMNS = ("first view, s", "complete, s", "CPU s", "memory, MB", "in Chromium, s", "mysqlbinlog, s", "stat, s")


@dataclass(slots=True)
class Figures:
    """What was measured: the least of all rounds."""

    first_view: float = _NONE
    complete: float = _NONE
    cpu: float = _NONE
    memory: float = _NONE
    in_browser: float = _NONE
    mysqlbinlog: float = _NONE
    stat: float = _NONE

    def least(self, other: Figures) -> Figures:
        """Return the lesser of each figure."""
        return Figures(*(min(pair) for pair in zip(astuple(self), astuple(other), strict=True)))


class Opened:
    """The command, from its start."""

    def __init__(self, process: subprocess.Popen[str], begin: float) -> None:
        self._process = process
        self._begin = begin
        assert process.stdout is not None
        self.address = process.stdout.readline().split()[1]
        self._url, _, self._token = self.address.partition("?token=")

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return time.perf_counter() - self._begin

    def ask(self, question: str) -> Any:
        """Ask what the page asks."""
        request = Request(f"{self._url}api/{question}", headers={"authorization": f"Bearer {self._token}"})
        with urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def first_view(self) -> float:
        """Return when the first units are known."""
        while not self.ask("units?first=0&count=100")["units"]:
            time.sleep(0.005)
        self.ask("logs")
        self.ask("timeline")
        return self.seconds

    def complete(self) -> float:
        """Return when all logs are read."""
        while not all(each["read"] for each in self.ask("logs")["logs"]):
            time.sleep(0.02)
        return self.seconds

    def cpu_seconds(self) -> float:
        """Return the CPU time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Return the peak of the memory so far."""
        return (peak_bytes(self._process.pid) or 0) / 1e6


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    begin = time.perf_counter()
    command = [sys.executable, "-m", "binspark", "explore", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=program_environment()) as process:
        try:
            yield Opened(process, begin)
        finally:
            process.terminate()


class Chromium:
    """A browser that has begun already. Without one, nothing is measured."""

    def __init__(self, wanted: bool) -> None:
        self._browser: Any = None
        if wanted:
            from playwright.sync_api import sync_playwright

            from tests.support.browser import BROWSER

            started = sync_playwright().start()
            self._browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])

    def first_line(self, path: Path) -> float:
        """Return when the page shows its first line."""
        if self._browser is None:
            return _NONE
        page = self._browser.new_page()
        with opened(path) as command:
            page.goto(command.address)
            page.locator("#list .row .twist").first.wait_for()
            seconds = command.seconds
        page.close()
        return seconds


def measure(path: Path, chromium: Chromium, *, is_cold: bool) -> Figures:
    """Open a log or a folder once, and print it with the other commands."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    found = Figures()
    _forget(files, is_cold)
    with opened(path) as command:
        found.first_view = command.first_view()
        found.complete = command.complete()
        found.cpu, found.memory = command.cpu_seconds(), command.megabytes()
    _forget(files, is_cold)
    found.in_browser = chromium.first_line(path)
    _forget(files, is_cold)
    found.mysqlbinlog = _head_seconds(find_programs(MySQL).command("mysqlbinlog", *PRINT_ROWS, *map(str, files)))
    _forget(files, is_cold)
    begin = time.perf_counter()
    command_line = [sys.executable, "-m", "binspark", "stat", str(path)]
    subprocess.run(command_line, check=True, stdout=subprocess.DEVNULL, env=program_environment())
    found.stat = time.perf_counter() - begin
    return found


def _head_seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        for _ in range(_LINES):
            process.stdout.readline()
        seconds = time.perf_counter() - begin
        process.kill()
    return seconds


def _forget(files: list[Path], is_cold: bool) -> None:
    for path in files if is_cold else ():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@click.command(help=__doc__)
@click.option("--sizes", default="10,100,1000")
@click.option("--files", type=int, default=100)
@click.option("--rounds", type=int, default=3)
@click.option("--cold", is_flag=True)
@click.option("--browser", is_flag=True)
def main(sizes: str, files: int, rounds: int, cold: bool, browser: bool) -> None:
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)\n")
    print(f"| logs | MB | {' | '.join(_COLUMNS)} |")
    print(f"| --- | --- |{' --- |' * len(_COLUMNS)}")
    chromium = Chromium(browser)
    with TemporaryDirectory() as folder:
        megabytes = [float(size) for size in sizes.split(",")]
        paths = {
            get_log(workload, min(size, _MAX_SMALL) if workload is OLTP else size).path: workload.name
            for workload in (OLTP, BULK)
            for size in megabytes
        }
        archive = Path(folder)
        for number in range(1, files + 1):
            (archive / f"binlog.{number:06}").symlink_to(next(iter(paths)))
        for path in [*paths, *([archive] if files else [])]:
            best = Figures()
            for _ in range(rounds):
                best = best.least(measure(path, chromium, is_cold=cold))
            size = sum(each.stat().st_size for each in (archive.iterdir() if path is archive else [path])) / 1e6
            cells = ["—" if value == _NONE else f"{value:.2f}" for value in astuple(best)]
            name = f"{OLTP.name}, {files} files" if path is archive else paths[path]
            print(f"| {name} | {size:,.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
