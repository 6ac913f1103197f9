"""How many examples Hypothesis tries: all of them in a run with slow tests, fewer in a quick run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

ALL = 100
"""Hypothesis' own number for tests that do not say how many they need."""
QUICK = 30


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
