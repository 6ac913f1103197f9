"""The GTIDs before a log, as its first events report them."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
from binspark.gtid import GtidSet
from binspark.testing.builder import BinlogBuilder
from binspark.transactions.gtids_before import find_gtids_before


def events_after_head(builder: BinlogBuilder, folder: Path) -> list[binspark.Event]:
    """Return the events of a log after those that its server begins it with."""
    path = folder / "binlog.000001"
    path.write_bytes(builder.files[0].content)
    return list(binspark.events(path))[len(HEAD) :]


HEAD = ("FORMAT_DESCRIPTION", "PREVIOUS_GTIDS")
GTIDS = "00000000-0000-0000-0000-000000000001:1-5"


@pytest.mark.parametrize("kind", [0, 120])
def test_an_event_of_any_type_that_begins_no_transaction_does_not_hide_them(kind: int, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.unknown(b"anything", kind)
    builder.previous_gtids(GTIDS)
    assert find_gtids_before(events_after_head(builder, tmp_path)) == GtidSet(GTIDS)


def test_a_list_after_a_transaction_is_not_that_of_its_log(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.ddl("CREATE DATABASE d")
    builder.previous_gtids(GTIDS)
    assert find_gtids_before(events_after_head(builder, tmp_path)) is None
