"""The latency of a row: from the commit on the server to the sink of a stream; and Spark's own latency."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks.decode.logs import bench_folder
from benchmarks.live.floor import TickSource
from benchmarks.spark.session import make_session
from benchmarks.workloads import FAST_SERVER
from binspark.testing.servers import MySQL, Server, start

PERIOD = 0.3
_WARM_SECONDS = 10.0
_QUIET_SECONDS = 2.0


@dataclass
class Delays:
    """How long after their commit rows reached the sink, in seconds."""

    values: list[float] = field(default_factory=list)
    began: threading.Event = field(default_factory=threading.Event)

    def keep(self, batch: DataFrame, _number: int) -> None:
        """Note the rows of a batch, for `foreachBatch`."""
        rows = batch.select("committed").collect()
        now = time.time()
        self.values.extend(now - row["committed"] for row in rows)
        self.began.set()

    def __str__(self) -> str:
        p95 = statistics.quantiles(self.values, n=20)[-1]
        return f"{self.median * 1000:.0f} ms median, {p95 * 1000:.0f} ms p95, {len(self.values)} rows"

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def measure_latency(seconds: float) -> tuple[Delays, Delays]:
    """Insert single rows for some seconds; return their delays, and those of a source without a server."""
    with ticking_server() as server, session() as (spark, folder):
        spark.dataSource.register(TickSource)
        ticks = spark.readStream.format("ticks").option("period", PERIOD).load()
        floor = _delays(ticks, folder / "floor", seconds, time.sleep)
        with server.connect() as connection, connection.cursor() as cursor:
            stream = server_stream(spark, server)
            delays = _delays(stream, folder / "server", seconds, lambda seconds: insert_rows(cursor, seconds))
    return delays, floor


@contextmanager
def ticking_server() -> Iterator[Server]:
    """Start a server with a table whose rows contain the time of their insert."""
    with start(MySQL, FAST_SERVER) as server:
        server.query("CREATE DATABASE bench")
        server.query("CREATE TABLE bench.ticks (id INT PRIMARY KEY AUTO_INCREMENT, committed DOUBLE, note VARCHAR(80))")
        yield server


@contextmanager
def session() -> Iterator[tuple[SparkSession, Path]]:
    """Start Spark, with a directory for its checkpoints."""
    with tempfile.TemporaryDirectory(dir=bench_folder()) as folder:
        spark = make_session(Path(folder))
        try:
            yield spark, Path(folder)
        finally:
            spark.stop()


def server_stream(spark: SparkSession, server: Server, begin: str = "latest") -> DataFrame:
    """Return a stream of the rows of the table."""
    return (
        spark.readStream.format("binlog")
        .options(host="127.0.0.1", port=str(server.port), user="root", table="bench.ticks", startingOffsets=begin)
        .load()
    )


def insert_rows(cursor: Any, seconds: float) -> None:
    """Insert a row every `PERIOD` seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        cursor.execute("INSERT INTO bench.ticks (committed) VALUES (%s)", (time.time(),))
        time.sleep(PERIOD)


def _delays(stream: DataFrame, checkpoint: Path, seconds: float, wait: Callable[[float], None]) -> Delays:
    delays = Delays()
    query = stream.writeStream.foreachBatch(delays.keep).option("checkpointLocation", str(checkpoint)).start()
    try:
        delays.began.wait(60)
        wait(_WARM_SECONDS)  # Java is slow at first, and kernels may have to be compiled
        while query.isActive and not (delays.values and delays.values[-1] <= 1.0):
            wait(1.0)
        delays.values.clear()
        wait(seconds)
        time.sleep(_QUIET_SECONDS)
    finally:
        query.stop()
    return delays
