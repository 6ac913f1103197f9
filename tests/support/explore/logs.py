"""Logs to explore, and their units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from binspark.explore.explored_log import ExploredLog
from binspark.explore.explorer import Explorer
from binspark.explore.log_index import LogIndex
from binspark.explore.units import Unit
from binspark.files.sources import find_logs
from binspark.files.storage.options import Storage
from binspark.testing.builder import BinlogBuilder, insert, integer, table

SOURCE = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
ORDERS = table("shop.orders", integer("id"))


def explored(
    path: Path | str, make_index: Callable[[], LogIndex] = LogIndex, storage: Storage | None = None
) -> Explorer:
    """Return the logs of a path, which are read already."""
    explorer = Explorer(lambda: find_logs(path, storage))
    for each in explorer.logs:
        each.index = make_index()
    explorer.read_all()
    return explorer


def units_of(explorer: Explorer, log: ExploredLog, page: int = 100) -> list[Unit]:
    """Return all units of a log, read in pages."""
    return [unit for first in range(0, log.index.units, page) for unit in explorer.log_units(log, first, page)]


def many_transactions(count: int) -> BinlogBuilder:
    """Return a log with transactions that insert a row, one in each second."""
    log = BinlogBuilder()
    for number in range(1, count + 1):
        log.timestamp += 1
        log.transaction(insert(ORDERS, (number,)), gtid=f"{SOURCE}:{number}")
    return log
