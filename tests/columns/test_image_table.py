"""Which columns each row has: what the log says, for kernels and the reference, in and outside payloads."""

from __future__ import annotations

import io
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import binspark
from binspark.columns import image_table
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.errors import Malformed
from binspark.event import Rows, TableMap
from binspark.event.column_types import ColumnType as T
from binspark.frames import EventCode as E
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.testing.builder import MYSQL_9_7, BinlogBuilder
from binspark.values.column import Column
from binspark.values.rows import rows_of
from binspark.values.value import ABSENT
from binspark.wire.bitmap import low_bits_first
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.columns.random_logs import KnownTables, LoggedRows, RandomLog, logs, write_transaction
from tests.support.columns.reference import log_events
from tests.support.examples import examples

SJIS = 13
Flags = tuple[bool, ...]
Images = dict[str, list[tuple[Flags, Flags]]]
CHANGES = Operations.ALL & ~Operations.TRUNCATE
MINIMAL_CASES = [
    "mysql/image-minimal",
    "mysql/image-noblob",
    "mysql/types-image-minimal",
    "mysql/json-partial",
    "mariadb/image-minimal",
    "mariadb/image-noblob",
]


def read(log: bytes, selection: Selection, history: SchemaHistory | None = None) -> list[TableBatch]:
    return list(BatchReader(selection, history).read(io.BytesIO(log).readinto))


def images_in(batches: list[TableBatch]) -> Images:
    """Return the columns that the images of each row have, before and after."""
    found: Images = {}
    for one in batches:
        assert one.images is not None
        assert len(one.images.numbers) == one.batch.num_rows
        flags = zip(one.images.before.tolist(), one.images.after.tolist(), strict=True)
        known = [(tuple(before), tuple(after)) for before, after in flags]
        found.setdefault(one.table.name, []).extend(known[number] for number in one.images.numbers)
    return found


@pytest.mark.parametrize("case", MINIMAL_CASES)
def test_images_of_recorded_rows_have_the_columns_that_the_object_api_shows(case: str) -> None:
    [path] = case_logs(case)
    found = images_in(read(path.read_bytes(), Selection(images=True)))
    expected: Images = {}
    for change in binspark.rows(path):
        shown = [image for image in (change.before_image, change.after_image) if image is not None]
        flags = [tuple(value is not ABSENT for value in image) for image in shown]
        expected.setdefault(change.table_schema.name, []).append((flags[0], flags[-1]))
    assert found == expected


@pytest.mark.parametrize("path", [log for log in corpus_logs() if "json-partial" not in str(log)][::3], ids=log_id)
def test_a_batch_is_complete_if_no_row_lacks_a_column(path: Path) -> None:
    for one in read(path.read_bytes(), Selection(images=True, operations=CHANGES)):
        assert one.images is not None
        rows = images_in([one])[one.table.name]
        assert one.images.complete == all(all(before) and all(after) for before, after in rows)


def expected_images(log: RandomLog) -> Images:
    """Return what the bitmaps of the rows events of each table say, once for each row."""
    schemas = {schema.table: schema for schema in log.schemas}
    names: dict[int, str] = {}
    found: Images = {}
    for event in log_events(log.content):
        if isinstance(event.body, TableMap):
            names[event.body.table_id] = event.body.table
        if isinstance(event.body, Rows):
            schema = schemas[names[event.body.table_id]]
            bits = (event.body.columns, event.body.columns_after or event.body.columns)
            before, after = (low_bits_first(image, len(schema.columns)) for image in bits)
            found.setdefault(schema.name, []).extend([(before, after)] * len(list(rows_of(event, schema.columns))))
    return {name: images for name, images in found.items() if images}


@settings(max_examples=examples(50), deadline=None, suppress_health_check=list(HealthCheck))
@given(logs(damage=False), st.integers(1, 5), st.sampled_from((1, 2, 4096)))
def test_images_of_random_rows_are_what_their_bitmaps_say(log: RandomLog, max_rows: int, max_images: int) -> None:
    with patch.object(image_table, "_MAX_IMAGES", max_images):
        found = images_in(read(log.content, Selection(images=True, max_rows=max_rows), log.history()))
    assert found == expected_images(log)


