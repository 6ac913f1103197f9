"""Peers that are programs of their own: built once, and run several times over the same log."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.decode.figure import Figure, PeerUnavailable
from benchmarks.decode.logs import Log, bench_folder
from binspark.testing.servers.cache import build_once

PASSES = 3
SOURCES = Path(__file__).parent.parent


def built(name: str, needed: tuple[str, ...], build: Callable[[Path], None]) -> Path:
    """Return the folder of a program whose sources are in `benchmarks/NAME`; it is built when they have changed."""
    for program in needed:
        if shutil.which(program) is None:
            raise PeerUnavailable(f"{program} is not on the PATH")
    sources = sorted(path for path in (SOURCES / name).rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    return build_once(bench_folder() / f"{name}-{digest.hexdigest()[:12]}", build)


def run(*command: str, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    """Run a program and return what it prints."""
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    if done.returncode:
        output = (done.stderr.strip() or done.stdout.strip()).splitlines()
        reason = output[-1] if output else f"exit code {done.returncode}"
        raise PeerUnavailable(f"{Path(command[0]).name} failed: {reason}")
    return done.stdout


def last_pass(output: str, log: Log) -> Figure:
    """Return the figure of the last pass, after warm-up. A program prints a line for each: rows, seconds, and more."""
    rows, seconds, *_ = output.splitlines()[-1].split()
    return Figure(float(seconds), log.size, int(rows))
