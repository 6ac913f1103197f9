"""How far a stream falls behind while a bulk load runs, and how soon it is there again."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.live.latency import server_stream, session, ticking_server

_ROWS = 10_000
_NUMBERS = """
INSERT INTO bench.ticks (committed, note)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
SELECT UNIX_TIMESTAMP(NOW(6)), REPEAT('x', 60) FROM n
"""


@dataclass
class Lag:
    """What came of a bulk load.

    loaded          rows, and the seconds it took to load them
    behind          the greatest age of a row in each batch, in seconds
    caught_up       seconds from the end of the load to its last row in the sink
    """

    rows: int = 0
    load_seconds: float = 0.0
    behind: list[float] = field(default_factory=list)
    caught_up: float = 0.0
    arrived: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def keep(self, batch: DataFrame, _number: int) -> None:
        """Take a batch, as `foreachBatch` gives it."""
        count, oldest = batch.agg(F.count("*"), F.min("committed")).collect()[0]
        with self._changed:
            if count:
                self.behind.append(time.time() - oldest)
                self.arrived += count
            self._changed.notify_all()

    def wait_for(self, rows: int, seconds: float) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: self.arrived >= rows, seconds):
                raise TimeoutError(f"{self.arrived} of {rows} rows have come")


def measure_lag(seconds: float) -> Lag:
    """Load rows for a while under a stream."""
    lag = Lag()
    with ticking_server() as server, session() as (spark, folder):
        writer = server_stream(spark, server, "earliest").writeStream.foreachBatch(lag.keep)
        query = writer.option("checkpointLocation", str(folder / "lag")).start()
        try:
            with server.connect() as connection, connection.cursor() as cursor:
                _warm_up(cursor, lag)
                _load(cursor, lag, seconds)
        finally:
            query.stop()
    return lag


def _warm_up(cursor: Any, lag: Lag) -> None:
    """Load a little until it comes at once: Java is slow at first."""
    cursor.execute("SET cte_max_recursion_depth = 20000")
    for number in range(1, 6):
        cursor.execute(_NUMBERS)
        lag.wait_for(number * _ROWS, 60)
    lag.behind.clear()
    lag.arrived = 0


def _load(cursor: Any, lag: Lag, seconds: float) -> None:
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        cursor.execute(_NUMBERS)
        lag.rows += _ROWS
    lag.load_seconds = time.monotonic() - began
    ended = time.monotonic()
    lag.wait_for(lag.rows, 120)
    lag.caught_up = time.monotonic() - ended
