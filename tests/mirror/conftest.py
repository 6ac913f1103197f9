"""Fixtures for the tests of mirrors."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format
from tests.support.mirror.live_mirrors import FORMATS
from tests.support.servers import database, shared

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
