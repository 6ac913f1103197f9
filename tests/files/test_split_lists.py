"""Events and transactions listed by kernels in splits and around damage: the same as the object API finds there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import pytest

from binspark.columns.event_list import EventReader
from binspark.columns.list_reader import ListReader
from binspark.columns.row_counts import count_rows
from binspark.columns.transaction_batch import TransactionColumns
from binspark.columns.transaction_list import TransactionReader
from binspark.event import Event
from binspark.files.split_reader import Damage, SplitReader
from binspark.files.splits import Split
from binspark.render.event_bodies import EventBodies
from binspark.render.records import event_record, transaction_record
from binspark.schema.history import SchemaHistory
from binspark.transactions import Assembler
from tests.corpus.cases import case_logs
from tests.support.columns.listing import Listing, Record, batch_records, outcome
from tests.support.files.split_logs import KINDS, built_log, flipped
from tests.support.files.split_reading import plan, saved, splits_at

CASES = ("mysql/compressed", "mysql/format-row", "mysql/checksum-none", "mariadb/gtid-domains")
kinds = pytest.mark.parametrize("kind", KINDS)


def make_events() -> ListReader:
    return EventReader(bodies=EventBodies())


def make_transactions() -> ListReader:
    return TransactionReader(TransactionColumns())


def listed(splits: Sequence[Split], reader: SplitReader, make: Callable[[], ListReader]) -> Listing:
    """List splits in order, each with a new reader, as executors do."""

    def records() -> Iterator[Record]:
        for split in splits:
            scan = make()
            yield from batch_records(chain(reader.scan(split, scan), scan.finish()))

    return outcome(records())


def expected_events(splits: Sequence[Split], reader: SplitReader) -> Listing:
    return outcome(record_of(event) for split in splits for event in reader.events(split))


def record_of(event: Event) -> Record:
    return {"inner": None, **event_record(event)}


def expected_transactions(splits: Sequence[Split], reader: SplitReader) -> Listing:
    def records() -> Iterator[Record]:
        for split in splits:
            assembler = Assembler(count_rows=count_rows)
            for event in reader.events(split):
                yield from map(transaction_record, assembler.feed(event))
            yield from map(transaction_record, assembler.finish())

    return outcome(records())


def plain(found: Listing) -> Listing:
    """Return records as JSON has them: without the difference of tuples and lists, and without messages of errors."""
    for record in found.records:
        for change in record.get("rows") or ():
            change.setdefault("rows", None)
    return Listing(found.records, None if found.error is None else (*found.error[:2], ""))


def check(splits: Sequence[Split], reader: SplitReader) -> None:
    assert plain(listed(splits, reader, make_events)) == plain(expected_events(splits, reader))
    assert plain(listed(splits, reader, make_transactions)) == plain(expected_transactions(splits, reader))


@kinds
def test_one_cut_anywhere_changes_nothing(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 300)
    path = saved(log.content, tmp_path)
    planned, reader = plan(path), SplitReader(SchemaHistory())
    complete = (
        listed(splits_at(planned, []), reader, make_events),
        listed(splits_at(planned, []), reader, make_transactions),
    )
    check(splits_at(planned, []), reader)
    for cut in sorted(
        {*range(1, len(log.content), 211), *(start + step for start in log.starts[:9] for step in (0, 1))}
    ):
        splits = splits_at(planned, [cut])
        assert (listed(splits, reader, make_events), listed(splits, reader, make_transactions)) == complete


@pytest.mark.parametrize("case", CASES)
def test_recorded_logs_are_the_same_in_small_splits(case: str) -> None:
    for path in case_logs(case):
        planned, reader = plan(path), SplitReader(SchemaHistory())
        for size in (50, 777):
            check(splits_at(planned, range(0, planned.size, size)), reader)


@kinds
@pytest.mark.parametrize("permissive", [False, True], ids=["FAILFAST", "PERMISSIVE"])
def test_damage_is_found_where_the_object_api_finds_it(kind: str, permissive: bool, tmp_path: Path) -> None:
    log = built_log(kind, 300)
    for offset in range(130, len(log.content), 397):
        path = saved(flipped(log.content, offset), tmp_path)
        damages: list[Damage] = []
        reader = SplitReader(SchemaHistory(), damages.append if permissive else None)
        check(splits_at(plan(path), [len(log.content) // 2]), reader)
