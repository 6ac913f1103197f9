"""Fixtures for the tests of mirrors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format
from tests.support.mirror.live_mirrors import FORMATS
from tests.support.servers import database, shared
from tools.delta_spark import SMALL, DeltaSpark, NoDeltaSpark, start_delta_spark

__all__ = ["database", "shared"]


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The directory of a target."""
    return tmp_path / "lake"


@pytest.fixture(params=FORMATS)
def kind(request: pytest.FixtureRequest) -> Format:
    """Both formats of targets."""
    found: Format = request.param
    return found


@pytest.fixture(scope="session")
def delta_spark() -> Iterator[DeltaSpark]:
    """Spark with Delta's own jar; tests that need it are skipped where it cannot be had."""
    try:
        session = start_delta_spark(others=SMALL)
    except NoDeltaSpark as reason:
        pytest.skip(str(reason))
    with session:
        yield session
