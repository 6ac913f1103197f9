"""The recorded logs: every table map agrees with the DDL before it, and has its names."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from binspark.files import read_events
from binspark.schema import SchemaHistory, TableSchema
from tests.corpus.cases import case_of, corpus_logs
from tests.support.schema.schema_logs import mapped_schemas

CASES = [list(logs) for _, logs in groupby(corpus_logs(), key=case_of)]


def schemas_of(case: str) -> list[TableSchema]:
    logs = [str(log) for log in corpus_logs() if case_of(log) == case]
    return mapped_schemas(read_events(logs), SchemaHistory())


@pytest.mark.parametrize("logs", CASES, ids=lambda logs: case_of(logs[0]))
def test_ddl_and_table_maps_of_a_log_agree(logs: list[Path]) -> None:
    history = SchemaHistory()
    schemas = mapped_schemas(read_events([str(log) for log in logs]), history)
    assert history.unreadable == []
    assert [schema.name for schema in schemas if None in {column.name for column in schema.columns}] == []


@pytest.mark.parametrize(
    ("family", "little", "much"),
    [("mysql", "types-minimal", "types"), ("mariadb", "types-minimal", "types")],
)
def test_minimal_metadata_and_ddl_give_the_schema_of_full_metadata(family: str, little: str, much: str) -> None:
    assert schemas_of(f"{family}/{little}") == schemas_of(f"{family}/{much}")


def test_fractional_digits_of_old_times_come_from_ddl() -> None:
    schema = schemas_of("mariadb/types-old-temporal-fractions")[0]
    assert {column.scale for column in schema.columns} > {0, 3, 6}
