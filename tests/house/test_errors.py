"""Errors say where, and travel."""

from __future__ import annotations

import pickle

import pytest

from binspark import errors
from binspark.errors import BinlogError, Malformed
from binspark.position import Position


def all_errors() -> list[type[BinlogError]]:
    kinds: list[type[BinlogError]] = [BinlogError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    return kinds


@pytest.mark.parametrize("kind", all_errors())
def test_an_error_survives_pickling_with_its_position(kind: type[BinlogError]) -> None:
    error = kind("wrong", Position("binlog.000001", 197, "GTID"))
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.message, copy.position) == (kind, "wrong", error.position)


def test_an_error_names_file_offset_and_event() -> None:
    error = Malformed("too short", Position("binlog.000001", 197, "GTID"))
    assert str(error) == "binlog.000001:197 (GTID): too short"


def test_an_error_without_a_place_is_its_message() -> None:
    assert str(BinlogError("too short")) == "too short"


def test_placing_an_error_fills_in_only_what_is_not_known() -> None:
    error = Malformed("too short", Position(offset=12)).at(Position("binlog.000001", 4, "QUERY"))
    assert error.position == Position("binlog.000001", 12, "QUERY")


def test_a_placed_error_keeps_its_kind() -> None:
    assert type(errors.Checksum("bad").at(Position("f"))) is errors.Checksum
