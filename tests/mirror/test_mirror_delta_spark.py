"""Spark with Delta's own jar reads what the mirror wrote: every type, the columns of every version, and its cuts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from binspark.testing.servers import Family, Server
from tests.mirror.test_mirror_rows import create_orders
from tests.mirror.test_mirror_schemas import KEPT, alter
from tests.support.mirror.every_type import columns_of, every_type
from tests.support.mirror.live_mirrors import each_family, rows_of, run_mirror
from tools.delta_spark import DeltaSpark

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ROWS = 200


def table_of(lake: Path, name: str) -> str:
    return f"delta.`{lake.joinpath(*name.split('.'))}`"


def by_spark(delta_spark: DeltaSpark, table: str) -> list[dict[str, Any]]:
    return delta_spark.sql(f"SELECT * FROM {table}").rows


def plain(value: Any) -> Any:
    """Return a value as both readers have it: Spark's times are UTC without a zone, its bytes can be changed."""
    match value:
        case datetime():
            return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        case bytearray():
            return bytes(value)
        case dict():
            return {name: plain(part) for name, part in value.items()}
        case list():
            return [plain(part) for part in value]
    return value


def texts(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(repr({name: plain(value) for name, value in row.items()}) for row in rows)


@each_family
def test_spark_reads_every_type(
    shared: Server, family: Family, database: str, lake: Path, delta_spark: DeltaSpark
) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; USE {database}; {every_type(family, ROWS, seed=1)}")
    name = f"{database}.every_type"
    run_mirror(shared, lake, name)
    shared.run_sql(f"UPDATE {name} SET ti = 1 WHERE id % 3 = 0; DELETE FROM {name} WHERE id % 7 = 0")
    run_mirror(shared, lake, name)
    found = by_spark(delta_spark, table_of(lake, name))
    assert sorted(row["id"] for row in found) == [number for number in range(ROWS) if number % 7]
    assert list(found[0]) == ["id", *columns_of(family)]
    assert texts(found) == texts(rows_of(lake, name).to_pylist())


@each_family
@pytest.mark.parametrize("steps", KEPT)
def test_spark_reads_a_table_that_was_altered(
    shared: Server, database: str, lake: Path, steps: str, delta_spark: DeltaSpark
) -> None:
    shared.query("SET GLOBAL sql_mode = 'STRICT_TRANS_TABLES'")
    if "PRIMARY KEY (name" in steps or steps.endswith("DROP PRIMARY KEY"):
        steps = f"MODIFY name VARCHAR(20) NOT NULL DEFAULT 'n', {steps}"
    orders = alter(shared, lake, database, steps)
    found = by_spark(delta_spark, table_of(lake, orders))
    columns = ", ".join(f"`{column}`" for column in found[0])
    expected = shared.query(f"SELECT {columns} FROM {orders}")
    assert Counter(tuple(map(str, row.values())) for row in found) == Counter(tuple(map(str, row)) for row in expected)


@pytest.mark.mysql
def test_spark_reads_versions_from_before_a_schema_change(
    mysql: Server, database: str, lake: Path, delta_spark: DeltaSpark
) -> None:
    orders = create_orders(mysql, database, 100)
    run_mirror(mysql, lake, f"{database}.*")
    before = DeltaTable(lake.joinpath(*orders.split("."))).version()
    rows = mysql.query(f"SELECT id, name, amount FROM {orders}")
    mysql.query(
        f"ALTER TABLE {orders} RENAME COLUMN amount TO total, MODIFY id BIGINT, ADD kind INT NOT NULL DEFAULT 3"
    )
    mysql.query(f"DELETE FROM {orders} WHERE id > 50")
    run_mirror(mysql, lake, f"{database}.*")
    found = by_spark(delta_spark, f"{table_of(lake, orders)} VERSION AS OF {before}")
    assert Counter(map(repr, found)) == Counter(
        repr({"id": number, "name": name, "amount": amount}) for number, name, amount in rows
    )
    counted = delta_spark.sql(f"SELECT count(*) AS n, sum(kind) AS kinds FROM {table_of(lake, orders)}").rows
    assert counted == [{"n": 50, "kinds": 150}]


@pytest.mark.mysql
def test_spark_reads_all_tables_at_the_versions_of_a_cut(
    mysql: Server, database: str, lake: Path, delta_spark: DeltaSpark
) -> None:
    orders = create_orders(mysql, database, 100)
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"DELETE FROM {orders} WHERE id > 50")
    run_mirror(mysql, lake, f"{database}.*")
    (cut,) = delta_spark.sql(f"SELECT versions FROM delta.`{lake}/_binspark` ORDER BY number DESC LIMIT 1").rows
    (version,) = cut["versions"]
    assert (version["schema"], version["table"]) == (database, "orders")
    found = by_spark(delta_spark, f"{table_of(lake, orders)} VERSION AS OF {version['version']}")
    assert sorted(row["id"] for row in found) == sorted(row[0] for row in mysql.query(f"SELECT id FROM {orders}"))
