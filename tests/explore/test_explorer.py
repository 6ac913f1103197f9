"""The units of logs: all bytes are in them, however a log is read, and they grow as it does."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from binspark.cli.demo import SHOP
from binspark.errors import OptionError
from binspark.explore.jump import jump
from binspark.explore.log_index import LogIndex
from binspark.explore.units import UnitKind
from binspark.testing.builder import insert
from tests.corpus.cases import corpus_logs, log_id
from tests.support.explore.logs import ORDERS, SOURCE, explored, many_transactions, units_of


@pytest.mark.parametrize("path", corpus_logs(truncated=True), ids=log_id)
def test_units_have_all_bytes_of_a_log_once_and_in_order(path: Path) -> None:
    explorer = explored(path)
    (log,) = explorer.logs
    units = units_of(explorer, log, page=3)
    assert [unit.number for unit in units] == list(range(log.index.units))
    assert [unit.start for unit in units] == [0, *(unit.end for unit in units[:-1])]
    assert units[-1].end == path.stat().st_size


@pytest.mark.parametrize("max_checkpoints", [2, 3, 1 << 14])
def test_a_thinner_index_has_the_same_units(tmp_path: Path, max_checkpoints: int) -> None:
    many_transactions(2000).save(tmp_path)
    explorer = explored(tmp_path, lambda: LogIndex(max_checkpoints))
    (log,) = explorer.logs
    units = units_of(explorer, log, page=77)
    transactions = [unit.about["gtid"] for unit in units if unit.kind is UnitKind.TRANSACTION]
    assert transactions == [f"{SOURCE}:{number}" for number in range(1, 2001)]
    assert [unit.number for unit in units] == list(range(log.index.units))


def test_positions_gtids_and_times_lead_to_their_transactions(tmp_path: Path) -> None:
    many_transactions(1000).save(tmp_path)
    explorer = explored(tmp_path)
    wanted = next(unit for _, unit in explorer.units(700, 1))
    name = explorer.logs[0].name
    for text in (f"{name}:{wanted.start}", str(wanted.start), str(wanted.about["gtid"])):
        found = jump(explorer, text)
        assert (found["unit"], found["pos"]) == (700, wanted.start)
    assert jump(explorer, str(wanted.start + 5))["unit"] == 700
    at_time = explorer.unit_at_time(int(wanted.about["time"] * 1_000_000))
    assert at_time is not None
    assert at_time[1] == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("binlog.000009:4", "there is no log binlog.000009"),
        ("99999999", "position 99999999 is past the end"),
        (f"{SOURCE}:5000", f"no transaction in these logs has the GTID {SOURCE}:5000"),
        ("2199-01-01", "no transaction was committed at 2199-01-01 or later"),
        ("yesterday", "expected a position such as"),
    ],
)
def test_what_is_not_there_is_refused_with_a_reason(tmp_path: Path, text: str, message: str) -> None:
    many_transactions(3).save(tmp_path)
    with pytest.raises(OptionError, match=message):
        jump(explored(tmp_path), text)


def test_a_log_that_grows_has_the_units_of_the_complete_log(tmp_path: Path) -> None:
    (path,) = many_transactions(600).save(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:30_001])
    explorer = explored(tmp_path)
    counts = [explorer.logs[0].index.units]
    for size in (70_000, 70_040, len(data)):
        path.write_bytes(data[:size])
        explorer.read_all()
        counts.append(explorer.logs[0].index.units)
    assert counts == sorted(counts)
    fresh = explored(tmp_path)
    assert units_of(explorer, explorer.logs[0]) == units_of(fresh, fresh.logs[0])
    assert explorer.tables_record() == fresh.tables_record()
    assert explorer.timeline_record() == fresh.timeline_record()


def test_a_compressed_log_has_the_same_units(tmp_path: Path) -> None:
    for name in ("plain", "packed"):
        (tmp_path / name).mkdir()
    (path,) = many_transactions(300).save(tmp_path / "plain")
    (tmp_path / "packed" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    plain, packed = explored(tmp_path / "plain"), explored(tmp_path / "packed")
    assert units_of(packed, packed.logs[0]) == units_of(plain, plain.logs[0])
    packed.stop()


def test_a_log_that_appears_later_is_read_too(tmp_path: Path) -> None:
    log = many_transactions(5)
    log.rotate()
    log.transaction(insert(ORDERS, (6,)))
    first, second = log.save(tmp_path)
    late = second.read_bytes()
    second.unlink()
    explorer = explored(tmp_path)
    assert [each.name for each in explorer.logs] == [first.name]
    second.write_bytes(late)
    explorer.look_for_logs()
    explorer.read_all()
    assert [each.name for each in explorer.logs] == [first.name, second.name]
    numbers = [explorer.number_of(number, unit.number) for number, unit in explorer.units(0, 500)]
    assert numbers == list(range(sum(each.index.units for each in explorer.logs)))


def test_tables_and_the_timeline_count_what_stat_counts() -> None:
    explorer = explored(SHOP / "mysql")
    tables = {each["table"]: each for each in explorer.tables_record()["tables"]}
    assert tables["shop.products"]["insert"]["rows"] > 0
    timeline = explorer.timeline_record()
    assert sum(timeline["transactions"]) == 159
    assert sum(timeline["rows"]) == sum(each["rows"] for each in tables.values())
