"""`python -m benchmarks.many_tables`: logs that change 500 to 10,000 tables, read in every way.

    --rounds N   how often each table is changed (default 4), one transaction each

CPU seconds for each way, and microseconds for each TABLE_MAP: these should not grow with the number of tables. The logs
are built, not recorded: 10,000 tables on a real server take long.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

import binspark
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import TransactionColumns
from binspark.columns.transaction_list import TransactionReader
from binspark.export import Export, ExportOptions
from binspark.files import find_logs
from binspark.files.inputs import FileInput
from binspark.kernels import cache
from binspark.schema.history import SchemaHistory
from binspark.transactions.contents import ContentsReader
from tests.support.columns.many_tables import log_of_many_tables

COUNTS = (500, 2_000, 10_000)


def batches(path: Path) -> None:
    for _ in binspark.batches(path):
        pass


def rows(path: Path) -> None:
    for _ in binspark.rows(path):
        pass


def transactions(path: Path) -> None:
    reader = TransactionReader(TransactionColumns())
    with path.open("rb") as file:
        for _ in reader.read(file.readinto, str(path)):
            pass


def stat(path: Path) -> None:
    reader = ContentsReader()
    for event in binspark.events(path):
        reader.feed(event)
    reader.finish()


def export(path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        Export(Selection(), SchemaHistory(), ExportOptions()).run(
            [FileInput(source) for source in find_logs(path)], Path(name) / "out"
        )


WAYS: dict[str, Callable[[Path], None]] = {
    "batches": batches,
    "rows (objects)": rows,
    "transactions": transactions,
    "stat (objects)": stat,
    "export": export,
}


@click.command(help=__doc__)
@click.option("--rounds", type=int, default=4)
@click.option("--way", "ways", type=click.Choice(list(WAYS)), multiple=True, default=tuple(WAYS))
def main(rounds: int, ways: tuple[str, ...]) -> None:
    cache.enable()
    with tempfile.TemporaryDirectory() as name:
        for way in ways:  # kernels are loaded, and everything is imported
            folder = Path(name) / f"warm {way}"
            folder.mkdir()
            WAYS[way](log_of_many_tables(10, 1).save(folder)[0])
        for count in COUNTS:
            folder = Path(name) / str(count)
            folder.mkdir()
            path = log_of_many_tables(count, rounds).save(folder)[0]
            print(f"{count:,} tables, {count * rounds:,} table maps, {path.stat().st_size / 1e6:.1f} MB")
            for way in ways:
                before = time.process_time()
                WAYS[way](path)
                spent = time.process_time() - before
                each = spent / (count * rounds) * 1e6
                print(f"  {way:<16} {spent:7.2f} CPU s  {each:8.1f} µs for each table map", flush=True)


if __name__ == "__main__":
    main()
