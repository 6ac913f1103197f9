"""Every clause of ALTER TABLE in the manuals of both servers, and tables with rows that clauses may change."""

from __future__ import annotations

from typing import NamedTuple

BOTH, MYSQL, MARIADB = ("mysql", "mariadb"), ("mysql",), ("mariadb",)

_WHOLE = """CREATE TABLE {t} (
    id INT PRIMARY KEY, n INT, z INT NOT NULL, u INT UNSIGNED, d DOUBLE, f FLOAT, x DECIMAL(6,2), c CHAR(10),
    v VARCHAR(20), l VARCHAR(20) CHARACTER SET latin1, o TEXT, b VARBINARY(20), h BINARY(4), e ENUM('a','b','c'),
    s SET('a','b','c'), dt DATETIME, da DATE, ts TIMESTAMP NULL, tm TIME(3), y YEAR, bi BIT(4), j JSON, r DOUBLE(8,2),
    KEY n (n), CONSTRAINT ck_{t} CHECK (id < 1000)) CHARACTER SET utf8mb4"""
_WHOLE_ROWS = r"""INSERT INTO {t} VALUES
    (1, 0, 0, 0, 1.25, 0.5, -1.5, 'ab', 'ab   ', 'é', 'x  ', X'616200', 'ab', 'a', 'a,c', '2024-01-01 10:00:00',
     '2024-01-01', '2024-01-01 10:00:00', '10:00:00.123', 2024, 3, '[1]', 1.25),
    (2, NULL, 1, 4294967295, -0.05, -1.25, 9999.99, '', '日本 😀', '', REPEAT('y', 3000), '', '', 0, '',
     '0000-00-00', '0000-00-00', NULL, '-838:59:59', 0, 0, NULL, 0),
    (3, -5, 7, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL),
    (4, 7, 7, 5, 1e300, 3, 0.01, 'zz', '007', 'ä', '', 'x', 'abcd', 'c', 'b,c', '2024-00-10', '2024-02-31',
     '2001-02-03 04:05:06', '00:00:00', 1999, 15, '"a"', -7.5),
    (5, 7, 7, 5, -3.75, 3, -0.01, 'zz', '7', 'a', '~', 'x', 'abcd', 'b', 'a,b,c', '2024-02-31', '2024-00-10',
     '2001-02-03 04:05:06', '00:00:00', 1999, 15, '{{}}', -7.5)"""

