"""Changes that were logged as statements: the log does not contain their rows, and the mirror does not lose them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from binspark.errors import SchemaError, Server
from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings
from binspark.mirror.source.change_source import ArchiveChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from binspark.testing.servers import MariaDB
from binspark.testing.servers import Server as RunningServer
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal, run_mirror
from tests.support.servers import StartServer, every_family

pytestmark = pytest.mark.timeout(180)

AS_STATEMENT = "SET SESSION binlog_format = STATEMENT; "


@every_family
def test_a_table_that_a_statement_changed_is_copied_again(
    shared: RunningServer, database: str, lake: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    orders, other = create_orders(shared, database), f"{database}.other"
    shared.query(f"CREATE TABLE {other} (id INT PRIMARY KEY)")
    run_mirror(shared, lake, f"{database}.*")
    shared.run_sql(
        f"INSERT INTO {other} VALUES (1); {AS_STATEMENT} USE {database};"
        f"/* from the application */ UPDATE orders SET amount = amount + 1 WHERE id < 9;"
        f"BEGIN; DELETE FROM /* all */ {orders} WHERE id > 490; COMMIT;"
        f"SET SESSION binlog_format = ROW; INSERT INTO {orders} VALUES (600, 'last', 1); INSERT INTO {other} VALUES (2)"
    )
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, orders, other)
    copied = [record.getMessage() for record in caplog.records if "copied again" in record.getMessage()]
    assert {line.split()[0] for line in copied} == {orders}
    assert "logged without the rows that it changes (binlog_format)" in copied[0]


@pytest.mark.mariadb
def test_a_server_that_logs_statements_is_refused(start_server: StartServer, lake: Path) -> None:
    server = start_server(MariaDB, {"binlog-format": "MIXED"})
    create_orders(server, "shop", 5)
    with pytest.raises(Server, match=r"binlog_format is MIXED, expected ROW: .*SET GLOBAL binlog_format = ROW"):
        run_mirror(server, lake, "shop.*")
    server.query("SET GLOBAL binlog_format = ROW")
    run_mirror(server, lake, "shop.*")
    assert_equal(server, lake, "shop.orders")


@pytest.mark.parametrize("statement", ["UPDATE shop.orders SET id = 7", "DELETE FROM crm.contacts"])
def test_of_logs_alone_a_statement_about_a_mirrored_table_is_an_error(
    tmp_path: Path, lake: Path, statement: str
) -> None:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.orders (id INT PRIMARY KEY)")
    builder.transaction(insert(table("shop.orders", integer("id")), (1,)))
    builder.transaction(statement)
    (tmp_path / "logs").mkdir()
    builder.save(tmp_path / "logs")
    patterns = TablePatterns(frozenset({"shop.*"}))
    source = ArchiveChanges((str(tmp_path / "logs"),), patterns)
    mirror = Mirror(source, parse_target(str(lake), Format.DELTA), patterns, MirrorSettings(once=True))
    if "shop" in statement:
        with pytest.raises(SchemaError, match=r"shop\.orders has to be copied again"):
            mirror.run()
    else:
        mirror.run()
