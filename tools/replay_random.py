"""Do random work on real servers, replay their logs, and hold the outcome against what they select. For hours.

    python tools/replay_random.py --minutes 60 --seed 1

Every round has a seed of its own, printed before it begins: `--seed N --rounds 1` does that round again.
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
    wrong = [
        f"{name} {seed}" for name in options.families for seed in _wrong_seeds(name, options, len(options.families))
    ]
    print(f"wrong: {', '.join(wrong)}" if wrong else "nothing was wrong")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="for how long, all servers together")
    parser.add_argument("--rounds", type=int, default=sys.maxsize, help="how many rounds at most on each server")
    parser.add_argument("--steps", type=int, default=60, help="statements in a round, more or less")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 31), help="of the first round")
    parser.add_argument("families", nargs="*", default=list(FAMILIES), help="mysql, mariadb; both if none is named")
    options = parser.parse_args()
    unknown = [name for name in options.families if name not in FAMILIES]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(FAMILIES)}")
    return options


def _wrong_seeds(name: str, options: argparse.Namespace, shares: int) -> list[int]:
    """Run rounds on one server until its share of the time is over; return the seeds of those that went wrong."""
    end = time.monotonic() + 60 * options.minutes / shares
    wrong: list[int] = []
    with start(FAMILIES[name]) as server:
        for seed in range(options.seed, options.seed + options.rounds):
            if time.monotonic() >= end:
                break
            print(f"{name} seed {seed}", flush=True)
            if not _is_right(server, seed, options.steps):
                wrong.append(seed)
            server.query(f"DROP DATABASE IF EXISTS random_{seed}")
    return wrong


def _is_right(server: Server, seed: int, steps: int) -> bool:
    try:
        replay_round(server, seed, steps)
    except Exception as error:  # whatever goes wrong is what this tool looks for
        print(f"  {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
