"""How late a row comes out of Spark: from the commit on the server to the sink of a stream."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from pyspark.sql import DataFrame

from benchmarks.decode.logs import bench_folder
from benchmarks.spark.session import make_session
from benchmarks.workloads import FAST_SERVER
from binspark.testing.servers import MySQL, start

PERIOD = 0.3


def measure_latency(seconds: float) -> list[float]:
    """Insert a row now and then; return how long each took to reach the sink, in seconds."""
    late: list[float] = []
    with tempfile.TemporaryDirectory(dir=bench_folder()) as folder, start(MySQL, FAST_SERVER) as server:
        server.query("CREATE DATABASE bench")
        server.query("CREATE TABLE bench.ticks (id INT PRIMARY KEY AUTO_INCREMENT, committed DOUBLE)")
        spark = make_session(Path(folder))
        began = threading.Event()

        def keep(batch: DataFrame, _number: int) -> None:
            rows = batch.select("committed").collect()
            now = time.time()
            late.extend(now - row["committed"] for row in rows)
            began.set()

        stream = spark.readStream.format("binlog").options(
            host="127.0.0.1", port=str(server.port), user="root", table="bench.ticks", startingOffsets="latest"
        )
        writer = stream.load().writeStream.foreachBatch(keep)
        query = writer.option("checkpointLocation", f"{folder}/checkpoint").start()
        try:
            began.wait(60)
            with server.connect() as connection, connection.cursor() as cursor:
                _trickle(cursor, 10.0)  # Java is slow at first
                late.clear()
                _trickle(cursor, seconds)
            time.sleep(2)
        finally:
            query.stop()
            spark.stop()
    return late


def _trickle(cursor: object, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        cursor.execute("INSERT INTO bench.ticks (committed) VALUES (%s)", (time.time(),))  # type: ignore[attr-defined]
        time.sleep(PERIOD)
