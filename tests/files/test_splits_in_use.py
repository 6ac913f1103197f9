"""Logs that a server still writes, or wrote when it crashed: what is whole is read, what comes later is not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from binspark.errors import Truncated
from binspark.files import active_log
from binspark.files.plan import plan_logs
from binspark.files.sources import LogSource
from binspark.files.split_reader import SplitReader
from binspark.files.splits import Split, cut
from binspark.frames import Framer
from binspark.testing.builder import BinlogBuilder, insert
from binspark.transactions import Ending
from tests.support.files.split_logs import ITEMS, KINDS, MadeLog, made_log, overwritten, writer_of
from tests.support.files.split_reading import (
    history_of,
    plan,
    saved,
    split_events,
    split_rows,
    splits_at,
    whole_events,
    whole_rows,
)

FLAGS = 4 + 17
IN_USE = 1
UNFINISHED = (Ending.UNFINISHED, Ending.INTERRUPTED, Ending.CRASH)
kinds = pytest.mark.parametrize("kind", KINDS)


def in_use(log: MadeLog) -> bytes:
    return overwritten(log.content, FLAGS, bytes((log.content[FLAGS] | IN_USE,)))


def borders(log: MadeLog) -> list[int]:
    """Return the offsets at which no transaction is under way."""
    before = [frame.end_offset for frame in Framer().feed(log.content[: log.starts[0]])]
    return [*before, *log.ends, len(log.content)]


def planned_sizes(content: bytes, lengths: Iterable[int], folder: Path) -> list[int]:
    return [plan(saved(content[:length], folder)).size for length in lengths]


@pytest.mark.parametrize("kind", ["named-crc32", "mariadb-none"])
def test_a_log_in_use_that_is_cut_at_any_byte_ends_behind_its_last_whole_transaction(kind: str, tmp_path: Path) -> None:
    log = made_log(kind, 50)
    known = borders(log)
    lengths = range(log.starts[-2], len(log.content) + 1)
    expected = [max(border for border in known if border <= length) for length in lengths]
    assert planned_sizes(in_use(log), lengths, tmp_path) == expected


@kinds
def test_a_log_in_use_of_any_kind_ends_behind_its_last_whole_transaction(kind: str, tmp_path: Path) -> None:
    log = made_log(kind, 150)
    known = borders(log)
    lengths = [border + step for border in known[1:-1] for step in (-1, 0, 1, 60)]
    expected = [max(border for border in known if border <= length) for length in lengths]
    assert planned_sizes(in_use(log), lengths, tmp_path) == expected


@kinds
def test_a_log_in_use_that_is_cut_anywhere_holds_whole_transactions_and_no_error(kind: str, tmp_path: Path) -> None:
    log = made_log(kind, 150)
    whole = in_use(log)
    for length in range(log.starts[0] + 5, len(whole), 307):
        planned = plan(saved(whole[:length], tmp_path))
        found = split_events(cut([planned], 400), SplitReader(history_of(planned)))
        assert found.refusal is None
        assert found.events[-1].end_offset == planned.size
        assert [transaction for transaction in found.transactions if transaction.ending in UNFINISHED] == []


@pytest.mark.parametrize("kind", ["named-crc32", "compressed-none", "mariadb-crc32", "5.5-plain"])
def test_rows_of_a_log_in_use_are_those_of_its_whole_transactions(kind: str, tmp_path: Path) -> None:
    log = made_log(kind, 150)
    whole = in_use(log)
    for length in range(log.starts[0] + 5, len(whole), 173):
        path = saved(whole[:length], tmp_path)
        planned = plan(path)
        found = split_rows(cut([planned], 500), SplitReader(history_of(planned)))
        assert found == whole_rows(whole[: planned.size], str(path))
        assert found.refusal is None


@pytest.mark.parametrize("kind", ["named-crc32", "mariadb-none", "5.6-unnamed-crc32"])
def test_the_end_is_found_however_far_back_the_last_transaction_begins(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active_log, "_FIRST_LOOK", 64)
    log = made_log(kind, 4000)
    whole, known = in_use(log), borders(log)
    for length in range(log.starts[2], len(whole), 611):
        size = plan(saved(whole[:length], tmp_path)).size
        assert size == max(border for border in known if border <= length)


def test_a_log_that_a_server_has_only_begun_holds_nothing_yet(tmp_path: Path) -> None:
    whole = in_use(made_log("named-crc32"))
    first_end = next(Framer().feed(whole)).end_offset
    lengths = [0, *range(FLAGS + 1, first_end)]
    assert [plan_logs([LogSource(str(saved(whole[:length], tmp_path)))]) for length in lengths] == [[]] * len(lengths)


@pytest.mark.parametrize("length", [1, 4, 13, FLAGS])
def test_a_log_so_short_that_it_does_not_tell_whether_it_is_in_use_is_truncated(length: int, tmp_path: Path) -> None:
    planned = plan(saved(in_use(made_log("named-crc32"))[:length], tmp_path))
    with pytest.raises(Truncated):
        list(SplitReader(history_of(planned)).events(Split((planned,))))


def test_zeros_at_the_end_of_a_log_in_use_are_damage(tmp_path: Path) -> None:
    log = made_log("named-crc32")
    planned = plan(saved(in_use(log) + bytes(100), tmp_path))
    assert planned.size == len(log.content) + 100
    assert split_events([Split((planned,))], SplitReader(history_of(planned))).refusal is not None


@pytest.mark.parametrize("kind", ["5.6-unnamed-crc32", "mariadb-none"])
def test_a_closed_log_that_ends_anywhere_is_refused_as_without_splits(kind: str, tmp_path: Path) -> None:
    log = made_log(kind, 150)
    for length in range(len(log.content) - 250, len(log.content)):
        content = log.content[:length]
        path = saved(content, tmp_path)
        planned = plan(path)
        assert planned.size == length
        splits = splits_at(planned, [length - 500, length - 100, length - 10])
        assert split_events(splits, SplitReader(history_of(planned))) == whole_events(content, str(path))


@pytest.mark.parametrize("kind", ["named-crc32", "5.5-plain", "mariadb-none"])
def test_rows_of_a_closed_log_that_ends_anywhere_come_before_the_refusal(kind: str, tmp_path: Path) -> None:
    log = made_log(kind, 150)
    for length in range(len(log.content) - 300, len(log.content), 13):
        content = log.content[:length]
        path = saved(content, tmp_path)
        planned = plan(path)
        found = split_rows(splits_at(planned, [length - 250, length - 20]), SplitReader(history_of(planned)))
        assert found == whole_rows(content, str(path))


def test_the_relay_log_that_is_being_written_ends_behind_its_last_whole_transaction(tmp_path: Path) -> None:
    log = BinlogBuilder(relay=True)
    log.transaction(insert(ITEMS, (1,)))
    whole = log.offset
    log.transaction(insert(ITEMS, (2,)))
    log.leave_open()
    planned = [plan(saved(log.content[:length], tmp_path)) for length in range(whole, len(log.content))]
    assert {(log.size, log.relay, log.can_split) for log in planned} == {(whole, True, False)}


def test_a_log_in_use_is_planned_anew_with_what_came_since(tmp_path: Path) -> None:
    writer = writer_of("mariadb-crc32")
    writer.log.leave_open()
    sizes = []
    for number in range(3):
        writer.transaction(insert(ITEMS, (number,)))
        sizes.append(plan(saved(writer.log.content, tmp_path)).size)
    assert sizes == [*writer.starts[1:], len(writer.log.content)]
