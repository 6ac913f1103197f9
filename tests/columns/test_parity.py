"""Bulk decoding and the reference: the same rows and the same refusals, on any bytes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.columns.options import ColumnOptions, TimeFormat, ZeroDates
from binspark.columns.selection import Operations, Selection
from binspark.gtid import GtidSet
from binspark.values.options import Undecodable
from tests.support.columns.bulk import bulk_outcome
from tests.support.columns.random_logs import FIRST_TIME, LAST_TIME, UUID, RandomLog, logs
from tests.support.columns.reference import ReferenceReader
from tests.support.examples import examples

FILE = "binlog.000001"
_THOROUGH = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
_options = st.builds(
    ColumnOptions, st.sampled_from(ZeroDates), st.sampled_from(Undecodable), st.sampled_from(TimeFormat)
)
_gtids = st.none() | st.sampled_from((GtidSet(""), GtidSet(f"{UUID}:1-2"), GtidSet(f"{UUID}:1:3:tag:2")))
_names = st.none() | st.sampled_from((frozenset({"shop.a"}), frozenset({"shop.b"}), frozenset({"shop.none"})))
_moments = st.integers(FIRST_TIME, LAST_TIME + 1).map(lambda seconds: seconds * 1_000_000)
selections: st.SearchStrategy[Selection] = st.builds(
    Selection,
    tables=_names,
    excluded=st.just(frozenset()) | st.just(frozenset({"shop.b"})),
    operations=st.integers(0, 7).map(Operations),
    start_time=st.just(0) | st.integers(FIRST_TIME, LAST_TIME + 1),
    stop_time=st.none() | st.integers(FIRST_TIME, LAST_TIME + 1),
    committed_from=st.just(0) | _moments,
    committed_before=st.none() | _moments,
    server_id=st.none() | st.integers(1, 2),
    thread_id=st.none() | st.integers(0, 20),
    include_gtids=_gtids,
    exclude_gtids=_gtids,
    before=st.booleans(),
    tx_rows=st.booleans(),
    options=_options,
    max_rows=st.integers(1, 5),
    max_bytes=st.sampled_from((1, 100, 1 << 20)),
)


def agree(log: RandomLog, selection: Selection, start: int = 0, stop: int | None = None) -> None:
    expected = ReferenceReader(selection, log.history()).read(log.content, FILE, start=start, stop=stop)
    assert bulk_outcome(log.content, selection, log.history(), FILE, start=start, stop=stop) == expected


@_THOROUGH
@given(logs(damage=False), st.booleans(), _options)
def test_right_rows_have_the_same_values(log: RandomLog, before: bool, options: ColumnOptions) -> None:
    agree(log, Selection(before=before, options=options))


@_THOROUGH
@given(logs(damage=True), _options)
def test_any_bytes_are_read_or_refused_alike(log: RandomLog, options: ColumnOptions) -> None:
    agree(log, Selection(before=True, options=options))


@_THOROUGH
@given(logs(damage=True), st.integers(1, 9), st.sampled_from((1, 1 << 20)))
def test_small_batches_have_the_same_rows(log: RandomLog, max_rows: int, max_bytes: int) -> None:
    agree(log, Selection(before=True, max_rows=max_rows, max_bytes=max_bytes))


@_THOROUGH
@given(logs(damage=False), selections, st.just(0) | st.integers(0, 1500), st.none() | st.integers(200, 1500))
def test_what_is_selected_is_the_same(log: RandomLog, selection: Selection, start: int, stop: int | None) -> None:
    agree(log, selection, start, stop)


@_THOROUGH
@given(logs(damage=False), st.booleans(), st.data())
def test_columns_that_are_not_selected_change_nothing(log: RandomLog, before: bool, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(log.schemas[0].column_names), unique=True).map(tuple))
    agree(log, Selection(tables=frozenset({"shop.a"}), columns=names, before=before))
