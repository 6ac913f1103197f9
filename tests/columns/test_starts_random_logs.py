"""Random logs of random tables in splits: the rows and the refusals of the complete log, wherever it is cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.columns.reader import TableBatch
from binspark.columns.selection import Selection
from binspark.files.split_reader import SplitReader
from binspark.files.splits import Split
from binspark.gtid import GtidSet, MariadbPosition
from binspark.schema.history import SchemaHistory
from tests.support.columns.random_logs import FIRST_TIME, UUID, RandomLog, logs
from tests.support.examples import examples
from tests.support.files.split_reading import Rows, all_rows, plan, small_reader, splits_at
from tests.support.files.split_reading import rows_of_reads as rows_of

_cuts = st.lists(st.floats(0, 1), max_size=6)
_selections = st.sampled_from(
    (
        Selection(before=True),
        Selection(before=True, tx_rows=True, images=True),
        Selection(tables=frozenset({"shop.b"}), max_rows=2),
        Selection(excluded=frozenset({"shop.b"}), tx_rows=True),
        Selection(include_gtids=GtidSet(f"{UUID}:1-2")),
        Selection(exclude_gtids=MariadbPosition("0-1-2"), committed_from=(FIRST_TIME + 2) * 1_000_000),
    )
)
_SOME = settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))


def in_splits(log: RandomLog, path: Path, cuts: list[int], selection: Selection) -> Rows:
    reader = SplitReader(SchemaHistory())

    def batches(split: Split) -> Iterator[TableBatch]:
        return reader.batches(split, lambda _history: small_reader(selection, log.history()))

    return rows_of(batches(split) for split in splits_at(plan(path), cuts))


@_SOME
@given(logs(damage=False), _cuts, _selections)
def test_splits_of_random_logs_have_their_rows(log: RandomLog, fractions: list[float], selection: Selection) -> None:
    agree(log, fractions, selection)


@_SOME
@given(logs(damage=True), _cuts, _selections)
def test_splits_of_random_logs_refuse_what_the_log_refuses(
    log: RandomLog, fractions: list[float], selection: Selection
) -> None:
    agree(log, fractions, selection)


def agree(log: RandomLog, fractions: list[float], selection: Selection) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "binlog.000001"
        path.write_bytes(log.content)
        cuts = [int(fraction * len(log.content)) for fraction in fractions]
        complete = all_rows(log.content, str(path), log.history(), selection)
        assert in_splits(log, path, cuts, selection) == complete
