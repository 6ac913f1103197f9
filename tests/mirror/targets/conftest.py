"""Targets of both formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Target, TargetTable
from tests.support.mirror.live_mirrors import FORMATS
from tests.support.mirror.target_files import ITEMS, SCHEMA, state_at


@pytest.fixture(params=FORMATS)
def kind(request: pytest.FixtureRequest) -> Format:
    found: Format = request.param
    return found


@pytest.fixture
def target(kind: Format, tmp_path: Path) -> Iterator[Target]:
    opened = parse_target(str(tmp_path / "lake"), kind)
    yield opened
    opened.close()


@pytest.fixture
def items(target: Target) -> TargetTable:
    """An empty table."""
    return target.create(ITEMS, SCHEMA, state_at(4))
