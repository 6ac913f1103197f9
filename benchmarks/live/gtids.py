"""How fast transactions come after GTIDs: in bulk once file and offset are enough, and one by one."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.live.timing import REPEATS
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.stop import StopCondition
from binspark.server.config import connection_config
from binspark.server.connection import connect
from binspark.server.info import purged_gtids
from binspark.testing.servers import Server


@dataclass(frozen=True, slots=True)
class Followed:
    """How many transactions came, and how many of them a second in each way."""

    transactions: int
    in_bulk: float
    one_by_one: float


def measure_gtids(server: Server) -> Followed:
    """Follow a server from the oldest GTID to its end: the best of some runs, after one that loads kernels."""
    rates: dict[bool, list[float]] = {}
    for one_per_chunk in (False, True):
        count, _ = _follow(server, one_per_chunk=one_per_chunk)
        rates[one_per_chunk] = [count / _follow(server, one_per_chunk=one_per_chunk)[1] for _ in range(REPEATS)]
    return Followed(count, max(rates[False]), max(rates[True]))


def _follow(server: Server, *, one_per_chunk: bool) -> tuple[int, float]:
    """Return how many transactions came, and in how many seconds."""
    config = connection_config(host="127.0.0.1", port=server.port, user="root")
    with connect(config) as connection:
        start = BinlogPosition.after_gtids(purged_gtids(connection))
    began = time.perf_counter()
    stop = StopCondition(end_of_log=True)
    with Follower(config, start, stop=stop, one_per_chunk=one_per_chunk) as follower:
        count = sum(len(chunk.transactions) for chunk in follower if chunk.data)
    return count, time.perf_counter() - began
