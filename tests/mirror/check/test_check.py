"""A check proves that a mirror equals its source, and finds every planted difference."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from binspark.mirror.check import catch_up
from binspark.mirror.check.key_ranges import is_ordered
from binspark.mirror.check.report import DifferenceKind
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.targets.parse import Format, parse_target
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.mirror.copies import checked, edit_rows, mirror_table, move_to_end, position_of, stored_rows
from tests.support.mirror.live_mirrors import FORMATS
from tests.support.mirror.random_tables import create_tables
from tests.support.servers import every_family

every_format = pytest.mark.parametrize("kind", FORMATS)
QUICK = CheckSettings(wait_seconds=0, rows_per_range=300)


@every_family
@every_format
def test_a_mirror_of_every_type_is_equal(shared: Server, database: str, kind: Format, tmp_path: Path) -> None:
    target = parse_target(str(tmp_path), kind)
    for table in create_tables(shared, database, seed=4, rows=40):
        name = TableName(database, table)
        mirror_table(shared, target, name)
        report = checked(shared, target, name)
        assert report.is_equal, report.describe()
        assert report.rows == 40


_DEFINITION = """(id BIGINT PRIMARY KEY, small TINYINT, amount DECIMAL(12,4), share FLOAT, ratio DOUBLE, day DATE,
    at DATETIME(6), seen TIMESTAMP(3) NULL, span TIME(2), made YEAR, bits BIT(5), name VARCHAR(40), fixed CHAR(9),
    note TEXT, raw VARBINARY(20), doc JSON, kind ENUM('a','b'), tags SET('x','y'), spot POINT)"""
_ROW = """{id}, 3, 1.5, 0.5, 0, '2024-02-29', '2024-02-29 12:00:00.000001', '2024-02-29 12:00:00.5', '-10:00:00.25',
    2024, 9, 'name', 'fixed', 'note', 'raw', '{{"a": 1}}', 'a', 'x', ST_GeomFromText('POINT(1 2)')"""
CHANGES = {
    "small": 4,
    "amount": "1.5001",
    "share": 0.50000006,
    "ratio": -0.0,
    "day": None,
    "at": "2024-02-29 12:00:00.000002",
    "seen": "2024-02-29 12:00:00.501Z",
    "span": "-10:00:00.26",
    "made": 2023,
    "bits": 8,
    "name": "name ",
    "fixed": "Fixed",
    "note": "note\n",
    "raw": b"raw\0",
    "doc": '{"a": 1.0}',
    "kind": "",
    "tags": ["x", "y"],
    "spot": {"srid": 1, "wkb": b""},
}


@every_family
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_tables_with_a_float_as_key_are_compared_by_ranges(
    shared: Server, database: str, kind: str, tmp_path: Path
) -> None:
    target, name = parse_target(str(tmp_path)), TableName(database, "measured")
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {name} (at {kind} PRIMARY KEY, value INT)")
    values = (f"({number / 7 * 10.0 ** (number % 60 - 30)!r}, {number})" for number in range(-100, 100) if number)
    shared.query(f"INSERT INTO {name} VALUES (-0e0, 0), {', '.join(values)}")
    table, mirrored = mirror_table(shared, target, name)
    assert is_ordered(mirrored)
    settings = CheckSettings(wait_seconds=0, rows_per_range=20)
    report = checked(shared, target, name, settings)
    assert report.is_equal, report.describe()
    assert report.rows == 200
    edit_rows(table, mirrored, lambda rows: with_value(rows, 57, "value", 1000))
    report = checked(shared, target, name, settings)
    assert [difference.kind for difference in report.differences] == [DifferenceKind.DIFFERENT]


def create_filled(server: Server, database: str, rows: int) -> TableName:
    """Create a table with rows of many types, all alike but for their key."""
    server.query(f"CREATE DATABASE {database}")
    server.query(f"CREATE TABLE {database}.filled {_DEFINITION}")
    values = ", ".join(f"({_ROW.format(id=number)})" for number in range(rows))
    server.query(f"INSERT INTO {database}.filled VALUES {values}")
    return TableName(database, "filled")


def with_value(rows: pa.Table, index: int, name: str, value: object) -> pa.Table:
    """Return rows with another value in one of them."""
    kind = rows.schema.field(name).type
    converted = pa.array([value], pa.string()).cast(kind) if isinstance(value, str) else pa.array([value], kind)
    column = rows.column(name).combine_chunks()
    changed = pa.concat_arrays([column.slice(0, index), converted, column.slice(index + 1)])
    return rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), changed)


@every_family
def test_a_change_of_one_value_is_found_in_every_type(shared: Server, database: str, tmp_path: Path) -> None:
    name = create_filled(shared, database, 2 * len(CHANGES))
    target = parse_target(str(tmp_path))
    table, mirrored = mirror_table(shared, target, name)

    def plant(rows: pa.Table) -> pa.Table:
        for index, (column, value) in enumerate(CHANGES.items()):
            rows = with_value(rows, index, column, value)
        return rows

    edit_rows(table, mirrored, plant)
    report = checked(shared, target, name)
    assert report.differing == len(CHANGES)
    assert {each.kind for each in report.differences} == {DifferenceKind.DIFFERENT}
    found = {int(each.key[0][1] or b""): [column.name for column in each.columns] for each in report.differences}
    assert found == {index: [column] for index, column in enumerate(CHANGES)}
    (ratio,) = (each.columns[0] for each in report.differences if each.columns[0].name == "ratio")
    assert (ratio.source, ratio.mirror) == (b"0", b"-0")


@every_family
def test_rows_that_are_missing_or_extra_are_found_among_ranges(shared: Server, database: str, tmp_path: Path) -> None:
    name = create_filled(shared, database, 1000)
    target = parse_target(str(tmp_path))
    table, mirrored = mirror_table(shared, target, name)

    def plant(rows: pa.Table) -> pa.Table:
        extra = with_value(rows.slice(0, 1), 0, "id", 5000)
        return pa.concat_tables([rows.filter(pc.not_equal(rows["id"], 700)), extra])

    edit_rows(table, mirrored, plant)
    report = checked(shared, target, name, QUICK)
    assert sorted((each.kind.value, each.key) for each in report.differences) == [
        ("extra", (("id", b"5000"),)),
        ("missing", (("id", b"700"),)),
    ]
    assert (report.rows, report.ranges, report.differing, report.is_equal) == (1000, 4, 2, False)
    assert report.differences[0].describe() == "missing id=700"


@every_family
@every_format
def test_repair_reads_only_rows_that_differ(shared: Server, database: str, kind: Format, tmp_path: Path) -> None:
    name = create_filled(shared, database, 500)
    target = parse_target(str(tmp_path), kind)
    table, mirrored = mirror_table(shared, target, name)
    position = position_of(table)

    def plant(rows: pa.Table) -> pa.Table:
        rows = with_value(with_value(rows, 3, "name", "other"), 400, "id", 900)
        return pa.concat_tables([rows.slice(0, 100), rows.slice(110)])

    edit_rows(table, mirrored, plant)
    repaired = checked(shared, target, name, CheckSettings(wait_seconds=0, repair=True, rows_per_range=300))
    assert (repaired.repaired, repaired.is_equal, len(repaired.differences)) == (13, True, 13)
    again = checked(shared, target, name)
    assert again.is_equal
    assert again.rows == stored_rows(table, mirrored).num_rows == 500
    assert position_of(table) == position


@every_family
def test_collated_and_composite_keys_are_compared(shared: Server, database: str, tmp_path: Path) -> None:
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {database}.words (word VARCHAR(20), n INT, x INT, PRIMARY KEY (word, n))")
    values = [f"('{word}', {number}, 1)" for word in ("a", "B", "é", "Z", "zz ") for number in range(200)]
    shared.query(f"INSERT INTO {database}.words VALUES {', '.join(values)}")
    name = TableName(database, "words")
    target = parse_target(str(tmp_path))
    table, mirrored = mirror_table(shared, target, name)
    assert checked(shared, target, name, QUICK).is_equal
    edit_rows(table, mirrored, lambda rows: with_value(with_value(rows, 5, "word", "A"), 900, "x", 2))
    report = checked(shared, target, name, QUICK)
    assert sorted(each.kind.value for each in report.differences) == ["different", "extra", "missing"]
    assert checked(shared, target, name, CheckSettings(wait_seconds=0, repair=True)).is_equal
    assert checked(shared, target, name).is_equal


@every_family
def test_copies_of_rows_without_a_key_are_counted(shared: Server, database: str, tmp_path: Path) -> None:
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {database}.log (a INT, b VARCHAR(10))")
    shared.query(f"INSERT INTO {database}.log VALUES (1, 'x'), (1, 'x'), (2, 'y'), (2, 'y'), (NULL, NULL)")
    name = TableName(database, "log")
    target = parse_target(str(tmp_path))
    table, mirrored = mirror_table(shared, target, name)
    assert checked(shared, target, name).is_equal
    # As many rows as before, and each an even number of times: XOR would not see it.
    edit_rows(
        table,
        mirrored,
        lambda rows: pa.concat_tables([rows.filter(pc.is_null(rows["a"])), *[rows.filter(pc.equal(rows["a"], 1))] * 2]),
    )
    report = checked(shared, target, name)
    assert sorted((each.kind.value, each.key[0][1]) for each in report.differences) == [
        ("extra", b"1"),
        ("missing", b"2"),
    ]
    repair = checked(shared, target, name, CheckSettings(wait_seconds=0, repair=True))
    assert "has no key, so that single rows cannot be repaired" in repair.problem
    assert repair.differing == report.differing


@every_family
def test_an_exact_check_is_at_one_position(shared: Server, database: str, tmp_path: Path) -> None:
    name = create_filled(shared, database, 100)
    target = parse_target(str(tmp_path))
    table, _ = mirror_table(shared, target, name)
    exact = CheckSettings(wait_seconds=0, exact=True)
    assert checked(shared, target, name, exact).is_equal
    shared.query(f"UPDATE {database}.filled SET small = 5 WHERE id = 50")
    assert "has not reached" in checked(shared, target, name, exact).problem
    move_to_end(shared, table)
    report = checked(shared, target, name, exact)
    assert [each.describe() for each in report.differences] == ["different id=50; small: source '5', mirror '3'"]


@every_family
def test_a_mirror_that_lags_is_no_difference(shared: Server, database: str, tmp_path: Path) -> None:
    name = create_filled(shared, database, 100)
    target = parse_target(str(tmp_path))
    mirror_table(shared, target, name)
    shared.query(f"UPDATE {database}.filled SET small = 5 WHERE id = 50")
    report = checked(shared, target, name)
    assert (report.differing, report.undecided, report.is_equal) == (0, 1, False)


@every_family
def test_a_mirror_that_does_not_move_is_waited_for_once(
    shared: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = create_filled(shared, database, 1000)
    target = parse_target(str(tmp_path))
    mirror_table(shared, target, name)
    shared.query(f"UPDATE {database}.filled SET small = 5")
    clock = [0.0]
    clock_of_test = SimpleNamespace(
        monotonic=lambda: clock[0], sleep=lambda seconds: clock.__setitem__(0, clock[0] + seconds)
    )
    monkeypatch.setattr(catch_up, "time", clock_of_test)  # not the clock of the other threads of this process
    report = checked(shared, target, name, CheckSettings(wait_seconds=60, rows_per_range=100))
    assert (report.undecided, report.is_equal) == (1000, False)
    assert 60 <= clock[0] < 120


@every_family
def test_other_columns_are_named(shared: Server, database: str, tmp_path: Path) -> None:
    name = create_filled(shared, database, 3)
    target = parse_target(str(tmp_path))
    mirror_table(shared, target, name)
    shared.query(f"ALTER TABLE {name} ADD COLUMN extra INT")
    report = checked(shared, target, name)
    assert not report.is_equal
    assert "spot, extra in the source, and id, small" in report.problem
    shared.query(f"DROP TABLE {name}")
    assert "doesn't exist" in checked(shared, target, name).problem
