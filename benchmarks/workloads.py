"""Logs for benchmarks, written by a real server.

Every workload is a loop inside the server (a stored procedure), so that a client does not slow it down. Tables, their
first rows and the procedures are created with logging off: a log contains only the changes that are measured, and no
column names, which is the server's default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from binspark.testing.servers import Server

# The server does not wait for the disk: only reading is measured.
FAST_SERVER = {
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "sync-binlog": "0",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-buffer-pool-size": "512M",
    "innodb-redo-log-capacity": "512M",
    "max-binlog-size": "1G",
}

_NUMBERS = (
    "CREATE TABLE IF NOT EXISTS numbers (i INT PRIMARY KEY)",
    "SET cte_max_recursion_depth = 10000",
    "INSERT IGNORE INTO numbers WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
    "SELECT i FROM n",
)
_LOOP = """
CREATE PROCEDURE play(IN turns INT)
BEGIN
    DECLARE turn INT DEFAULT 0;
    WHILE turn < turns DO
        {statement};
        SET turn = turn + 1;
    END WHILE;
END
"""

_ACCOUNT = (
    "CREATE TABLE account (id INT PRIMARY KEY AUTO_INCREMENT, owner VARCHAR(60), balance DECIMAL(12,2), "
    "opened DATE, seen DATETIME(6), flags INT UNSIGNED, rate DOUBLE, note VARCHAR(200))"
)
_PLAY_ACCOUNT = """
IF turn % 4 = 3 THEN
    UPDATE account SET balance = balance + 1, seen = NOW(6) WHERE id = turn DIV 2;
ELSE
    INSERT INTO account (owner, balance, opened, seen, flags, rate, note)
    VALUES (CONCAT('owner ', turn), turn + 0.5, '2026-11-15', NOW(6), turn * 7, turn / 3, REPEAT('x', turn % 120));
END IF
"""

_ORDERS = (
    "CREATE TABLE orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, customer INT UNSIGNED, amount DECIMAL(12,2), "
    "placed DATETIME(6), state TINYINT, name VARCHAR(60), street VARCHAR(120), note VARCHAR(255))"
)
_FILL_ORDERS = """
INSERT INTO orders (customer, amount, placed, state, name, street, note)
SELECT i * 7919 + turn, (i * 31 + turn) % 1000000 / 100, '2026-11-15 09:00:00' + INTERVAL i * 997 + turn MICROSECOND,
       i % 7, CONCAT('customer number ', i * 7919 + turn),
       CONCAT(i % 400, ' long street, town of ', LEFT(SHA2(i % 5000, 224), 32)),
       CONCAT('order of ', i, ' parts, packed in box ', turn, ', ', LEFT(SHA2(i + turn, 224), 40),
              ', to be left at the door of the neighbours on the left')
FROM numbers
"""
_TOUCH_ORDERS = """
UPDATE orders SET amount = amount + 1, state = (state + 1) % 7, note = CONCAT(LEFT(note, 90), ' touched ', turn)
WHERE id % 5 = turn % 5
"""

_SALES = (
    "CREATE TABLE sales (id BIGINT PRIMARY KEY AUTO_INCREMENT, customer BIGINT, state INT, quantity INT, rate DOUBLE, "
    "name VARCHAR(40), city VARCHAR(40), note VARCHAR(80), amount DECIMAL(18,4), placed TIMESTAMP(6) NULL)"
)
_FILL_SALES = """
INSERT INTO sales (customer, state, quantity, rate, name, city, note, amount, placed)
SELECT i * 7919 + turn, i % 7, i % 100, i / 3, CONCAT('customer ', i * 31 + turn), CONCAT('city ', i % 500),
       CONCAT('parcel ', LEFT(SHA2(i + turn, 224), 20)), (i * 31 + turn) / 100,
       '2026-11-15 09:00:00' + INTERVAL i * 997 + turn MICROSECOND
FROM numbers
"""

_DOCUMENTS = "CREATE TABLE documents (id BIGINT PRIMARY KEY AUTO_INCREMENT, doc JSON)"
_FILL_DOCUMENTS = """
INSERT INTO documents (doc)
SELECT JSON_OBJECT('id', i * 1000 + turn, 'name', CONCAT('article ', i), 'price', i * 1.25, 'stock', i % 100,
                   'active', i % 2 = 0, 'removed', NULL, 'tags', JSON_ARRAY('new', 'small', CONCAT('group ', i % 50)),
                   'size', JSON_OBJECT('width', i % 300, 'height', i % 200, 'unit', 'mm'),
                   'text', CONCAT('made in ', LEFT(SHA2(i % 3000, 224), 32), ', sold in many colours'),
                   'seen', '2026-11-15T09:00:00')
