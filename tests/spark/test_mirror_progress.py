"""The progress of a mirror in Spark's own: a streaming query reports what the mirror does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

import binspark
from binspark.errors import OptionError
from binspark.testing.servers import Server
from tests.mirror.test_mirror_rows import create_orders
from tests.support.servers import database

__all__ = ["database"]
pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]


class Listener(StreamingQueryListener):
    """Keeps the progress of all queries."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self.ended = 0

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 (Spark's name)
        """A query was started."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """A batch is complete."""
        self.found.append(event.progress)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing has happened."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """A query has ended."""
        self.ended += 1


def test_listeners_of_spark_get_the_figures_of_a_mirror(
    spark: SparkSession, mysql: Server, database: str, tmp_path: Path
) -> None:
    orders = create_orders(mysql, database)
    source: Any = {"host": f"127.0.0.1:{mysql.port}", "user": "root", "ssl_mode": "disabled"}
    lake, listener = tmp_path / "lake", Listener()
    spark.streams.addListener(listener)
    try:
        binspark.mirror(spark, source, lake, orders)
        mysql.query(f"DELETE FROM {orders} WHERE id <= 5")
        report = binspark.mirror(spark, source, lake, orders, query_progress=True)
        wait_for_end(spark, listener)
    finally:
        spark.streams.removeListener(listener)
    progress = listener.found[-1]
    assert progress.name == f"binspark mirror to {lake}"
    metrics = progress.observedMetrics["mirror"]
    assert (metrics.position, metrics.gtids) == (report.position, report.gtids)
    assert (metrics.rows, metrics.lag_bytes, metrics.lag_seconds, metrics.error) == (5, 0, 0.0, None)
    assert [(table["table"], table["phase"], table["rows"]) for table in metrics.tables] == [(orders, "current", 5)]
    assert report.position in progress.sources[0].endOffset
    assert not spark.streams.active


def wait_for_end(spark: SparkSession, listener: Listener) -> None:
    """Wait until the listener has got all events: they come after one another."""
    for _ in range(300):
        if listener.ended:
            return
        time.sleep(0.1)
    raise AssertionError(f"no query has ended: {listener.found}, {spark.streams.active}")


def test_a_mirror_without_spark_has_no_query_progress(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="query_progress needs a Spark session"):
        binspark.mirror(None, {"host": "127.0.0.1:1"}, tmp_path, "shop.*", query_progress=True)
