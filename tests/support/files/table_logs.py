"""Logs with column names only in their DDL."""

from __future__ import annotations

from collections.abc import Iterable

from binspark.testing.builder import BinlogBuilder, ServerKind, Table, insert, integer, table, varchar
from tests.support.files.split_reading import Row, value_in

ONE = table("shop.t", integer("x"))
TWO = table("shop.t", integer("x"), varchar("y", 40))
OTHER = table("shop.tt", integer("x"))


def named_by_ddl(server: ServerKind, *, compress: bool = False) -> BinlogBuilder:
    """Return a log with column names only in its DDL."""
    log = BinlogBuilder(server)
    log.full_metadata = False

    def rows(table: Table, *values: object) -> None:
        log.transaction(insert(table, values), compress=compress or None)

    log.ddl("CREATE TABLE t (first INT)", "shop")
    rows(ONE, 1)
    log.ddl("ALTER TABLE t RENAME COLUMN first TO second", "shop")
    rows(ONE, 2)
    rows(ONE, 3)
    log.ddl("ALTER TABLE t ADD COLUMN note VARCHAR(10)", "shop")
    rows(TWO, 4, "four")
    log.ddl("DROP TABLE t", "shop")
    log.ddl("CREATE TABLE t (other INT)", "shop")
    rows(ONE, 5)
    return log


NAMES = [("first",), ("second",), ("second",), ("second", "note"), ("other",)]


def names_of(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Return the names of the columns of rows, without those of DROP TABLE."""
    changed = (row for row in rows if value_in(row, "_op") != "truncate")
    return [tuple(name for name in row[0] if not name.startswith("_")) for row in changed]
