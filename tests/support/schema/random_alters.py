"""Random ALTER TABLE statements, many of which a server accepts."""

from __future__ import annotations

from random import Random

TYPES = (
    "INT",
    "BIGINT UNSIGNED",
    "TINYINT ZEROFILL",
    "DECIMAL(12,3)",
    "FLOAT",
    "VARCHAR(20)",
    "VARCHAR(300) CHARACTER SET utf8mb4",
    "VARCHAR(40) COLLATE utf8mb4_bin",
    "CHAR(7) BINARY",
    "CHAR(9) CHARACTER SET utf8mb3",
    "TINYTEXT",
    "TEXT",
    "TEXT(100)",
    "MEDIUMTEXT CHARACTER SET utf8mb4",
    "BLOB",
    "VARBINARY(30)",
    "BIT(12)",
    "DATETIME(3)",
    "TIMESTAMP NULL",
    "DATE",
    "YEAR",
    "ENUM('a','b','it''s')",
    "SET('x','y,z') CHARACTER SET utf8mb4",
    "JSON",
    "POINT",
)
ATTRIBUTES = ("", "", "", "NOT NULL", "NULL", "COMMENT 'x, (y'", "UNIQUE", "INVISIBLE", "NOT NULL UNIQUE")
CHARSETS = ("latin1", "utf8mb4", "utf8mb3", "gbk", "latin1 COLLATE latin1_bin", "utf8mb4 COLLATE utf8mb4_unicode_ci")
"""Not ucs2, utf16 or utf32: MySQL 9.7 takes their bytes for the new members of an ENUM that is converted from them."""

FREE_NAMES = tuple("abcdefghij")


class AlterMaker:
    """Generates statements about a table with the given columns and keys."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.columns: list[str] = []
        self.keys: list[str] = []

    def statement(self, table: str) -> str:
        """Return one ALTER TABLE of one to three steps."""
        makers = (
            self._add,
            self._add,
            self._add,
            self._add_several,
            self._drop,
            self._change,
            self._change,
            self._modify,
            self._modify,
            self._rename,
            self._swap,
            self._key,
            self._drop_key,
            self._charset,
            self._show,
        )
        if self.random.random() < 0.07:
            return f"ALTER TABLE {table} CONVERT TO CHARACTER SET {self.random.choice(CHARSETS)}"
        steps = [self.random.choice(makers)() for _ in range(self.random.choice((1, 1, 2, 3)))]
        return f"ALTER TABLE {table} {', '.join(steps)}"

    def _definition(self) -> str:
        return f"{self.random.choice(TYPES)} {self.random.choice(ATTRIBUTES)}".strip()

    def _position(self) -> str:
        return self.random.choice(("", "", "FIRST", f"AFTER {self._old()}"))

    def _old(self) -> str:
        return f"`{self.random.choice(self.columns)}`"

    def _new(self) -> str:
        free = [name for name in FREE_NAMES if name not in self.columns]
        return self.random.choice(free or FREE_NAMES)

    def _add(self) -> str:
        return f"ADD COLUMN {self._new()} {self._definition()} {self._position()}"

    def _add_several(self) -> str:
        return f"ADD ({self._new()} {self._definition()}, {self._new()} {self._definition()})"

    def _drop(self) -> str:
        return f"DROP COLUMN {self._old()}"

    def _change(self) -> str:
        return f"CHANGE {self._old()} {self._new()} {self._definition()} {self._position()}"

    def _modify(self) -> str:
        return f"MODIFY COLUMN {self._old()} {self._definition()} {self._position()}"

    def _rename(self) -> str:
        return f"RENAME COLUMN {self._old()} TO {self._new()}"

    def _swap(self) -> str:
        one, other = self._old(), self._old()
        return f"RENAME COLUMN {one} TO {other}, RENAME COLUMN {other} TO {one}"

    def _key(self) -> str:
        kind = self.random.choice(("PRIMARY KEY", "UNIQUE", "INDEX", "UNIQUE KEY"))
        parts = ", ".join(self._old() + self.random.choice(("", "", "(5)", "(20)")) for _ in range(2))
        return f"ADD {kind} ({parts})" if self.random.random() < 0.5 else f"ADD {kind} ({self._old()})"

    def _drop_key(self) -> str:
        name = self.random.choice(self.keys) if self.keys else "none"
        return "DROP PRIMARY KEY" if name == "PRIMARY" else f"DROP KEY `{name}`"

    def _charset(self) -> str:
        return f"DEFAULT CHARACTER SET {self.random.choice(CHARSETS)}"

    def _show(self) -> str:
        return f"ALTER COLUMN {self._old()} SET {self.random.choice(('VISIBLE', 'INVISIBLE'))}"
