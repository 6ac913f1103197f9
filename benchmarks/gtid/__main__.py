"""`python -m benchmarks.gtid [INTERVALS] [PEER_INTERVALS]`: how long operations on GTID sets take.

Prints the best of several repeats. If the package mysql-replication is installed, its `GtidSet` does the same work, on
smaller sets (it is quadratic); the ratio is its time divided by ours on the same sets.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.timing import best_seconds
from binspark.gtid import Gtid, GtidSet, GtidSetBuilder, decode_gtid_set, encode_gtid_set
from binspark.wire import Cursor, Writer

UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
Work = Callable[[], Any]


def texts(intervals: int, seed: int) -> tuple[str, str]:
    """Return two sets with this number of intervals each, interleaved and disjoint."""
    chance = random.Random(seed)
    left: list[str] = []
    right: list[str] = []
    number = 1
    for _ in range(intervals):
        for listed in (left, right):
            last = number + chance.randrange(5)
            listed.append(f"{number}-{last}")
            number = last + 2 + chance.randrange(5)
    return f"{UUID}:{':'.join(left)}", f"{UUID}:{':'.join(right)}"


def our_work(left_text: str, right_text: str) -> dict[str, Work]:
    left, right = GtidSet(left_text), GtidSet(right_text)
    shifted = GtidSet(UUID + ":" + ":".join(f"{span.start + 1}-{span.stop + 1}" for span in left.intervals(UUID)))
    united = left | right
    encoded = encode(left)
    return {
        "parse": lambda: GtidSet(left_text),
        "print": lambda: str(left),
        "union": lambda: left | right,
        "contains": lambda: left in united,
        "subtract": lambda: united - right,
        "encode": lambda: encode(left),
        "union, overlapping": lambda: left | shifted,
        "intersection, overlapping": lambda: left & shifted,
        "difference, overlapping": lambda: left - shifted,
        "decode": lambda: decode_gtid_set(Cursor(encoded)),
    }


def peer_work(peer: Any, left_text: str, right_text: str) -> dict[str, Work]:
    left, right = peer.GtidSet(left_text), peer.GtidSet(right_text)
    united = left + right
    return {
        "parse": lambda: peer.GtidSet(left_text),
        "print": lambda: str(left),
        "union": lambda: left + right,
        "contains": lambda: left.gtids[0] in united,
        "subtract": lambda: united.gtids[0] - right.gtids[0],
        "encode": left.encoded,
    }


def add_work(count: int) -> dict[str, Work]:
    ordered = [Gtid(UUID, number) for number in range(1, count + 1)]
    sparse = [Gtid(UUID, 2 * gtid.number) for gtid in ordered]
    random.Random(1).shuffle(sparse)
    return {"add in order": lambda: build(ordered), "add at random, all gaps": lambda: build(sparse)}


def build(gtids: list[Gtid]) -> GtidSet:
    builder = GtidSetBuilder()
    for gtid in gtids:
        builder.add(gtid)
    return builder.freeze()


def encode(gtid_set: GtidSet) -> bytes:
    writer = Writer()
    encode_gtid_set(gtid_set, writer)
    return writer.take()


def best_milliseconds(work: Work, repeats: int) -> float:
    return 1000 * best_seconds(work, repeats)


def main() -> None:
    intervals = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    peer_intervals = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    print(f"{intervals:,} intervals per set, milliseconds, best of 5")
    for name, work in (our_work(*texts(intervals, 1)) | add_work(intervals)).items():
        print(f"  {name:26} {best_milliseconds(work, 5):10.2f}")
    try:
        peer = importlib.import_module("pymysqlreplication.gtid")
    except ImportError:
        print("mysql-replication is not installed: nothing to compare with")
        return
    pair = texts(peer_intervals, 1)
    ours, theirs = our_work(*pair), peer_work(peer, *pair)
    print(f"{peer_intervals:,} intervals per set, milliseconds, best of 3   binspark   mysql-replication   ratio")
    for name, work in theirs.items():
        our_time, their_time = best_milliseconds(ours[name], 3), best_milliseconds(work, 3)
        print(f"  {name:45} {our_time:13.3f} {their_time:19.2f} {their_time / our_time:7.0f}")


if __name__ == "__main__":
    main()
