"""binspark's bulk reader, in this process."""

from __future__ import annotations

import threading
from pathlib import Path

from benchmarks.decode.figure import Figure
from benchmarks.decode.logs import Log
from benchmarks.timing import best_seconds
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection

REPEATS = 7
MAX_SECONDS = 20.0


def reader_for(log: Log) -> BatchReader:
    """Return a reader that decodes as much as the peers do: all columns, both images of updates."""
    return BatchReader(Selection(before=log.workload.name == "update"))


def count_rows(reader: BatchReader, path: Path, stop: int | None = None) -> int:
    """Decode a log, completely or up to an offset, and use only the number of rows of each batch."""
    with path.open("rb", buffering=0) as file:
        return sum(item.batch.num_rows for item in reader.read(file.readinto, path.name, stop=stop))


def measure(log: Log) -> Figure:
    """Decode a log several times with one reader, in one thread; the best time counts."""
    reader = reader_for(log)
    rows = [0]

    def work() -> None:
        rows[0] = count_rows(reader, log.path)

    return Figure(best_seconds(work, REPEATS, MAX_SECONDS), log.size, rows[0])


def rows_before(log: Log, position: int) -> int:
    """Count the rows of a log's events before a position, to check a peer that read up to there."""
    reader = BatchReader(Selection())
    return count_rows(reader, log.path, stop=position)


def measure_two_threads(log: Log) -> float:
    """Return the seconds in which two threads decode the log once each, each with its own reader."""
    readers = [reader_for(log), reader_for(log)]

    def work() -> None:
        threads = [threading.Thread(target=count_rows, args=(reader, log.path)) for reader in readers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return best_seconds(work, REPEATS, MAX_SECONDS)
