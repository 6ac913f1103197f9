"""A mirror as a process of its own, which may kill itself between two steps: `python -m … '{"port": …}'`."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

from binspark.errors import BinlogError
from binspark.kernels import cache
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.run import Mirror
from binspark.mirror.runners.runner import Runner
from binspark.mirror.settings import DropMode, MirrorSettings
from binspark.mirror.source.change_source import ServerChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from tests.support.servers import config_of

READY = "ready"


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """What a process mirrors, and when it ends.

    kill_at   the number of the step at which it kills itself; 0 for never
    master    where Spark runs that applies all ranges; empty for a mirror without Spark
    keeps     whether it keeps the history of changes, and versions of rows
    """

    port: int
    lake: str
    format: str
    tables: str
    once: bool = False
    kill_at: int = 0
    master: str = ""
    on_drop: str = "keep"
    apply_bytes: int = 1 << 20
    rows_per_chunk: int = 50
    leaf_bytes: int = 16 << 10
    memory_bytes: int = 1 << 20
    keeps: bool = False

    def to_json(self) -> str:
        """Return the options as an argument of the process."""
        return json.dumps(asdict(self))


def main() -> int:
    """Run the mirror; the exit code is 1 after an error, which is printed."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(message)s")
    options = ProcessOptions(**json.loads(sys.argv[1]))
    cache.enable()
    patterns = TablePatterns(frozenset({options.tables}))
    mirror = Mirror(
        ServerChanges(config_of(options.port, ssl_mode="disabled"), patterns),
        parse_target(options.lake, Format(options.format)),
        patterns,
        _settings(options),
        spark_runner=partial(_spark_runner, options.master) if options.master else None,
        checkpoint=_checkpoint(options.kill_at),
    )
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
    try:
        mirror.run()
    except BinlogError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


def _settings(options: ProcessOptions) -> MirrorSettings:
    limits = LeafLimits(
        leaf_bytes=options.leaf_bytes,
        row_group_rows=200,
        row_group_bytes=1 << 16,
        memory_bytes=options.memory_bytes,
    )
    return MirrorSettings(
        once=options.once,
        apply_seconds=0.1,
        apply_bytes=options.apply_bytes,
        local_bytes=0 if options.master else 1 << 40,
        rows_per_chunk=options.rows_per_chunk,
        on_drop=DropMode(options.on_drop),
        clean_up_seconds=2.0,
        keep_seconds=5.0,
        limits=limits,
        history=options.keeps,
        scd2=options.keeps,
    )


def _checkpoint(kill_at: int) -> Callable[[str], None]:
    steps = iter(range(1, sys.maxsize))

    def step(_name: str) -> None:
        if next(steps) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def _spark_runner(master: str) -> Runner:
    from binspark.mirror.runners.spark import SparkRunner
    from binspark.spark.session import local_session

    return SparkRunner(local_session("mirror kills", {"spark.master": master, "spark.executor.memory": "512m"}))


if __name__ == "__main__":
    sys.exit(main())