TABLES: dict[str, tuple[str, ...]] = {
    "whole": (_WHOLE, _WHOLE_ROWS),
    "numbered": (
        "CREATE TABLE {t} (id INT PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL, KEY (a))",
        "INSERT INTO {t} VALUES (0, 0), (-3, 0), (4, 5)",
    ),
    "zero": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT NOT NULL)",
        "INSERT INTO {t} VALUES (0, 0), (-1, 4), (7, 9)",
    ),
    "bare": ("CREATE TABLE {t} (a INT NOT NULL)", "INSERT INTO {t} VALUES (0), (-1), (-1)"),
    "keyless": (
        "CREATE TABLE {t} (a INT NOT NULL, b INT, w VARCHAR(9))",
        "INSERT INTO {t} VALUES (0, 0, 'x'), (1, 0, 'x'), (1, 0, 'x'), (-2, NULL, NULL)",
    ),
    "child": (
        "CREATE TABLE {t}_parent (id INT PRIMARY KEY)",
        "CREATE TABLE {t} (id INT PRIMARY KEY, p INT, KEY p (p), CONSTRAINT fk_{t} FOREIGN KEY (p)"
        " REFERENCES {t}_parent (id))",
        "INSERT INTO {t}_parent VALUES (1)",
        "INSERT INTO {t} VALUES (1, 1), (2, NULL)",
    ),
    "virtual": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT, v VARCHAR(9), g INT AS (a * 2) VIRTUAL, h INT AS (LENGTH(v)))"
        " CHARACTER SET latin1",
        "INSERT INTO {t} (id, a, v) VALUES (1, 2, 'é'), (2, NULL, NULL)",
    ),
    "stored": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, a TIMESTAMP NULL, g VARCHAR(30) AS (CONCAT(a)) STORED)",
        "SET time_zone = '+05:00'",
        "INSERT INTO {t} (id, a) VALUES (1, '2024-01-01 05:00:00')",
        "SET time_zone = '+00:00'",
    ),
    "ranges": (
        "CREATE TABLE {t}_x (id INT PRIMARY KEY, a INT)",
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT)"
        " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN (10))",
        "INSERT INTO {t}_x VALUES (2, -2)",
        "INSERT INTO {t} VALUES (-1, 0), (0, NULL), (1, 1), (5, 5), (9, 9)",
    ),
    "hashed": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT) PARTITION BY HASH (id) PARTITIONS 3",
        "INSERT INTO {t} VALUES (-1, 0), (0, NULL), (1, 1), (5, 5), (9, 9)",
    ),
    "myisam": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, v VARCHAR(9), c CHAR(5)) ENGINE = MyISAM",
        "INSERT INTO {t} VALUES (0, 'ab  ', 'x'), (-1, NULL, ''), (2, '', NULL)",
    ),
    "aria": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, v VARCHAR(9), c CHAR(5)) ENGINE = Aria",
        "INSERT INTO {t} VALUES (0, 'ab  ', 'x'), (-1, NULL, ''), (2, '', NULL)",
    ),
    "memory": ("CREATE TABLE {t} (id INT PRIMARY KEY) ENGINE = MEMORY", "INSERT INTO {t} VALUES (0), (-1)"),
    "hidden": ("CREATE TABLE {t} (id INT PRIMARY KEY, a INT INVISIBLE)", "INSERT INTO {t} (id, a) VALUES (0, 1)"),
    "versioned": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING",
        "INSERT INTO {t} VALUES (0, 1), (1, 1)",
        "UPDATE {t} SET a = 2 WHERE id = 1",
    ),
    "times": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, s DATE NOT NULL, e DATE NOT NULL)",
        "INSERT INTO {t} VALUES (1, '2024-01-01', '2024-02-01')",
    ),
    "period": (
        "CREATE TABLE {t} (id INT PRIMARY KEY, s DATE, e DATE, PERIOD FOR p (s, e))",
        "INSERT INTO {t} VALUES (1, '2024-01-01', '2024-02-01')",
    ),
}
"""How to create and fill each kind of table; `{t}` is its name."""


_STATEMENTS = ("ALTER ONLINE", "ALTER IGNORE", "CREATE", "DROP INDEX n ON")


class Clause(NamedTuple):
    """A clause of ALTER TABLE, or another statement; `{t}` is the name of the table.

    kept   whether the mirror makes the change without copying the table again, if the SQL mode is strict
    """

    sql: str
    kept: bool
    table: str = "whole"
    families: tuple[str, ...] = BOTH

    def statement(self, name: str) -> str:
        """Return the statement for a table."""
        text = self.sql if self.sql.startswith(_STATEMENTS) else f"ALTER TABLE {{t}} {self.sql}"
        return text.format(t=name)


def _kept(*clauses: str, table: str = "whole", families: tuple[str, ...] = BOTH) -> tuple[Clause, ...]:
    return tuple(Clause(sql, True, table, families) for sql in clauses)


def _copied(*clauses: str, table: str = "whole", families: tuple[str, ...] = BOTH) -> tuple[Clause, ...]:
    return tuple(Clause(sql, False, table, families) for sql in clauses)


