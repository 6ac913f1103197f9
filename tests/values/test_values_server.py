"""What a server selects is what we read in its log, for extreme values of every type."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from binspark.event.column_types import ColumnType
from binspark.testing.servers import MariaDB, Server
from binspark.values import Column, Date, DateTime, Geometry, Time, Timestamp
from tests.support.servers import StartServer
from tests.support.values.value_cases import COMMON, MARIADB_ONLY, MYSQL_ONLY, OLD_TEMPORALS, Case
from tests.support.values.value_logs import rows_in

Selected = tuple[Any, ...]


def record(server: Server, cases: Sequence[Case]) -> None:
    """Make a table for every case, with NULL and the case's values, in a log of its own."""
    script = ["DROP DATABASE IF EXISTS extremes; CREATE DATABASE extremes CHARACTER SET utf8mb4; USE extremes;"]
    script += ["SET sql_mode='ALLOW_INVALID_DATES', time_zone='+00:00'; FLUSH BINARY LOGS;"]
    for number, case in enumerate(cases):
        script.append(f"CREATE TABLE t{number} (id INT AUTO_INCREMENT PRIMARY KEY, v {case.sql_type} NULL);")
        values = ", ".join(f"({literal})" for literal in ("NULL", *case.literals))
        script.append(f"INSERT INTO t{number} (v) VALUES {values};")
    server.run_sql("\n".join(script), "--default-character-set=utf8mb4")


def logged(server: Server, reshape: Callable[[Column], Column] = lambda column: column) -> dict[str, Selected]:
    """Return the values in the log, by table, as a client would be given them."""
    found: dict[str, Selected] = {}
    for rows in rows_in(server.log_files()[-1], mariadb=server.family is MariaDB, reshape=reshape):
        table, column = rows.schema.table, rows.schema.columns[1]
        found[table] = found.get(table, ()) + tuple(as_selected(image[1], column) for image in rows.images)
    return found


def selected(server: Server, cases: Sequence[Case]) -> dict[str, Selected]:
    """Return what the server selects, by table."""
    found: dict[str, Selected] = {}
    with server.connect(conv={}, init_command="SET time_zone='+00:00'") as connection, connection.cursor() as cursor:
        for number, case in enumerate(cases):
            cursor.execute(f"SELECT {case.select} FROM extremes.t{number} ORDER BY id")
            found[f"t{number}"] = tuple(row[0] for row in cursor.fetchall())
    return found


def as_selected(value: Any, column: Column) -> Any:
    """Return what a client is given for a value."""
    if value is None:
        return None
    if column.type == ColumnType.BIT:
        return value.to_bytes((column.length + 7) // 8, "big")
    if column.type == ColumnType.SET:
        return ",".join(value)
    if column.type == ColumnType.VECTOR:
        return struct.pack(f"<{len(value)}f", *value).hex().upper()
    return _BY_TYPE[type(value)](value)


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    int: str,
    float: str,
    str: str,
    bytes: bytes,
    Decimal: lambda value: f"{value:f}",
    Date: Date.text,
    Time: Time.text,
    DateTime: DateTime.text,
    Timestamp: lambda value: value.text().removesuffix("+00:00"),
    Geometry: lambda value: value.srid.to_bytes(4, "little") + value.wkb,
}


def numbers(values: dict[str, Selected], cases: Sequence[Case]) -> dict[str, Selected]:
    """Read floating point text back, so that two ways to write a number are equal."""
    floating = {f"t{number}" for number, case in enumerate(cases) if case.sql_type in ("FLOAT", "DOUBLE")}
    return {
        table: tuple(None if v is None else float(v) for v in found) if table in floating else found
        for table, found in values.items()
    }


@pytest.mark.mysql
def test_mysql_selects_what_its_log_contains(mysql: Server) -> None:
    cases = [*COMMON, *MYSQL_ONLY]
    record(mysql, cases)
    assert numbers(logged(mysql), cases) == numbers(selected(mysql, cases), cases)


@pytest.mark.mariadb
def test_mariadb_selects_what_its_log_contains(mariadb: Server) -> None:
    cases = [*COMMON, *MARIADB_ONLY]
    record(mariadb, cases)
    assert numbers(logged(mariadb), cases) == numbers(selected(mariadb, cases), cases)


@pytest.mark.mariadb
def test_mariadb_selects_what_its_log_contains_in_the_old_format_of_times(start_server: StartServer) -> None:
    server = start_server(MariaDB, {"binlog-row-metadata": "FULL", "mysql56-temporal-format": "OFF"})
    by_digits = [[case for case in OLD_TEMPORALS if case.sql_type.endswith(f"({digits})")] for digits in range(7)]
    assert [old_times_logged(server, cases, digits) for digits, cases in enumerate(by_digits)] == [
        old_times_selected(server, cases) for cases in by_digits
    ]


def old_times_logged(server: Server, cases: Sequence[Case], digits: int) -> dict[str, Selected]:
    """Record the cases and read them from the log, which does not contain the digits of their fractions."""
    record(server, cases)
    return logged(server, lambda column: replace(column, scale=digits if column.name == "v" else column.scale))


def old_times_selected(server: Server, cases: Sequence[Case]) -> dict[str, Selected]:
    record(server, cases)
    return selected(server, cases)
