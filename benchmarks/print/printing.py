"""CPU seconds of commands that print a log, and of printing alone, in a process that has begun before."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence

from benchmarks.decode.logs import Log
from benchmarks.timing import program_environment
from binspark.columns.selection import Selection
from binspark.documents.line_style import LineFormat, LineStyle
from binspark.files import find_logs
from binspark.files.lines import LogPrinter
from binspark.schema.history import SchemaHistory


def least_cpu_seconds(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Run commands in turns; return the least CPU time of each. Kernels are compiled in a first round."""
    best = dict.fromkeys(commands, float("inf"))
    for turn in range(rounds + 1):
        for name, command in commands.items():
            seconds = _cpu_seconds(command)
            best[name] = min(best[name], seconds) if turn else best[name]
    return best


def least_cpu_seconds_inside(log: Log, line_format: str, rounds: int) -> float:
    """Print a log in this process, several times; return the least CPU time."""
    return min(_cpu_seconds_inside(log, line_format) for _ in range(rounds))


def _cpu_seconds(command: Sequence[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=program_environment())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return usage.ru_utime + usage.ru_stime


def _cpu_seconds_inside(log: Log, line_format: str) -> float:
    before = time.process_time()
    printer = LogPrinter(Selection(), SchemaHistory(), LineStyle(LineFormat(line_format)), in_bulk=True)
    with open(os.devnull, "wb") as output:
        for source in find_logs(log.path):
            for texts in printer.lines(source):
                output.writelines(texts)
    return time.process_time() - before
