"""Tables that keep their old rows (MariaDB, WITH SYSTEM VERSIONING) are mirrored with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format, parse_target
from binspark.schema.table import TableName
from binspark.testing.servers import Family, MariaDB, Server
from tests.support.mirror.copies import checked
from tests.support.mirror.live_mirrors import rows_of, run_mirror


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_old_rows_are_mirrored_as_the_server_has_them(
    shared: Server, database: str, lake: Path, family: Family
) -> None:
    name = f"{database}.prices"
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {name} (id INT PRIMARY KEY, price INT) WITH SYSTEM VERSIONING;"
        f"INSERT INTO {name} VALUES (1, 10), (2, 20), (3, 30); UPDATE {name} SET price = 11 WHERE id = 1"
    )
    for statement in (
        "SELECT 1",
        f"UPDATE {name} SET price = price + 1; DELETE FROM {name} WHERE id = 2; INSERT INTO {name} VALUES (2, 99)",
        f"UPDATE {name} SET id = 7 WHERE id = 3; REPLACE INTO {name} VALUES (1, 0)",
    ):
        shared.run_sql(statement)
        run_mirror(shared, lake, name)
        found = [
            (row["id"], row["price"], row["row_start"].timestamp(), row["row_end"].timestamp())
            for row in rows_of(lake, name).to_pylist()
        ]
        columns = "id, price, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end)"
        expected = shared.query(f"SELECT {columns} FROM {name} FOR SYSTEM_TIME ALL")
        assert sorted(found) == sorted((id_, price, float(start), float(end)) for id_, price, start, end in expected)
    report = checked(shared, parse_target(str(lake), Format.DELTA), TableName(database, "prices"))
    assert report.is_equal, report
    assert report.rows == len(found)
