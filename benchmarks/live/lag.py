"""How far a stream lags during a bulk load, and how long it takes to catch up."""

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
    """The lag of a stream during a bulk load.

    rows              how many rows were loaded, in `load_seconds`
    ages              the age of the oldest row of each batch, in seconds
    catch_up_seconds  from the end of the load to its last row in the sink
    arrived           how many rows have arrived in the sink
    """

    rows: int = 0
    load_seconds: float = 0.0
    ages: list[float] = field(default_factory=list)
    catch_up_seconds: float = 0.0
    arrived: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def keep(self, batch: DataFrame, _number: int) -> None:
        """Note the rows of a batch, for `foreachBatch`."""
        count, oldest = batch.agg(F.count("*"), F.min("committed")).collect()[0]
        with self._changed:
            if count:
                self.ages.append(time.time() - oldest)
                self.arrived += count
            self._changed.notify_all()

    def wait_for(self, rows: int, seconds: float) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: self.arrived >= rows, seconds):
                raise TimeoutError(f"{self.arrived} of {rows} rows have arrived after {seconds:.0f} s")


def measure_lag(seconds: float) -> Lag:
    """Load rows for some seconds while a stream reads them."""
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
    """Load a few rows and wait for them: Java is slow at first."""
    cursor.execute("SET cte_max_recursion_depth = 20000")
    for number in range(1, 6):
        cursor.execute(_NUMBERS)
        lag.wait_for(number * _ROWS, 60)
    lag.ages.clear()
    lag.arrived = 0


def _load(cursor: Any, lag: Lag, seconds: float) -> None:
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        cursor.execute(_NUMBERS)
        lag.rows += _ROWS
    lag.load_seconds = time.monotonic() - began
    ended = time.monotonic()
    lag.wait_for(lag.rows, 120)
    lag.catch_up_seconds = time.monotonic() - ended
