"""A cut log is read by the server's own tool, and replaying it gives the tables that are expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.testing.servers import Family, MariaDB, MySQL
from tests.support.replicas import reset_logs
from tests.support.servers import StartServer

pytestmark = [pytest.mark.timeout(180)]

WORKLOAD = """
CREATE DATABASE shop; USE shop;
CREATE TABLE orders (id INT PRIMARY KEY, item VARCHAR(50), price DECIMAL(8,2), created DATETIME(3));
CREATE TABLE visits (id INT PRIMARY KEY AUTO_INCREMENT, page VARCHAR(50));
CREATE TRIGGER counted AFTER INSERT ON orders FOR EACH ROW INSERT INTO visits (page) VALUES (NEW.item);
INSERT INTO orders VALUES (1, 'tea', 2.50, '2026-01-01 10:00:00.123'), (2, 'cup', 5, NULL), (3, 'pot', 20, NULL);
BEGIN; UPDATE orders SET price = price + 1; INSERT INTO visits (page) VALUES ('home'); COMMIT;
UPDATE orders, visits SET orders.item = 'mug', visits.page = 'mug' WHERE orders.id = 2 AND visits.id = 2;
DELETE FROM orders WHERE id = 1;
INSERT INTO visits (page) VALUES ('last');
"""
FAMILIES = [pytest.param(MySQL, marks=pytest.mark.mysql), pytest.param(MariaDB, marks=pytest.mark.mariadb)]


@pytest.mark.parametrize("family", FAMILIES)
def test_replaying_cut_logs_gives_the_expected_tables(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    options = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"} if family is MySQL else {}
    server = start_server(family, {"binlog-row-metadata": "FULL", **options})
    server.run_sql(WORKLOAD)
    server.query("FLUSH BINARY LOGS")
    orders, visits = (server.query(f"SELECT * FROM shop.{name} ORDER BY id") for name in ("orders", "visits"))
    log = tmp_path / "binlog.000001"
    log.write_bytes(server.log_files()[0].read_bytes())
    cuts = {
        "orders": ("--tables", "shop.orders"),
        "without": ("--exclude-tables", "shop.visits,shop.counted"),
        "where": ("--tables", "shop.orders", "--where", "id = 3"),
        "everything": (),
    }
    found = {}
    for name, arguments in cuts.items():
        new = tmp_path / f"{name}.000001"
        assert exit_code(["cut", str(log), "-o", str(new), *arguments]) == 0
        assert exit_code(["verify", str(new)]) == 0
        text = server.mysqlbinlog(new).decode()
        server.query("DROP DATABASE shop")
        reset_logs(server)
        if "--tables" in arguments:  # CREATE DATABASE is about no table
            server.run_sql("SET sql_log_bin=0; CREATE DATABASE shop")
        server.run_sql(text)
        tables = [row[0] for row in server.query("SHOW TABLES FROM shop")]
        found[name] = {table: server.query(f"SELECT * FROM shop.{table} ORDER BY id") for table in tables}
    assert found["orders"] == {"orders": orders}
    assert found["without"] == {"orders": orders}
    assert found["where"] == {"orders": [row for row in orders if row[0] == 3]}
    assert found["everything"] == {"orders": orders, "visits": visits}
