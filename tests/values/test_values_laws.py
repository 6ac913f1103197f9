"""Laws of any bytes of any column."""

from __future__ import annotations

import json
import math
import struct
from decimal import Decimal

from hypothesis import assume, given
from hypothesis import strategies as st

from binspark.errors import BinlogError, Truncated
from binspark.frames import EventCode
from binspark.values import Column, Undecodable, Value, ValueOptions, decode_value, rows_of, value_json
from binspark.wire import Cursor, RecordingCursor
from binspark.wire.floats import shortest_float
from tests.support.values.value_columns import columns, present, rows_event

policies = st.builds(ValueOptions, st.sampled_from(Undecodable))
short_lengths = st.binary(max_size=4).map(lambda tail: b"\x03\x00\x00\x00" + tail)
stored_bytes = st.one_of(st.binary(max_size=40), short_lengths)

Outcome = tuple[str, Value, int]


def outcome(cursor: Cursor, column: Column, options: ValueOptions) -> Outcome:
    """Return what decoding came to: a value or an error's class, and how far the cursor went."""
    try:
        value = decode_value(cursor, column, options)
    except BinlogError as error:
        return type(error).__name__, None, -1
    return "value", value, cursor.offset


@given(columns, stored_bytes, policies)
def test_any_bytes_are_a_value_or_an_error_of_ours(column: Column, stored: bytes, options: ValueOptions) -> None:
    _, _, end = outcome(Cursor(stored), column, options)
    assert end <= len(stored)


@given(columns, stored_bytes, policies, st.binary(max_size=8))
def test_a_value_does_not_depend_on_what_follows(
    column: Column, stored: bytes, options: ValueOptions, after: bytes
) -> None:
    kind, value, end = outcome(Cursor(stored), column, options)
    assume(kind == "value")
    assert repr(outcome(Cursor(stored[:end] + after), column, options)) == repr((kind, value, end))


@given(columns, stored_bytes, policies, st.data())
def test_fewer_bytes_than_a_value_has_are_truncated(
    column: Column, stored: bytes, options: ValueOptions, data: st.DataObject
) -> None:
    kind, _, end = outcome(Cursor(stored), column, options)
    assume(kind == "value" and end > 0)
    fewer = data.draw(st.integers(0, end - 1))
    assert outcome(Cursor(stored[:fewer]), column, options)[0] == Truncated.__name__


@given(columns, stored_bytes, policies)
def test_recording_changes_nothing_and_names_every_byte(column: Column, stored: bytes, options: ValueOptions) -> None:
    recording = RecordingCursor(stored)
    kind, value, end = outcome(recording, column, options)
    assert repr((kind, value, end)) == repr(outcome(Cursor(stored), column, options))
    assume(kind == "value")
    assert sum(span.length for span in recording.spans) == end


@given(columns, stored_bytes, policies)
def test_every_value_has_a_json_form(column: Column, stored: bytes, options: ValueOptions) -> None:
    kind, value, _ = outcome(Cursor(stored), column, options)
    assume(kind == "value")
    json.loads(value_json(value, column))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_shortest_float_reads_back_to_the_same_bytes(number: float) -> None:
    assert struct.pack("<f", shortest_float(number)) == struct.pack("<f", number)
    assert significant_digits(shortest_float(number)) <= significant_digits(number)


def significant_digits(number: float) -> int:
    return len(Decimal(repr(number)).normalize().as_tuple().digits)


@given(st.floats(width=32))
def test_no_float_has_more_than_nine_digits(number: float) -> None:
    assume(math.isfinite(number))
    assert shortest_float(number) == float(f"{shortest_float(number):.9g}")


@given(st.lists(columns, max_size=10), st.binary(max_size=60), st.data())
def test_any_bytes_are_rows_or_an_error_of_ours(table: list[Column], rows: bytes, data: st.DataObject) -> None:
    bitmap = present(*data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    code = data.draw(st.sampled_from((EventCode.WRITE_ROWS, EventCode.DELETE_ROWS, EventCode.UPDATE_ROWS)))
    event = rows_event(code, len(table), (bitmap, bitmap), rows)
    try:
        changes = list(rows_of(event, table))
    except BinlogError as error:
        assert error.position == event.position  # noqa: PT017 (both ends are right)
    else:
        assert len(changes) <= len(rows)


@given(st.lists(columns, max_size=6), st.binary(max_size=60))
def test_any_bytes_are_partial_updates_or_an_error_of_ours(table: list[Column], rows: bytes) -> None:
    bitmap = present(*[1] * len(table))
    event = rows_event(EventCode.PARTIAL_UPDATE_ROWS, len(table), (bitmap, bitmap), rows)
    try:
        changes = list(rows_of(event, table))
    except BinlogError as error:
        assert error.position == event.position  # noqa: PT017 (both ends are right)
    else:
        assert len(changes) <= len(rows)
