"""The servers' own log readers print the same rows for the recorded logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from binspark.values import Column
from tests.corpus.cases import CORPUS, log_id, witness
from tests.support.values.value_logs import is_mariadb, rows_in
from tests.support.values.witness_text import MARIADB_ESCAPES, MYSQL_ESCAPES, WitnessImage, spoken, witness_images

NOT_PRINTED = {"mysql": {"shapes", "places"}, "mariadb": {"squeezed"}}
"""MySQL's reader cannot print GEOMETRY and stops there; MariaDB's prints compressed columns as they are stored."""

MYSQL_LOGS = sorted(CORPUS.glob("mysql/types*/binlog.000001"))
MARIADB_LOGS = [
    path for path in sorted(CORPUS.glob("mariadb/types*/binlog.000001")) if "fractions" not in path.parent.name
]


def family(log: Path) -> str:
    return log.parent.parent.name


def without_members(column: Column) -> Column:
    """The readers print the numbers of ENUM and SET."""
    return replace(column, members=None)


def our_images(log: Path) -> list[WitnessImage]:
    escapes = MARIADB_ESCAPES if is_mariadb(log) else MYSQL_ESCAPES
    events = list(rows_in(log, mariadb=is_mariadb(log), reshape=without_members))
    return [
        WitnessImage(rows.schema.table, spoken(image, rows.schema.columns, escapes))
        for rows in events
        for image in rows.images
        if rows.schema.table not in NOT_PRINTED[family(log)]
    ]


def their_images(log: Path) -> list[WitnessImage]:
    return [image for image in witness_images(witness(log)) if image.table not in NOT_PRINTED[family(log)]]


@pytest.mark.parametrize("log", [*MYSQL_LOGS, *MARIADB_LOGS], ids=log_id)
def test_the_log_reader_of_the_server_prints_the_same_values(log: Path) -> None:
    theirs = their_images(log)
    assert len(theirs) > 5
    assert our_images(log) == theirs
