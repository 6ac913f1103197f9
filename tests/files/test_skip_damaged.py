"""With `skip_damaged`, one wrong byte costs one transaction (of events: one event), wherever it is in the log."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.event import Event
from binspark.files import read_events
from binspark.files.damage import Damage, DamageWarning
from binspark.frames import EventCode as E
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_4_1,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
)
from binspark.transactions import transactions
from tests.corpus.cases import CORPUS
from tests.support.files.old_logs import ORDERS, OldRelayLog

RECORDED = ("mysql/format-row", "mariadb/format-row", "mysql/compressed", "mysql/multi-table", "mysql/replica")
STEP = 37

Row = tuple[int, int, str, str, str]


def key_of(change: binspark.Change) -> Row:
    return change.pos, change.row, change.table, change.op.value, repr((change.before, change.after))


def rows_of(path: Path) -> tuple[list[Row], list[Damage]]:
    skipped: list[Damage] = []
    return [key_of(change) for change in binspark.rows(path, skip_damaged=skipped.append)], skipped


def positions_of_batches(path: Path) -> tuple[list[tuple[str, int, int]], list[Damage]]:
    skipped: list[Damage] = []
    found = []
    for item in binspark.batches(path, skip_damaged=skipped.append):
        columns = item.batch.select(["_log_pos", "_log_row"]).to_pydict()
        found += [(item.table.name, *at) for at in zip(columns["_log_pos"], columns["_log_row"], strict=True)]
    return sorted(found), skipped


def events_of(path: Path) -> tuple[list[Event], list[Damage]]:
    skipped: list[Damage] = []
    return list(read_events(path, skip_damaged=skipped.append)), skipped


def extents_of(path: Path) -> list[range]:
    """Return the bytes of each transaction of a log."""
    return [range(found.start, found.start + found.length) for found in transactions(read_events(path))]


def recorded_log(case: str) -> Path:
    return max((CORPUS / case).glob("*.00000?"), key=lambda path: path.stat().st_size)


@pytest.fixture(params=RECORDED)
def sound(request: pytest.FixtureRequest) -> Path:
    """The largest log of a recorded case."""
    return recorded_log(request.param)


def flipped(content: bytes, offset: int) -> bytes:
    return content[:offset] + bytes([content[offset] ^ 0xFF]) + content[offset + 1 :]


def damaged_transaction(extents: list[range], offset: int) -> range:
    return next((extent for extent in extents if offset in extent), range(0))


def test_every_row_outside_of_the_damaged_transaction_is_found(sound: Path, tmp_path: Path) -> None:
    content, extents, all_rows = sound.read_bytes(), extents_of(sound), rows_of(sound)[0]
    log = tmp_path / sound.name
    lost = {}
    for offset in range(4, len(content), STEP):
        log.write_bytes(flipped(content, offset))
        found, skipped = rows_of(log)
        within = damaged_transaction(extents, offset)
        expected = [row for row in all_rows if row[0] not in within]
        if [row for row in found if row[0] not in within] != expected:
            lost[offset] = len(expected) - len(found)
        assert [(part.file, part.start <= offset < part.end) for part in skipped] == [(str(log), True)], offset
    assert lost == {}


def test_batches_have_the_same_rows_and_the_same_damage(sound: Path, tmp_path: Path) -> None:
    content, extents, everything = sound.read_bytes(), extents_of(sound), positions_of_batches(sound)[0]
    log = tmp_path / sound.name
    for offset in range(4, len(content), 3 * STEP):
        log.write_bytes(flipped(content, offset))
        found, skipped = positions_of_batches(log)
        within = damaged_transaction(extents, offset)
        assert [at for at in found if at[1] not in within] == [at for at in everything if at[1] not in within], offset
        assert [part.start <= offset < part.end for part in skipped] == [True], offset


def test_every_event_but_the_damaged_one_is_found(sound: Path, tmp_path: Path) -> None:
    content, everything = sound.read_bytes(), events_of(sound)[0]
    log = tmp_path / sound.name
    for offset in range(everything[0].end_offset, len(content), STEP):
        log.write_bytes(flipped(content, offset))
        found, [part] = events_of(log)
        assert part.start <= offset < part.end
        expected = [event.offset for event in everything if not event.offset <= offset < event.end_offset]
        assert [event.offset for event in found] == expected, offset
        assert part.end - part.start == next(
            event.end_offset - event.offset for event in everything if event.offset == part.start
        )


@pytest.mark.parametrize("offset", range(4, 126, 3))
def test_a_damaged_format_description_costs_no_row(offset: int, tmp_path: Path) -> None:
    """How the log is laid out is guessed then, as all servers of the last fifteen years do it."""
    for case in ("mysql/format-row", "mariadb/format-row"):
        sound = recorded_log(case)
        log = tmp_path / sound.name
        log.write_bytes(flipped(sound.read_bytes(), offset))
        for read in (rows_of, positions_of_batches):
            found, [part] = read(log)
            assert found == read(sound)[0]
            assert part.start == 4


@pytest.mark.parametrize("offset", range(4))
def test_a_damaged_magic_costs_no_row(offset: int, sound: Path, tmp_path: Path) -> None:
    log = tmp_path / sound.name
    log.write_bytes(flipped(sound.read_bytes(), offset))
    assert rows_of(log)[0] == rows_of(sound)[0]
    assert positions_of_batches(log)[0] == positions_of_batches(sound)[0]


def test_two_damaged_transactions_are_two_parts(tmp_path: Path) -> None:
    log, starts = built(MYSQL_9_7), []
    for number in range(6):
        starts.append(log.offset)
        log.transaction(insert(ORDERS, (number, "x" * 20)))
    content = flipped(flipped(log.content, starts[1] + 100), starts[4] + 100)
    path = saved(content, tmp_path)
    for read in (rows_of, positions_of_batches):
        found, skipped = read(path)
        assert len(found) == 4
        assert [part.end for part in skipped] == [starts[2], starts[5]]


def test_a_cut_log_is_read_to_its_last_complete_transaction(tmp_path: Path) -> None:
    log = built(MYSQL_9_7)
    for number in range(3):
        last = log.offset
        log.transaction(insert(ORDERS, (number, "")))
    path = saved(log.content[:-5], tmp_path)
    for read in (rows_of, positions_of_batches):
        found, [part] = read(path)
        assert len(found) == 3
        assert (part.start > last, part.end) == (True, len(log.content) - 5)
        assert isinstance(part.error, binspark.Truncated)


def built(server: ServerKind, **settings: Any) -> BinlogBuilder:
    return BinlogBuilder(server, **settings)


def saved(content: bytes, folder: Path) -> Path:
    path = folder / "binlog.000001"
    path.write_bytes(content)
    return path


def test_relay_logs_without_checksums_are_read_past_an_impossible_size(tmp_path: Path) -> None:
    relay = OldRelayLog()
    content, starts = relay.content, relay.starts
    assert len(rows_of(saved(content, tmp_path))[0]) == 5
    path = saved(flipped(content, starts[2] + 10), tmp_path)
    for read in (rows_of, positions_of_batches):
        found, [part] = read(path)
        assert (len(found), part.start, part.end) == (4, starts[2], starts[3])


def test_statements_of_a_log_before_version_4_are_read_past_one_that_does_not_decode(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_4_1)
    log.query("BEGIN")
    log.query("INSERT INTO t VALUES (1)")
    damaged = log.offset
    log.raw(E.QUERY, b"\x01")
    log.query("COMMIT")
    log.query("INSERT INTO t VALUES (2)")
    path = saved(log.content, tmp_path)
    found, [part] = events_of(path)
    assert [event.type for event in found] == ["START_V3", "QUERY", "QUERY", "QUERY", "QUERY"]
    assert (part.start, part.end - part.start) == (damaged, 20)


def test_mariadb_is_recognized_without_its_format_description(tmp_path: Path) -> None:
    log = built(MARIADB_10_11)
    log.transaction(insert(ORDERS, (1, "a")))
    path = saved(flipped(log.content, 10), tmp_path)
    assert len(rows_of(path)[0]) == 1
    assert len(positions_of_batches(path)[0]) == 1


def test_true_warns_and_false_is_an_error(tmp_path: Path) -> None:
    log = built(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")))
    damaged = log.offset + 30
    log.transaction(insert(ORDERS, (2, "b")))
    log.transaction(insert(ORDERS, (3, "c")))
    path = saved(flipped(log.content, damaged), tmp_path)
    readers: tuple[Callable[..., Any], ...] = (binspark.rows, binspark.batches, binspark.events)
    for read in readers:
        with pytest.raises(binspark.Checksum):
            list(read(path))
        with pytest.warns(DamageWarning, match=r"skipped \d+ bytes .*: checksum mismatch"):
            list(read(path, skip_damaged=True))


def test_a_sound_log_is_read_without_a_warning(tmp_path: Path) -> None:
    log = built(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")))
    path = saved(log.content, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(binspark.rows(path, skip_damaged=True))) == 1


def test_standard_input_can_be_damaged_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = built(MYSQL_9_7)
    damaged = log.offset + 30
    log.transaction(insert(ORDERS, (1, "a")))
    log.transaction(insert(ORDERS, (2, "b")))
    for read in (rows_of, positions_of_batches):
        stream = io.TextIOWrapper(io.BytesIO(flipped(log.content, damaged)))
        monkeypatch.setattr(sys, "stdin", stream)
        found, skipped = read(Path("-"))
        assert (len(found), len(skipped)) == (1, 1)
