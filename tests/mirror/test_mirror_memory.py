"""The memory of a mirror does not grow with a transaction, whatever it keeps of it."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa
import pytest

from binspark.kernels import cache
from binspark.mirror.leaves import LeafLimits
from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.source.change_source import ServerChanges, TablePatterns
from binspark.mirror.targets.parse import parse_target
from binspark.testing.servers import Server
from tests.support.mirror.live_mirrors import rows_of
from tests.support.servers import config_of

LIMITS = LeafLimits(leaf_bytes=1 << 20, row_group_rows=10_000, row_group_bytes=1 << 20, memory_bytes=8 << 20)


def mirror_once(port: int, lake: str, table: str, sender: Connection) -> None:
    """Bring a mirror up to date, and send how many bytes Arrow had at most."""
    cache.enable()
    patterns = TablePatterns(frozenset({table}))
    settings = MirrorSettings(once=True, retry_attempts=0, history=True, scd2=True, limits=LIMITS)
    Mirror(ServerChanges(config_of(port), patterns), parse_target(lake), patterns, settings).run()
    sender.send(pa.default_memory_pool().max_memory())


def peak(server: Server, lake: Path, table: str) -> int:
    """Return the peak of a process that brings a mirror up to date."""
    receiver, sender = get_context("spawn").Pipe(duplex=False)
    process = get_context("spawn").Process(target=mirror_once, args=(server.port, str(lake), table, sender))
    process.start()
    sender.close()
    found: int = receiver.recv()
    process.join()
    return found


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.timeout(600)
def test_a_transaction_may_be_larger_than_memory_with_history_and_versions(
    mysql: Server, database: str, tmp_path: Path
) -> None:
    table = f"{database}.notes"
    mysql.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {table} (id INT PRIMARY KEY, note VARCHAR(600), x INT)")
    numbers = "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {rows})"
    depth = "/*+ SET_VAR(cte_max_recursion_depth = 1000000) */"
    peaks = []
    for number, rows in enumerate((150_000, 450_000)):
        lake = tmp_path / str(number)
        mysql.query(f"TRUNCATE TABLE {table}")
        peak(mysql, lake, table)
        values = f"SELECT {depth} n, REPEAT('x', 500 + n % 50), n FROM s"
        mysql.query(f"INSERT INTO {table} {numbers.format(rows=rows)} {values}")
        peaks.append(peak(mysql, lake, table))
        assert rows_of(lake, "binspark_history.changes").num_rows == rows_of(lake, f"{table}__scd2").num_rows == rows
    assert peaks[1] < 1.4 * peaks[0], peaks
