"""mysql_common, on which the drivers for Rust are built: fetched as a crate, run by a small harness."""

from __future__ import annotations

from pathlib import Path

from benchmarks.decode.figure import Figure
from benchmarks.decode.logs import Log
from benchmarks.decode.programs import PASSES, SOURCES, built, last_pass, run


def measure(log: Log) -> Figure:
    """Read a log several times in one process."""
    program = built("rust", ("cargo",), _build) / "release" / "bench"
    return last_pass(run(str(program), str(log.path), str(PASSES)), log)


def _build(folder: Path) -> None:
    manifest = str(SOURCES / "rust" / "Cargo.toml")
    run("cargo", "build", "--quiet", "--release", "--manifest-path", manifest, "--target-dir", str(folder))
