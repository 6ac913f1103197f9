"""The session that binspark starts itself."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from binspark.spark import session as session_module
from binspark.spark.session import local_session


def test_threads_that_need_a_session_at_once_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    context = SimpleNamespace(_active_spark_context=None)
    started = []

    def start(settings: dict[str, str]) -> None:
        started.append(settings["spark.app.name"])
        time.sleep(0.05)  # so that the others arrive before there is a context
        context._active_spark_context = object()

    monkeypatch.setattr(session_module, "SparkContext", context)
    monkeypatch.setattr(session_module, "SparkSession", MagicMock())
    monkeypatch.setattr(session_module, "_start", start)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: local_session("shared"), range(4)))
    assert started == ["shared"]
