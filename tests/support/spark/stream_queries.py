"""Streams in tests: run one over all available data, and collect the rows of each batch."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from binspark.testing.servers import Server

WAIT_SECONDS = 120
ORDER = ("_seq",)


@dataclass
class Stream:
    """A stream with a checkpoint. Each run continues where the last one ended; a replayed batch counts once."""

    spark: SparkSession
    checkpoint: Path
    options: dict[str, str]
    path: str | None = None
    batches: dict[int, list[Row]] = field(default_factory=dict)
    schema: StructType = field(default_factory=StructType)
    progress: list[dict[str, Any]] = field(default_factory=list)

    def run(self, **options: str) -> None:
        """Read what is available now; raise the error if the query fails."""
        reader = self.spark.readStream.format("binlog").options(**{**self.options, **options})
        stream = reader.load() if self.path is None else reader.load(self.path)
        query = self.start(stream, availableNow=True)
        query.awaitTermination()
        self.progress = [dict(found) if isinstance(found, dict) else found for found in query.recentProgress]

    def start(self, stream: DataFrame, **trigger: bool) -> StreamingQuery:
        """Start a query that keeps the rows of each batch."""
        writer = stream.writeStream.foreachBatch(self._keep).option("checkpointLocation", str(self.checkpoint))
        return (writer.trigger(**trigger) if trigger else writer).start()

    def _keep(self, batch: DataFrame, number: int) -> None:
        self.schema = batch.schema
        order = [name for name in ORDER if name in batch.columns]
        self.batches[number] = batch.orderBy(*order).collect() if order else batch.collect()

    @property
    def rows(self) -> list[Row]:
        """The rows of all batches, in their order."""
        return [row for number in sorted(self.batches) for row in self.batches[number]]

    def values(self, *names: str) -> list[tuple[Any, ...]]:
        """The values of some columns."""
        return [tuple(row[name] for name in names) for row in self.rows]


@contextmanager
def running(stream: Stream) -> Iterator[StreamingQuery]:
    """Follow with a stream until the block ends."""
    query = stream.start(stream.spark.readStream.format("binlog").options(**stream.options).load())
    try:
        yield query
    finally:
        query.stop()


def wait_for_rows(query: StreamingQuery, stream: Stream, count: int) -> None:
    """Wait until this number of rows has arrived; raise the error if the query fails."""
    end = time.monotonic() + WAIT_SECONDS
    while len(stream.rows) < count:
        failure = query.exception()
        if failure is not None:
            raise failure
        assert time.monotonic() < end, f"{len(stream.rows)} of {count} rows have arrived"
        time.sleep(0.1)


def live_options(server: Server, **options: str) -> dict[str, str]:
    """Return the options of a stream that follows a server from its first log on."""
    return {"host": "127.0.0.1", "port": str(server.port), "user": "root", "startingOffsets": "earliest", **options}


def copy_logs(server: Server, archive: Path, *, cut: int = 0) -> None:
    """Copy a server's logs as an archiver does; `cut` is the number of bytes to remove at the end of the last log."""
    archive.mkdir(exist_ok=True)
    logs: Sequence[Path] = server.log_files()
    for log in logs:
        shutil.copy(log, archive / log.name)
    if cut:
        last = archive / logs[-1].name
        content = last.read_bytes()
        last.write_bytes(content[: len(content) - cut])
