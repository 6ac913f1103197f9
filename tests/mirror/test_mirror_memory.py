"""The memory of a mirror does not grow with a transaction, whatever it keeps of it."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
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


def mirror_once(port: int, lake: str, table: str, keeps_all: bool, sender: Connection) -> None:
    """Bring a mirror up to date, and send how many bytes Arrow had at most."""
    cache.enable()
    patterns = TablePatterns(frozenset({table}))
    settings = MirrorSettings(once=True, retry_attempts=0, history=keeps_all, scd2=keeps_all, limits=LIMITS)
    Mirror(ServerChanges(config_of(port), patterns), parse_target(lake), patterns, settings).run()
    sender.send(pa.default_memory_pool().max_memory())


def peak(server: Server, lake: Path, table: str, *, keeps_all: bool = True) -> int:
    """Return the peak of a process that brings a mirror up to date."""
    receiver, sender = get_context("spawn").Pipe(duplex=False)
    arguments = (server.port, str(lake), table, keeps_all, sender)
    process = get_context("spawn").Process(target=mirror_once, args=arguments)
    process.start()
    sender.close()
    found: int = receiver.recv()
    process.join()
    return found


def filled(table: str, rows: int) -> str:
    """Return the statement that fills a table."""
    numbers = f"WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {rows})"
    depth = "/*+ SET_VAR(cte_max_recursion_depth = 1000000) */"
    return f"INSERT INTO {table} {numbers} SELECT {depth} n, REPEAT('x', 500 + n % 50), n FROM s"


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.timeout(600)
def test_a_transaction_may_be_larger_than_memory_with_history_and_versions(
    mysql: Server, database: str, tmp_path: Path
) -> None:
    table = f"{database}.notes"
    mysql.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {table} (id INT PRIMARY KEY, note VARCHAR(600), x INT)")
    peaks = []
    for number, rows in enumerate((150_000, 450_000)):
        lake = tmp_path / str(number)
        mysql.query(f"TRUNCATE TABLE {table}")
        peak(mysql, lake, table)
        mysql.query(filled(table, rows))
        peaks.append(peak(mysql, lake, table))
        assert rows_of(lake, "binspark_history.changes").num_rows == rows_of(lake, f"{table}__scd2").num_rows == rows
    assert peaks[1] < 1.4 * peaks[0], peaks


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.timeout(600)
def test_a_transaction_that_moves_more_rows_than_memory_has_room_for_is_completed(
    mysql: Server, database: str, tmp_path: Path
) -> None:
    """The log has the keys alone: all other columns come from the rows that are stored."""
    table = f"{database}.notes"
    mysql.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {table} (id INT PRIMARY KEY, note VARCHAR(600), x INT)")
    rows = 180_000  # of about 530 bytes
    mysql.query(filled(table, rows))
    peak(mysql, tmp_path, table, keeps_all=False)
    mysql.run_sql(f"SET SESSION binlog_row_image = MINIMAL; UPDATE {table} SET id = id + 1000000 ORDER BY id DESC")
    assert peak(mysql, tmp_path, table, keeps_all=False) < 8 * LIMITS.memory_bytes
    found = rows_of(tmp_path, table).sort_by("id")
    assert found["id"].to_pylist() == list(range(1_000_001, 1_000_001 + rows))
    assert found["x"].to_pylist() == list(range(1, 1 + rows))
    assert set(pc.utf8_length(found["note"]).to_pylist()) == set(range(500, 550))
