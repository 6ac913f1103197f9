"""Rows as lines: kernels write what the reference writes, byte for byte, for the corpus and random tables."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.changes import Change, ChangeReader
from binspark.changes.from_batches import changes_of
from binspark.changes.lines import lines_of_changes
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.documents.line_style import Heading, LineFormat, LineStyle
from binspark.documents.lines import write_lines
from binspark.errors import BinlogError
from binspark.event.rows_query import MAX_SHOWN_BYTES, shown_statement
from binspark.files import read_events
from binspark.files.windows import by_window
from binspark.kernels.layout import KEPT_STATEMENT_BYTES
from binspark.schema.history import SchemaHistory
from binspark.testing.builder import BinlogBuilder, blob, delete, insert, integer, table, update, varchar
from tests.corpus.cases import corpus_logs, log_id
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.columns.reference import log_events
from tests.support.examples import examples

STYLES = (
    LineStyle(LineFormat.JSON),
    LineStyle(LineFormat.TEXT),
    LineStyle(LineFormat.TEXT, max_value=12, max_statement=30, zone=ZoneInfo("America/St_Johns")),
)
_THOROUGH = settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))


def in_bulk(content: bytes, style: LineStyle, file: str, history: SchemaHistory | None = None) -> tuple[bytes, str]:
    """Return what kernels write of a log, and the error that ends it."""
    heading, written = Heading(), bytearray()
    reader = BatchReader(Selection().with_complete_rows(), history)
    try:
        for group in by_window(reader.read(io.BytesIO(content).readinto, file)):
            for text in write_lines(group, file, style, heading):
                written += text
    except BinlogError as error:
        return bytes(written), str(error)
    return bytes(written), ""


def by_row(changes: Iterable[Change], style: LineStyle) -> bytes:
    return lines_of_changes(changes, style, Heading())


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_kernels_write_the_lines_of_the_reference(log: Path, style: LineStyle) -> None:
    reader = ChangeReader(Selection())
    expected = by_row([change for event in read_events(log) for change in reader.feed(event)], style)
    assert in_bulk(log.read_bytes(), style, str(log)) == (expected, "")


@_THOROUGH
@given(logs(damage=False), st.sampled_from(STYLES))
def test_random_tables_are_written_alike(log: RandomLog, style: LineStyle) -> None:
    reader = ChangeReader(Selection(), log.history())
    changes: list[Change] = []
    failed = ""
    try:
        for event in log_events(log.content, "binlog.000001"):
            changes.extend(reader.feed(event))
    except BinlogError as error:
        failed = type(error).__name__
    written, error_text = in_bulk(log.content, style, "binlog.000001", log.history())
    assert written.startswith(by_row(changes, style)) if failed else written == by_row(changes, style)
    assert bool(error_text) == bool(failed)


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_objects_made_of_batches_are_those_of_the_reference(log: Path) -> None:
    reader, batches = ChangeReader(Selection()), BatchReader(Selection().with_complete_rows())
    expected = [change for event in read_events(log) for change in reader.feed(event)]
    groups = by_window(batches.read(io.BytesIO(log.read_bytes()).readinto, str(log)))
    assert [change for group in groups for change in changes_of(group, str(log))] == expected


@_THOROUGH
@given(logs(damage=False))
def test_objects_of_random_tables_are_those_of_the_reference(log: RandomLog) -> None:
    reader = ChangeReader(Selection(), log.history())
    batches = BatchReader(Selection().with_complete_rows(), log.history())
    groups = by_window(batches.read(io.BytesIO(log.content).readinto, "binlog.000001"))
    found, error = until_error(change for group in groups for change in changes_of(group, "binlog.000001"))
    events = log_events(log.content, "binlog.000001")
    expected, expected_error = until_error(change for event in events for change in reader.feed(event))
    # Past the row of the reference's error, the rest of its event may have been decoded.
    assert repr(found[: len(expected)] if error else found) == repr(expected)
    assert error == expected_error


def until_error(changes: Iterable[Change]) -> tuple[list[Change], bool]:
    found: list[Change] = []
    try:
        found.extend(changes)
    except BinlogError:
        return found, True
    return found, False


ITEMS = table("shop.items", integer("id"), varchar("name", 400))
ORDERS = table("shop.orders", integer("id"), blob("note", 2))


def two_tables() -> bytes:
    log = BinlogBuilder()
    for number in range(30):
        log.transaction(
            insert(ORDERS, (number, b"a"), (number + 100, b"b")),
            insert(ITEMS, (number, "new")),
            update(ORDERS, ((number, b"a"), (number, None))),
            delete(ITEMS, (number, "new")),
        )
    return log.files[0].content


@pytest.mark.parametrize("style", STYLES, ids=str)
def test_rows_of_several_tables_come_in_the_order_of_the_log(style: LineStyle) -> None:
    reader = ChangeReader(Selection())
    content = two_tables()
    expected = by_row([change for event in log_events(content) for change in reader.feed(event)], style)
    assert in_bulk(content, style, "") == (expected, "")


def test_every_line_of_json_has_the_agreed_keys() -> None:
    first = in_bulk(two_tables(), STYLES[0], "binlog.000001")[0].splitlines()[0]
    keys = "file pos row gtid timestamp server_id thread_id schema table op before after key statement"
    assert list(json.loads(first)) == keys.split()


@pytest.mark.parametrize("text", [b"x" * 1000, "ü".encode() * 500, b"\xff" * 3])
def test_a_statement_that_is_not_long_is_shown_complete(text: bytes) -> None:
    assert shown_statement(text) == text.decode(errors="backslashreplace")


@given(st.text(min_size=1000, max_size=1100))
def test_a_long_statement_is_cut_between_characters(text: str) -> None:
    raw = text.encode()
    shown = shown_statement(raw)
    assert shown == text if len(raw) <= MAX_SHOWN_BYTES else text.startswith(shown.removesuffix("…"))
    assert shown_statement(raw[:KEPT_STATEMENT_BYTES]) == shown or len(raw) > MAX_SHOWN_BYTES
