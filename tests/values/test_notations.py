"""MariaDB's INET4, INET6 and UUID are text if a schema is known, as the server prints them."""

from __future__ import annotations

import pytest

import binspark
from binspark.testing.servers import Server

VALUES = [
    ("192.0.2.1", "2001:db8::ff00:42:8329", "123e4567-e89b-12d3-a456-426655440000"),
    ("0.0.0.0", "::", "00000000-0000-0000-0000-000000000001"),
    ("255.255.255.255", "::ffff:192.0.2.128", "ffffffff-ffff-1fff-bfff-ffffffffffff"),
    ("10.0.0.0", "::1", "6ccd780c-baba-1026-9564-5b8c656024db"),
    ("127.0.0.1", "fe80:0:0:1::1:2", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("1.2.3.4", "::192.0.2.7", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a00"),
]


@pytest.mark.mariadb
def test_addresses_and_uuids_are_what_the_server_selects(mariadb: Server) -> None:
    mariadb.run_sql("FLUSH BINARY LOGS; CREATE DATABASE IF NOT EXISTS notations")
    mariadb.run_sql("CREATE OR REPLACE TABLE notations.t (a INET4, b INET6, c UUID, d BINARY(4))")
    for a, b, c in VALUES:
        mariadb.query("INSERT INTO notations.t VALUES (%s, %s, %s, 'x')", (a, b, c))
    selected = mariadb.query("SELECT CAST(a AS CHAR), CAST(b AS CHAR), CAST(c AS CHAR) FROM notations.t")
    mariadb.query("DROP DATABASE notations")
    log = mariadb.log_files()[-1]
    rows = [change.after for change in binspark.rows(log, tables=["notations.t"])]
    assert [(row["a"], row["b"], row["c"]) for row in rows if row] == list(selected)
    batches = list(binspark.batches(log, table="notations.t", columns=["a", "b", "c", "d"], metadata=False))
    columns = [value for batch in batches for value in batch.to_pylist()]
    assert [(row["a"], row["b"], row["c"]) for row in columns] == list(selected)
    assert columns[0]["d"] == b"x\0\0\0"
