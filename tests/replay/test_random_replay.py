"""Random workloads on real servers: replaying the decoded changes gives the server's tables.

`tools/replay_random.py` does the same for any length of time. A failure names its seed, with which
`BINSPARK_RANDOM_SEED` repeats it.
"""

from __future__ import annotations

import os
from random import SystemRandom

import pytest

from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.replay.random_replay import replay_round
from tests.support.servers import StartServer

_STEPS = 60


def replay_rounds(server: Server, rounds: int) -> None:
    first = int(os.environ.get("BINSPARK_RANDOM_SEED") or SystemRandom().randrange(1 << 31))
    for seed in range(first, first + rounds):
        print(f"seed {seed}")  # noqa: T201 (pytest shows it when the test fails)
        replay_round(server, seed, _STEPS)


@pytest.mark.mysql
def test_replaying_the_log_of_mysql_gives_its_tables(start_server: StartServer) -> None:
    replay_rounds(start_server(MySQL), rounds=12)


@pytest.mark.mariadb
def test_replaying_the_log_of_mariadb_gives_its_tables(start_server: StartServer) -> None:
    replay_rounds(start_server(MariaDB), rounds=12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "family",
    [pytest.param(MySQL, marks=pytest.mark.mysql), pytest.param(MariaDB, marks=pytest.mark.mariadb)],
    ids=lambda family: family.title,
)
def test_replaying_many_logs_gives_the_tables_of_the_server(start_server: StartServer, family: Family) -> None:
    replay_rounds(start_server(family), rounds=60)
