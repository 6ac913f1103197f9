"""Logs of running servers, which know the column names that their logs do not contain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest

from binspark.errors import Authentication, SourceError
from binspark.testing.servers import Server
from tests.support.spark.spark_reading import ReadLogs, column_types, failure, records, values

DATABASE = "spark_servers"
FAMILIES = [
    pytest.param("mysql", marks=pytest.mark.mysql),
    pytest.param("mariadb", marks=pytest.mark.mariadb),
]


@pytest.fixture(params=FAMILIES)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server with a new database, at the beginning of a new log."""
    found: Server = request.getfixturevalue(request.param)
    found.query(f"CREATE DATABASE {DATABASE}")
    found.query("FLUSH BINARY LOGS")
    yield found
    found.query(f"DROP DATABASE {DATABASE}")


@contextmanager
def little_metadata(server: Server) -> Iterator[None]:
    """Let a server log only minimal metadata of its tables."""
    least = "MINIMAL" if server.family.name == "mysql" else "NO_LOG"
    server.query(f"SET GLOBAL binlog_row_metadata = {least}")
    try:
        yield
    finally:
        server.query("SET GLOBAL binlog_row_metadata = FULL")


def options(server: Server, **others: str) -> dict[str, str]:
    return {"host": "127.0.0.1", "port": str(server.port), "user": "root", **others}


def test_a_server_names_what_its_log_does_not(server: Server, read: ReadLogs) -> None:
    server.query(
        f"CREATE TABLE {DATABASE}.items (id INT UNSIGNED PRIMARY KEY, size ENUM('s', 'l'), tags SET('a', 'b'))"
    )
    server.query("FLUSH BINARY LOGS")
    log = server.log_files()[-1]
    with little_metadata(server):
        server.query(f"INSERT INTO {DATABASE}.items VALUES (4000000000, 'l', 'a,b'), (2, NULL, '')")
    frame = read(log, table=f"{DATABASE}.items", **options(server))
    assert column_types(frame) == "id bigint, size string, tags array<string>"
    assert values(records(frame)) == [
        {"id": 4_000_000_000, "size": "l", "tags": ["a", "b"]},
        {"id": 2, "size": None, "tags": []},
    ]
    unnamed = read(log, table=f"{DATABASE}.items")
    assert column_types(unnamed).startswith("@1 ")


def test_a_table_that_changed_since_is_read_with_its_schema_at_the_time(server: Server, read: ReadLogs) -> None:
    """The server knows only the current schema; the statement in the log shows that there was another one before."""
    table = f"{DATABASE}.items"
    server.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(10))")
    server.query("FLUSH BINARY LOGS")
    server.query(f"INSERT INTO {table} VALUES (1, 'first')")
    server.query(f"ALTER TABLE {table} ADD COLUMN price DECIMAL(8,2) AFTER id, MODIFY id BIGINT")
    server.query(f"INSERT INTO {table} VALUES (2, 1.50, 'second')")
    rows = read(server.log_files()[-1], table=table, **options(server)).collect()
    assert [(row.id, row.name, row.price) for row in rows] == [(1, "first", None), (2, "second", Decimal("1.50"))]


def test_the_log_that_a_server_is_writing_is_read(server: Server, read: ReadLogs) -> None:
    server.query(f"CREATE TABLE {DATABASE}.items (id INT PRIMARY KEY)")
    log = server.log_files()[-1]
    for number in range(3):
        server.query(f"INSERT INTO {DATABASE}.items VALUES ({number})")
        assert read(log, table=f"{DATABASE}.items").count() == number + 1


def test_a_server_that_refuses_is_reported_without_the_password(server: Server, read: ReadLogs) -> None:
    with_password = options(server, password="secret-word")
    error = failure(lambda: read(server.log_files()[-1], table=f"{DATABASE}.items", **with_password))
    assert isinstance(error, Authentication)
    assert "secret-word" not in str(error)


def test_an_unreachable_server_is_reported(server: Server, read: ReadLogs) -> None:
    nowhere = {"host": "127.0.0.1", "port": "1", "user": "root"}
    error = failure(lambda: read(server.log_files()[-1], table=f"{DATABASE}.items", **nowhere))
    assert isinstance(error, SourceError)
    assert "127.0.0.1" in str(error)


def test_schemas_come_from_a_file_or_a_server_not_from_both(server: Server, read: ReadLogs) -> None:
    error = failure(lambda: read(server.log_files()[-1], table="a.b", schemaFile="dump.sql", **options(server)))
    assert error.message.startswith("schemaFile cannot be combined with host")
