"""Logs of servers with lower_case_table_names=1, whose statements write names in any case."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import binspark
from binspark.testing.servers import MariaDB, MySQL, Server, ServerUnavailable
from tests.support.schema.lower_case_servers import lower_case_server
from tests.support.schema.schema_logs import Recorder

SCRIPT = """
CREATE DATABASE Shop CHARACTER SET latin1;
USE Shop;
CREATE TABLE Orders (Id INT PRIMARY KEY, Note VARCHAR(9));
INSERT INTO ORDERS VALUES (1, 'a');
ALTER TABLE SHOP.ORDERS ADD Size INT UNSIGNED;
INSERT INTO orders VALUES (2, 'b', 4294967295);
RENAME TABLE ORDERS TO Bills;
INSERT INTO bills VALUES (3, 'c', 0);
CREATE TABLE Copy LIKE BILLS;
INSERT INTO COPY VALUES (4, 'd', 0);
DROP TABLE BILLS;
CREATE TABLE BiLLs (Other INT);
INSERT INTO bills VALUES (5);
ALTER DATABASE SHOP CHARACTER SET utf8mb4;
CREATE TABLE shOp.Names (Name VARCHAR(9));
INSERT INTO names VALUES ('é');
"""
ROWS = [
    ("orders", {"Id": 1, "Note": "a"}),
    ("orders", {"Id": 2, "Note": "b", "Size": 4294967295}),
    ("bills", {"Id": 3, "Note": "c", "Size": 0}),
    ("copy", {"Id": 4, "Note": "d", "Size": 0}),
    ("bills", None),  # DROP TABLE BILLS
    ("bills", {"Other": 5}),
    ("names", {"Name": "é"}),
]
FAMILIES = [
    pytest.param(MySQL, marks=pytest.mark.mysql, id="mysql"),
    pytest.param(MariaDB, marks=pytest.mark.mariadb, id="mariadb"),
]


@pytest.fixture(scope="module", params=FAMILIES)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    try:
        with lower_case_server(request.param) as running:
            running.run_sql(SCRIPT, "--default-character-set=utf8mb4")
            yield running
    except ServerUnavailable as error:
        if os.environ.get("BINSPARK_REQUIRE_SERVERS") == "1":
            raise
        pytest.skip(str(error))


def test_rows_have_the_names_that_statements_gave_them(server: Server) -> None:
    found = [(change.table, change.after) for change in binspark.rows([str(log) for log in server.log_files()])]
    assert found == ROWS


def test_batches_have_the_names_that_statements_gave_them(server: Server) -> None:
    logs = [str(log) for log in server.log_files()]
    names = ("orders", "bills", "copy", "names")
    found = {
        name: [batch.to_pylist() for batch in binspark.batches(logs, table=f"shop.{name}", metadata=False)]
        for name in names
    }
    expected = {name: [[row] for table, row in ROWS if table == name and row] for name in names}
    assert found == expected


def test_case_does_not_matter_on_the_server(server: Server) -> None:
    recorder = Recorder(server)
    assert not recorder.catalog().case_matters
    recorder.close()
