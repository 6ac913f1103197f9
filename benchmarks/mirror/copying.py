"""`python -m benchmarks.mirror.copying`: the copy that a mirror begins with, by threads and by Spark's executors.

    --rows N       rows of the table (default 2,000,000)
    --tables N     idle cycle: how many tables a mirror has whose server does nothing (default 1,000; 0 to skip)

The rows are copied by the command, as it works without options and with the Spark of `--master local[*]`: a process
of its own each time, with its start. Then in turn by the threads of this process and by the workers of a local session
of Spark that is already warm. CPU time is that of the process and of all that it started but the server. The idle cycle
is what a mirror does each second if nothing has happened; its CPU time is that of this process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import binspark
from benchmarks.memory import peak_bytes
from benchmarks.mirror.snapshot import MIXES, create
from benchmarks.workloads import FAST_SERVER
from binspark.mirror.api import open_mirror
from binspark.testing.servers import MySQL, Server, start

REPEATS = 3
IDLE_SECONDS = 20.0
_POLL_SECONDS = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")


def tree_cpu_seconds(server: Server, root: int | None = None) -> float:
    """Return the CPU time of a process, by default this one, and of those that it has started, without the server."""
    children: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        seconds[process] = sum(map(int, fields[11:15])) / _TICKS
    own, waiting = 0.0, [root or os.getpid()]
    while waiting:
        process = waiting.pop()
        if process != server.pid:
            own += seconds.get(process, 0.0)
            waiting += children.get(process, [])
    return own


def options(server: Server) -> Any:
    """Return how the server is reached."""
    return {"host": f"127.0.0.1:{server.port}", "user": "root", "ssl_mode": "disabled"}


def command(server: Server, *more: str) -> tuple[float, float, int]:
    """Return how long the command takes for a copy, its CPU time, and the peak memory of its process."""
    with tempfile.TemporaryDirectory() as lake:
        words = [sys.executable, "-m", "binspark", "mirror", "--no-defaults", "--user", "root", "--progress", "none"]
        words += ["--host", f"127.0.0.1:{server.port}", "--tables", "bench.orders", "--target", lake, "--once", *more]
        began, cpu, peak = time.perf_counter(), 0.0, 0
        with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                cpu, peak = max(cpu, tree_cpu_seconds(server, process.pid)), peak_bytes(process.pid) or peak
                time.sleep(_POLL_SECONDS)
        assert process.returncode == 0, words
    return time.perf_counter() - began, cpu, peak


def copies(server: Server, rows: int) -> Iterator[tuple[str, float, float]]:
    """Yield who has copied the table, how long it took, and the CPU time."""
    from binspark.spark.session import local_session

    spark = local_session("benchmark of copies")
    for number in range(REPEATS + 1):
        for name, session, local_bytes in (("threads", None, None), ("executors", spark, 1)):
            with tempfile.TemporaryDirectory() as lake:
                cpu, began = tree_cpu_seconds(server), time.perf_counter()
                report = binspark.mirror(session, options(server), lake, "bench.orders", local_bytes=local_bytes)
                took = time.perf_counter() - began, tree_cpu_seconds(server) - cpu
            assert report.rows == rows
            if number:  # the first is to warm up
                yield name, *took


def idle(server: Server, tables: int) -> float:
    """Return the CPU seconds that a mirror of many tables takes for a cycle in which nothing has happened."""
    lines = "; ".join(f"CREATE TABLE many.t{number} (id INT PRIMARY KEY, name VARCHAR(20))" for number in range(tables))
    server.run_sql(f"CREATE DATABASE many; {lines}")
    marks: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as lake:
        binspark.mirror(None, options(server), lake, "many.*")
        mirror = open_mirror(None, options(server), lake, "many.*", on_report=lambda _report: note())

        def note() -> None:
            marks.append((time.monotonic(), time.process_time()))
            if marks[-1][0] - marks[0][0] > IDLE_SECONDS:
                mirror.stop()

        mirror.run()
    return (marks[-1][1] - marks[1][1]) / (len(marks) - 2)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--tables", type=int, default=1_000)
    arguments = parser.parse_args()
    with start(MySQL, FAST_SERVER) as server:
        if arguments.rows:
            create(server, next(mix for mix in MIXES if mix.name == "orders"), arguments.rows)
            for more in ((), ("--master", "local[*]")):
                seconds, cpu, peak = command(server, *more)
                named = " ".join(("the command", *more))
                print(f"copied by {named}: {seconds:.1f} s, {cpu:.1f} CPU s, {peak / 1e6:,.0f} MB")
            best: dict[str, tuple[float, float]] = {}
            for name, seconds, cpu in copies(server, arguments.rows):
                best[name] = min(best.get(name, (seconds, cpu)), (seconds, cpu), key=lambda took: took[1])
            for name, (seconds, cpu) in best.items():
                per_cpu = arguments.rows / cpu
                print(f"copied by {name}: {seconds:.1f} s, {cpu:.1f} CPU s, {per_cpu:,.0f} rows per CPU second")
        if arguments.tables:
            took = idle(server, arguments.tables)
            print(f"idle cycle of {arguments.tables} tables: {took:.3f} CPU s")


if __name__ == "__main__":
    main()
