"""Positions: their order, their JSON form, and the forms that earlier versions wrote."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given

from binspark.errors import OptionError
from binspark.gtid import GtidSet, MariadbPosition
from binspark.replication.position import BinlogPosition
from tests.support.replication.positions import POSITIONS

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
GTIDS = GtidSet(f"{UUID}:1-5")

WRITTEN_BEFORE = {
    "a checkpoint of a server": (
        f'{{"v":1,"file":"binlog.000007","pos":1234,"gtid":"{UUID}:1-5","server":"{UUID}","created":1700000000,'
        '"by_file":true,"lost":2,"epoch":3}',
        BinlogPosition("binlog.000007", 1234, GTIDS, UUID, 1_700_000_000, by_file=True, resets=2, epoch=3),
    ),
    "a checkpoint before epochs were counted": (
        f'{{"v":1,"file":"binlog.000007","pos":1234,"gtid":"{UUID}:1-5","server":"{UUID}","created":1700000000,'
        '"by_file":true,"lost":2}',
        BinlogPosition("binlog.000007", 1234, GTIDS, UUID, 1_700_000_000, by_file=True, resets=2),
    ),
    "a checkpoint by GTIDs": (
        '{"v":1,"file":"other.000001","pos":4,"gtid":"0-1-42,7-2-9","server":"Xy7","created":0,"by_file":false,'
        '"lost":0}',
        BinlogPosition("other.000001", 4, MariadbPosition("0-1-42,7-2-9"), "Xy7", 0, by_file=False),
    ),
    "a checkpoint of an archive": (
        '{"v":1,"file":"binlog.000001","pos":4,"gtid":null,"server":"","created":0,"by_file":true,"lost":0}',
        BinlogPosition("binlog.000001", 4),
    ),
    "a checkpoint before resets were counted": (
        f'{{"v":1,"file":"binlog.000007","pos":1234,"gtid":null,"server":"{UUID}","created":7,"by_file":true}}',
        BinlogPosition("binlog.000007", 1234, None, UUID, 7),
    ),
    "a resume point": (
        f'{{"file": "binlog.000007", "offset": 1234, "gtids": "{UUID}:1-5", "server": "{UUID}", "created": 1700000000, '
        '"by_file": true}',
        BinlogPosition("binlog.000007", 1234, GTIDS, UUID, 1_700_000_000),
    ),
    "a resume point without GTIDs": (
        '{"file": "binlog.000007", "offset": 1234, "gtids": null, "server": "", "created": 0, "by_file": true}',
        BinlogPosition("binlog.000007", 1234),
    ),
}


@pytest.mark.parametrize(("text", "position"), WRITTEN_BEFORE.values(), ids=WRITTEN_BEFORE)
def test_what_earlier_versions_wrote_is_read(text: str, position: BinlogPosition) -> None:
    assert BinlogPosition.parse(text) == position


def test_checkpoints_are_written_as_before() -> None:
    text, position = WRITTEN_BEFORE["a checkpoint of a server"]
    assert json.dumps(position.to_json(), separators=(",", ":")) == text
    assert list(position.to_json()) == ["v", "file", "pos", "gtid", "server", "created", "by_file", "lost", "epoch"]


@given(POSITIONS)
def test_texts_and_json_are_inverse(position: BinlogPosition) -> None:
    assert BinlogPosition.parse(str(position)) == position
    assert BinlogPosition.from_json(json.loads(json.dumps(position.to_json()))) == position
    assert pickle.loads(pickle.dumps(position)) == position


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"file": "a"}', '{"file":"a","offset":"x"}', '{"v": 1, "file": "a"}']
)
def test_a_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="is not a binlog position"):
        BinlogPosition.parse(text)


def test_a_later_version_is_refused() -> None:
    with pytest.raises(OptionError, match="has version 2, expected 1"):
        BinlogPosition.parse('{"v": 2, "file": "binlog.000001", "pos": 4}')


FIRST = BinlogPosition("binlog.999999", 5000, server="one")
LATER = BinlogPosition("binlog.1000000", 4, server="one")


def test_positions_of_one_server_are_ordered_by_file_and_offset() -> None:
    assert FIRST.is_before(LATER)
    assert not LATER.is_before(FIRST)
    assert not FIRST.is_before(FIRST)
    assert (LATER.reaches(FIRST), FIRST.reaches(LATER), FIRST.reaches(FIRST)) == (True, False, True)
    assert replace(FIRST, offset=4).is_before(FIRST)


@pytest.mark.parametrize("other", [{"server": "other"}, {"resets": 1}, {"by_file": False}], ids=str)
def test_there_is_no_order_across_servers_resets_and_gtids(other: dict[str, object]) -> None:
    later = replace(LATER, **other)  # type: ignore[arg-type]
    assert not FIRST.is_before(later)
    assert not later.reaches(FIRST)


def test_without_order_gtids_say_what_comes_before() -> None:
    few = BinlogPosition("other.000001", 4, GtidSet(f"{UUID}:1-3"), "other")
    many = BinlogPosition("binlog.000001", 4, GTIDS, "one")
    assert (many.reaches(few), few.reaches(many)) == (True, False)
    assert not many.reaches(replace(few, gtids=None))
    assert not many.reaches(replace(few, gtids=MariadbPosition("0-1-1")))


def test_a_position_is_described_as_people_write_it() -> None:
    assert FIRST.describe() == "binlog.999999:5000"
    assert BinlogPosition.after_gtids(GTIDS).describe() == f"{UUID}:1-5"
    assert str(LATER.error_position) == "binlog.1000000:4"
