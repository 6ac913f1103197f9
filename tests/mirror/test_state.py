"""The state that is stored with the rows of a mirrored table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from binspark.errors import SchemaError
from binspark.gtid import GtidSet
from binspark.mirror.state import Phase, StagedCopy, TableState
from binspark.replication.position import BinlogPosition

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
START = BinlogPosition("binlog.000003", 154, GtidSet(f"{UUID}:1-7"), server=UUID)
COPIED = replace(START, offset=900)
STATE = TableState("m1", Phase.CATCH_UP, START, "{}", ("id",), None, COPIED, "{}")
STAGED = replace(STATE, phase=Phase.SNAPSHOT, staged=StagedCopy("copy", COPIED, '{"a": 1}', 1_700_000_000))
ABANDONED = replace(STATE, phase=Phase.DROPPED, abandoned=True)


@pytest.mark.parametrize("state", [STATE, STAGED, ABANDONED], ids=["applied", "copied", "abandoned"])
def test_a_state_is_the_same_after_json(state: TableState) -> None:
    assert TableState.from_json(state.to_json()) == state


def test_the_log_matters_from_the_beginning_of_a_copy() -> None:
    assert (STATE.reads_from, STAGED.reads_from) == (START, COPIED)


def test_a_table_is_consistent_from_the_end_of_its_snapshot() -> None:
    assert STATE.moved(replace(START, offset=899)).phase is Phase.CATCH_UP
    assert STATE.moved(replace(START, offset=900)).phase is Phase.CURRENT


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}'])
def test_a_state_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(SchemaError, match="state of the mirror"):
        TableState.from_json(text)
