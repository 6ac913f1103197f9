"""Rows in bulk are the same statements as rows one at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from binspark.errors import BinlogError
from binspark.testing.servers import Family, Server
from tests.corpus.cases import corpus_logs, log_id
from tests.support.mirror.every_type import every_type
from tests.support.servers import database, every_family, shared
from tests.support.sql.round_trips import comparable, logs_of, run_script, script_of, tables_of

__all__ = ["database", "shared"]

_VARIANTS: list[dict[str, Any]] = [
    {},
    {"undo": True, "skip_statements": True},
    {"undo": True, "skip_statements": True, "operations": "update,delete"},
    {"no_comments": True, "keep_gtids": True},
]


def script_or_error(logs: list[Path], *, in_bulk: bool, **options: Any) -> bytes:
    """Return a script, or the error that ends it."""
    try:
        return comparable(script_of(logs, in_bulk=in_bulk, **options))
    except BinlogError as error:
        return str(error).encode()


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_bulk_and_reference_write_the_same_script(log: Path) -> None:
    for options in _VARIANTS:
        in_bulk, by_row = (script_or_error([log], in_bulk=bulk, **options) for bulk in (True, False))
        assert in_bulk == by_row


@every_family
@pytest.mark.parametrize("key", ["id INT PRIMARY KEY", "id INT"], ids=["key", "no key"])
def test_values_of_every_type_are_the_same_in_bulk(shared: Server, database: str, family: Family, key: str) -> None:
    shared.query(f"CREATE DATABASE {database}")
    with logs_of(shared) as logs:
        creation = every_type(family, rows=60, seed=11).replace("id INT PRIMARY KEY", key)
        shared.run_sql(creation, f"--database={database}")
        before = tables_of(shared, database)
    with logs_of(shared) as changes:
        shared.run_sql(
            "UPDATE every_type SET dd = -dd, y = 0, c = NULL, d2 = -d2, tx = 'ł' WHERE id % 2 = 0;"
            "UPDATE every_type SET f = -0.0e0, id = id + 1000 WHERE id % 5 = 0;"
            "DELETE FROM every_type WHERE id % 3 = 0;",
            f"--database={database}",
            "--init-command=SET sql_mode = ''",
        )
    for log in (logs, changes):
        for options in _VARIANTS:
            in_bulk, by_row = (
                script_or_error(log, in_bulk=bulk, tables=f"{database}.*", **options) for bulk in (True, False)
            )
            assert in_bulk == by_row
    run_script(shared, script_of(changes, in_bulk=True, undo=True, tables=f"{database}.*"))
    assert tables_of(shared, database) == before


def test_filters_select_the_same_rows_in_bulk() -> None:
    from binspark.cli.demo import SHOP

    gtids = "4efb89a3-e0d3-11f1-9fc1-02fc00000001:60-158"
    for options in (
        {"tables": "shop.orders"},
        {"exclude_tables": "shop.orders", "operations": "insert,update"},
        {"include_gtids": gtids, "undo": True, "skip_statements": True},
        {"thread_id": 10, "start_position": "binlog.000002:4", "skip_statements": True},
        {"no_comments": True, "keep_gtids": True},
    ):
        logs = sorted(Path(SHOP, "mysql").glob("binlog.0*"))
        in_bulk, by_row = (comparable(script_of(logs, in_bulk=bulk, **options)) for bulk in (True, False))
        assert in_bulk == by_row
        assert in_bulk.count(b"BEGIN")
