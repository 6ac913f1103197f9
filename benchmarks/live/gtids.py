"""How fast transactions after GTIDs are read: in bulk as soon as the file position is known, and event by event."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass

from benchmarks.live.timing import REPEATS
from binspark.client.bulk.follow_pieces import PieceFollower
from binspark.client.bulk.pieces import BytesPiece, Piece
from binspark.client.connect import connect
from binspark.client.facts import purged_gtids
from binspark.client.gather import connection_options
from binspark.client.resolve import resolve_start
from binspark.client.settings import FollowSettings, StreamSettings
from binspark.client.start import AtGtids
from binspark.testing.servers import Server


@dataclass(frozen=True, slots=True)
class Followed:
    """How many transactions were read, and how many per second in each way."""

    transactions: int
    in_bulk: float
    one_by_one: float


def measure_gtids(server: Server) -> Followed:
    """Follow a server from its oldest GTID to the end: the best of several repeats, after one that loads kernels."""
    rates: dict[bool, list[float]] = {}
    for in_bulk in (True, False):
        count, _ = _follow(server, in_bulk=in_bulk)
        rates[in_bulk] = [count / _follow(server, in_bulk=in_bulk)[1] for _ in range(REPEATS)]
    return Followed(count, max(rates[True]), max(rates[False]))


def _follow(server: Server, *, in_bulk: bool) -> tuple[int, float]:
    """Return how many transactions were read, and in how many seconds."""
    options = connection_options(hosts="127.0.0.1", port=server.port, user="root")
    with connect(options) as connection:
        start = resolve_start(connection, AtGtids(purged_gtids(connection)))
    began = time.perf_counter()
    settings = FollowSettings(stream=StreamSettings(until_end=True))
    with closing(PieceFollower(options, start, settings, in_bulk=in_bulk)) as follower:
        count = sum(_transactions(piece) for piece in follower)
    return count, time.perf_counter() - began


def _transactions(piece: Piece) -> int:
    return len(piece.places) if isinstance(piece, BytesPiece) else piece.group.transaction is not None
