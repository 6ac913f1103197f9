"""Row images and the rows of events."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from binspark.errors import Malformed, SchemaError, Truncated, Unsupported
from binspark.event.column_types import ColumnType as T
from binspark.frames import EventCode
from binspark.position import Position
from binspark.values import (
    ABSENT,
    Column,
    DateTime,
    DocumentDiff,
    JsonDiffs,
    Row,
    RowChange,
    Time,
    Timestamp,
    decode_row,
    row_json,
    rows_of,
)
from binspark.wire import Cursor, RecordingCursor
from tests.corpus.cases import case_logs
from tests.support.values.value_columns import LATIN1, present, rows_event
from tests.support.values.value_logs import is_mariadb, rows_in

ID = Column(T.LONG, name="id")
FLAG = Column(T.TINY)
NAME = Column(T.VARCHAR, length=10, collation=LATIN1, name="name")
DOCUMENT = Column(T.JSON, length=4, name="doc")
THREE = (ID, FLAG, NAME)
ALL_THREE = present(1, 1, 1)


def test_an_image_contains_a_value_for_each_column_that_is_present() -> None:
    cursor = Cursor(bytes.fromhex("00 07000000 ff 0161"))
    assert decode_row(cursor, THREE, ALL_THREE) == (7, -1, "a")
    assert cursor.remaining == 0


def test_null_bits_count_only_the_columns_that_are_present() -> None:
    assert decode_row(Cursor(bytes.fromhex("02 07000000")), THREE, present(1, 0, 1)) == (7, ABSENT, None)


def test_null_bits_beyond_the_last_column_do_not_matter() -> None:
    assert decode_row(Cursor(bytes.fromhex("f8 07000000 ff 0161")), THREE, ALL_THREE) == (7, -1, "a")


def test_an_image_of_nine_columns_has_two_bytes_of_null_bits() -> None:
    row = decode_row(Cursor(bytes.fromhex("ff01")), (FLAG,) * 9, b"\xff\x01")
    assert row == (None,) * 9


def test_absent_is_one_value_even_after_pickling() -> None:
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT


def test_a_recorded_image_names_its_columns() -> None:
    cursor = RecordingCursor(bytes.fromhex("00 07000000 ff 0161"))
    decode_row(cursor, THREE, ALL_THREE)
    assert [span.name for span in cursor.spans] == ["null_bits", "id.value", "@2.value", "name.length", "name.value"]


def test_inserts_have_no_before_image() -> None:
    event = rows_event(EventCode.WRITE_ROWS, 1, (present(1), None), "00 01 00 02")
    assert list(rows_of(event, (FLAG,))) == [RowChange(None, (1,)), RowChange(None, (2,))]


def test_deletes_have_no_after_image() -> None:
    event = rows_event(EventCode.DELETE_ROWS_V1, 1, (present(1), None), "00 01")
    assert list(rows_of(event, (FLAG,))) == [RowChange((1,), None)]


def test_updates_have_two_images_with_columns_of_their_own() -> None:
    event = rows_event(EventCode.UPDATE_ROWS, 2, (present(1, 0), present(0, 1)), "00 07000000 00 05")
    assert list(rows_of(event, (ID, FLAG))) == [RowChange((7, ABSENT), (ABSENT, 5))]


def test_an_event_without_rows_has_none() -> None:
    assert list(rows_of(rows_event(EventCode.WRITE_ROWS, 0, (b"", None), ""), ())) == []


def test_bytes_left_over_after_the_last_row_are_an_error() -> None:
    event = rows_event(EventCode.WRITE_ROWS, 1, (present(1), None), "00 01 00")
    with pytest.raises(Truncated, match="value needs 1 byte, only 0 remain, at byte 3 of the rows, in row 1") as raised:
        list(rows_of(event, (FLAG,)))
    assert raised.value.position == Position("binlog.000007", 1234, "WRITE_ROWS")


def test_rows_before_the_error_are_delivered() -> None:
    event = rows_event(EventCode.WRITE_ROWS, 1, (present(1), None), "00 01 00")
    assert next(rows_of(event, (FLAG,))) == RowChange(None, (1,))


def test_rows_without_columns_are_refused() -> None:
    event = rows_event(EventCode.WRITE_ROWS, 1, (present(0), None), "00")
    with pytest.raises(Malformed, match="rows event without columns"):
        list(rows_of(event, (FLAG,)))


def test_rows_of_another_table_are_refused() -> None:
    event = rows_event(EventCode.WRITE_ROWS, 2, (present(1, 1), None), "00 01 01")
    with pytest.raises(SchemaError, match="rows have 2 columns, but the table has 1"):
        list(rows_of(event, (FLAG,)))


def test_rows_of_a_pre_release_are_refused() -> None:
    event = rows_event(EventCode.PRE_GA_WRITE_ROWS, 1, (present(1), None), "00 01")
    with pytest.raises(Unsupported, match=r"pre-release of 5\.1"):
        list(rows_of(event, (FLAG,)))


# A JSON document: {"a": 1}; diffs: replace $.a by 2.
OLD_DOCUMENT = "0d000000 00 0100 0c00 0b00 0100 05 0100 61"
DIFFS = "09000000 00 03 242e61 03 05 0200"


def test_partial_documents_are_completed_with_the_before_image() -> None:
    rows = f"00 01000000 {OLD_DOCUMENT} 01 01 00 01000000 {DIFFS}"
    event = rows_event(EventCode.PARTIAL_UPDATE_ROWS, 2, (present(1, 1), present(1, 1)), rows)
    assert list(rows_of(event, (ID, DOCUMENT))) == [RowChange((1, '{"a": 1}'), (1, '{"a": 2}'))]


def test_partial_documents_without_a_before_image_are_their_diffs() -> None:
    event = rows_event(
        EventCode.PARTIAL_UPDATE_ROWS, 2, (present(1, 0), present(0, 1)), f"00 01000000 01 01 00 {DIFFS}"
    )
    diffs = JsonDiffs((DocumentDiff("replace", "$.a", "2"),))
    assert list(rows_of(event, (ID, DOCUMENT))) == [RowChange((1, ABSENT), (ABSENT, diffs))]
    assert row_json((ABSENT, diffs), (ID, DOCUMENT)) == (
        '{"doc": {"json_diffs": [{"op": "replace", "path": "$.a", "value": 2}]}}'
    )


def test_partial_bits_count_json_columns_that_are_absent_too() -> None:
    bitmaps = (present(1, 0, 0), present(0, 0, 1))
    event = rows_event(EventCode.PARTIAL_UPDATE_ROWS, 3, bitmaps, f"00 01000000 01 02 00 {DIFFS}")
    [change] = rows_of(event, (ID, DOCUMENT, DOCUMENT))
    assert change.after == (ABSENT, ABSENT, JsonDiffs((DocumentDiff("replace", "$.a", "2"),)))


def test_a_partial_update_may_contain_complete_documents() -> None:
    event = rows_event(EventCode.PARTIAL_UPDATE_ROWS, 1, (present(1), present(1)), f"01 00 00 {OLD_DOCUMENT}")
    assert list(rows_of(event, (DOCUMENT,))) == [RowChange((None,), ('{"a": 1}',))]


PARTIAL_REFUSALS = [
    (f"01 01 01 00 {DIFFS}", Malformed, "that is NULL in the before image"),
    (f"01 02 01 00 {DIFFS}", Unsupported, "value options 0x2"),
    ("01 01", Truncated, "partial_bits"),
    (f"00 {OLD_DOCUMENT} 01 01 00 01000000 03", Malformed, "of a JSON document"),
]


@pytest.mark.parametrize(("rows", "error", "message"), PARTIAL_REFUSALS)
def test_partial_updates_are_refused(rows: str, error: type[Exception], message: str) -> None:
    event = rows_event(EventCode.PARTIAL_UPDATE_ROWS, 1, (present(1), present(1)), rows)
    with pytest.raises(error, match=message):
        list(rows_of(event, (DOCUMENT,)))


REPLAYED = ["mysql/types", "mysql/json-partial", "mysql/types-compressed", "mariadb/types", "mariadb/types-compressed"]


@pytest.mark.parametrize("case", REPLAYED)
def test_a_row_is_found_as_the_last_change_left_it(case: str) -> None:
    left: dict[tuple[str, object], Row] = {}
    found: list[Row] = []
    expected: list[Row] = []
    for log in case_logs(case):
        for rows in rows_in(log, mariadb=is_mariadb(log)):
            for before, after in rows.changes:
                befores = [image for image in (before,) if image is not None]
                found += befores
                expected += [left.pop((rows.schema.name, image[0])) for image in befores]
                left.update({(rows.schema.name, image[0]): image for image in (after,) if image is not None})
    assert len(found) > 5
    assert found == expected


@pytest.mark.parametrize(
    "case", ["mysql/image-minimal", "mysql/image-noblob", "mariadb/image-minimal", "mariadb/image-noblob"]
)
def test_images_may_lack_columns(case: str) -> None:
    [log, *_] = case_logs(case)
    images = [image for rows in rows_in(log, mariadb=is_mariadb(log)) for image in rows.images]
    absent = [image for image in images if ABSENT in image]
    assert 0 < len(absent) < len(images)


def digits_by_name(column: Column) -> Column:
    """The columns are called t0, dt0, ts0, t1, ...: the digits of their fraction, which is not in the log."""
    return replace(column, scale=int((column.name or "")[-1])) if column.name != "id" else column


def test_the_old_times_of_mariadb_have_the_digits_that_the_table_has() -> None:
    [log] = case_logs("mariadb/types-old-temporal-fractions")
    rows, *_ = rows_in(log, mariadb=True, reshape=digits_by_name)
    texts = {
        name: value.text()
        for name, value in zip(rows.schema.column_names, rows.images[0], strict=True)
        if isinstance(value, Time | DateTime | Timestamp)
    }
    assert [texts[f"t{digits}"] for digits in (0, 1, 2, 5, 6)] == [
        "-12:34:56",
        "-12:34:56.9",
        "-12:34:56.98",
        "-12:34:56.98765",
        "-12:34:56.987654",
    ]
    assert (texts["dt4"], texts["dt6"]) == ("2026-02-28 23:59:58.9876", "2026-02-28 23:59:58.987654")
    assert (texts["ts0"], texts["ts3"]) == ("2026-02-28 23:59:58+00:00", "2026-02-28 23:59:58.987+00:00")


def test_the_old_times_of_mariadb_are_refused_if_their_digits_are_not_known() -> None:
    [log] = case_logs("mariadb/types-old-temporal-fractions")
    with pytest.raises(Malformed, match="a table schema is needed"):
        list(rows_in(log, mariadb=True))
