"""Kill mirrors of real servers at random moments while the servers change, and compare them. For hours.

    python -m tools.mirror_kills --minutes 60 --seed 1

Each run has a new database and a new target; its seed is printed before it begins. `--seed N --runs 1`, with the same
server and format, repeats its statements and its kills; when a kill hits depends on the machine.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random, SystemRandom

from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Family, MariaDB, MySQL, Server, start
from tests.support.mirror.kills.run import KillRun

FAMILIES: dict[str, Family] = {"mysql": MySQL, "mariadb": MariaDB}


def main() -> int:
    options = _options()
    failed = []
    end = time.monotonic() + 60 * options.minutes
    with start(FAMILIES[options.server], {"binlog-row-metadata": options.row_metadata}) as server:
        print(f"{options.server} {server.version}", flush=True)
        for seed in itertools.islice(itertools.count(options.seed), options.runs):
            if time.monotonic() >= end:
                break
            print(f"{options.server} {options.format} seed {seed}", flush=True)
            if not _succeeds(server, seed, options, end):
                failed.append(seed)
            server.query(f"DROP DATABASE IF EXISTS kills_{seed}")
    print(f"failed: {', '.join(map(str, failed))}" if failed else "no run failed")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to run")
    parser.add_argument("--runs", type=int, default=sys.maxsize, help="maximum number of runs")
    parser.add_argument("--rounds", type=int, default=3, help="how often a mirror is compared in a run")
    parser.add_argument("--kills", type=int, default=5, help="how often it is killed before it is compared")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 31), help="of the first run")
    parser.add_argument("--server", choices=list(FAMILIES), default="mysql")
    parser.add_argument("--format", choices=[Format.DELTA.value, Format.ICEBERG.value], default="delta")
    parser.add_argument("--row-metadata", choices=["FULL", "MINIMAL"], default="FULL")
    parser.add_argument(
        "--master",
        default="",
        help="let Spark apply all changes, and kill its Python workers, too: local[2], or local-cluster[2,1,1024], "
        "whose executors are processes that are killed as well",
    )
    parser.add_argument(
        "--keeps",
        action="store_true",
        help="let the mirror keep the history of changes and versions of rows, and compare them with the log",
    )
    parser.add_argument("--pause", type=float, default=0.004, help="seconds between two statements of the workload")
    parser.add_argument("--keep", action="store_true", help="keep the targets of runs that failed, and the logs")
    return parser.parse_args()


def _succeeds(server: Server, seed: int, options: argparse.Namespace, end: float) -> bool:
    folder = Path(tempfile.mkdtemp(prefix="mirror-kills-"))
    kind, more = Format(options.format), {"master": options.master, "pause": options.pause, "keeps": options.keeps}
    run = KillRun(server, folder / "lake", kind, seed, **more)
    rng, succeeds = Random(seed), False
    try:
        for _ in range(options.rounds):
            run.round(options.kills, kill_server=rng.random() < 0.3)
            if time.monotonic() >= end:
                break
        succeeds = True
    except Exception as error:  # any failure is what this tool looks for
        print(f"  FAILED in {folder}: {type(error).__name__}: {error}", flush=True)
    finally:
        if options.keep and not succeeds:
            for log in server.log_files():
                shutil.copy(log, folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"  {run.count.describe()}", flush=True)
    print(f"  done {dict(run.count.load.done)}", flush=True)
    print(f"  refused {dict(run.count.load.refused)}", flush=True)
    return succeeds


if __name__ == "__main__":
    sys.exit(main())
