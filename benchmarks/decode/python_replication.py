"""python-mysql-replication, which reads from a server over loopback; it is slow, so it reads for a few seconds only."""

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
    """Decode as much of a log as it can in a few seconds; the rate counts."""
    try:
        importlib.import_module("pymysqlreplication")
    except ImportError as error:
        raise PeerUnavailable("not installed: pip install -e '.[bench]'") from error
    with serving(log) as server:
        figure = _read_some_seconds(server, log)
    if figure.rows == 0:
        raise PeerUnavailable("it reads no rows of this log")
    expected = rows_before(log, figure.log_bytes)
    if figure.rows != expected:
        raise PeerUnavailable(f"it reads {figure.rows:,} rows where binspark reads {expected:,}")
    return figure


def open_peer(port: int, log_file: str = LOG_NAME, position: int = 4) -> Any:
    """Return its stream of a log, from a position to the last event."""
    return importlib.import_module("pymysqlreplication").BinLogStreamReader(
        connection_settings={"host": "127.0.0.1", "port": port, "user": "root", "passwd": ""},
        server_id=4711,
        log_file=log_file,
        log_pos=position,
        resume_stream=True,
        enable_logging=False,
    )


def _read_some_seconds(server: Server, log: Log) -> Figure:
    stream = open_peer(server.port)
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
