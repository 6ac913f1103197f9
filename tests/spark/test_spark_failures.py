"""Errors that travel as text through Spark come back as what they were."""

from __future__ import annotations

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark import BinlogError, Checksum, OptionError, Position, SchemaError, binlog_error, errors

KINDS = sorted(
    (kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BinlogError)),
    key=lambda kind: kind.__name__,
)
PARTS = st.text("abcXYZ019._-é ", min_size=1).map(str.strip).filter(bool)
FILES = st.one_of(
    st.builds("/{}/{}".format, PARTS, PARTS),
    st.builds("s3://{}/logs/binlog.{:06}".format, st.text("abc", min_size=1), st.integers(1, 999)),
    st.integers(1, 999_999).map("binlog.{:06}".format),
)
EVENTS = st.sampled_from([None, "XID", "TABLE_MAP", "WRITE_ROWS"])
GTIDS = st.sampled_from([None, "3cee9212-e0d2-11f1-9b8b-02fc00000001:4", "0-1-44"])
POSITIONS = st.one_of(
    st.builds(Position, file=FILES, offset=st.integers(0, 2**40), event=EVENTS, gtid=GTIDS),
    st.builds(Position, offset=st.integers(0, 2**40), event=EVENTS),
    st.builds(Position, file=FILES),
)
MESSAGES = st.sampled_from(
    [
        "the checksum is 1, not 2",
        "operations must be insert or update, got 'x'",
        "rows of t (id int) at other.000001:4 (TABLE_MAP): no",
    ]
)


def as_spark_reports_it(error: BaseException) -> Exception:
    """Return what a driver sees of an error that an executor raised."""
    text = "".join(traceback.format_exception(error))
    return Exception(f"Job aborted due to stage failure: {text}\n\n\tat org.apache.spark.Java(Java.scala:1)")


@given(st.sampled_from(KINDS), MESSAGES, POSITIONS)
def test_an_error_comes_back_with_its_class_message_and_position(
    kind: type[BinlogError], message: str, position: Position
) -> None:
    found = binlog_error(as_spark_reports_it(kind(message, position)))
    assert found is not None
    assert (type(found), found.message, found.position) == (kind, message, position)


@pytest.mark.parametrize(
    "message",
    [
        "the data source binlog has no option tabel; did you mean table?",
        "startPosition names binlog.9, which is none of the logs",
        "shop.orders has no column 'nmae'; it has id, name",
    ],
)
def test_an_error_without_a_position_keeps_its_message(message: str) -> None:
    found = binlog_error(as_spark_reports_it(OptionError(message)))
    assert found is not None
    assert (found.message, found.position) == (message, Position())


def test_the_last_of_several_errors_is_the_one_that_ended_the_query() -> None:
    try:
        try:
            raise Checksum("first", Position("a.1", 4))
        except Checksum:
            raise SchemaError("second", Position("b.2", 5))  # noqa: B904 (the chain is what is tested)
    except SchemaError as error:
        found = binlog_error(as_spark_reports_it(error))
    assert isinstance(found, SchemaError)
    assert found.position == Position("b.2", 5)


def test_an_error_that_did_not_travel_is_itself() -> None:
    error = Checksum("wrong", Position("a.1", 4))
    assert binlog_error(error) is error


@pytest.mark.parametrize("text", ["division by zero", "binspark.errors.NoSuchError: what", "the errors of binspark"])
def test_the_errors_of_others_are_none_of_ours(text: str) -> None:
    assert binlog_error(ValueError(text)) is None
