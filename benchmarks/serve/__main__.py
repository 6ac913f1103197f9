"""`python -m benchmarks.serve`: the same log, dumped to the same client by a MySQL server and by `binspark serve`.

    --megabytes N   size of the log (default 200)

The client requests a dump over loopback, to the end of the log, and drops what it gets. Both servers take turns; the
best of five repeats each, after one to warm up. CPU time is that of the serving process alone. Only binspark verifies
checksums.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.decode.logs import LOG_NAME, Log, bench_folder, get_log, serving
from benchmarks.timing import program_environment
from benchmarks.workloads import BULK, OLTP
from binspark.gtid import GtidSet
from binspark.replication.channel import PacketChannel
from binspark.replication.commands import BinlogDump, BinlogDumpGtid, DumpFlag, encode_command
from binspark.server.config import ConnectionConfig, connection_config
from binspark.server.connection import connect

REPEATS = 5
SECONDS = 60.0
READER = 4711
_CHUNK = 1 << 20
_TICKS = 100
BY_FILE = BinlogDump(4, DumpFlag.NON_BLOCK, READER, LOG_NAME)
FOREIGN = GtidSet("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5")
"""GTIDs of another server: each transaction is looked up, and none is skipped."""


@dataclass(frozen=True, slots=True)
class Served:
    """The best times of a server: from the request to the last byte, and its CPU time."""

    seconds: float = float("inf")
    cpu_seconds: float = float("inf")

    def best(self, other: Served) -> Served:
        return Served(min(self.seconds, other.seconds), min(self.cpu_seconds, other.cpu_seconds))

    def rate(self, size: int) -> str:
        return f"{size / 1e6 / self.seconds:,.0f} MB/s ({self.cpu_seconds:.2f} s of CPU)"


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=200.0)
def main(megabytes: float) -> None:
    bench_folder().mkdir(parents=True, exist_ok=True)
    for workload in (BULK, OLTP):
        log = get_log(workload, megabytes)
        with serving(log) as server, serving_archive(log.path.parent) as (port, pid):
            assert server.pid is not None
            theirs = (
                connection_config(host=f"127.0.0.1:{server.port}", user="root", ssl_mode="disabled", environ={}),
                server.pid,
            )
            ours = (connection_config(host=f"127.0.0.1:{port}", user="repl", ssl_mode="disabled", environ={}), pid)
            before = GtidSet(str(server.query("SELECT @@GLOBAL.gtid_purged")[0][0]))
            by_gtids = BinlogDumpGtid(DumpFlag.NON_BLOCK, READER, before | FOREIGN)
            for how, command in (("by file", BY_FILE), ("by GTIDs", by_gtids)):
                compare(log, how, command, ours, theirs)


def compare(
    log: Log,
    how: str,
    command: BinlogDump | BinlogDumpGtid,
    ours: tuple[ConnectionConfig, int],
    theirs: tuple[ConnectionConfig, int],
) -> None:
    best = {ours: Served(), theirs: Served()}
    for repeat in range(REPEATS + 1):
        for each in (ours, theirs):
            measured = dump(*each, command, log.size)
            best[each] = best[each].best(measured) if repeat else best[each]
    mine, other = best[ours], best[theirs]
    print(
        f"{log.workload.name}, {log.size / 1e6:.0f} MB, {how}: binspark serve {mine.rate(log.size)}, "
        f"mysqld {other.rate(log.size)}: {other.seconds / mine.seconds:.2f}x, "
        f"by CPU time {other.cpu_seconds / mine.cpu_seconds:.2f}x",
        flush=True,
    )


def dump(config: ConnectionConfig, pid: int, command: BinlogDump | BinlogDumpGtid, size: int) -> Served:
    """Request a dump and drop all bytes of the log; its last event ends with the last of them."""
    with connect(config) as connection:
        connection.rows("SET @master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32'")
        channel = PacketChannel(connection.socket, connection.position)
        before, began = cpu_seconds(pid), time.perf_counter()
        channel.send(encode_command(command), SECONDS)
        socket, buffer, received = connection.socket, bytearray(_CHUNK), 0
        socket.settimeout(SECONDS)
        while received < size:
            count = socket.recv_into(buffer)
            if not count:
                sys.exit(f"the dump ended before its log: {bytes(buffer[:200])!r}")
            received += count
        return Served(time.perf_counter() - began, cpu_seconds(pid) - before)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def serving_archive(folder: Path) -> Iterator[tuple[int, int]]:
    """Run `binspark serve`; yields its port and process id."""
    command = [sys.executable, "-m", "binspark", "serve", str(folder), "--port", "0", "--format", "jsonl"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=program_environment())
    try:
        assert process.stderr is not None
        yield json.loads(process.stderr.readline())["port"], process.pid
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
