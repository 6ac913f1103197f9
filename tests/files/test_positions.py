"""Positions in several logs: a start is in the first log, a stop in the last, or in the log that they name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.errors import OptionError
from binspark.testing.builder import BinlogBuilder, insert, integer, table

ORDERS = table("shop.orders", integer("id"))


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    """Three logs with three transactions each."""
    log = BinlogBuilder()
    for number in range(9):
        log.transaction(insert(ORDERS, (number,)))
        if number in (2, 5):
            log.rotate()
    log.stop()
    return log.save(tmp_path)


def ids(logs: list[Path], **options: Any) -> list[int]:
    """Return which rows are read, and check that both readers read the same."""
    by_row = [int(str((change.after or {})["id"])) for change in binspark.rows(logs, **options)]
    batches = [batch["id"].to_pylist() for batch in binspark.batches(logs, table="shop.orders", **options)]
    assert [value for batch in batches for value in batch] == by_row
    return by_row


def position(logs: list[Path], number: int) -> int:
    """Return the position of the rows with a number in the log that they are in."""
    return next(change.pos for change in binspark.rows(logs) if (change.after or {})["id"] == number)


def test_a_number_is_in_the_first_log_or_in_the_last(logs: list[Path]) -> None:
    first, last = position(logs, 1), position(logs, 7)
    assert ids(logs, start_position=first) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert ids(logs, stop_position=last) == [0, 1, 2, 3, 4, 5, 6]
    assert ids(logs, start_position=first, stop_position=last) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("name", ["base", "path"])
def test_a_position_may_name_its_log(logs: list[Path], name: str) -> None:
    file = logs[1].name if name == "base" else str(logs[1])
    second = position(logs, 4)
    assert ids(logs, start_position=f"{file}:{second}") == [4, 5, 6, 7, 8]
    assert ids(logs, stop_position=f"{file}:{second}") == [0, 1, 2, 3]
    stop = f"{logs[2].name}:{position(logs, 7)}"
    assert ids(logs, start_position=f"{file}:{second}", stop_position=stop) == [4, 5, 6]


def test_one_log_is_the_first_and_the_last(logs: list[Path]) -> None:
    second = position(logs, 1)
    assert ids(logs[:1], start_position=second, stop_position=second + 1) == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start_position": "binlog.000009:4"}, "start_position names binlog.000009, which is none of the logs"),
        ({"stop_position": "nothing:4"}, "stop_position names nothing, which is none of the logs"),
        (
            {"start_position": "binlog.000002:400", "stop_position": "binlog.000001:500"},
            r"start_position \(binlog.000002:400\) is after the position to stop at \(binlog.000001:500\)",
        ),
        ({"start_position": "four"}, "start_position must be an offset, or FILE:OFFSET, got 'four'"),
        ({"start_position": -1}, "start_position must be 0 or more, got -1"),
    ],
)
def test_wrong_positions_are_refused(logs: list[Path], options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        list(binspark.rows(logs, **options))


def test_tables_are_known_from_logs_before_the_start(tmp_path: Path) -> None:
    """DDL in a log before the start has the names of columns that a later log lacks."""
    log = BinlogBuilder()
    log.full_metadata = False
    log.ddl("CREATE TABLE shop.orders (id INT, total INT)")
    log.rotate()
    log.transaction(insert(table("shop.orders", integer("id"), integer("total")), (1, 7)))
    log.stop()
    logs = log.save(tmp_path)
    [change] = binspark.rows(logs, start_position=f"{logs[1].name}:4")
    assert change.after == {"id": 1, "total": 7}
