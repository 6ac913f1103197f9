"""Fetch both servers in advance: `python -m binspark.testing.servers`."""

from __future__ import annotations

import sys
import time

from binspark.folders import cache_folder
from binspark.testing.servers.errors import ServerUnavailable
from binspark.testing.servers.families import Family, MariaDB, MySQL
from binspark.testing.servers.programs import find_programs
from binspark.testing.servers.server import start


def main() -> int:
    """Fetch, start and stop one server of each family; return 1 if one is not available."""
    say(f"servers are kept in {cache_folder()}")
    return max([fetch(family) for family in (MySQL, MariaDB)])


def fetch(family: Family) -> int:
    """Find or fetch the server of one family, and start it once."""
    say(f"{family.title}: looking for it on the PATH and in the cache, then fetching Debian's packages")
    try:
        programs = find_programs(family)
        say(f"{family.title}: version {programs.version} in {programs.prefix}")
        began = time.monotonic()
        with start(family):
            say(f"{family.title}: ready after {time.monotonic() - began:.1f} s")
    except ServerUnavailable as error:
        say(f"{family.title}: not available: {error}")
        return 1
    return 0


def say(line: str) -> None:
    """Print one line of progress."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
