"""Statements that change rows without a word in the log: mirrored tables are copied again, and say why."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.testing.servers import Server
from tests.support.mirror.live_mirrors import each_family, each_format, run_mirror
from tests.support.mirror.tables import reached

pytestmark = pytest.mark.timeout(240)

TABLES = {
    "other_stored": "(id INT PRIMARY KEY, a INT, g INT AS (a * 2) STORED)",
    "other_virtual": "(id INT PRIMARY KEY, a INT, g INT AS (a * 2) VIRTUAL)",
    "other_input": "(id INT PRIMARY KEY, a VARCHAR(9), g INT AS (a = 'X')) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "other_zone": "(id INT PRIMARY KEY, a TIMESTAMP NULL, g VARCHAR(30) AS (CONCAT(a)) STORED)",
    "other_order": "(id INT PRIMARY KEY, a SET('a','b','c'))",
    "rounded": "(id INT PRIMARY KEY, a DOUBLE)",
    "without_sign": "(id INT PRIMARY KEY, a DECIMAL(6,2))",
    "renumbered": "(id INT PRIMARY KEY, a INT)",
    "numbered_anew": "(a INT NOT NULL, b INT NOT NULL)",
    "no_engine": "(id INT PRIMARY KEY) ENGINE = InnoDB",
    "some_partitions": "(id INT PRIMARY KEY) PARTITION BY RANGE (id)"
    " (PARTITION p0 VALUES LESS THAN (2), PARTITION p1 VALUES LESS THAN (9))",
    "year_default": "(id INT PRIMARY KEY)",
}
ROWS = {
    "other_stored": "(id, a) VALUES (1, 1), (2, 2)",
    "other_virtual": "(id, a) VALUES (1, 1), (2, 2)",
    "other_input": "(id, a) VALUES (1, 'x'), (2, 'X')",
    "other_zone": "(id, a) VALUES (1, '2024-01-01 00:00:00')",
    "other_order": "VALUES (1, 'a,c'), (2, 'b')",
    "rounded": "VALUES (1, 1.25), (2, -0.05)",
    "without_sign": "VALUES (1, -1.5), (2, 1.5)",
    "renumbered": "VALUES (0, 7), (5, 8)",
    "numbered_anew": "VALUES (0, 7), (0, 8), (5, 9)",
    "no_engine": "VALUES (1), (2)",
    "some_partitions": "VALUES (1), (3)",
    "year_default": "VALUES (1)",
}
ALTERS = {
    "other_stored": "MODIFY g INT AS (a * 3) STORED",
    "other_virtual": "MODIFY g INT AS (a * 3) VIRTUAL",
    "other_input": "MODIFY a VARCHAR(9) COLLATE utf8mb4_general_ci",
    "other_zone": "FORCE, ALGORITHM = COPY",
    "other_order": "MODIFY a SET('c','b','a')",
    "rounded": "MODIFY a DOUBLE(6,1)",
    "without_sign": "MODIFY a DECIMAL(6,2) UNSIGNED",
    "renumbered": "MODIFY id INT AUTO_INCREMENT",
    "numbered_anew": "MODIFY a INT AUTO_INCREMENT, ADD KEY (a)",
    "no_engine": "ENGINE = BLACKHOLE",
    "some_partitions": "TRUNCATE PARTITION p0",
    "year_default": "ADD y YEAR DEFAULT 24",
}
KEPT = (
    "CREATE UNIQUE INDEX k ON {d}.kept (id, a)",
    "OPTIMIZE TABLE {d}.kept",
    "ANALYZE TABLE {d}.kept",
    "REPAIR TABLE {d}.kept",
    "ALTER DATABASE {d} CHARACTER SET latin1",
    "ALTER TABLE {d}.kept ENGINE = InnoDB ROW_FORMAT = COMPACT, COMMENT 'x'",
    "ALTER TABLE {d}.kept ADD k VARCHAR(9) DEFAULT 'é', MODIFY id BIGINT AUTO_INCREMENT",
    "DROP INDEX k ON {d}.kept",
    "RENAME TABLE {d}.kept TO {d}.kept_too",
    "ALTER TABLE {d}.kept_too RENAME {d}.kept",
    "TRUNCATE TABLE {d}.emptied",
)

BLACKHOLE = {"mysql": "DO 0", "mariadb": "INSTALL PLUGIN IF NOT EXISTS blackhole SONAME 'ha_blackhole'"}


def differences(server: Server, lake: Path, kind: Format, database: str) -> list[str]:
    """Return how mirrored tables differ from those of the server."""
    patterns = TablePatterns(frozenset({f"{database}.*"}))
    report = check(reached(server), parse_target(str(lake), kind), patterns, CheckSettings(wait_seconds=0))
    return [] if report.is_equal else list(report.lines())


def create(server: Server, database: str) -> None:
    server.query(f"CREATE DATABASE {database} CHARACTER SET utf8mb4")
    statements = [f"CREATE TABLE {name} {columns}; INSERT INTO {name} {ROWS[name]}" for name, columns in TABLES.items()]
    statements += ["CREATE TABLE kept (id INT PRIMARY KEY AUTO_INCREMENT, a INT)", "CREATE TABLE emptied LIKE kept"]
    statements += [f"INSERT INTO {name} VALUES (0, 1), (5, 6)" for name in ("kept", "emptied")]
    server.run_sql(
        f"USE {database}; SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+05:00'; {'; '.join(statements)}"
    )


@each_family
@each_format
def test_tables_equal_their_source_after_statements_that_change_rows_that_the_log_does_not_contain(
    shared: Server, database: str, lake: Path, kind: Format, caplog: pytest.LogCaptureFixture
) -> None:
    shared.query(BLACKHOLE[shared.family.name])
    create(shared, database)
    run_mirror(shared, lake, f"{database}.*", kind)
    statements = [f"ALTER TABLE {database}.{name} {steps}" for name, steps in ALTERS.items()]
    statements += [statement.format(d=database) for statement in KEPT]
    shared.run_sql(f"SET sql_mode = '', time_zone = '+00:00'; {'; '.join(statements)}")
    shared.query(f"UPDATE {database}.rounded SET a = 7 WHERE id = 2")
    shared.query(f"INSERT INTO {database}.kept (a) VALUES (8)")
    with caplog.at_level(logging.WARNING, "binspark.mirror"):
        run_mirror(shared, lake, f"{database}.*", kind)
    assert differences(shared, lake, kind, database) == []
    copied = {record.args[0].table for record in caplog.records if "is copied again" in record.msg}  # type: ignore[union-attr,index]
    assert copied == set(TABLES)


@pytest.mark.mariadb
@each_format
def test_tables_equal_their_source_after_statements_that_only_mariadb_has(
    mariadb: Server, database: str, lake: Path, kind: Format
) -> None:
    mariadb.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE doubles (a INT, b INT);"
        "INSERT INTO doubles VALUES (1, 1), (1, 2), (2, 3); CREATE TABLE set_mode LIKE doubles;"
        "INSERT INTO set_mode VALUES (-1, 1); CREATE TABLE replaced LIKE doubles; INSERT INTO replaced VALUES (1, 1);"
        "CREATE SEQUENCE numbers"
    )
    run_mirror(mariadb, lake, f"{database}.*", kind)
    mariadb.run_sql(
        f"USE {database}; ALTER IGNORE TABLE doubles ADD UNIQUE (a);"
        "SET STATEMENT sql_mode = '' FOR ALTER TABLE set_mode MODIFY a INT UNSIGNED;"
        "CREATE OR REPLACE TABLE replaced (c INT PRIMARY KEY); INSERT INTO replaced VALUES (5);"
        "ALTER SEQUENCE numbers RESTART 50"
    )
    run_mirror(mariadb, lake, f"{database}.*", kind)
    assert differences(mariadb, lake, kind, database) == []
