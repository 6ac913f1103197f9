"""Active logs: their complete transactions are read, and nothing that is appended later."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from binspark.errors import Truncated
from binspark.files import active_log
from binspark.files.sources import LogSource
from binspark.files.split_reader import SplitReader
from binspark.files.splits import Split, plan_logs, split_logs
from binspark.frames import Framer
from binspark.testing.builder import BinlogBuilder, insert
from binspark.transactions import Ending
from tests.support.files.split_logs import ITEMS, KINDS, BuiltLog, built_log, overwritten, writer_of
from tests.support.files.split_reading import (
    all_events,
    all_rows,
    history_of,
    plan,
    saved,
    split_events,
    split_rows,
    splits_at,
)

FLAGS = 4 + 17
IN_USE = 1
UNFINISHED = (Ending.UNFINISHED, Ending.INTERRUPTED, Ending.CRASH)
kinds = pytest.mark.parametrize("kind", KINDS)


def in_use(log: BuiltLog) -> bytes:
    return overwritten(log.content, FLAGS, bytes((log.content[FLAGS] | IN_USE,)))


def boundaries(log: BuiltLog) -> list[int]:
    """Return the offsets at which no transaction is in progress."""
    before = [frame.end_offset for frame in Framer().feed(log.content[: log.starts[0]])]
    return [*before, *log.ends, len(log.content)]


def planned_sizes(content: bytes, lengths: Iterable[int], folder: Path) -> list[int]:
    return [plan(saved(content[:length], folder)).size for length in lengths]


@pytest.mark.parametrize("kind", ["named-crc32", "mariadb-none"])
def test_an_active_log_cut_at_any_byte_ends_after_its_last_complete_transaction(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 50)
    known = boundaries(log)
    lengths = range(log.starts[-2], len(log.content) + 1)
    expected = [max(boundary for boundary in known if boundary <= length) for length in lengths]
    assert planned_sizes(in_use(log), lengths, tmp_path) == expected


@kinds
def test_an_active_log_of_any_kind_ends_after_its_last_complete_transaction(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 150)
    known = boundaries(log)
    lengths = [boundary + step for boundary in known[1:-1] for step in (-1, 0, 1, 60)]
    expected = [max(boundary for boundary in known if boundary <= length) for length in lengths]
    assert planned_sizes(in_use(log), lengths, tmp_path) == expected


@kinds
def test_an_active_log_cut_anywhere_has_complete_transactions_and_no_error(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 150)
    content = in_use(log)
    for length in range(log.starts[0] + 5, len(content), 307):
        planned = plan(saved(content[:length], tmp_path))
        found = split_events(split_logs([planned], 400), SplitReader(history_of(planned)))
        assert found.refusal is None
        assert found.events[-1].end_offset == planned.size
        assert [transaction for transaction in found.transactions if transaction.ending in UNFINISHED] == []


@pytest.mark.parametrize("kind", ["named-crc32", "compressed-none", "mariadb-crc32", "5.5-plain"])
def test_rows_of_an_active_log_are_those_of_its_complete_transactions(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 150)
    content = in_use(log)
    for length in range(log.starts[0] + 5, len(content), 173):
        path = saved(content[:length], tmp_path)
        planned = plan(path)
        found = split_rows(split_logs([planned], 500), SplitReader(history_of(planned)))
        assert found == all_rows(content[: planned.size], str(path))
        assert found.refusal is None


@pytest.mark.parametrize("kind", ["named-crc32", "mariadb-none", "5.6-unnamed-crc32"])
def test_the_end_is_found_however_far_back_the_last_transaction_begins(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active_log, "_FIRST_SEARCH", 64)
    log = built_log(kind, 4000)
    content, known = in_use(log), boundaries(log)
    for length in range(log.starts[2], len(content), 611):
        size = plan(saved(content[:length], tmp_path)).size
        assert size == max(boundary for boundary in known if boundary <= length)


def test_an_active_log_without_a_complete_first_event_is_empty(tmp_path: Path) -> None:
    content = in_use(built_log("named-crc32"))
    first_end = next(Framer().feed(content)).end_offset
    lengths = [0, *range(FLAGS + 1, first_end)]
    assert [plan_logs([LogSource(str(saved(content[:length], tmp_path)))]) for length in lengths] == [[]] * len(lengths)


@pytest.mark.parametrize("length", [1, 4, 13, FLAGS])
def test_a_log_too_short_for_the_flag_in_use_is_truncated(length: int, tmp_path: Path) -> None:
    planned = plan(saved(in_use(built_log("named-crc32"))[:length], tmp_path))
    with pytest.raises(Truncated):
        list(SplitReader(history_of(planned)).events(Split((planned,))))


def test_zeros_at_the_end_of_an_active_log_are_damage(tmp_path: Path) -> None:
    log = built_log("named-crc32")
    planned = plan(saved(in_use(log) + bytes(100), tmp_path))
    assert planned.size == len(log.content) + 100
    assert split_events([Split((planned,))], SplitReader(history_of(planned))).refusal is not None


@pytest.mark.parametrize("kind", ["5.6-unnamed-crc32", "mariadb-none"])
def test_a_closed_log_cut_anywhere_is_refused_as_without_splits(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 150)
    for length in range(len(log.content) - 250, len(log.content)):
        content = log.content[:length]
        path = saved(content, tmp_path)
        planned = plan(path)
        assert planned.size == length
        splits = splits_at(planned, [length - 500, length - 100, length - 10])
        assert split_events(splits, SplitReader(history_of(planned))) == all_events(content, str(path))


@pytest.mark.parametrize("kind", ["named-crc32", "5.5-plain", "mariadb-none"])
def test_rows_of_a_closed_log_cut_anywhere_come_before_the_error(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 150)
    for length in range(len(log.content) - 300, len(log.content), 13):
        content = log.content[:length]
        path = saved(content, tmp_path)
        planned = plan(path)
        found = split_rows(splits_at(planned, [length - 250, length - 20]), SplitReader(history_of(planned)))
        assert found == all_rows(content, str(path))


def test_the_active_relay_log_ends_after_its_last_complete_transaction(tmp_path: Path) -> None:
    log = BinlogBuilder(relay=True)
    log.transaction(insert(ITEMS, (1,)))
    complete_end = log.offset
    log.transaction(insert(ITEMS, (2,)))
    log.mark_in_use()
    planned = [plan(saved(log.content[:length], tmp_path)) for length in range(complete_end, len(log.content))]
    assert {(log.size, log.relay, log.can_split) for log in planned} == {(complete_end, True, False)}


def test_an_active_log_is_planned_again_with_what_was_appended_since(tmp_path: Path) -> None:
    writer = writer_of("mariadb-crc32")
    writer.log.mark_in_use()
    sizes = []
    for number in range(3):
        writer.transaction(insert(ITEMS, (number,)))
        sizes.append(plan(saved(writer.log.content, tmp_path)).size)
    assert sizes == [*writer.starts[1:], len(writer.log.content)]
