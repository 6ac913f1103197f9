"""Mirrors that are killed at random moments, under a random workload with DDL, equal their servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Family, MariaDB, MySQL
from tests.support.mirror.kills.run import KillRun
from tests.support.servers import StartServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    ("family", "kind", "seed"),
    [
        pytest.param(MySQL, Format.DELTA, 1, marks=pytest.mark.mysql, id="mysql-delta"),
        pytest.param(MariaDB, Format.ICEBERG, 2, marks=pytest.mark.mariadb, id="mariadb-iceberg"),
    ],
)
def test_a_mirror_that_is_killed_again_and_again_equals_its_server(
    family: Family, kind: Format, seed: int, start_server: StartServer, tmp_path: Path
) -> None:
    run = KillRun(start_server(family, {"binlog-row-metadata": "FULL"}), tmp_path / "lake", kind, seed)
    run.round(3)
    run.round(1, kill_server=True)
    assert run.count.rounds == 2
    assert run.count.total == 5
    assert run.count.rows_compared > 0
