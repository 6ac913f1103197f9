"""Memory does not depend on how many rows a table has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from binspark.testing.servers import Family, MySQL, Server

_READ = """
import resource, sys
from binspark.kernels import cache
from binspark.mirror.snapshot.chunk import COMPLETE
from binspark.mirror.snapshot.read import read_chunk
from binspark.testing.servers import Server
from tests.support.mirror.tables import table_of, reached

class Port:
    port = int(sys.argv[1])

cache.enable()
table = table_of(Port, sys.argv[2])
rows = sum(batch.num_rows for batch in read_chunk(reached(Port), table, COMPLETE))
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak_megabytes(server: Server, name: str, rows: int) -> int:
    done = subprocess.run([sys.executable, "-c", _READ, str(server.port), name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, peak = map(int, done.stdout.split())
    assert found == rows
    return peak


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.parametrize("family", [MySQL])
def test_a_table_of_a_gigabyte_takes_no_more_memory_than_a_small_one(
    shared: Server, database: str, family: Family
) -> None:
    double = f"INSERT INTO {database}.t (a) SELECT a FROM {database}.t;"
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(1000));"
        f"INSERT INTO {database}.t (a) VALUES (REPEAT('x', 1000));" + 16 * double
    )
    small = peak_megabytes(shared, f"{database}.t", 1 << 16)
    shared.run_sql(4 * double)
    assert peak_megabytes(shared, f"{database}.t", 1 << 20) < small + 60