FROM numbers
"""

_WIDE_KINDS = (
    ["INT"] * 40
    + ["TINYINT"] * 30
    + ["SMALLINT UNSIGNED"] * 20
    + ["BIGINT"] * 9
    + ["VARCHAR(12)"] * 10
    + ["DECIMAL(8,2)"] * 5
    + ["DATE"] * 5
)
_WIDE_VALUES = {
    "INT": "IF(i % {n} = 0, NULL, i * {n} + turn)",
    "TINYINT": "(i + {n}) % 100",
    "SMALLINT UNSIGNED": "(i * {n}) % 60000",
    "BIGINT": "i * 1000003 + {n}",
    "VARCHAR(12)": "CONCAT('v', i % 10000)",
    "DECIMAL(8,2)": "(i + {n}) / 4",
    "DATE": "'2020-01-01' + INTERVAL i % 2000 DAY",
}


@dataclass(frozen=True, slots=True)
class Workload:
    """A kind of log, and how to write one.

    turn          the statement that the server repeats; its variable `turn` counts from 0
    bytes_a_turn  about how many bytes one turn adds to a log, before compression
    session       a setting of the session that writes
    fill          a statement that is executed five times before, to insert rows
    part          which part of the requested size to write, for logs that some reader reads very slowly
    json_column   the number of the JSON column; -1 if there is none
    """

    name: str
    about: str
    table: str
    turn: str
    bytes_a_turn: int
    session: str = "SET @nothing = 0"
    fill: str = ""
    part: float = 1.0
    json_column: int = -1

    def turns(self, megabytes: float) -> int:
        """Return the number of turns for a log of this size."""
        return max(1, round(self.part * megabytes * 1e6 / self.bytes_a_turn))

    def play(self, server: Server, turns: int) -> list[Path]:
        """Let a server write logs that contain only these changes; return their paths."""
        server.query("CREATE DATABASE bench")
        logs_before = len(server.log_files())
        with server.connect(database="bench") as connection, connection.cursor() as cursor:
            for statement in ("SET sql_log_bin = 0", *_NUMBERS, self.table, _LOOP.format(statement=self.turn)):
                cursor.execute(statement)
            for turn in range(5 if self.fill else 0):
                cursor.execute(self.fill.replace("turn", str(turn)))
            for statement in ("FLUSH BINARY LOGS", "SET sql_log_bin = 1", self.session):
                cursor.execute(statement)
            cursor.execute("CALL play(%s)", (turns,))
            cursor.execute("FLUSH BINARY LOGS")
        return server.log_files()[logs_before:-1]


def _wide_table() -> str:
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(_WIDE_KINDS, 1))
    return f"CREATE TABLE wide (id INT PRIMARY KEY AUTO_INCREMENT, {columns})"


def _fill_wide() -> str:
    names = ", ".join(f"c{number}" for number in range(1, len(_WIDE_KINDS) + 1))
    values = ", ".join(_WIDE_VALUES[kind].format(n=number) for number, kind in enumerate(_WIDE_KINDS, 1))
    return f"INSERT INTO wide ({names}) SELECT {values} FROM numbers"


BULK = Workload("bulk", "inserts of 10,000 rows, 8 columns", _ORDERS, _FILL_ORDERS, 2_480_000)
OLTP = Workload("oltp", "transactions of one row, five events each", _ACCOUNT, _PLAY_ACCOUNT, 440)
UPDATE = Workload("update", "updates, both images, 8 columns", _ORDERS, _TOUCH_ORDERS, 4_800_000, fill=_FILL_ORDERS)
WIDE = Workload("wide", "inserts of 10,000 rows, 120 columns", _wide_table(), _fill_wide(), 4_000_000)
JSON = Workload(
    "json",
    "inserts of JSON documents of about 300 bytes",
    _DOCUMENTS,
    _FILL_DOCUMENTS,
    3_180_000,
    part=0.25,
    json_column=1,
)
COMPRESSED = replace(
    BULK,
    name="compressed",
    about="the inserts of bulk, each transaction compressed (zstd)",
    session="SET binlog_transaction_compression = ON",
)
SALES = Workload("sales", "inserts of 10,000 rows, 10 columns", _SALES, _FILL_SALES, 1_130_000)
WORKLOADS = (BULK, OLTP, UPDATE, WIDE, JSON, COMPRESSED)


def one_transaction(megabytes: float) -> Workload:
    """Return a workload that writes the rows of `bulk` in one statement of about this size, in one turn."""
    every_turn = f"CROSS JOIN (SELECT i AS k FROM numbers WHERE i <= {BULK.turns(megabytes)}) AS turns"
    statement = re.sub(r"\bturn\b", "k", _FILL_ORDERS) + every_turn
    return replace(BULK, name="one transaction", about="all rows in one statement", turn=statement)


def play_oltp(server: Server, transactions: int) -> Path:
    """Execute single-row transactions on a table of eight columns, five events each; return the log."""
    return OLTP.play(server, transactions)[0]
