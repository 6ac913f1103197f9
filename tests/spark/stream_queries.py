"""Streams in tests: run one to the end of what is there, and see which rows came, in which batches."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from binspark.testing.servers import Server

ORDER = ("_file", "_pos", "_row")


@dataclass
class Stream:
    """A stream with a checkpoint. Each run goes on where the last one ended; a batch that is replayed counts once."""

    spark: SparkSession
    checkpoint: Path
    options: dict[str, str]
    path: str | None = None
    batches: dict[int, list[Row]] = field(default_factory=dict)
    progress: list[dict[str, Any]] = field(default_factory=list)

    def run(self, **options: str) -> None:
        """Read what is there now; raise what made the query fail."""
        reader = self.spark.readStream.format("binlog").options(**{**self.options, **options})
        stream = reader.load() if self.path is None else reader.load(self.path)
        query = (
            stream.writeStream.foreachBatch(self._keep)
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        self.progress = [dict(found) if isinstance(found, dict) else found for found in query.recentProgress]

    def _keep(self, batch: DataFrame, number: int) -> None:
        order = [name for name in ORDER if name in batch.columns]
        self.batches[number] = batch.orderBy(*order).collect() if order else batch.collect()

    @property
    def rows(self) -> list[Row]:
        """The rows of all batches, in their order."""
        return [row for number in sorted(self.batches) for row in self.batches[number]]

    def values(self, *names: str) -> list[tuple[Any, ...]]:
        """The values of some columns."""
        return [tuple(row[name] for name in names) for row in self.rows]


def live_options(server: Server, **options: str) -> dict[str, str]:
    """Return the options of a stream that follows a server from its first log on."""
    return {"host": "127.0.0.1", "port": str(server.port), "user": "root", "startingOffsets": "earliest", **options}


def copy_logs(server: Server, archive: Path, *, cut: int = 0) -> None:
    """Copy a server's logs as an archiver would have them; without the last bytes of the last, if asked for."""
    archive.mkdir(exist_ok=True)
    logs: Sequence[Path] = server.log_files()
    for log in logs:
        shutil.copy(log, archive / log.name)
    if cut:
        last = archive / logs[-1].name
        content = last.read_bytes()
        last.write_bytes(content[: len(content) - cut])