def log_with(schema: TableSchema, *presences: int) -> bytes:
    """Return a log of inserts, deletes and updates of one row each, with these columns."""
    log = BinlogBuilder(MYSQL_9_7)
    for presence in presences:
        bits = bytes([presence])
        nulls = bytes([(1 << presence.bit_count()) - 1])
        log.gtid(None)
        changes = [
            LoggedRows(schema, E.WRITE_ROWS, bits, None, nulls),
            LoggedRows(schema, E.DELETE_ROWS, bits, None, nulls),
            LoggedRows(schema, E.UPDATE_ROWS, bits, b"\x07", nulls + b"\x07"),
        ]
        write_transaction(log, changes, None)
    return log.content


@pytest.mark.parametrize("last", [T.TINY, T.NULL], ids=["kernels", "reference"])
def test_operations_do_not_share_images(last: T) -> None:
    schema = TableSchema("shop", "t", (Column(T.TINY, name="a"), Column(T.TINY, name="b"), Column(last, name="c")))
    found = images_in(read(log_with(schema, 7, 1, 6, 1), Selection(images=True), KnownTables(schema)))
    flags = {7: (True, True, True), 1: (True, False, False), 6: (False, True, True)}
    each = [[(flags[one], flags[one])] * 2 + [(flags[one], flags[7])] for one in (7, 1, 6, 1)]
    assert found == {"shop.t": [images for group in each for images in group]}


@pytest.mark.parametrize("last", [T.TINY, T.NULL], ids=["kernels", "reference"])
def test_images_describe_only_the_columns_that_are_read(last: T) -> None:
    schema = TableSchema("shop", "t", (Column(T.TINY, name="a"), Column(T.TINY, name="b"), Column(last, name="c")))
    selection = Selection(images=True, columns=("a", "c"))
    found = images_in(read(log_with(schema, 3), selection, KnownTables(schema)))
    assert found == {"shop.t": [((True, False), (True, False))] * 2 + [((True, False), (True, True))]}


def test_batches_have_images_only_on_request() -> None:
    schema = TableSchema("shop", "t", (Column(T.TINY, name="a"),))
    assert [one.images for one in read(log_with(schema, 1), Selection(), KnownTables(schema))] == [None]


def test_rows_before_one_that_is_refused_keep_their_images() -> None:
    """Kernels only copy such text; where it is wrong, the reference decodes the event."""
    columns = (Column(T.VARCHAR, length=9, collation=SJIS, name="a"), Column(T.TINY, name="b"))
    schema = TableSchema("shop", "t", columns)
    log = BinlogBuilder(MYSQL_9_7)
    for bits, rows in ((b"\x03", b"\x00\x01c\x07"), (b"\x01", b"\x00\x01a" + b"\x00\x02\x82\x00")):
        log.gtid(None)
        write_transaction(log, [LoggedRows(schema, E.WRITE_ROWS, bits, None, rows)], None)
    reading = BatchReader(Selection(images=True), KnownTables(schema)).read(io.BytesIO(log.content).readinto)
    batches: list[TableBatch] = []
    with pytest.raises(Malformed):
        batches.extend(reading)
    assert images_in(batches) == {"shop.t": [((True, True), (True, True)), ((True, False), (True, False))]}


def test_bits_after_the_last_column_mean_nothing() -> None:
    schema = TableSchema("shop", "t", (Column(T.TINY, name="a"),))
    log = BinlogBuilder(MYSQL_9_7)
    log.gtid(None)
    write_transaction(log, [LoggedRows(schema, E.WRITE_ROWS, b"\xff", None, b"\x00\x07")], None)
    [one] = read(log.content, Selection(images=True), KnownTables(schema))
    assert images_in([one]) == {"shop.t": [((True,), (True,))]}
    assert one.images is not None
    assert one.images.complete
