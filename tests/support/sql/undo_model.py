"""Random transactions on one table, and what an undo of some of them must leave: a model of rows by their key."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

Row = dict[str, int | None]
Rows = dict[int, Row]
CREATE = "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT)"
_COLUMNS = ("a", "b", "c")


@dataclass(frozen=True)
class Changed:
    """A change: the row before it, None for an insert, and after it, None for a delete."""

    old: Row | None
    new: Row | None

    @property
    def keys(self) -> list[int | None]:
        """The keys that it uses, the last one that after it."""
        return list(dict.fromkeys(row["id"] for row in (self.old, self.new) if row is not None))

    @property
    def statement(self) -> str:
        """The statement that makes it."""
        if self.old is None:
            assert self.new is not None
            values = ", ".join(map(_literal, self.new.values()))
            return f"INSERT INTO t (id, a, b, c) VALUES ({values})"
        where = f"WHERE id = {self.old['id']}"
        if self.new is None:
            return f"DELETE FROM t {where}"
        changed = ", ".join(f"{name} = {_literal(self.new[name])}" for name in self.changed)
        return f"UPDATE t SET {changed} {where}"

    @property
    def changed(self) -> list[str]:
        """The columns that an update changes."""
        assert self.old is not None
        assert self.new is not None
        return [name for name, value in self.old.items() if self.new[name] != value]


def _literal(value: int | None) -> str:
    return "NULL" if value is None else str(value)


@dataclass
class RandomTransactions:
    """Transactions that change few rows often; `rows` is the table after them."""

    rng: Random
    rows: Rows = field(default_factory=dict)
    transactions: list[list[Changed]] = field(default_factory=list)

    def run(self, count: int) -> None:
        """Add transactions."""
        for _ in range(count):
            self.transactions.append([self._change() for _ in range(self.rng.randint(1, 3))])

    def _change(self) -> Changed:
        rng, rows = self.rng, self.rows
        free = [key for key in range(1, 7) if key not in rows]
        makers = [self._insert] * bool(free) + [self._update, self._update, self._delete] * bool(rows)
        made = rng.choice([*makers, *([self._move] * (bool(free) and bool(rows)))])(free)
        if made.old is not None:
            del rows[made.old["id"] or 0]
        if made.new is not None:
            rows[made.new["id"] or 0] = made.new
        return made

    def _value(self) -> int | None:
        return None if self.rng.random() < 0.02 else self.rng.randrange(100)

    def _insert(self, free: list[int]) -> Changed:
        return Changed(None, {"id": self.rng.choice(free), **{name: self._value() for name in _COLUMNS}})

    def _delete(self, _free: list[int]) -> Changed:
        return Changed(self.rng.choice(list(self.rows.values())), None)

    def _update(self, _free: list[int]) -> Changed:
        old = self.rng.choice(list(self.rows.values()))
        names = self.rng.sample(_COLUMNS, self.rng.randint(1, 2))
        return Changed(old, old | {name: (old[name] or 0) + self.rng.randint(1, 9) for name in names})

    def _move(self, free: list[int]) -> Changed:
        old = self.rng.choice(list(self.rows.values()))
        new = old | {"id": self.rng.choice(free)}
        return Changed(old, new | {"a": (old["a"] or 0) + 1} if self.rng.random() < 0.5 else new)

    def undone(self, chosen: set[int], on_conflict: str) -> Rows:
        """Return the rows after an undo of some transactions, by what the documentation says of it."""
        undo = _Undo({key: dict(row) for key, row in self.rows.items()}, on_conflict)
        for number, transaction in reversed(list(enumerate(self.transactions))):
            for change in reversed(transaction):
                undo.take(change, is_chosen=number in chosen)
        return undo.rows


@dataclass
class _Undo:
    """Goes back through the changes; `others` has the columns that other changes have set, by key."""

    rows: Rows
    on_conflict: str
    others: dict[int | None, set[str]] = field(default_factory=dict)

    def take(self, change: Changed, *, is_chosen: bool) -> None:
        if not is_chosen:
            self._leave(change)
        elif self.on_conflict == "overwrite":
            self._overwrite(change)
        elif not any(key in self.others for key in change.keys):
            self._restore(change)
        elif self.on_conflict == "merge" and self._can_merge(change):
            self._merge(change)
        else:
            self._leave(change, is_update=False)

    def _leave(self, change: Changed, *, is_update: bool = True) -> None:
        is_update = is_update and change.old is not None and change.new is not None and len(change.keys) == 1
        for key in change.keys:
            self.others.setdefault(key, set()).update(change.changed if is_update else ["row"])

    def _restore(self, change: Changed) -> None:
        if change.new is not None:
            assert self.rows.pop(change.new["id"] or 0) == change.new
        if change.old is not None:
            assert change.old["id"] not in self.rows
            self.rows[change.old["id"] or 0] = dict(change.old)

    def _can_merge(self, change: Changed) -> bool:
        if change.old is None or change.new is None:
            return False
        *before, after = change.keys
        return "row" not in self.others.get(after, ()) and not any(key in self.others for key in before)

    def _merge(self, change: Changed) -> None:
        assert change.old is not None
        assert change.new is not None
        later = self.others[change.new["id"]]
        row = self.rows.pop(change.new["id"] or 0)
        row |= {name: change.old[name] for name in change.changed if name not in later}
        self.rows[row["id"] or 0] = row
        for key in change.keys:
            self.others[key] = set(later)

    def _overwrite(self, change: Changed) -> None:
        if change.old is None:
            assert change.new is not None
            self.rows.pop(change.new["id"] or 0, None)
            return
        key = change.old["id"] or 0
        if change.new is None:
            self.rows[key] = dict(change.old)
            return
        if len(change.keys) > 1:
            self.rows.pop(key, None)
        current = self.rows.pop(change.new["id"] or 0, None)
        restored = {name: change.old[name] for name in change.changed}
        self.rows[key] = dict(change.old) if current is None else current | restored
