"""Logs that change very many tables, and how much work it is to read them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar

FIRST_ID = 1000


def log_of_many_tables(count: int, rounds: int = 2) -> BinlogBuilder:
    """Write a log in which each table is changed some times, in turn. As on a server, each has its own id."""
    builder = BinlogBuilder()
    tables = [table(f"shop.items_{number}", integer("id"), varchar("name", 60)) for number in range(count)]
    for turn in range(rounds):
        for number, one in enumerate(tables):
            builder.gtid(f"{builder.server_uuid}:{turn * count + number + 1}")
            builder.query("BEGIN", schema="shop")
            builder.table_map(one, FIRST_ID + number)
            builder.rows(insert(one, (number, f"item {turn}")), FIRST_ID + number)
            builder.xid(turn * count + number)
    return builder


def count_calls(work: Callable[[], object]) -> int:
    """Return how many functions, of Python and of C, a work calls: a measure that no load of the machine disturbs."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
