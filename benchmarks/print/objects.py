"""Rows as objects: how many per CPU second, with the values of each row."""

from __future__ import annotations

import importlib
import time

import binspark
from benchmarks.decode.figure import PeerUnavailable
from benchmarks.decode.logs import LOG_NAME, Log, serving
from benchmarks.decode.python_replication import open_peer

SECONDS = 5.0


def rows_per_cpu_second(log: Log) -> float:
    """Read changes for a few seconds, and use the values of each; the rate counts."""
    list(binspark.rows(log.path, stop_position=1 << 20))  # loads what is needed
    rows, began = 0, time.process_time()
    for change in binspark.rows(log.path):
        rows += len(change.after or change.before or ()) > 0
        if rows % 10_000 == 0 and time.process_time() - began > SECONDS:
            break
    return rows / (time.process_time() - began)


def peer_rows_per_cpu_second(log: Log) -> float:
    """Let python-mysql-replication read from a server for a few seconds; only its own CPU time counts."""
    try:
        importlib.import_module("pymysqlreplication")
    except ImportError as error:
        raise PeerUnavailable("not installed: pip install -e '.[bench]'") from error
    with serving(log) as server:
        stream = open_peer(server.port)
        rows, began = 0, time.process_time()
        try:
            for event in stream:
                rows += len(getattr(event, "rows", ()))
                if stream.log_file != LOG_NAME or time.process_time() - began > SECONDS:
                    break
            return _rate(rows, time.process_time() - began)
        finally:
            stream.close()


def _rate(rows: int, seconds: float) -> float:
    if rows == 0:
        raise PeerUnavailable("it reads no rows of this log")
    return rows / seconds
