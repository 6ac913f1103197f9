"""How far a stream lags behind its source: from a query, or by a listener for all queries of a session."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from binspark.replication.position import BinlogPosition
from binspark.spark.streaming.reported import LAG_BYTES, LAG_SECONDS

log = logging.getLogger("binspark.spark")


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a stream lags behind its source, as of the last progress of its query.

    bytes     what the source has written and the query has not read; None if that is not known: across a failover
    seconds   how old the oldest transaction is that the query has not read; 0 if it has read all, None if not known
    position  how far the query has read
    head      how far the source has written
    query     the name of the query, or its id if it has none
    """

    bytes: int | None
    seconds: float | None
    position: BinlogPosition
    head: BinlogPosition
    query: str

    def __str__(self) -> str:
        amount = "an unknown number of bytes" if self.bytes is None else f"{self.bytes:,} bytes"
        age = "" if self.seconds is None else f", {self.seconds:.1f} s"
        return f"{self.query}: {amount}{age} behind {self.head.describe()}"


def lag(query: StreamingQuery) -> Lag | None:
    """Return how far a query lags behind; of several binary logs that it reads, the one that it lags behind most.

    None before its first progress, and for a query that reads no binary log.

    >>> query = stream.writeStream.format("delta").start("lake/orders")  # doctest: +SKIP
    >>> binspark.lag(query).seconds  # doctest: +SKIP
    """
    progress = query.lastProgress
    found = [] if progress is None else lags_of(progress)
    return max(found, key=lambda one: (one.bytes is None, one.bytes or 0), default=None)


def lags_of(progress: Mapping[str, Any]) -> list[Lag]:
    """Return the lag of each binary log that a query reads, from one progress report."""
    query = str(progress["name"] or progress["id"])
    found = (_lag_of(source, query) for source in progress["sources"])
    return [one for one in found if one is not None]


def _lag_of(source: Mapping[str, Any], query: str) -> Lag | None:
    end, head = _fields(source["endOffset"]), _fields(source["latestOffset"])
    if LAG_BYTES not in head or not end.get("file"):
        return None
    position, source_position = BinlogPosition.from_json(end), BinlogPosition.from_json(head)
    return Lag(head[LAG_BYTES], head[LAG_SECONDS], position, source_position, query)


def _fields(offset: str | None) -> dict[str, Any]:
    """Return the fields of an offset, which may be that of another source."""
    try:
        fields = json.loads(offset or "null")
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


class LagListener(StreamingQueryListener):
    """Reports the lag of every query of a session that reads a binary log, after each batch.

    >>> spark.streams.addListener(binspark.LagListener(lambda lag: gauge.set(lag.seconds)))  # doctest: +SKIP

    Without a function, it logs the lag (logger `binspark.spark`, level INFO).
    """

    def __init__(self, report: Callable[[Lag], object] = log.info) -> None:
        super().__init__()
        self._report = report

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 (Spark's name)
        """Do nothing: there is no lag yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Report the lag after a batch."""
        for one in lags_of(event.progress):
            self._report(one)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Do nothing: there was nothing to read."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Do nothing: the query has ended."""
