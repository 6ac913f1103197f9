"""`python -m tools.record_demo`: run the workload of a small shop on both servers and keep the logs.

The workload: customers order, stock goes down, a column is added to orders while the shop is open, and then somebody
who meant to remove one cancelled order forgets half of the WHERE clause. The logs rotate in between.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

from binspark.testing.servers import Family, MariaDB, MySQL, Server, start

TARGET = Path(__file__).parents[2] / "src" / "binspark" / "data" / "shop"
CUSTOMERS = ("Ana Lima", "Björn Åkesson", "Chloé Martin", "Dmitri Orlov", "Eleni Pappas", "Fatou Diop", "Goro Sato")
PRODUCTS = (("lamp", "24.90"), ("chair", "89.00"), ("desk", "249.50"), ("shelf", "59.95"), ("rug", "120.00"))
ORDERS_BEFORE_NOON, ORDERS_AFTER_NOON = 60, 90

SCHEMA = """
CREATE DATABASE shop CHARACTER SET utf8mb4;
USE shop;
CREATE TABLE customers (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(100) NOT NULL, since DATE NOT NULL);
CREATE TABLE products (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) NOT NULL, price DECIMAL(8,2) NOT NULL,
  stock INT UNSIGNED NOT NULL, tags SET('new','sale','heavy') NOT NULL DEFAULT '');
CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, customer_id INT NOT NULL,
  status ENUM('open','paid','sent','cancelled') NOT NULL DEFAULT 'open', total DECIMAL(10,2) NOT NULL,
  placed_at DATETIME(3) NOT NULL, note TEXT);
CREATE TABLE order_lines (order_id BIGINT UNSIGNED NOT NULL, product_id INT NOT NULL, quantity SMALLINT NOT NULL,
  PRIMARY KEY (order_id, product_id));
"""

OPTIONS: dict[Family, dict[str, str]] = {
    MySQL: {"binlog-row-metadata": "FULL", "binlog-rows-query-log-events": "ON", "gtid-mode": "ON"}
    | {"enforce-gtid-consistency": "ON"},
    MariaDB: {"binlog-row-metadata": "FULL", "binlog-format": "ROW", "binlog-annotate-row-events": "ON"},
}


def main() -> None:
    for family, folder in ((MySQL, "mysql"), (MariaDB, "mariadb")):
        with start(family, OPTIONS[family]) as server:
            run_day(server)
            server.stop()
            keep(server, TARGET / folder)
            print(f"{folder}: {server.version}")


def run_day(server: Server) -> None:
    """Run the workload."""
    dice = random.Random(20261115)
    server.run_sql(SCHEMA, "--default-character-set=utf8mb4")
    connection = server.connect(database="shop", charset="utf8mb4", autocommit=False)
    with connection, connection.cursor() as cursor:
        open_the_shop(cursor)
        connection.commit()
        for _ in range(ORDERS_BEFORE_NOON):
            place_order(cursor, dice)
            connection.commit()
        cursor.execute("FLUSH BINARY LOGS")
        cursor.execute("ALTER TABLE orders ADD COLUMN channel VARCHAR(10) NOT NULL DEFAULT 'web' AFTER status")
        for _ in range(ORDERS_AFTER_NOON):
            place_order(cursor, dice)
            move_an_order(cursor, dice)
            connection.commit()
        cursor.execute("FLUSH BINARY LOGS")
        cursor.execute("DELETE FROM orders WHERE status = 'cancelled' OR id > 0 /* ticket 4711: remove order 42 */")
        connection.commit()
        place_order(cursor, dice)
        connection.commit()


def open_the_shop(cursor: Any) -> None:
    cursor.executemany("INSERT INTO customers (name, since) VALUES (%s, '2026-01-15')", CUSTOMERS)
    cursor.executemany("INSERT INTO products (name, price, stock, tags) VALUES (%s, %s, 200, 'new')", PRODUCTS)


def place_order(cursor: Any, dice: random.Random) -> None:
    lines = {dice.randrange(len(PRODUCTS)) + 1: dice.randint(1, 3) for _ in range(dice.randint(1, 3))}
    total = sum(float(PRODUCTS[product - 1][1]) * quantity for product, quantity in lines.items())
    customer = dice.randrange(len(CUSTOMERS)) + 1
    note = dice.choice([None, None, "ring twice", "a gift — please wrap"])
    cursor.execute(
        "INSERT INTO orders (customer_id, total, placed_at, note) VALUES (%s, %s, NOW(3), %s)",
        (customer, f"{total:.2f}", note),
    )
    order = cursor.lastrowid
    cursor.executemany(
        "INSERT INTO order_lines VALUES (%s, %s, %s)", [(order, product, n) for product, n in lines.items()]
    )
    for product, quantity in lines.items():
        cursor.execute("UPDATE products SET stock = stock - %s WHERE id = %s", (quantity, product))


def move_an_order(cursor: Any, dice: random.Random) -> None:
    status = dice.choice(["paid", "paid", "sent", "cancelled"])
    cursor.execute("UPDATE orders SET status = %s WHERE status = 'open' ORDER BY id LIMIT 1", (status,))


def keep(server: Server, folder: Path) -> None:
    """Copy the logs and their index, without paths of this machine."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    logs = server.log_files()
    for log in logs:
        shutil.copyfile(log, folder / log.name)
    (folder / "binlog.index").write_text("".join(f"./{log.name}\n" for log in logs))


if __name__ == "__main__":
    main()
