"""Mirrors in tests: run one, and compare what others read of its tables with what the server has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.source.change_source import ServerChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.monitoring.status import Status
from binspark.testing.servers import Server
from tests.support.mirror.tables import reached
from tests.support.servers import each_family as each_family

FORMATS = (Format.DELTA, Format.ICEBERG)
"""The formats that are written without a JVM."""

each_format = pytest.mark.parametrize("kind", [Format.DELTA, pytest.param(Format.ICEBERG, marks=pytest.mark.slow)])
"""Both formats, one of them in the quick tests."""


def make_mirror(
    server: Server,
    lake: Path,
    tables: str,
    kind: Format = Format.DELTA,
    checkpoint: Callable[[str], None] = lambda _step: None,
    spark: Any = None,
    **settings: Any,
) -> Mirror:
    """Return a mirror of tables of a server that ends when it has what the server has now."""
    patterns = TablePatterns(frozenset({tables}))
    source = ServerChanges(reached(server), patterns)
    chosen = {"once": True, "retry_attempts": 0, "clean_up_seconds": 0.0, **settings}
    target = parse_target(str(lake), kind, spark=spark)
    return Mirror(source, target, patterns, MirrorSettings(**chosen), checkpoint=checkpoint)


def run_mirror(server: Server, lake: Path, tables: str, kind: Format = Format.DELTA, **settings: Any) -> Status:
    """Bring a mirror up to date with a server."""
    return make_mirror(server, lake, tables, kind, **settings).run()


def rows_of(lake: Path, name: str, kind: Format = Format.DELTA) -> pa.Table:
    """Return the rows of a mirrored table as the library of its format reads them."""
    if kind is not Format.ICEBERG:
        from deltalake import DeltaTable

        return pa.table(DeltaTable(str(lake.joinpath(*name.split(".")))).to_pyarrow_table())
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("binspark", uri=f"sqlite:///{lake}/catalog.db")
    try:
        return catalog.load_table(tuple(name.split("."))).scan().to_arrow()
    finally:
        catalog.close()


def stored(lake: Path, name: str, kind: Format = Format.DELTA) -> Counter[tuple[str, ...]]:
    """Return the rows of a mirrored table as texts, and how often each is there."""
    return Counter(tuple(map(_text, row.values())) for row in rows_of(lake, name, kind).to_pylist())


def expected(server: Server, lake: Path, name: str, kind: Format = Format.DELTA) -> Counter[tuple[str, ...]]:
    """Return the rows that the server has, in the order of the mirror's columns."""
    columns = ", ".join(f"`{column}`" for column in rows_of(lake, name, kind).column_names)
    quoted = ".".join(f"`{part}`" for part in name.split("."))
    return Counter(tuple(map(_text, row)) for row in server.query(f"SELECT {columns} FROM {quoted}"))


def assert_equal(server: Server, lake: Path, *names: str, kind: Format = Format.DELTA) -> None:
    """Check that mirrored tables have the rows of the server's, and its columns, and that a check agrees."""
    for name in names:
        schema, table = name.split(".")
        sql = "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
        columns = {row[0] for row in server.query(sql, (schema, table))}
        assert set(rows_of(lake, name, kind).column_names) == columns
        assert stored(lake, name, kind) == expected(server, lake, name, kind)
    chosen = TablePatterns(frozenset(names))
    report = check(reached(server), parse_target(str(lake), kind), chosen, CheckSettings(wait_seconds=0))
    assert report.is_equal, "\n".join(report.lines())


def _text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
