"""Random DDL from the grammar of both manuals, much of which a server accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

INTEGERS = (
    "TINYINT",
    "SMALLINT",
    "MEDIUMINT",
    "INT",
    "INTEGER",
    "BIGINT",
    "INT1",
    "INT2",
    "INT3",
    "INT4",
    "INT8",
    "MIDDLEINT",
)
DECIMALS = (
    "DECIMAL",
    "NUMERIC(7)",
    "DEC(9,4)",
    "FIXED(12,0)",
    "DECIMAL(65,30)",
    "DECIMAL(19.5)",
    "DECIMAL(0)",
    "DEC( 8 , 3 )",
)
FLOATS = (
    "FLOAT",
    "FLOAT(24)",
    "FLOAT(25)",
    "FLOAT(7,4)",
    "FLOAT(7.4)",
    "DOUBLE",
    "DOUBLE PRECISION",
    "DOUBLE(9,2)",
    "REAL",
    "FLOAT8",
    "FLOAT4",
)
TEXTS = (
    *(
        "CHAR",
        "CHAR(7)",
        "CHARACTER(9)",
        "VARCHAR(20)",
        "CHAR VARYING(30)",
        "CHARACTER VARYING(40)",
        "VARCHARACTER(11)",
    ),
    *("TINYTEXT", "TEXT", "TEXT(9)", "TEXT(300)", "TEXT(70000)", "MEDIUMTEXT", "LONGTEXT", "LONG", "LONG VARCHAR"),
    *("VARCHAR(255)", "VARCHAR(256)", "VARCHAR(3000)", "CHAR(255)", "CHAR(64)", "LONG CHAR VARYING"),
)
NATIONAL = (
    "NCHAR(4)",
    "NATIONAL CHAR(5)",
    "NVARCHAR(6)",
    "NATIONAL VARCHAR(7)",
    "NCHAR VARYING(8)",
    "NATIONAL CHARACTER VARYING(9)",
)
BYTES = (
    "BINARY",
    "BINARY(16)",
    "VARBINARY(30)",
    "TINYBLOB",
    "BLOB",
    "BLOB(40)",
    "BLOB(70000)",
    "MEDIUMBLOB",
    "LONGBLOB",
    "LONG VARBINARY",
)
TIMES = ("DATE", "TIME", "TIME(3)", "DATETIME", "DATETIME(6)", "TIMESTAMP NULL", "TIMESTAMP(2) NULL", "YEAR", "YEAR(4)")
OTHERS = (
    "BIT",
    "BIT(12)",
    "BIT(64)",
    "BOOL",
    "BOOLEAN",
    "JSON",
    "GEOMETRY",
    "POINT",
    "POLYGON",
    "MULTIPOINT",
    "GEOMETRYCOLLECTION",
)
MEMBERS = (
    "'a'",
    "'b '",
    "'it''s'",
    "'é'",
    "X'63'",
    "0x6465",
    "b'1100110'",
    "'g,h'",
    "'(i'",
    '"j"',
    r"'k\'k'",
    "'ö\\n'",
)
OF_MYSQL = ("SERIAL", "VECTOR", "VECTOR(3)", "GEOMCOLLECTION")
OF_MARIADB = (
    "INET6",
    "UUID",
    "CLOB",
    "VARCHAR2(9)",
    "RAW(8)",
    "NUMBER(9,2)",
    "TEXT COMPRESSED",
    "VARCHAR(90) COMPRESSED",
)
CHARSETS = ("latin1", "utf8mb4", "utf8mb3", "utf8", "gbk", "ascii", "cp1251", "latin1 COLLATE latin1_bin", "binary")
REVERSIBLE = ("latin1", "latin1 COLLATE latin1_bin", "cp1251", "binary")
"""Character sets for CONVERT TO in which every byte is a character: the bytes of members become others by the rest."""

COLLATIONS = ("latin1_bin", "utf8mb4_unicode_ci", "utf8mb4_bin", "utf8mb3_general_ci", "latin1_german1_ci", "binary")
VALUES = (
    "NULL",
    "0",
    "-3",
    "+4",
    "- 5",
    "'x'",
    "''",
    "'2020-01-02'",
    "1.5",
    ".5",
    "1e2",
    "TRUE",
    "X'41'",
    "0x41",
    "b'1'",
    "_utf8mb4 0x41",
    "_latin1'y'",
    "N'z'",
    "DATE'2020-01-02'",
    "(1 + (2 * 3))",
    "(CONCAT('a)', 'b'))",
    "CURRENT_TIMESTAMP",
    "NOW()",
    "'a' 'b'",
)
MARIADB_VALUES = (
    "CASE WHEN 1 THEN 2 ELSE 3 END",
    "@@version",
    "USER()",
    "LENGTH(CONCAT('a', ')'))",
    "CASE 1 WHEN 1 THEN CASE 2 WHEN 2 THEN 1 END END",
)
ENGINES = ("InnoDB", "InnoDB", "InnoDB", "MyISAM", "MEMORY")
MODES = ("", "", "", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "REAL_AS_FLOAT", "ANSI", "PIPES_AS_CONCAT")
MARIADB_MODES = (*MODES, "ORACLE", "MAXDB", "MSSQL", "DB2", "POSTGRESQL")
NAMES = ("utf8mb4", "utf8mb4", "latin1", "binary", "utf8mb3", "gbk")
COLUMNS = (*"abcdefgh", "order", "key", "primary", "co l", "x`y", "é", "1a", "Name", "period", "remove", "_p")
OPTIONS = (
    *("ENGINE=InnoDB", "ENGINE InnoDB", "COMMENT='it''s, (x'", "COMMENT 'y'", "AUTO_INCREMENT=7", "ROW_FORMAT=DYNAMIC"),
    *("MAX_ROWS 100", "STATS_PERSISTENT=DEFAULT", "CHECKSUM=1", "DEFAULT CHARSET=utf8mb4", "CHARACTER SET latin1"),
    *("COLLATE=utf8mb4_bin", "DEFAULT CHARACTER SET = utf8mb3 COLLATE utf8mb3_bin", "PACK_KEYS=DEFAULT"),
)
COMMENTS = (
    "",
    "",
    "",
    "/* c */ ",
    "-- c\n",
    "# c\n",
    "/*! */",
    "/*!50000 */ ",
    "\n\t",
    "/*!999999 never */ ",
    "/* 'c */",
)
PREFIXES = (
    "",
    "",
    "",
    "SET STATEMENT max_statement_time=60 FOR ",
    "set statement lock_wait_timeout = (1 + 2), max_statement_time=3 for ",
)


class DdlMaker:
    """Generates statements about the tables that the server has. `tables` are their columns and keys, by name."""

    def __init__(self, seed: int, *, mariadb: bool) -> None:
        self.random = Random(seed)
        self.mariadb = mariadb
        self.tables: dict[str, tuple[list[str], list[str]]] = {}
        self.mode = ""
        self._names = 0

    def session(self) -> list[str]:
        """Return statements that change the session."""
        self.mode = self._one(MARIADB_MODES if self.mariadb else MODES)
        return [f"SET sql_mode = '{self.mode}'", f"SET NAMES {self._one(NAMES)}"]

    def statement(self) -> str:
        """Return a statement with comments around its first words."""
        makers: list[tuple[int, Callable[[], str]]] = [
            (30, self._create),
            (3, self._create_like),
            (55, self._alter),
            (6, self._index),
            (3, self._rename_table),
            (2, lambda: f"ALTER DATABASE {{database}} CHARACTER SET {self._one(CHARSETS[:-1])}"),
            (2, self._rename_tables),
            (2, self._convert_partition if self.mariadb else self._alter),
            (2, lambda: f"TRUNCATE {self._maybe('TABLE ')}{self._table()}"),
            (3, lambda: f"DROP TABLE {self._maybe('IF EXISTS ')}{self._table()}"),
        ]
        chosen = makers if self.tables else makers[:1]
        make = self.random.choices([maker for _, maker in chosen], [weight for weight, _ in chosen])[0]
        prefix = self._one(PREFIXES) if self.mariadb else ""
        return self._one(COMMENTS) + prefix + self._one(COMMENTS) + make()

    # --- Names --------------------------------------------------------------------------------------------------------

    def _one(self, values: Sequence[str]) -> str:
        return self.random.choice(values)

    def _maybe(self, text: str, chance: float = 0.3) -> str:
        return text if self.random.random() < chance else ""

    def _quoted(self, name: str) -> str:
        if name.isascii() and name.isalpha() and name not in ("order", "key", "primary") and self.random.random() < 0.6:
            return name
        is_ansi = self.mode in ("ANSI_QUOTES", "ANSI", "ORACLE", "MAXDB", "MSSQL", "DB2", "POSTGRESQL")
        if is_ansi and self.random.random() < 0.5:
            return '"' + name.replace('"', '""') + '"'
        return "`" + name.replace("`", "``") + "`"

    def _new_table(self) -> str:
        self._names += 1
        return self._one((f"t{self._names}", f"T{self._names}", f"{self._names}t", f"t{self._names}$"))

    def _table(self) -> str:
        self._current = self._one(sorted(self.tables))
        quoted = self._quoted(self._current)
        return f"{{database}}.{quoted}" if self.random.random() < 0.2 else quoted

    def _old(self) -> str:
        return self._quoted(self._one(self.tables[self._current][0]))

    def _new(self) -> str:
        return self._quoted(self._one(COLUMNS))

    # --- Columns ------------------------------------------------------------------------------------------------------

    def _type(self) -> str:
        kinds: list[Callable[[], str]] = [
            lambda: (
                self._one(INTEGERS) + self._maybe("(5)") + self._maybe(self._one((" UNSIGNED", " ZEROFILL", " SIGNED")))
            ),
            lambda: self._one(DECIMALS) + self._maybe(" UNSIGNED"),
            lambda: self._one(FLOATS) + self._maybe(" UNSIGNED"),
            self._text,
            self._text,
            lambda: self._one(NATIONAL),
            lambda: self._one(BYTES),
            lambda: self._one(TIMES),
            lambda: self._one(OTHERS),
            lambda: self._one(OF_MARIADB if self.mariadb else OF_MYSQL),
            self._choice,
        ]
        return self.random.choice(kinds)()

    def _text(self) -> str:
        charset = self._one(
            (
                "",
                "",
                f" CHARACTER SET {self._one(CHARSETS)}",
                f" COLLATE {self._one(COLLATIONS)}",
                f" CHARSET {self._one(CHARSETS)}",
                " BINARY",
                " ASCII",
                " UNICODE",
                " BYTE",
                " CHAR SET utf8mb4",
                " BINARY CHARACTER SET latin1",
                " COLLATE DEFAULT",
            )
        )
        return self._one(TEXTS) + charset

    def _choice(self) -> str:
        members = ", ".join(self.random.sample(MEMBERS, self.random.randint(1, 5)))
        charset = self._maybe(f" CHARACTER SET {self._one(CHARSETS)}")
        return f"{self._one(('ENUM', 'SET'))}({members}){charset}"

    def _definition(self) -> str:
        kind = self._type()
        if self.random.random() < 0.08:
            always = self._maybe("GENERATED ALWAYS ")
            value, stored = self._one(("1", "1 + (2)")), self._one(("", "VIRTUAL", "STORED"))
            return f"{kind.removesuffix(' NULL')} {always}AS ({value}) {stored}"
        values = VALUES + MARIADB_VALUES if self.mariadb else VALUES
        attributes = [
            self._maybe(f"DEFAULT {self._one(values)}", 0.2),
            self._maybe(self._one(("NOT NULL", "NULL"))),
            self._maybe("COMMENT 'x, (y'", 0.1),
            self._maybe(self._one(("UNIQUE", "UNIQUE KEY", "PRIMARY KEY", "KEY")), 0.1),
            self._maybe("INVISIBLE", 0.1),
            self._maybe("ON UPDATE CURRENT_TIMESTAMP", 0.02),
            "" if self.mariadb else self._maybe("COLUMN_FORMAT DYNAMIC", 0.03),
        ]
        self.random.shuffle(attributes)
        check = self._one(
            ("CHECK (1)", "CHECK (1 < (2))" if self.mariadb else "CONSTRAINT CHECK (1 < (2)) NOT ENFORCED")
        )
        return " ".join([kind, *filter(None, attributes), self._maybe(check, 0.05)])

    def _column(self, table: str = "") -> str:
        return self._maybe(f"{self._quoted(table)}.", 0.05 if table else 0) + f"{self._new()} {self._definition()}"

    # --- Keys ---------------------------------------------------------------------------------------------------------

    def _parts(self, columns: Sequence[str]) -> str:
        chosen = self.random.sample(list(columns), min(len(columns), self.random.choice((1, 1, 2, 3))))
        return ", ".join(
            f"{self._quoted(name)}{self._one(('', '', '', '(5)', '(20)'))}{self._one(('', '', ' ASC', ' DESC'))}"
            for name in chosen
        )

    def _key(self, columns: Sequence[str]) -> str:
        using = self._maybe(f" USING {self._one(('BTREE', 'BTREE', 'HASH'))}", 0.15)
        options = self._maybe(self._one((" COMMENT 'k'", " KEY_BLOCK_SIZE=8", " USING BTREE", " USING HASH")), 0.15)
        name = self._maybe(f" {self._quoted(self._one(('k1', 'k2', 'K 3')))}", 0.4)
        symbol = self._maybe("CONSTRAINT sy " if self.mariadb else self._one(("CONSTRAINT sy ", "CONSTRAINT ")), 0.2)
        kind = self._one(
            ("PRIMARY KEY", f"UNIQUE{name}", f"UNIQUE KEY{name}", f"UNIQUE INDEX{name}", f"KEY{name}", f"INDEX{name}")
        )
        if kind.startswith(("KEY", "INDEX")):
            symbol = ""
        if self.random.random() < 0.08:
            return self._one(("CHECK (1 > 0)", "CONSTRAINT ck CHECK (1)", "FULLTEXT KEY (a)", "SPATIAL INDEX (b)"))
        expression = "((1 + 2))" if not self.mariadb and self.random.random() < 0.05 else ""
        return f"{symbol}{kind}{using} {expression or f'({self._parts(columns)})'}{options}"

    # --- Tables -------------------------------------------------------------------------------------------------------

    def _create(self) -> str:
        table = self._new_table()
        names = self.random.sample(COLUMNS, self.random.randint(1, 7))
        elements = [
            self._maybe(f"{self._quoted(table)}.", 0.03) + f"{self._quoted(name)} {self._definition()}"
            for name in names
        ]
        elements += [self._key(names) for _ in range(self.random.choice((0, 0, 1, 1, 2)))]
        if self.random.random() < 0.2:
            self.random.shuffle(elements)
        options = self._one(("", " ", ", ")).join(self.random.sample(OPTIONS, self.random.choice((0, 0, 1, 2))))
        engine = self._maybe(f" ENGINE={self._one(ENGINES)}", 0.2)
        tail = self._one(("", "", "", self._partitions(names)))
        versioned = self._maybe(" WITH SYSTEM VERSIONING", 0.1) if self.mariadb else ""
        verb = self._one(("CREATE TABLE", "CREATE TABLE", "create table", "CREATE /* x */ TABLE"))
        if self.mariadb:
            verb = self._one((verb, verb, "CREATE OR REPLACE TABLE"))
        name = f"{{database}}.{table}" if self.random.random() < 0.2 else self._quoted(table)
        query = self._maybe(
            " SELECT 1 AS `é`", 0.02 if self.mode in MODES else 0
        )  # others leave out options in the log
        condition = "" if "REPLACE" in verb else self._maybe("IF NOT EXISTS ", 0.1)
        return f"{verb} {condition}{name} ({', '.join(elements)}) {options}{engine}{versioned}{tail}{query}"

    def _partitions(self, columns: Sequence[str]) -> str:
        name = self._quoted(self._one(columns))
        return self._one(
            (
                f" PARTITION BY HASH ({name}) PARTITIONS 3",
                f" PARTITION BY KEY ({name})",
                f" PARTITION BY RANGE ({name}) (PARTITION p0 VALUES LESS THAN (10) COMMENT 'x', "
                "PARTITION p1 VALUES LESS THAN MAXVALUE)",
                f" PARTITION BY LIST ({name}) (PARTITION p0 VALUES IN (1, (2)), PARTITION p1 VALUES IN (NULL))",
            )
        )

    def _create_like(self) -> str:
        new, model = self._new_table(), self._table()
        return self._one((f"CREATE TABLE {new} LIKE {model}", f"CREATE TABLE {new} (LIKE {model})"))

    def _index(self) -> str:
        table = self._table()
        columns, keys = self.tables[self._current]
        if keys and self.random.random() < 0.4:
            return f"DROP INDEX {self._quoted(self._one(keys))} ON {table}"
        using = self._maybe(f" USING {self._one(('BTREE', 'HASH'))}", 0.2)
        kind = self._one(("", "UNIQUE ", "UNIQUE "))
        name, after = self._quoted(self._one(("k1", "k2", "k4"))), self._maybe(" USING BTREE", 0.1)
        return f"CREATE {kind}INDEX {name}{using} ON {table} ({self._parts(columns)}){after}"

    def _rename_table(self) -> str:
        old = self._table()
        return self._one(
            (
                f"RENAME TABLE {old} TO {self._new_table()}",
                f"ALTER TABLE {old} RENAME {self._maybe('TO ')}{self._new_table()}",
            )
        )

    def _rename_tables(self) -> str:
        one, other = self._table(), self._table()
        return f"RENAME TABLE {one} TO {self._new_table()}, {other} TO {self._new_table()}"

    def _convert_partition(self) -> str:
        table, new = self._table(), self._new_table()
        return self._one(
            (
                f"ALTER TABLE {table} CONVERT PARTITION p0 TO TABLE {new}",
                f"ALTER TABLE {table} CONVERT TABLE {self._table()} TO PARTITION p9 VALUES LESS THAN (5)",
                f"ALTER TABLE {table} DROP PARTITION p0",
                f"CREATE TABLE {new} (id INT, s DATE, `e` DATE, PERIOD FOR p(s, `e`), "
                f"{self._one(('PRIMARY KEY', 'UNIQUE'))} (id, p WITHOUT OVERLAPS))",
                f"ALTER TABLE {table} ADD PERIOD FOR p ({self._old()}, {self._old()}), "
                f"ADD UNIQUE ({self._old()}, p WITHOUT OVERLAPS)",
                f"ALTER TABLE {table} DROP PERIOD FOR p",
                f"CREATE SEQUENCE {new} START WITH 5",
                f"CREATE TABLE {new} (a INT WITH SYSTEM VERSIONING, b VARCHAR(9) WITHOUT SYSTEM VERSIONING, "
                "UNIQUE (b) USING HASH)",
                f"CREATE TABLE {new} (a INT, s TIMESTAMP(6) AS ROW START, e TIMESTAMP(6) AS ROW END INVISIBLE, "
                "PERIOD FOR SYSTEM_TIME(s, e)) WITH SYSTEM VERSIONING",
            )
        )

    # --- ALTER TABLE --------------------------------------------------------------------------------------------------

    def _alter(self) -> str:
        table = self._table()
        columns, _ = self.tables[self._current]
        if self.random.random() < 0.05:
            return f"ALTER TABLE {table} CONVERT TO CHARACTER SET {self._one(REVERSIBLE)}"
        makers = (
            *(self._add, self._add, self._add, self._add_several, self._drop, self._change, self._change, self._modify),
            *(
                self._modify,
                self._rename,
                self._swap,
                self._add_key,
                self._add_key,
                self._drop_key,
                self._option,
                self._set,
            ),
            self._other,
        )
        steps = [self.random.choice(makers)() for _ in range(self.random.choice((1, 1, 2, 2, 3, 4)))]
        partitioned = (*[""] * 8, " REMOVE PARTITIONING", self._partitions(columns))
        verbs = ["ALTER TABLE", "ALTER TABLE", "alter table"] + [
            "ALTER IGNORE TABLE",
            "ALTER ONLINE TABLE",
        ] * self.mariadb
        wait = self._one(("", "", " WAIT 5", " NOWAIT")) if self.mariadb else ""
        return f"{self._one(verbs)} {table}{wait} {', '.join(steps)}{self._one(partitioned)}"

    def _if(self, text: str) -> str:
        return self._maybe(text, 0.15) if self.mariadb else ""

    def _position(self) -> str:
        return self._one(("", "", "", " FIRST", f" AFTER {self._old()}", f" AFTER {self._new()}"))

    def _add(self) -> str:
        return (
            f"ADD {self._maybe('COLUMN ')}{self._if('IF NOT EXISTS ')}{self._column(self._current)}{self._position()}"
        )

    def _add_several(self) -> str:
        return f"ADD {self._maybe('COLUMN ')}({self._column()}, {self._column()})"

    def _drop(self) -> str:
        return f"DROP {self._maybe('COLUMN ')}{self._if('IF EXISTS ')}{self._old()}"

    def _change(self) -> str:
        return (
            f"CHANGE {self._maybe('COLUMN ')}{self._if('IF EXISTS ')}{self._old()} {self._column()}{self._position()}"
        )

    def _modify(self) -> str:
        words = f"MODIFY {self._maybe('COLUMN ')}{self._if('IF EXISTS ')}"
        return f"{words}{self._old()} {self._definition()}{self._position()}"

    def _rename(self) -> str:
        return f"RENAME COLUMN {self._old()} TO {self._new()}"

    def _swap(self) -> str:
        one, other = self._old(), self._old()
        return f"RENAME COLUMN {one} TO {other}, RENAME COLUMN {other} TO {one}"

    def _add_key(self) -> str:
        return f"ADD {self._key(self.tables[self._current][0])}"

    def _drop_key(self) -> str:
        keys = self.tables[self._current][1]
        name = self._one(keys) if keys else "PRIMARY"
        if name == "PRIMARY":
            return "DROP PRIMARY KEY"
        return f"DROP {self._one(('KEY', 'INDEX', 'CONSTRAINT'))} {self._quoted(name)}"

    def _option(self) -> str:
        options = (
            *OPTIONS,
            "FORCE",
            "ALGORITHM=COPY",
            "LOCK=SHARED",
            "ENABLE KEYS",
            "DISABLE KEYS",
            f"ORDER BY {self._old()}",
            "ENGINE=MyISAM",
        )
        return self._one(options)

    def _other(self) -> str:
        keys = self.tables[self._current][1]
        steps = [
            f"RENAME INDEX {self._quoted(self._one(keys or ['k1']))} TO {self._one(('k5', 'k6'))}",
            f"ADD CONSTRAINT fk FOREIGN KEY ({self._old()}) REFERENCES {self._current} ({self._old()}) "
            "ON DELETE CASCADE ON UPDATE NO ACTION",
        ]
        if not self.mariadb:  # which keeps the old table of some statements that rename it, too
            steps += [f"RENAME TO {self._new_table()}"]
        else:
            steps += [
                "ADD SYSTEM VERSIONING",
                "DROP SYSTEM VERSIONING",
                "WITH SYSTEM VERSIONING",
                "DROP CONSTRAINT PRIMARY KEY",
            ]
        return self._one(steps)

    def _set(self) -> str:
        actions = ("SET DEFAULT 1", "SET DEFAULT 'x'", "SET DEFAULT (1 + 2)", "DROP DEFAULT")
        more = () if self.mariadb else ("SET INVISIBLE", "SET VISIBLE")
        return f"ALTER {self._maybe('COLUMN ')}{self._old()} {self._one(actions + more)}"
