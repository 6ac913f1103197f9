"""A driver of its own, to be killed: follows a server or an archive, and keeps each batch in a file named after it.

    python stream_driver.py CHECKPOINT OUTPUT '{"option": "value", …}'

A batch that is replayed writes its file again. A query that fails is started again, from its checkpoint.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

ORDER = ("_log_file", "_log_pos", "_log_row")


def make_session() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2,8]")  # a task may fail seven times: its worker is killed
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def keep_in(folder: Path) -> Any:
    def keep(batch: DataFrame, number: int) -> None:
        table = batch.toArrow().sort_by([(name, "ascending") for name in ORDER])
        if table.num_rows:
            temporary = folder / f".{number:06}.tmp"
            pq.write_table(table, temporary)
            temporary.rename(folder / f"{number:06}.parquet")

    return keep


def main(checkpoint: str, output: str, options: dict[str, str]) -> None:
    spark = make_session()
    spark.sparkContext.setLogLevel("ERROR")
    now = options.pop("availableNow", "") == "true"
    folder = Path(output)
    for attempt in range(20):
        stream = spark.readStream.format("binlog").options(**options).load()
        writer = stream.writeStream.foreachBatch(keep_in(folder)).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start() if now else writer.start()
        print(f"started {attempt}", flush=True)  # noqa: T201 (to the log of the test)
        try:
            query.awaitTermination()
        except Exception as error:  # whatever made the query fail, the next one must continue
            print(f"failed: {error}"[:2000], flush=True)  # noqa: T201
            time.sleep(1)
            continue
        return
    sys.exit("the query failed too often")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
