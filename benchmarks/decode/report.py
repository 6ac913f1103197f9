"""The figures as Markdown tables, with the goals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.decode.figure import Figure
from benchmarks.decode.limits import Limits
from benchmarks.decode.logs import Log
from benchmarks.decode.ours import Passes

JAVA = "mysql-binlog-connector-java"
GO = "go-mysql"
RUST = "mysql_common"
MYSQLBINLOG = "mysqlbinlog -v"
PYTHON = "python-mysql-replication"
GOAL_TWO_THREADS = 1.8


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one log. A peer that could not be measured has the reason instead of a figure."""

    log: Log
    ours: Passes
    peers: dict[str, Figure | str]
    limits: Limits
    two_threads: float


def goal(peer: str, workload: str) -> str:
    """Return the goal: how many times as fast as a peer binspark should be."""
    if peer == PYTHON:
        return "100" if workload in ("bulk", "oltp") else ""
    return {JAVA: "2", MYSQLBINLOG: "8"}.get(peer, "")


def peers_table(results: Iterable[Result]) -> str:
    """Return rates and ratios, a line for each workload and reader."""
    lines: list[tuple[str, ...]] = [
        ("workload", "reader", "MB/s", "M rows/s", "binspark is … times as fast", "in CPU time", "goal")
    ]
    for result in results:
        name = result.log.workload.name
        lines.append((f"**{name}**", "**binspark**", *_rates(result.ours.later), "", "", ""))
        for peer, figure in result.peers.items():
            if isinstance(figure, str):
                lines.append((name, peer, "", "", f"skipped: {figure}", "", goal(peer, name)))
            else:
                ratio = result.ours.later.megabytes_per_second / figure.megabytes_per_second
                in_cpu = _cpu_ratio(result.ours.later, figure)
                lines.append((name, peer, *_rates(figure), f"{ratio:.1f}", in_cpu, goal(peer, name)))
    return _markdown(lines)


def logs_table(results: Iterable[Result]) -> str:
    """Return a description of the logs."""
    lines = [("workload", "contents", "MB", "rows")]
    for result in results:
        log = result.log
        lines.append((log.workload.name, log.workload.about, f"{log.size / 1e6:.0f}", f"{log.rows:,}"))
    return _markdown(lines)


def first_pass_table(results: Iterable[Result]) -> str:
    """Return what the first pass of a new process takes, compared with later ones."""
    lines: list[tuple[str, ...]] = [("workload", "first batch, s", "first pass, s", "MB/s", "later pass, s", "MB/s")]
    for result in results:
        ours = result.ours
        parts = [f"{ours.first_batch_seconds:.2f}"]
        for figure in (ours.first, ours.later):
            parts += [f"{figure.seconds:.2f}", _rates(figure)[0]]
        lines.append((result.log.workload.name, *parts))
    return _markdown(lines)


def limits_table(results: Iterable[Result]) -> str:
    """Return the share of binspark's time that simple steps take, and the speed-up of a second thread."""
    lines: list[tuple[str, ...]] = [("workload", "read", "memcpy", "zlib.crc32", "zstd", "two threads", "goal")]
    for result in results:
        limits, seconds = result.limits, result.ours.later.seconds
        shares = [f"{part / seconds:.0%}" for part in (limits.read, limits.copy, limits.crc, limits.zstd)]
        factor = 2 * seconds / result.two_threads
        lines.append((result.log.workload.name, *shares, f"{factor:.2f}", f"{GOAL_TWO_THREADS}"))
    return _markdown(lines)


def _cpu_ratio(ours: Figure, peer: Figure) -> str:
    """Return how many times the CPU time of binspark a peer takes, if both were measured."""
    if ours.cpu_seconds is None or peer.cpu_seconds is None:
        return ""
    return f"{peer.cpu_seconds / ours.cpu_seconds:.1f}"


def _rates(figure: Figure) -> tuple[str, str]:
    megabytes, rows = figure.megabytes_per_second, figure.million_rows_per_second
    return (f"{megabytes:.0f}" if megabytes >= 10 else f"{megabytes:.1f}"), f"{rows:.3g}"


def _markdown(lines: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rows = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([rows[0], rule, *rows[1:]])
