"""go-mysql, with which many programs in Go follow servers: fetched as a module, run by a small harness."""

from __future__ import annotations

from pathlib import Path

from benchmarks.decode.figure import Figure
from benchmarks.decode.logs import Log
from benchmarks.decode.programs import PASSES, SOURCES, built, last_pass, run

RUNTIME = {"GOMAXPROCS": "1", "GOGC": "400"}


def measure(log: Log) -> Figure:
    """Read a log several times in one process, on one processor, with few garbage collections."""
    program = built("go", ("go",), _build) / "bench"
    return last_pass(run(str(program), str(log.path), str(PASSES), variables=RUNTIME), log)


def _build(folder: Path) -> None:
    run("go", "build", "-o", str(folder / "bench"), ".", folder=SOURCES / "go")
