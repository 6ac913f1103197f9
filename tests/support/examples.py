"""How many examples tests try: all of them in a run with slow tests, fewer in a quick run.

The examples are Hypothesis', and the recorded logs of tests that read every log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.corpus.cases import CORPUS, COVERING_CASES, case_of

ALL = 100
"""Hypothesis' own number for tests that do not say how many they need."""
QUICK = 30

SWEEP = 40
"""A test reads every log if it has the logs of this many cases or more. All recorded logs are of 95 cases."""
COMPLETE = ("tests/corpus/", "tests/event/test_event_laws.py")
"""Where the quick run reads every log, too: what logs decode to, and that it encodes to the same bytes."""


def load_profile(*, quick: bool) -> None:
    """Choose the number of examples, before the modules of tests are imported. No test fails for being slow."""
    settings.register_profile(
        "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=QUICK if quick else ALL
    )
    settings.load_profile("tests")


def examples(count: int) -> int:
    """Return how many of these examples are tried in this run: in a quick one, as large a part as of all others."""
    chosen = settings().max_examples
    return max(1, count * chosen // ALL)


def leave_logs_to_the_long_run(items: Iterable[pytest.Item]) -> None:
    """Mark tests of recorded logs as slow where the same test reads logs that cover all that these have."""
    tests: dict[str, list[tuple[pytest.Item, str]]] = defaultdict(list)
    for item in items:
        case = _case(item)
        if case is not None and not item.nodeid.startswith(COMPLETE):
            tests[item.nodeid.partition("[")[0]].append((item, case))
    for test in tests.values():
        if len({case for _, case in test}) >= SWEEP:
            for item, case in test:
                if case not in COVERING_CASES:
                    item.add_marker(pytest.mark.slow)


def _case(item: pytest.Item) -> str | None:
    """Return the case of the recorded log that a test reads, or of the first one."""
    values: Iterable[Any] = item.callspec.params.values() if hasattr(item, "callspec") else ()
    for value in values:
        first = value[0] if isinstance(value, Sequence) and value else value
        if isinstance(first, Path) and first.is_relative_to(CORPUS):
            return case_of(first)
        if isinstance(value, str) and value.startswith(("mysql/", "mariadb/")):
            return value
    return None
