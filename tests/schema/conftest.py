"""Sessions on the shared servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.schema.schema_logs import Recorder

FAMILIES = [pytest.param("mysql", marks=pytest.mark.mysql), pytest.param("mariadb", marks=pytest.mark.mariadb)]


@pytest.fixture(params=FAMILIES)
def recorder(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """A session on a server of each family."""
    session = Recorder(request.getfixturevalue(request.param))
    yield session
    session.close()
