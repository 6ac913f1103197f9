"""Logs made to order for tests of changed rows."""

from __future__ import annotations

from pathlib import Path

from binspark.testing.builder import BinlogBuilder, ServerKind, delete, insert, integer, table, update, varchar

ORDERS = table("shop.orders", integer("id"), varchar("note", 40))
CUSTOMERS = table("crm.customers", integer("id"), varchar("name", 40))
TRANSACTIONS = 8


def busy_log(folder: Path, server: ServerKind, *, compress: bool) -> Path:
    """Write a log of transactions that change two tables each, every one a second later, by two servers in turn."""
    log = BinlogBuilder(server)
    for number in range(TRANSACTIONS):
        log.timestamp += 1
        log.server_id = 1 + number % 2
        log.transaction(
            insert(CUSTOMERS, (number, "new"), (number + 100, None)),
            insert(ORDERS, (number, "first")),
            update(CUSTOMERS, ((number, "new"), (number, "known"))),
            delete(ORDERS, (number, "first")),
            compress=True if compress else None,
        )
    log.stop()
    return log.save(folder)[0]
