"""Random statements that create, alter, rename, empty and drop the tables of a workload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.support.mirror.kills.random_table import INT_KEY, KEYS, RandomTable
from tests.support.replay.random_types import Kind, quoted

Try = Callable[[str, str], bool]

_ENUM = ("a", "b", "c", "d", "ö", "it''s", "")
_DEFAULTS = (
    Kind("INT NOT NULL DEFAULT 7", lambda rng: str(rng.randint(-9, 9)), int),
    Kind("VARCHAR(20) NOT NULL DEFAULT 'öpen'", lambda rng: quoted(rng.choice(("x", "öpen", ""))), str),
    Kind("DECIMAL(8,2) DEFAULT '-1.50'", lambda rng: f"{rng.randint(-99, 99)}.25", str),
    Kind("DATETIME(3) NOT NULL DEFAULT '2024-02-29 12:30:00.125'", lambda rng: f"'2021-0{rng.randint(1, 9)}-01'", str),
    Kind("BIGINT UNSIGNED NOT NULL", lambda rng: str(rng.randint(0, 99)), int),
)
_WIDER = {
    "TINYINT": "SMALLINT",
    "SMALLINT": "INT",
    "MEDIUMINT": "BIGINT",
    "INT": "BIGINT",
    "TINYINT UNSIGNED": "SMALLINT UNSIGNED",
    "SMALLINT UNSIGNED": "INT UNSIGNED",
    "INT UNSIGNED": "BIGINT UNSIGNED",
    "FLOAT": "DOUBLE",
    "VARCHAR(60) CHARACTER SET utf8mb4": "VARCHAR(400) CHARACTER SET utf8mb4",
    "DECIMAL(5,2)": "DECIMAL(18,9)",
    "VARBINARY(300)": "VARBINARY(900)",
    "TINYTEXT CHARACTER SET utf8mb4": "LONGTEXT CHARACTER SET utf8mb4",
}


class RandomDdl:
    """Changes the definitions of tables, and notes what they are afterwards."""

    def __init__(self, rng: Random, kinds: Sequence[Kind], tables: list[RandomTable], attempt: Try) -> None:
        self._rng = rng
        self._kinds = kinds
        self._tables = tables
        self._try = attempt
        self._names = 0

    def step(self, *, may_create: bool) -> None:
        """Run one statement."""
        alters = [self._add, self._drop_column, self._rename_column, self._reorder, self._widen, self._modify]
        special = [self._grow_enum, self._convert, self._swap_columns, self._change_key, self._several]
        tables = [self._rename, self._swap, self._truncate, self._drop, self._create_again, self._add_computed]
        created = [self.create, self._create_like, self._create_as] if may_create else []
        self._rng.choice([*alters * 3, *special * 2, *tables, *created])()

    # --- Tables -------------------------------------------------------------------------------------------------------

    def create(self) -> None:
        """Create a table."""
        self._create_named(self._new("t"))

    def _create_named(self, name: str) -> None:
        table = RandomTable(name)
        key = self._rng.choice(KEYS)
        table.key = tuple(f"k{number}" for number in range(len(key)))
        table.columns = dict(zip(table.key, key, strict=True))
        for _ in range(self._rng.randint(1, 9)):
            table.columns[self._new("c")] = self._rng.choice(self._kinds)
        if self._rng.random() < 0.5:
            table.columns[self._new("e")] = _enum(2)
        if self._try("CREATE TABLE", f"CREATE TABLE `{name}` ({table.definition()})"):
            self._tables.append(table)

    def _create_like(self) -> None:
        origin, name = self._table(), self._new("l")
        if self._try("CREATE TABLE LIKE", f"CREATE TABLE `{name}` LIKE `{origin.name}`"):
            self._tables.append(RandomTable(name, dict(origin.columns), origin.key))

    def _create_as(self) -> None:
        origin, name = self._table(), self._new("s")
        if self._try("CREATE TABLE AS SELECT", f"CREATE TABLE `{name}` AS SELECT * FROM `{origin.name}`"):
            self._tables.append(RandomTable(name, dict(origin.columns)))

    def _rename(self) -> None:
        table, name = self._table(), self._new("r")
        if self._try("RENAME TABLE", f"RENAME TABLE `{table.name}` TO `{name}`"):
            table.name = name

    def _swap(self) -> None:
        """Let two tables change their names."""
        first, second = self._table(), self._table()
        pairs = ((first.name, "swapped"), (second.name, first.name), ("swapped", second.name))
        sql = ", ".join(f"`{old}` TO `{new}`" for old, new in pairs)
        if first is not second and self._try("swap tables", f"RENAME TABLE {sql}"):
            first.name, second.name = second.name, first.name

    def _truncate(self) -> None:
        self._try("TRUNCATE TABLE", f"TRUNCATE TABLE `{self._table().name}`")

    def _drop(self) -> None:
        table = self._table()
        if self._try("DROP TABLE", f"DROP TABLE `{table.name}`"):
            self._tables.remove(table)

    def _create_again(self) -> None:
        """Drop a table, and create another one of its name."""
        table = self._table()
        if self._try("DROP TABLE", f"DROP TABLE `{table.name}`"):
            self._tables.remove(table)
            self._create_named(table.name)

    # --- Columns ------------------------------------------------------------------------------------------------------

    def _add(self) -> None:
        table, name = self._table(), self._new("c")
        kind = self._rng.choice((*_DEFAULTS, self._rng.choice(self._kinds), self._rng.choice(self._kinds)))
        if self._alter("ADD COLUMN", table, f"ADD COLUMN `{name}` {kind.sql}{self._where(table)}"):
            table.columns[name] = kind

    def _add_computed(self) -> None:
        """Add a column with values that the log does not have, and drop it again: then rows are known again."""
        table, name = self._table(), self._new("g")
        kind = self._rng.choice(("TIMESTAMP DEFAULT CURRENT_TIMESTAMP", "INT AS (1 + 1) STORED"))
        self._alter("ADD COLUMN, computed", table, f"ADD COLUMN `{name}` {kind}")

    def _drop_column(self) -> None:
        table = self._table()
        if len(table.others) > 1:
            name = self._rng.choice(table.others)
            if self._alter("DROP COLUMN", table, f"DROP COLUMN `{name}`"):
                del table.columns[name]

    def _rename_column(self) -> None:
        table, name = self._table(), self._new("n")
        old = self._rng.choice(list(table.columns))
        if self._alter("RENAME COLUMN", table, f"RENAME COLUMN `{old}` TO `{name}`"):
            _rename(table, {old: name})

    def _swap_columns(self) -> None:
        table = self._table()
        if len(table.others) > 1:
            one, two = self._rng.sample(table.others, k=2)
            if self._alter(
                "swap columns", table, f"RENAME COLUMN `{one}` TO `{two}`, RENAME COLUMN `{two}` TO `{one}`"
            ):
                _rename(table, {one: two, two: one})

    def _reorder(self) -> None:
        table = self._table()
        name = self._rng.choice(list(table.columns))
        null = "" if name in table.key else " NULL"
        where = self._where(table, without=name)
        self._alter(
            "reorder columns", table, f"MODIFY `{name}` {table.columns[name].sql}{_null(table, name, null)}{where}"
        )

    def _widen(self) -> None:
        found = [(table, name) for table in self._tables for name in table.others if table.columns[name].sql in _WIDER]
        if found:
            table, name = self._rng.choice(found)
            old = table.columns[name]
            sql = _WIDER[old.sql]
            if self._alter("widen a column", table, f"MODIFY `{name}` {sql} NULL"):
                table.columns[name] = Kind(sql, old.literal, old.read)

    def _modify(self) -> None:
        """Give a column any other type: values are converted, cut or refused. Bytes become no text."""
        table = self._table()
        if table.others:
            name, kind = self._rng.choice(table.others), self._rng.choice(self._kinds)
            if table.columns[name].is_bytes and kind.is_text:
                return
            if self._alter("MODIFY COLUMN", table, f"MODIFY `{name}` {kind.sql} NULL"):
                table.columns[name] = kind

    def _grow_enum(self) -> None:
        found = [(table, name) for table in self._tables for name in table.others if name.startswith("e")]
        if found:
            table, name = self._rng.choice(found)
            count = min(len(_ENUM), table.columns[name].sql.count(",") + 2)
            members = [f"'{word}'" for word in _ENUM[:count]]
            if self._rng.random() < 0.3:
                members.reverse()
            if self._alter("grow an ENUM", table, f"MODIFY `{name}` ENUM({','.join(members)}) NULL"):
                table.columns[name] = _enum(count)

    def _convert(self) -> None:
        """Give a table another character set. MySQL has no text any more for the members of a SET in UTF-16 then."""
        table, charset = self._table(), self._rng.choice(("utf8mb4", "utf8mb3", "latin1", "utf16"))
        if charset != "utf16" or not any(kind.sql.startswith("SET") for kind in table.columns.values()):
            self._alter("CONVERT TO CHARACTER SET", table, f"CONVERT TO CHARACTER SET {charset}")

    def _change_key(self) -> None:
        """Drop the key of a table, or give it another."""
        table = self._table()
        if table.key and self._rng.random() < 0.5:
            if self._alter("DROP PRIMARY KEY", table, "DROP PRIMARY KEY"):
                table.key = ()
            return
        name = self._new("k")
        steps = (
            f"{'DROP PRIMARY KEY, ' if table.key else ''}ADD COLUMN `{name}` INT NOT NULL AUTO_INCREMENT PRIMARY KEY"
        )
        if self._alter("ADD PRIMARY KEY", table, steps):
            table.columns[name], table.key = INT_KEY, (name,)

    def _several(self) -> None:
        """Drop, add and rename in one statement, and give the table another name."""
        table, added, name = self._table(), self._new("c"), self._new("r")
        if len(table.others) > 1:
            old, gone = self._rng.sample(table.others, k=2)
            kind = self._rng.choice(_DEFAULTS)
            steps = f"DROP `{gone}`, RENAME COLUMN `{old}` TO `{gone}`, ADD `{added}` {kind.sql}, RENAME TO `{name}`"
            if self._alter("several steps", table, steps):
                del table.columns[gone]
                _rename(table, {old: gone})
                table.columns[added], table.name = kind, name

    def _alter(self, kind: str, table: RandomTable, steps: str) -> bool:
        return self._try(kind, f"ALTER TABLE `{table.name}` {steps}")

    def _where(self, table: RandomTable, without: str = "") -> str:
        others = [name for name in table.columns if name != without]
        return self._rng.choice(("", " FIRST", f" AFTER `{self._rng.choice(others)}`" if others else ""))

    def _table(self) -> RandomTable:
        return self._rng.choice(self._tables)

    def _new(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"


def _enum(count: int) -> Kind:
    members = ",".join(f"'{word}'" for word in _ENUM[:count])
    return Kind(f"ENUM({members})", lambda rng: str(rng.randint(0, count)), str)


def _null(table: RandomTable, name: str, text: str) -> str:
    sql = table.columns[name].sql
    return "" if "NOT NULL" in sql or "DEFAULT" in sql else text


def _rename(table: RandomTable, names: dict[str, str]) -> None:
    table.columns = {names.get(name, name): kind for name, kind in table.columns.items()}
    table.key = tuple(names.get(name, name) for name in table.key)
