"""Run random workloads on real servers, replay their logs, and compare the result with their tables. For hours.

    python tools/replay_random.py --minutes 60 --seed 1

The seed of each round is printed before it begins: `--seed N --rounds 1` repeats that round.
"""

from __future__ import annotations

import argparse
import sys
import time
from random import SystemRandom

from binspark.testing.servers import Family, MariaDB, MySQL, Server, start
from tests.support.replay.random_replay import replay_round

FAMILIES: dict[str, Family] = {"mysql": MySQL, "mariadb": MariaDB}


def main() -> int:
    options = _options()
    print(f"first seed {options.seed}", flush=True)
    failed = [
        f"{name} {seed}" for name in options.families for seed in _failed_seeds(name, options, len(options.families))
    ]
    print(f"failed: {', '.join(failed)}" if failed else "no round failed")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to run, all servers together")
    parser.add_argument("--rounds", type=int, default=sys.maxsize, help="maximum number of rounds on each server")
    parser.add_argument("--steps", type=int, default=60, help="approximate number of statements in a round")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 31), help="of the first round")
    parser.add_argument("families", nargs="*", default=list(FAMILIES), help="mysql, mariadb; both if none is given")
    options = parser.parse_args()
    unknown = [name for name in options.families if name not in FAMILIES]
    if unknown:
        parser.error(f"unknown server family {unknown[0]!r}: expected {' or '.join(FAMILIES)}")
    return options


def _failed_seeds(name: str, options: argparse.Namespace, shares: int) -> list[int]:
    """Run rounds on one server until its share of the time is over; return the seeds of those that failed."""
    end = time.monotonic() + 60 * options.minutes / shares
    failed: list[int] = []
    with start(FAMILIES[name]) as server:
        for seed in range(options.seed, options.seed + options.rounds):
            if time.monotonic() >= end:
                break
            print(f"{name} seed {seed}", flush=True)
            if not _succeeds(server, seed, options.steps):
                failed.append(seed)
            server.query(f"DROP DATABASE IF EXISTS random_{seed}")
    return failed


def _succeeds(server: Server, seed: int, steps: int) -> bool:
    try:
        replay_round(server, seed, steps)
    except Exception as error:  # any failure is what this tool looks for
        print(f"  {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
