"""Spark with Delta's jar, in a process of its own, as the session that a mirror in this process merges changes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.delta_spark import SPARK, DeltaSpark

Before = Callable[[str], None]


class MergeSession:
    """What a mirror uses of a session; statements and settings are those of the other process.

    before    is called with each statement before it is executed: another program may be faster then
    jvm_cpu   the CPU time (user and system) that the JVM has taken for statements
    """

    version = SPARK

    def __init__(self, spark: DeltaSpark) -> None:
        self._spark = spark
        self.conf = _Settings(spark)
        self.before: Before = lambda _statement: None
        self.jvm_cpu = 0.0

    def newSession(self) -> MergeSession:  # noqa: N802 (Spark's name)
        """Return a session; there is only one."""
        return self

    def sql(self, statement: str) -> _Rows:
        """Execute a statement."""
        self.before(statement)
        answer = self._spark.sql(statement)
        self.jvm_cpu += answer.jvm_cpu
        return _Rows(answer.rows)


class _Settings:
    def __init__(self, spark: DeltaSpark) -> None:
        self._spark = spark

    def get(self, name: str, default: str | None = None) -> str | None:
        found = self._spark.sql(f"SET {name}").rows
        return found[0]["value"] if found else default

    def set(self, name: str, value: str) -> None:
        self._spark.configure(name, value)

    def unset(self, name: str) -> None:
        self._spark.configure(name, None)


class _Rows:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def collect(self) -> list[dict[str, Any]]:
        return self._rows
