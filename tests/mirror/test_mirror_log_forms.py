"""The forms that a session or a server gives to the rows in its log: the mirror is the same, whichever comes next."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.errors import Purged
from binspark.testing.servers import Family, MariaDB, MySQL
from binspark.testing.servers import Server as RunningServer
from tests.support.mirror.live_mirrors import assert_equal, run_mirror
from tests.support.servers import StartServer, each_family

pytestmark = pytest.mark.timeout(180)

FORMS = {
    "mysql": (
        "binlog_row_image = MINIMAL",
        "binlog_transaction_compression = ON",
        "binlog_row_image = NOBLOB, binlog_rows_query_log_events = ON",
        "binlog_row_value_options = PARTIAL_JSON",
        "binlog_row_image = FULL",
        "binlog_transaction_compression = OFF, binlog_row_value_options = ''",
    ),
    "mariadb": (
        "binlog_row_image = MINIMAL",
        "GLOBAL log_bin_compress = ON, GLOBAL log_bin_compress_min_len = 10",
        "binlog_row_image = NOBLOB",
        "binlog_row_image = FULL, binlog_annotate_row_events = OFF",
        "GLOBAL log_bin_compress = OFF",
    ),
}
"""Settings of sessions, or of the server, that are made one after the other."""

CHANGES = (
    "INSERT INTO forms VALUES ({n}, {n}, REPEAT('long ', 90), '{{\"a\": {n}, \"b\": [1, 2]}}');"
    "UPDATE forms SET document = JSON_SET(document, '$.a', {n}, '$.c{n}', 'added') WHERE id <= 2;"
    "UPDATE forms SET number = number + 1 WHERE id = 1; UPDATE forms SET id = 100 + {n} WHERE id = {n};"
    "DELETE FROM forms WHERE id = 200 + {n};"
)


@each_family
def test_rows_are_the_same_in_whatever_form_they_are_logged(shared: RunningServer, database: str, lake: Path) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE forms (id INT PRIMARY KEY, number INT, text TEXT, document JSON);"
        + "".join(
            f"INSERT INTO forms VALUES ({number}, 0, 'first', '{{\"a\": 0, \"b\": {{}}}}');"
            for number in (1, 2, *range(200, 209))
        )
    )
    run_mirror(shared, lake, f"{database}.*")
    steps = (f"SET {settings}; {CHANGES.format(n=n)}" for n, settings in enumerate(FORMS[shared.family.name], 3))
    shared.run_sql(f"USE {database}; {''.join(steps)}")
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, f"{database}.forms")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "reset"),
    [
        pytest.param(MySQL, "RESET BINARY LOGS AND GTIDS", marks=pytest.mark.mysql, id="mysql"),
        pytest.param(MariaDB, "RESET MASTER", marks=pytest.mark.mariadb, id="mariadb"),
    ],
)
def test_logs_that_were_reset_are_an_error_that_says_what_to_do(
    start_server: StartServer, family: Family, reset: str, lake: Path
) -> None:
    server = start_server(family)
    server.run_sql(
        "CREATE DATABASE shop; USE shop; CREATE TABLE orders (id INT PRIMARY KEY); INSERT INTO orders VALUES (1)"
    )
    run_mirror(server, lake, "shop.*")
    server.query(reset)
    server.query("INSERT INTO shop.orders VALUES (2)")
    with pytest.raises(Purged, match=r"--resnapshot shop\.orders"):
        run_mirror(server, lake, "shop.*")
    run_mirror(server, lake, "shop.*", resnapshot=("shop.orders",))
    assert_equal(server, lake, "shop.orders")
