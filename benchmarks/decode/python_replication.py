"""python-mysql-replication, which reads from a server over loopback; it is slow, so it gets some seconds only."""

from __future__ import annotations

import importlib
import time
from typing import Any

from benchmarks.decode.figure import Figure, PeerUnavailable
from benchmarks.decode.logs import LOG_NAME, Log, serving
from benchmarks.decode.ours import rows_before
from binspark.testing.servers import Server

SECONDS = 6.0


def measure(log: Log) -> Figure:
    """Decode as much of a log as fits in a few seconds; the rate counts."""
    try:
        peer = importlib.import_module("pymysqlreplication")
    except ImportError as error:
        raise PeerUnavailable("not installed: pip install -e '.[bench]'") from error
    with serving(log) as server:
        figure = _read_for_a_while(peer, server, log)
    if figure.rows == 0:
        raise PeerUnavailable("finds no rows in this log")
    expected = rows_before(log, figure.log_bytes)
    if figure.rows != expected:
        raise PeerUnavailable(f"reads {figure.rows:,} rows where binspark reads {expected:,}")
    return figure


def _read_for_a_while(peer: Any, server: Server, log: Log) -> Figure:
    settings = {"host": "127.0.0.1", "port": server.port, "user": "root", "passwd": ""}
    stream = peer.BinLogStreamReader(
        connection_settings=settings,
        server_id=4711,
        log_file=LOG_NAME,
        log_pos=4,
        resume_stream=True,
        enable_logging=False,
    )
    rows, position, began = 0, 4, time.perf_counter()
    try:
        for event in stream:
            rows += len(getattr(event, "rows", ()))
            if stream.log_file != LOG_NAME:
                position = log.size
                break
            position = stream.log_pos
            if time.perf_counter() - began > SECONDS:
                break
        return Figure(time.perf_counter() - began, position, rows)
    finally:
        stream.close()