CLAUSES: tuple[Clause, ...] = (
    # ADD COLUMN
    *_kept(
        "ADD k INT",
        "ADD COLUMN k INT NOT NULL FIRST",
        "ADD COLUMN (k INT, k2 VARCHAR(5) NOT NULL)",
        "ADD k INT DEFAULT -7 AFTER id",
        "ADD k DECIMAL(5,2) NOT NULL DEFAULT 1.5",
        "ADD k DOUBLE DEFAULT 0.1",
        "ADD k FLOAT NOT NULL",
        "ADD k VARCHAR(9) DEFAULT 'a  '",
        "ADD k CHAR(9) NOT NULL DEFAULT 'a  '",
        "ADD k VARCHAR(9) DEFAULT '7'",
        "ADD k ENUM('x','y') NOT NULL",
        "ADD k ENUM('x','y') DEFAULT 'y'",
        "ADD k SET('x','y') NOT NULL",
        "ADD k DATE DEFAULT '2024-02-29'",
        "ADD k TEXT NOT NULL",
        "ADD k DATETIME DEFAULT '2024-02-29 12:30:00'",
        "ADD k INT INVISIBLE DEFAULT 3",
        "ADD k BIGINT UNSIGNED",
        "ADD k INT UNIQUE",
        "ADD k INT CHECK (k > 0)",
        "ADD k JSON",
        "ADD k YEAR NOT NULL",
        "ADD k TIMESTAMP NULL",
    ),
    *_copied(
        "ADD k TIMESTAMP DEFAULT CURRENT_TIMESTAMP",
        "ADD k INT AS (n * 2)",
        "ADD k INT AS (n * 2) STORED",
        "ADD k INT NOT NULL AUTO_INCREMENT UNIQUE",
        "ADD k SERIAL",
        "ADD k DATE DEFAULT (CURRENT_DATE)",
        "ADD k YEAR DEFAULT 24",
        "ADD k DATE NOT NULL",
        "ADD k VARCHAR(9) DEFAULT 007",
        "ADD k VARCHAR(9) DEFAULT 1e2",
        "ADD k DOUBLE(6,1) DEFAULT 0.25",
        "ADD k ENUM('b','a') CHARACTER SET utf8mb4 DEFAULT 'A'",
        "ADD k DATETIME DEFAULT 20240229123000",
        "ADD k BIT(3) DEFAULT b'101'",
        "ADD k BINARY(3) DEFAULT 'a'",
    ),
    *_copied("ADD k DECIMAL(4,2) DEFAULT 0.125", "ADD k DATETIME DEFAULT '2024-02-29 12:30:00.6'", families=MARIADB),
    *_kept("ADD COLUMN IF NOT EXISTS n INT", "ADD COLUMN IF NOT EXISTS k INT DEFAULT 2", families=MARIADB),
    # MODIFY and CHANGE
    *_kept(
        "MODIFY n BIGINT",
        "CHANGE n m BIGINT",
        "MODIFY u BIGINT",
        "MODIFY u BIGINT UNSIGNED",
        "MODIFY u INT UNSIGNED",
        "MODIFY n INT COMMENT 'x' AFTER v",
        "MODIFY z INT NOT NULL DEFAULT 5",
        "MODIFY z INT",
        "MODIFY n INT INVISIBLE",
        "MODIFY f DOUBLE",
        "MODIFY r DOUBLE",
        "MODIFY r DOUBLE(8,2)",
        "MODIFY x DECIMAL(8,2)",
        "MODIFY x DECIMAL(8,4)",
        "MODIFY v VARCHAR(200)",
        "MODIFY v TEXT",
        "MODIFY o LONGTEXT",
        "MODIFY c CHAR(20)",
        "MODIFY l VARCHAR(20)",
        "MODIFY l VARCHAR(30) CHARACTER SET utf16",
        "MODIFY v VARCHAR(20) COLLATE utf8mb4_bin",
        "MODIFY b VARBINARY(30)",
        "MODIFY b BLOB",
        "MODIFY e ENUM('a','b','c','d')",
        "MODIFY s SET('a','b','c','d','e','f','g','h','i','j')",
        "MODIFY dt DATETIME COMMENT 'x'",
        "MODIFY ts TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
        "MODIFY da DATE DEFAULT '2024-01-01'",
        "MODIFY y YEAR",
        "MODIFY bi BIT(4)",
        "MODIFY n BIGINT, MODIFY v TEXT",
        "MODIFY j JSON",
        "MODIFY tm TIME(3) FIRST",
        "MODIFY h BINARY(4)",
    ),
    *_copied(
        "MODIFY n SMALLINT",
        "MODIFY n INT UNSIGNED",
        "MODIFY u INT",
        "MODIFY n VARCHAR(20)",
        "MODIFY n DOUBLE",
        "MODIFY d DOUBLE(6,1)",
        "MODIFY d FLOAT",
        "MODIFY d DOUBLE UNSIGNED",
        "MODIFY f FLOAT(5,1)",
        "MODIFY f DOUBLE(6,1)",
        "MODIFY f DOUBLE UNSIGNED",
        "MODIFY r DOUBLE(8,1)",
        "MODIFY x DECIMAL(6,2) UNSIGNED",
        "MODIFY x DECIMAL(6,1)",
        "MODIFY x DECIMAL(4,2)",
        "MODIFY x DECIMAL(8,2) ZEROFILL",
        "MODIFY x DOUBLE",
        "MODIFY x INT",
        "MODIFY v VARCHAR(4)",
        "MODIFY v CHAR(20)",
        "MODIFY c VARCHAR(20)",
        "MODIFY c CHAR(3)",
        "MODIFY o VARCHAR(3000)",
        "MODIFY o TINYTEXT",
        "MODIFY v VARBINARY(80)",
        "MODIFY b VARCHAR(20)",
        "MODIFY b VARBINARY(2)",
        "MODIFY h BINARY(8)",
        "MODIFY h VARBINARY(8)",
        "MODIFY e ENUM('c','b','a')",
        "MODIFY e ENUM('a','b')",
        "MODIFY e VARCHAR(9)",
        "MODIFY e ENUM('','a','b','c')",
        "MODIFY s SET('c','b','a')",
        "MODIFY s SET('a','b')",
        "MODIFY dt DATETIME(3)",
        "MODIFY dt DATE",
        "MODIFY dt TIMESTAMP NULL",
        "MODIFY da DATETIME",
        "MODIFY ts TIMESTAMP(3) NULL",
        "MODIFY ts DATETIME",
        "MODIFY tm TIME",
        "MODIFY tm TIME(6)",
        "MODIFY y INT",
        "MODIFY bi BIT(8)",
        "MODIFY ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP",
        "CHANGE n g INT AS (z + 1) STORED",
        "MODIFY v VARCHAR(20) CHARACTER SET latin1",
        "MODIFY o TEXT CHARACTER SET latin1",
    ),
    *_kept("MODIFY id BIGINT AUTO_INCREMENT", "AUTO_INCREMENT = 100", "FORCE", "ORDER BY a", table="numbered"),
    *_copied("MODIFY id INT, MODIFY a INT AUTO_INCREMENT", table="numbered"),
    *_copied("MODIFY a INT AUTO_INCREMENT, ADD KEY (a)", "ADD id SERIAL FIRST", table="keyless"),
    *_copied(
        "MODIFY id INT AUTO_INCREMENT",
        "MODIFY a INT NOT NULL AUTO_INCREMENT UNIQUE",
        "DROP PRIMARY KEY, MODIFY a INT AUTO_INCREMENT PRIMARY KEY",
        table="zero",
    ),
    *_kept("MODIFY v TINYTEXT", "MODIFY l VARCHAR(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin, DROP v"),
    *_copied("MODIFY j LONGTEXT CHARACTER SET latin1", families=MYSQL),
    *_kept("MODIFY j LONGTEXT CHARACTER SET latin1", families=MARIADB),
    *_copied("ADD k DOUBLE DEFAULT (RAND())", families=MARIADB),
    # RENAME, DROP, ALTER COLUMN
    *_kept(
        "RENAME COLUMN n TO m",
        "RENAME COLUMN n TO z, RENAME COLUMN z TO n",
        "DROP COLUMN v",
        "DROP v, DROP l",
        "ALTER COLUMN n SET DEFAULT 5",
        "ALTER n DROP DEFAULT",
        "RENAME TO {t}_new",
        "RENAME AS {t}_new",
        "RENAME {t}_new",
        "RENAME KEY n TO m",
        "RENAME INDEX n TO m",
    ),
    *_kept("ALTER COLUMN a SET VISIBLE", table="hidden", families=MYSQL),
    *_kept("ALTER COLUMN n SET INVISIBLE", "ALTER COLUMN n SET DEFAULT (1 + 1)", families=MYSQL),
    *_kept("DROP COLUMN IF EXISTS nothing", "RENAME COLUMN IF EXISTS nothing TO m", families=MARIADB),
    # Keys and constraints
    *_kept(
        "ADD KEY (v)",
        "ADD INDEX k (n, v(5)) COMMENT 'x'",
        "ADD UNIQUE (id, n)",
        "ADD UNIQUE KEY k (z, id)",
        "ADD FULLTEXT KEY (v)",
        "DROP KEY n",
        "DROP INDEX n",
        "DROP PRIMARY KEY",
        "ADD CHECK (id > 0)",
        "DROP PRIMARY KEY, ADD PRIMARY KEY (id, z)",
        "ADD CONSTRAINT x_{t} CHECK (id > 0)",
        "DROP CONSTRAINT ck_{t}",
        "ADD KEY (n), ALGORITHM = COPY",
        "ADD KEY (v), ALGORITHM = INPLACE, LOCK = NONE",
        "CREATE INDEX k ON {t} (v)",
        "CREATE UNIQUE INDEX k ON {t} (id, v) ALGORITHM = COPY",
        "DROP INDEX n ON {t}",
        "CREATE FULLTEXT INDEX k ON {t} (v)",
    ),
    *_kept("DROP INDEX n ON {t} ALGORITHM = INPLACE LOCK = NONE", families=MYSQL),
    *_kept("ALTER INDEX n INVISIBLE", "ALTER CHECK ck_{t} NOT ENFORCED", families=MYSQL),
    *_kept("ALTER CONSTRAINT ck_{t} NOT ENFORCED", families=MYSQL),
    *_kept("DROP CHECK ck_{t}", "ADD KEY ((n + 1))", families=MYSQL),
    *_kept("ALTER KEY n IGNORED", "ALTER INDEX n NOT IGNORED", "DROP KEY IF EXISTS nothing", families=MARIADB),
    *_kept(
        "DROP FOREIGN KEY fk_{t}",
        "ADD FOREIGN KEY (p) REFERENCES {t}_parent (id)",
        "ADD CONSTRAINT x_{t} FOREIGN KEY (p) REFERENCES {t}_parent (id) ON DELETE CASCADE",
        table="child",
    ),
    *_copied(
        "ALTER IGNORE TABLE {t} ADD UNIQUE (a)",
        "ALTER IGNORE TABLE {t} ADD UNIQUE (b)",
        "ALTER IGNORE TABLE {t} MODIFY b INT NOT NULL",
        table="keyless",
        families=MARIADB,
    ),
    *_kept("ALTER ONLINE TABLE {t} ADD k INT", families=MARIADB),
    # Character sets
    *_kept("DEFAULT CHARACTER SET latin1", "CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin", "COLLATE utf8mb4_bin"),
    *_kept("CONVERT TO CHARACTER SET utf8mb4", "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
    *_kept("CONVERT TO CHARACTER SET latin1", table="myisam"),
    *_copied("CONVERT TO CHARACTER SET binary", table="myisam"),
    # Options
    *_kept(
        "ENGINE = InnoDB",
        "ENGINE InnoDB ROW_FORMAT = DYNAMIC",
        "ENGINE = MyISAM",
        "ROW_FORMAT = COMPACT",
        "FORCE",
        "COMMENT = 'x, y'",
        "COMMENT 'x' AUTO_INCREMENT 7",
        "AVG_ROW_LENGTH = 5",
        "MAX_ROWS = 5 MIN_ROWS = 1",
        "CHECKSUM = 1",
        "DELAY_KEY_WRITE = 1",
        "PACK_KEYS = 1",
        "STATS_PERSISTENT = 0, STATS_AUTO_RECALC = 0",
        "STATS_SAMPLE_PAGES = 5",
        "KEY_BLOCK_SIZE = 8",
        "FORCE, ALGORITHM = COPY",
        "FORCE, LOCK = SHARED",
        "ROW_FORMAT = REDUNDANT, ALGORITHM = INPLACE",
        "ALGORITHM = DEFAULT",
        "ADD k INT, ENGINE = InnoDB, COMMENT 'y'",
        "ORDER BY v DESC, n",
        "DISABLE KEYS",
        "ENABLE KEYS",
        "ADD k INT, ALGORITHM = INSTANT",
    ),
    *_kept("TABLESPACE = innodb_file_per_table", "COMPRESSION = 'NONE'", "ENCRYPTION = 'N'", families=MYSQL),
    *_kept(
        "AUTOEXTEND_SIZE = 4M",
        "WITHOUT VALIDATION, ADD k INT",
        "WITH VALIDATION, ADD k INT",
        "SECONDARY_ENGINE = NULL",
        families=MYSQL,
    ),
    *_kept("PAGE_COMPRESSED = 0", "ENCRYPTED = NO", "TABLE_CHECKSUM = 0", "ENCRYPTION_KEY_ID = 1", families=MARIADB),
    *_kept("ENGINE = Aria TRANSACTIONAL = 1", "ENGINE = Aria PAGE_CHECKSUM = 1", families=MARIADB),
    *_kept("ENGINE = InnoDB", "ORDER BY v", "ROW_FORMAT = FIXED", "DISABLE KEYS", "ENABLE KEYS", table="myisam"),
    *_kept("ENGINE = InnoDB", "ENGINE = MyISAM", table="aria", families=MARIADB),
    *_copied("ENGINE = MEMORY", "ENGINE = ARCHIVE", "ENGINE = CSV", "ENGINE = BLACKHOLE", table="bare", families=MYSQL),
    *_copied("ENGINE = MEMORY", "ENGINE = CSV", table="bare", families=MARIADB),
    *_copied("ENGINE = InnoDB", table="memory"),
    *_copied("DATA DIRECTORY = '/tmp'", "INDEX DIRECTORY = '/tmp'", table="myisam"),
    *_copied("INSERT_METHOD = NO", "CONNECTION = 'x'"),
    # Generated columns
    *_kept("ADD k INT", "DROP g", "ADD KEY (g)", "FORCE", "RENAME TO {t}_new", table="virtual"),
    *_copied(
        "MODIFY g INT AS (a * 3) VIRTUAL",
        "MODIFY a BIGINT",
        "CONVERT TO CHARACTER SET utf8mb4",
        "MODIFY v VARCHAR(9) CHARACTER SET utf8mb4",
        "DROP g, ADD g INT AS (a * 5)",
        table="virtual",
    ),
    *_copied(
        "MODIFY g VARCHAR(30) AS (CONCAT(a, '!')) STORED",
        "FORCE, ALGORITHM = COPY",
        "ADD KEY (a), ALGORITHM = COPY",
        "ADD k INT",
        "MODIFY g VARCHAR(30)",
        table="stored",
    ),
    *_kept("RENAME TO {t}_new", table="stored"),
    # Partitions and tablespaces
    *_kept(
        "ADD PARTITION (PARTITION p2 VALUES LESS THAN (20))",
        "ANALYZE PARTITION p0",
        "CHECK PARTITION ALL",
        "OPTIMIZE PARTITION p0",
        "REBUILD PARTITION p0, p1",
        "REMOVE PARTITIONING",
        "REORGANIZE PARTITION p1 INTO (PARTITION p1 VALUES LESS THAN (6), PARTITION p2 VALUES LESS THAN (10))",
        "PARTITION BY HASH (id) PARTITIONS 2",
        "ADD k INT",
        table="ranges",
    ),
    *_kept("COALESCE PARTITION 1", "ADD PARTITION PARTITIONS 2", table="hashed"),
    *_kept("PARTITION BY KEY (id) PARTITIONS 2", table="numbered"),
    *_copied(
        "DROP PARTITION p0",
        "TRUNCATE PARTITION p0",
        "TRUNCATE PARTITION ALL",
        "REPAIR PARTITION p0",
        "EXCHANGE PARTITION p0 WITH TABLE {t}_x",
        table="ranges",
    ),
    *_copied("EXCHANGE PARTITION p0 WITH TABLE {t}_x WITHOUT VALIDATION", table="ranges", families=MYSQL),
    *_copied("DISCARD TABLESPACE", table="times"),
    # Versions and periods
    *_copied("ADD SYSTEM VERSIONING", "ADD PERIOD FOR p (s, e)", table="times", families=MARIADB),
    *_copied("DROP SYSTEM VERSIONING", table="versioned", families=MARIADB),
    *_copied("DROP PERIOD FOR p", table="period", families=MARIADB),
)
