"""binspark's public call, in a process of its own."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, replace

import binspark
from benchmarks.decode import passes
from benchmarks.decode.figure import Figure
from benchmarks.decode.logs import Log, bench_folder
from benchmarks.decode.programs import PASSES, run
from benchmarks.timing import best_seconds
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection


@dataclass(frozen=True, slots=True)
class Passes:
    """The first pass of a new process, the seconds until its first batch, and the best of the later passes."""

    first: Figure
    first_batch_seconds: float
    later: Figure


def measure(log: Log) -> Passes:
    """Read a log in a new process: once, and then as often as the peers are measured."""
    words = [passes.BEFORE] if _wants_before(log) else []
    output = run(sys.executable, "-m", passes.__name__, str(log.path), str(1 + PASSES), *words, variables=_variables())
    lines = [line.split() for line in output.splitlines()]
    figures = [Figure(float(seconds), log.size, int(rows), float(cpu)) for rows, seconds, _, cpu in lines]
    later = min(figures[1:], key=lambda figure: figure.seconds)
    later = replace(later, cpu_seconds=min(float(cpu) for *_, cpu in lines[1:]))
    return Passes(figures[0], float(lines[0][2]), later)


def rows_before(log: Log, position: int) -> int:
    """Count the rows of a log's events before a position, to check a peer that read up to there."""
    reader = BatchReader(Selection())
    with log.path.open("rb", buffering=0) as file:
        return sum(item.batch.num_rows for item in reader.read(file.readinto, log.path.name, stop=position))


def measure_two_threads(log: Log) -> float:
    """Return the seconds in which two threads decode the log once each."""

    def read() -> None:
        for _ in binspark.batches(log.path, before=_wants_before(log)):
            pass

    def work() -> None:
        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return best_seconds(work, 1 + PASSES)


def _wants_before(log: Log) -> bool:
    """Return whether before images are decoded: the peers decode both images of updates."""
    return log.workload.name == "update"


def _variables() -> dict[str, str]:
    """Let Python keep the bytecode of modules, as it does for installed packages."""
    return {"PYTHONPYCACHEPREFIX": str(bench_folder() / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
