"""Logs for benchmarks, written by a real server."""

from __future__ import annotations

from typing import Any

from binspark.testing.servers import Server

# Nothing waits for the disk: what is measured is reading.
FAST_SERVER = {
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "sync-binlog": "0",
    "innodb-flush-log-at-trx-commit": "0",
    "max-binlog-size": "1G",
}


def play_oltp(server: Server, transactions: int) -> None:
    """Run single-row transactions on a table of eight columns: five events each."""
    server.query("CREATE DATABASE bench")
    connection = server.connect(database="bench", autocommit=True)
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE account (id INT PRIMARY KEY AUTO_INCREMENT, owner VARCHAR(60), balance DECIMAL(12,2), "
            "opened DATE, seen DATETIME(6), flags INT UNSIGNED, rate DOUBLE, note VARCHAR(200))"
        )
        for number in range(transactions):
            _one_transaction(cursor, number)


def _one_transaction(cursor: Any, number: int) -> None:
    if number % 4 == 3:
        cursor.execute("UPDATE account SET balance = balance + 1, seen = NOW(6) WHERE id = %s", (number // 2,))
    else:
        cursor.execute(
            "INSERT INTO account (owner, balance, opened, seen, flags, rate, note) "
            "VALUES (%s, %s, '2026-11-15', NOW(6), %s, %s, %s)",
            (f"owner {number}", f"{number}.50", number * 7, number / 3, "x" * (number % 120)),
        )
