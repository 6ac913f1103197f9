"""A random workload of a MySQL server: statements of every kind, in sessions with every setting that a log has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from pymysql.cursors import Cursor
from pymysql.err import MySQLError

from binspark.testing.servers import Server

TYPES = (
    "TINYINT", "SMALLINT UNSIGNED", "MEDIUMINT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED", "DECIMAL(20,6)",
    "DECIMAL(5,0) UNSIGNED", "FLOAT", "DOUBLE", "BIT(11)", "DATE", "TIME(3)", "DATETIME(6)", "DATETIME",
    "TIMESTAMP(2) NULL",
    "YEAR", "CHAR(20)", "CHAR(255) CHARACTER SET utf8mb4", "BINARY(7)", "VARCHAR(40) CHARACTER SET latin1",
    "VARCHAR(300)", "VARBINARY(20)", "TINYTEXT", "TEXT CHARACTER SET utf8mb3", "MEDIUMBLOB", "LONGTEXT",
    r"ENUM('a','it''s','ü','back\\slash','tab\tnew\n')", "SET('x','y','z')", "JSON", "VECTOR(4)",
)  # fmt: skip
NUMBERS = (
    "0",
    "1",
    "-1",
    "127",
    "65535",
    "-8388608",
    "4294967295",
    "-9223372036854775808",
    "3.14159",
    "1e300",
    "-0.001",
)
TEXTS = (
    "''",
    "'plain'",
    "'quo''te'",
    r"'back\\slash'",
    "'two\nlines\ttab'",
    "'ü€😀'",
    "REPEAT('long ', 60)",
    "x'00ff1f7f'",
)
DATES = (
    "'2026-11-16'",
    "'1000-01-01 00:00:00'",
    "'2038-01-19 03:14:07.999999'",
    "NOW(6)",
    "'-838:59:59.123'",
    "'12:34:56.5'",
)
DOCUMENTS = (
    """'{"a": 1, "b": [true, null, "x"], "c": {"d": 1.5e10}}'""", "'[]'", "'\"text\"'", "'12345678901'",
    "JSON_OBJECT('t', NOW(6), 'd', CAST(1.50 AS DECIMAL(5,2)), 'o', x'0102')",
)  # fmt: skip
SETTINGS = (
    "sql_mode = 'ANSI_QUOTES'", "sql_mode = 'NO_BACKSLASH_ESCAPES'", "sql_mode = ''", "sql_mode = DEFAULT",
    "time_zone = '+05:30'", "time_zone = DEFAULT", "lc_time_names = 'de_DE'", "lc_time_names = DEFAULT",
    "foreign_key_checks = 0", "foreign_key_checks = 1", "unique_checks = 0", "unique_checks = 1",
    "auto_increment_increment = 3, auto_increment_offset = 2",
    "auto_increment_increment = 1, auto_increment_offset = 1",
    "character_set_client = latin1", "NAMES utf8mb4", "collation_connection = utf8mb4_bin",
    "binlog_row_image = 'MINIMAL'", "binlog_row_image = 'NOBLOB'", "binlog_row_image = 'FULL'",
    "binlog_row_value_options = 'PARTIAL_JSON'", "binlog_row_value_options = ''",
    "binlog_transaction_compression = ON", "binlog_transaction_compression = OFF",
    "binlog_rows_query_log_events = ON", "binlog_rows_query_log_events = OFF",
    "binlog_format = 'STATEMENT'", "binlog_format = 'MIXED'", "binlog_format = 'ROW'", "binlog_format = 'ROW'",
    "sql_require_primary_key = OFF", "sql_generate_invisible_primary_key = ON",
    "sql_generate_invisible_primary_key = OFF",
    "timestamp = 1700000000.25", "timestamp = DEFAULT", "insert_id = 1000", "explicit_defaults_for_timestamp = 0",
    "explicit_defaults_for_timestamp = 1", "default_collation_for_utf8mb4 = utf8mb4_general_ci",
    "default_collation_for_utf8mb4 = utf8mb4_0900_ai_ci", "gtid_next = 'AUTOMATIC:tagged'", "gtid_next = 'AUTOMATIC'",
    "enable_cascade_triggers = ON", "enable_cascade_triggers = OFF", "default_table_encryption = OFF",
)  # fmt: skip


class Workload:
    """Executes random statements in one session; what the server refuses is not executed."""

    def __init__(self, cursor: Cursor, database: str, seed: int, folder: Path) -> None:
        self._cursor = cursor
        self._random = Random(seed)
        self._database = database
        self._file = folder / "load.csv"
        self._file.write_text("".join(f"{number},name {number}\n" for number in range(900_000, 900_050)))
        self._tables: dict[str, list[str]] = {}
        self.executed = 0

    def run(self, turns: int) -> None:
        """Execute about this many statements."""
        for _ in range(3):
            self._try(self._create_table())
        self._try(f"CREATE TABLE {self._database}.loaded (id INT PRIMARY KEY, name VARCHAR(40))")
        self._try(f"CREATE FUNCTION {self._database}.plus(a INT) RETURNS INT DETERMINISTIC RETURN a + 1")
        for _ in range(turns):
            for statement in self._turn():
                self._try(statement)
        self._try("ROLLBACK")

    def _try(self, statement: str) -> None:
        try:
            self._cursor.execute(statement)
            self._cursor.fetchall()
            self.executed += 1
        except MySQLError:
            return

    def _turn(self) -> Iterator[str]:
        random = self._random
        turns = (self._setting,) * 3 + (self._change,) * 7 + (self._transaction, self._xa, self._variables, self._rare)
        yield from random.choice((*turns, self._definition))()

    def _setting(self) -> Iterator[str]:
        yield f"SET {self._random.choice(SETTINGS)}"
        yield f"USE {self._random.choice((self._database, self._database, 'mysql'))}"

    def _change(self) -> Iterator[str]:
        delete = f"DELETE FROM {self._table()} WHERE id % 3 = {self._random.randrange(3)}"
        yield self._random.choice((self._insert(), self._insert(), self._update(), delete))

    def _transaction(self) -> Iterator[str]:
        random = self._random
        yield "BEGIN"
        for _ in range(random.randrange(1, 5)):
            yield random.choice((self._insert, self._update))()
            yield "SAVEPOINT `s 1`"
        yield random.choice(("COMMIT", "ROLLBACK", "ROLLBACK TO `s 1`"))
        yield "COMMIT"

    def _definition(self) -> Iterator[str]:
        yield self._random.choice((self._create_table, self._ddl))()

    def _xa(self) -> Iterator[str]:
        name = f"'tx{self._random.randrange(10**6)}', 'branch', {self._random.randrange(9)}"
        yield f"XA START {name}"
        yield self._insert()
        yield f"XA END {name}"
        if self._random.randrange(2):
            yield f"XA COMMIT {name} ONE PHASE"
            return
        yield f"XA PREPARE {name}"
        yield f"XA {self._random.choice(('COMMIT', 'ROLLBACK'))} {name}"

    def _variables(self) -> Iterator[str]:
        yield f"SET @a = {self._random.choice(NUMBERS)}, @`b ``c` = {self._random.choice(TEXTS)}, @n = NULL, @r = 0.1e0"
        yield "SET @l = _latin1 x'e4', @j = CONVERT('日本' USING sjis), @d = 12.340"
        columns = self._tables[self._plain_table()]
        table = self._table()
        yield f"INSERT INTO {table} ({columns[0]}) VALUES (@a), (@`b ``c`), (@n), (@r), (@l), (@j), (@d)"
        yield f"INSERT INTO {self._table()} (id) SELECT {self._database}.plus(LAST_INSERT_ID()) + 5000"
        yield f"UPDATE {self._table()} SET id = id + 100000 WHERE RAND() < 0.1 LIMIT 3"

    def _rare(self) -> Iterator[str]:
        random = self._random
        match random.randrange(5):
            case 0:
                yield f"DELETE FROM {self._database}.loaded"
                loaded = f"{self._database}.loaded"
                yield f"LOAD DATA LOCAL INFILE '{self._file}' INTO TABLE {loaded} FIELDS TERMINATED BY ','"
            case 1:
                yield f"CREATE TEMPORARY TABLE {self._database}.scratch (id INT PRIMARY KEY) SELECT 1 AS id"
                yield f"INSERT INTO {self._table()} (id) SELECT id + 7777 FROM {self._database}.scratch"
                yield f"DROP TEMPORARY TABLE {self._database}.scratch"
            case 2:
                yield f"TRUNCATE {self._table()}"
            case 3:
                yield f"ANALYZE TABLE {self._table()}"
            case 4:
                yield f"CREATE TABLE {self._database}.copied SELECT * FROM {self._table()}"
                yield f"DROP TABLE {self._database}.copied"

    def _create_table(self) -> str:
        random = self._random
        name = random.choice(("plain", "odd`name", "Ünï", "parts")) + str(len(self._tables))
        types = random.sample(TYPES, random.randrange(1, 12))
        columns = [random.choice((f"`c{number}`", f"`o``{number}'d\\`")) for number in range(len(types))]
        defined = ", ".join(f"{column} {kind}" for column, kind in zip(columns, types, strict=True))
        options = " PARTITION BY HASH (id) PARTITIONS 3" if name.startswith("parts") else ""
        key = random.choice(("id INT AUTO_INCREMENT PRIMARY KEY", "id INT AUTO_INCREMENT, PRIMARY KEY (id)"))
        self._tables[name] = columns
        invisible = random.choice(("", ", hidden INT DEFAULT 5 INVISIBLE", ", g INT AS (id + 1) STORED"))
        return f"CREATE TABLE {self._quoted(name)} ({key}, {defined}{invisible}){options}"

    def _ddl(self) -> str:
        number = self._random.randrange(10**6)
        return self._random.choice(
            (
                f"ALTER TABLE {self._table()} ADD COLUMN x{number} INT",
                f"CREATE VIEW {self._database}.v{number} AS SELECT 1",
                f"CREATE USER u{number}@localhost IDENTIFIED BY 'secret'",
                f"CREATE DATABASE IF NOT EXISTS {self._database} /* a comment */",
                f"DROP TABLE IF EXISTS {self._database}.nothing_here",
            )
        )

    def _insert(self) -> str:
        name = self._plain_table()
        columns = self._tables[name]
        rows = [", ".join(self._value() for _ in columns) for _ in range(self._random.choice((1, 1, 2, 7)))]
        return f"INSERT IGNORE INTO {self._quoted(name)} ({', '.join(columns)}) VALUES ({'), ('.join(rows)})"

    def _update(self) -> str:
        name = self._plain_table()
        column = self._random.choice(self._tables[name])
        value = self._random.choice((self._value(), f"JSON_SET({column}, '$.a', {self._random.choice(NUMBERS)})"))
        return f"UPDATE IGNORE {self._quoted(name)} SET {column} = {value} WHERE id % 2 = {self._random.randrange(2)}"

    def _value(self) -> str:
        kinds = (("NULL",), NUMBERS, TEXTS, DATES, DOCUMENTS, ("STRING_TO_VECTOR('[1,2.5,-3,0]')", "'a'", "'x,z'"))
        return self._random.choice(self._random.choice(kinds))

    def _plain_table(self) -> str:
        return self._random.choice(list(self._tables))

    def _table(self) -> str:
        return self._quoted(self._plain_table())

    def _quoted(self, name: str) -> str:
        return f"{self._database}.`{name.replace('`', '``')}`"


def play(server: Server, database: str, seed: int, turns: int, folder: Path) -> list[Path]:
    """Execute a random workload on a server, and return the logs that contain nothing else."""
    server.query(f"CREATE DATABASE {database}")
    server.query("SET GLOBAL local_infile = ON")
    server.query("FLUSH BINARY LOGS")
    before = len(server.log_files())
    with server.connect(database=database, local_infile=True) as connection, connection.cursor() as cursor:
        connection.autocommit(True)
        workload = Workload(cursor, database, seed, folder)
        workload.run(turns)
        assert workload.executed > turns // 2
    server.query("FLUSH BINARY LOGS")
    return server.log_files()[before - 1 : -1]
