"""The session that binspark starts itself."""

from __future__ import annotations

import subprocess
import sys
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


_THREADS_START_SPARK = """
from concurrent.futures import ThreadPoolExecutor
from binspark.spark.session import local_session
with ThreadPoolExecutor(4) as pool:
    sessions = list(pool.map(lambda number: local_session(f"thread {number}"), range(4)))
print(len({session.sparkContext.applicationId for session in sessions}), sum(s.range(10).count() for s in sessions))
sessions[0].stop()
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_processes_that_start_spark_at_once_have_one_each_whatever_threads_they_have() -> None:
    words = [sys.executable, "-c", _THREADS_START_SPARK]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in started:
        printed, errors = process.communicate()
        assert (process.returncode, printed) == (0, "1 40\n"), errors
