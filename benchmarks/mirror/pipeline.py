"""`python -m benchmarks.mirror.pipeline`: from a server's log to a Delta table, beside the obvious alternative.

A table is mirrored, then changed: 60 % updates, 20 % inserts and 20 % deletions, of any keys, in statements of 1,000
rows. The CPU time (user and system) counts that brings the mirrored table up to date: of `binspark.mirror` in one
process without Spark, connecting and all commits included; and of python-mysql-replication, whose rows become a pandas
DataFrame of the last change per key, which is merged by delta-rs. That is done several times, in turn, and the least
time counts. Both tables are compared at the end.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

import binspark
from benchmarks.decode.python_replication import open_peer
from benchmarks.workloads import FAST_SERVER
from binspark.testing.servers import MySQL, Server, start

ROWS = 200_000
CHANGES = 100_000
STATEMENT_ROWS = 1_000
ROUNDS = 3
_OP = "__op"
_PEER = "python-mysql-replication, pandas, merge"
_TABLE = """
CREATE DATABASE shop;
CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, customer BIGINT, product INT, quantity SMALLINT, price DECIMAL(12,2),
    status VARCHAR(10), name VARCHAR(40), note VARCHAR(200), created DATETIME(6), score DOUBLE);
"""
_ROW = (
    "{id}, {id} * 7 % 200000, {id} % 5000, {id} % 20, {id} % 1000000 / 100,"
    " ELT(1 + {id} % 4, 'new', 'paid', 'sent', 'done'), CONCAT('word', {id} % 20000),"
    " CONCAT('note {text} of order ', {id}), '2024-01-01' + INTERVAL {id} SECOND, {id} / 3"
)


def fill(server: Server, rows: int) -> None:
    """Create the table, with even keys."""
    selected = _ROW.format(id="n", text="0")
    server.run_sql(
        f"{_TABLE} SET cte_max_recursion_depth = {rows + 1};"
        f" INSERT INTO shop.orders WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 2 FROM numbers"
        f" WHERE n < {2 * rows - 2}) SELECT {selected} FROM numbers"
    )


def change(server: Server, rows: int, changes: int, seed: int) -> None:
    """Change the table."""
    generator = random.Random(seed)
    for number in range(changes // STATEMENT_ROWS):
        server.run_sql(statement(generator, rows, STATEMENT_ROWS, number, f"{seed} {number}"))


def statement(generator: random.Random, rows: int, count: int, number: int, text: str) -> str:
    """Return a statement that changes rows of any keys: of five, three update, one inserts and one deletes."""
    kind = number % 5
    keys = sorted(generator.sample(range(0, 2 * rows, 2), count))
    if kind == 3:
        return "REPLACE INTO shop.orders VALUES " + ",".join(f"({_ROW.format(id=key + 1, text=text)})" for key in keys)
    changed = "DELETE FROM shop.orders" if kind == 4 else f"UPDATE shop.orders SET note = 'changed {text}'"
    return f"{changed} WHERE id IN ({','.join(map(str, keys))})"


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that a call takes in this process."""
    before = os.times()
    work()
    after = os.times()
    return after.user + after.system - before.user - before.system


def mirror(server: Server, target: Path) -> None:
    """Bring the mirrored table up to date."""
    binspark.mirror(None, {"host": "127.0.0.1", "port": server.port, "user": "root"}, target, "shop.*")


def follow(server: Server, log_file: str, position: int, path: Path) -> None:
    """Read changes with python-mysql-replication, and merge them."""
    table = DeltaTable(path)
    schema = pa.schema(table.schema().to_arrow())
    rows = [row | {_OP: op} for event in _events(server, log_file, position) for op, row in _rows(event)]
    frame = importlib.import_module("pandas").DataFrame(rows).drop_duplicates("id", keep="last")
    source = pa.Table.from_pandas(frame, schema.append(pa.field(_OP, pa.string())), preserve_index=False)
    values = {name: f"s.{name}" for name in schema.names}
    (
        table.merge(source, "t.id = s.id", source_alias="s", target_alias="t")
        .when_matched_delete(f"s.{_OP} = 'delete'")
        .when_matched_update(values)
        .when_not_matched_insert(values, f"s.{_OP} != 'delete'")
        .execute()
    )


def _events(server: Server, log_file: str, position: int) -> Iterator[Any]:
    end = _position(server)
    stream = open_peer(server.port, log_file, position)
    try:
        for event in stream:
            yield event
            if (stream.log_file, stream.log_pos) >= end:
                return
    finally:
        stream.close()


def _rows(event: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in getattr(event, "rows", ()):
        if "after_values" in row:
            yield "upsert", row["after_values"]
        else:
            yield "delete" if type(event).__name__ == "DeleteRowsEvent" else "upsert", row["values"]


def _position(server: Server) -> tuple[str, int]:
    log_file, position, *_ = server.query("SHOW BINARY LOG STATUS")[0]
    return str(log_file), int(position)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS, help="the rows of the table")
    parser.add_argument("--changes", type=int, default=CHANGES)
    options = parser.parse_args()
    settings = {**FAST_SERVER, "binlog-row-metadata": "FULL"}
    with tempfile.TemporaryDirectory() as folder, start(MySQL, settings) as server:
        fill(server, options.rows)
        target, other = Path(folder) / "mirror", Path(folder) / "other"
        mirror(server, target)
        mirrored = target / "shop" / "orders"
        write_deltalake(other, DeltaTable(mirrored).to_pyarrow_table())
        costs: dict[str, list[float]] = {name: [] for name in ("binspark.mirror", _PEER)}
        for number in range(ROUNDS):
            log_file, position = _position(server)
            change(server, options.rows, options.changes, number)
            costs["binspark.mirror"].append(cpu_seconds(lambda: mirror(server, target)))
            costs[_PEER].append(cpu_seconds(partial(follow, server, log_file, position, other)))
        for name, seconds in costs.items():
            best = min(seconds)
            print(f"{name:<44} {best:7.2f} CPU s  {options.changes / best:9,.0f} changes/CPU s")
        one, two = (DeltaTable(path).to_pyarrow_table().sort_by("id") for path in (mirrored, other))
        if one != two.cast(one.schema):
            raise SystemExit("the tables differ")


if __name__ == "__main__":
    main()
