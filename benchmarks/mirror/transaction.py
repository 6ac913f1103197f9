"""`python -m benchmarks.mirror.transaction`: one large transaction in a mirror with history and versions of rows.

    --rows N ...   rows of the transaction (default 250,000 1,000,000)

A table is filled by one statement, mirrored, changed in all rows by another, mirrored, and copied anew; each time by a
process of its own, without Spark, that keeps the tables alone, with the history of changes, with versions of rows, or
with both. With the tables alone, a last statement gives all rows other keys while the server logs only the columns that
change (`binlog_row_image=MINIMAL`). CPU time (user and system) and peak memory are those of that process, from its
start on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import binspark
from benchmarks.memory import peak_bytes
from benchmarks.workloads import FAST_SERVER
from binspark.server.config import connection_config
from binspark.testing.servers import MySQL, Server, start

TABLE = "big.orders"
COLUMNS = (
    "id BIGINT PRIMARY KEY, customer INT, amount DECIMAL(10,2), state VARCHAR(20), note VARCHAR(100), at DATETIME(3)"
)
VALUES = "n, n % 1000, n / 7, CONCAT('state ', n % 5), REPEAT('x', 40 + n % 50), NOW(3)"


class Kept(NamedTuple):
    """What a mirror keeps beside its tables."""

    history: bool = False
    scd2: bool = False


KEPT = {"tables alone": Kept(), "history": Kept(history=True), "versions": Kept(scd2=True), "both": Kept(True, True)}


def mirror_once(port: int, lake: str, kept: Kept, sender: Connection) -> None:
    """Bring a mirror up to date, and send what this process has used."""
    source = connection_config(host=f"127.0.0.1:{port}", user="root", ssl_mode="disabled")
    binspark.mirror(None, source, lake, TABLE, history=kept.history, scd2=kept.scd2)
    used = os.times()
    sender.send((used.user + used.system, peak_bytes() or 0))


def measured(server: Server, lake: Path, kept: Kept) -> str:
    receiver, sender = get_context("spawn").Pipe(duplex=False)
    process = get_context("spawn").Process(target=mirror_once, args=(server.port, str(lake), kept, sender))
    process.start()
    sender.close()
    try:
        cpu, peak = receiver.recv()
    except EOFError:
        raise SystemExit("the mirror failed, see above") from None
    process.join()
    return f"{cpu:5.1f} CPU s {peak / 1e6:6,.0f} MB"


def steps(server: Server, lake: Path, kept: Kept, rows: int) -> Iterator[str]:
    """Yield what each step took."""
    server.query(f"TRUNCATE TABLE {TABLE}")
    measured(server, lake, kept)
    depth = f"/*+ SET_VAR(cte_max_recursion_depth = {rows}) */"
    numbers = f"WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {rows})"
    server.query(f"INSERT INTO {TABLE} {numbers} SELECT {depth} {VALUES} FROM s")
    yield f"insert {measured(server, lake, kept)}"
    server.query(f"UPDATE {TABLE} SET amount = amount + 1, state = 'changed'")
    yield f"update {measured(server, lake, kept)}"
    shutil.rmtree(lake)
    yield f"copy {measured(server, lake, kept)}"
    if kept == Kept():
        server.run_sql(f"SET SESSION binlog_row_image = MINIMAL; UPDATE {TABLE} SET id = id + {rows} ORDER BY id DESC")
        yield f"move {measured(server, lake, kept)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[250_000, 1_000_000])
    parser.add_argument("--kept", choices=list(KEPT), nargs="*", default=list(KEPT))
    options = parser.parse_args()
    with start(MySQL, {**FAST_SERVER, "max-binlog-size": "1G"}) as server:
        server.run_sql(f"CREATE DATABASE big; CREATE TABLE {TABLE} ({COLUMNS})")
        for rows in options.rows:
            for name in options.kept:
                with tempfile.TemporaryDirectory() as folder:
                    found = "  ".join(steps(server, Path(folder) / "lake", KEPT[name], rows))
                print(f"{rows:>10,} rows  {name:<12}  {found}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
