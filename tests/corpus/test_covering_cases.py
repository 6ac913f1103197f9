"""The cases of the quick run have all that the recorded logs have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from binspark.event import Event, GtidEvent, MariadbGtidEvent, Query, Rows, TableMap
from binspark.files import read_events
from tests.corpus.cases import COVERING_CASES, case_of, corpus_logs

FAMILIES = ("mysql", "mariadb")


def features(log: Path) -> Iterator[tuple[Any, ...]]:
    """Yield what readers look at in a log."""
    yield "relay log", log.name.startswith("relay")
    for event in read_events(log):
        yield "event", event.type_code, event.frame.inner is not None
        yield "checksum", event.frame.format.checksum
        yield from body_features(event)


def body_features(event: Event) -> Iterator[tuple[Any, ...]]:
    match event.body:
        case Query(status_vars=variables):
            yield from (("status variable", variable.code) for variable in variables)
        case TableMap() as table:
            yield from (("column", code) for code in table.column_types)
            yield "metadata", tuple(field.kind for field in table.metadata)
        case Rows() as rows:
            complete = tuple(bits is None or set(bits[:-1]) <= {0xFF} for bits in (rows.columns, rows.columns_after))
            yield "rows", rows.operation, complete, bool(rows.extra_info), rows.flags, rows.compressed is not None
        case GtidEvent(gtid_flags=flags) | MariadbGtidEvent(gtid_flags=flags):
            yield "GTID", flags


@pytest.mark.parametrize("family", FAMILIES)
def test_covering_cases_have_all_that_recorded_logs_have(family: str) -> None:
    found = {log: set(features(log)) for log in corpus_logs(family)}
    covered = set().union(*(of_log for log, of_log in found.items() if case_of(log) in COVERING_CASES))
    assert covered == set().union(*found.values())


def test_covering_cases_exist() -> None:
    cases = {case_of(log) for log in corpus_logs(encrypted=True, truncated=True)}
    assert cases.issuperset(COVERING_CASES)
    assert len(COVERING_CASES) < len(cases) / 2
