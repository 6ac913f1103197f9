"""Random sequences of ALTER TABLE on real servers: rows of the log under their newest names equal the table."""

from __future__ import annotations

from random import Random

import pytest

from binspark.changes.reader import ChangeReader
from binspark.columns.selection import Selection
from binspark.event import Event
from binspark.schema import SchemaHistory
from binspark.schema.lineage import WantedColumns
from binspark.schema.table import TableName
from tests.support.schema.schema_logs import Recorder

DATABASE = "lineage"
TABLE = TableName(DATABASE, "t")
STATEMENTS = 60
WIDER = {"INT": "BIGINT", "BIGINT": "DECIMAL(30,0)", "DECIMAL(30,0)": "VARCHAR(40)", "VARCHAR(40)": "VARCHAR(40)"}
Row = dict[str, str | None]


class Alters:
    """Generates statements that rename, swap, move, drop, add and widen columns, all of which a server accepts."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.types = {"a": "INT", "b": "INT", "c": "BIGINT"}

    def statements(self) -> list[str]:
        """Return one change, as one or more statements."""
        makers = [self._add, self._rename, self._change, self._rename_under_another_name]
        if len(self.types) > 1:
            makers += [self._swap, self._swap, self._drop, self._drop_and_add]
        return self.random.choice(makers)()

    def _pick(self) -> str:
        return self.random.choice(sorted(self.types))

    def _free(self) -> str:
        return self.random.choice([name for name in "abcdefgh" if name not in self.types])

    def _position(self) -> str:
        return self.random.choice(["", "FIRST", "AFTER id"])

    def _add(self) -> list[str]:
        if len(self.types) > 6:
            return self._drop()
        name = self._free()
        self.types[name] = "INT"
        return [f"ALTER TABLE t ADD COLUMN {name} INT {self._position()}"]

    def _drop(self) -> list[str]:
        name = self._pick()
        del self.types[name]
        return [f"ALTER TABLE t DROP COLUMN {name}"]

    def _drop_and_add(self) -> list[str]:
        name = self._pick()
        kind = self.types[name]
        statements = [f"ALTER TABLE t DROP COLUMN {name}", f"ALTER TABLE t ADD COLUMN {name} {kind}"]
        return statements if self.random.random() < 0.5 else [", ".join((statements[0], statements[1][14:]))]

    def _rename(self) -> list[str]:
        old, new = self._pick(), self._free()
        self.types[new] = self.types.pop(old)
        return [f"ALTER TABLE t RENAME COLUMN {old} TO {new}"]

    def _change(self) -> list[str]:
        old = self._pick()
        new = self.random.choice([old, old.upper(), self._free()])
        self.types[new.lower()] = WIDER[self.types.pop(old)]
        return [f"ALTER TABLE t CHANGE {old} {new} {self.types[new.lower()]} {self._position()}"]

    def _swap(self) -> list[str]:
        one, other = self.random.sample(sorted(self.types), 2)
        self.types[one], self.types[other] = self.types[other], self.types[one]
        return [f"ALTER TABLE t RENAME COLUMN {one} TO {other}, RENAME COLUMN {other} TO {one}"]

    def _rename_under_another_name(self) -> list[str]:
        renamed = self._rename()
        return ["RENAME TABLE t TO u", renamed[0].replace("TABLE t", "TABLE u"), "ALTER TABLE u RENAME TO t"]


def record(recorder: Recorder, seed: int) -> None:
    """Run random statements, each followed by a row with other values than any other."""
    alters = Alters(seed)
    recorder.new_database(DATABASE)
    recorder.run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c BIGINT)")
    for number in range(STATEMENTS):
        columns = sorted(alters.types)
        values = ", ".join(str(10 * number + index) for index in range(len(columns)))
        recorder.run(f"INSERT INTO t (id, {', '.join(columns)}) VALUES ({number}, {values})")
        recorder.run(*alters.statements())


def table_rows(recorder: Recorder) -> dict[str, Row]:
    """Return the rows of the table by their keys, as text."""
    names = [row[0] for row in recorder.run("SHOW COLUMNS FROM t")]
    rows = [dict(zip(names, map(as_text, row), strict=True)) for row in recorder.run("SELECT * FROM t")]
    return {str(row["id"]): row for row in rows}


def as_text(value: object) -> str | None:
    return None if value is None else str(value)


def logged_rows(events: list[Event], names: list[str]) -> dict[str, Row]:
    """Return the inserted rows by their keys, as text and with these names of columns."""
    history = SchemaHistory()
    reader = ChangeReader(Selection(), history)
    changes = [change for event in events for change in reader.feed(event)]
    wanted = WantedColumns.of(names, names, history.catalog.lineage(TABLE))
    found = {}
    for change in changes:
        after, schema = change.after, change.table_schema
        assert after is not None
        sources = wanted.sources(schema.column_names, schema.lineage)
        found[str(after["id"])] = {name: as_text(after[sources[name]]) if name in sources else None for name in names}
    return found


@pytest.mark.parametrize("metadata", ["FULL", "MINIMAL"])
@pytest.mark.parametrize(
    "seed", [1, 2, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)]
)
def test_rows_under_their_newest_names_equal_the_table(recorder: Recorder, seed: int, metadata: str) -> None:
    recorder.log_metadata(metadata)
    record(recorder, seed)
    expected = table_rows(recorder)
    events = list(recorder.events())
    assert logged_rows(events, list(next(iter(expected.values())))) == expected


def test_columns_are_followed_where_the_log_begins_later(recorder: Recorder) -> None:
    recorder.log_metadata("FULL")
    record(recorder, 5)
    expected = table_rows(recorder)
    events = list(recorder.events())
    later = [number for number, event in enumerate(events) if event.type == "TABLE_MAP"][STATEMENTS // 2]
    found = logged_rows([events[0], *events[later:]], list(next(iter(expected.values()))))
    assert len(found) == STATEMENTS - STATEMENTS // 2
    assert found == {key: expected[key] for key in found}
