"""Errors have a position and can be pickled."""

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


def test_an_error_without_a_position_is_its_message() -> None:
    assert str(BinlogError("too short")) == "too short"


def test_a_position_is_added_only_where_it_is_not_known() -> None:
    error = Malformed("too short", Position(offset=12)).at(Position("binlog.000001", 4, "QUERY"))
    assert error.position == Position("binlog.000001", 12, "QUERY")


def test_an_error_with_an_added_position_keeps_its_class() -> None:
    assert type(errors.Checksum("bad").at(Position("f"))) is errors.Checksum


def test_an_option_error_names_its_option_and_can_be_spelled_otherwise() -> None:
    error = errors.OptionError("must be positive, got -1", Position(file="my.cnf"), option="connect_timeout")
    assert str(error) == "my.cnf: connect_timeout must be positive, got -1"
    assert str(error.spelled("--connect-timeout")) == "my.cnf: --connect-timeout must be positive, got -1"
    copy = pickle.loads(pickle.dumps(error.at(Position(offset=3))))
    assert (copy.option, copy.problem) == ("connect_timeout", "must be positive, got -1")
    assert copy.position == Position("my.cnf", 3)


def test_an_option_error_without_an_option_is_its_message() -> None:
    error = errors.OptionError("path and paths cannot be combined")
    assert (str(error), error.option, error.problem) == (error.message, None, error.message)
