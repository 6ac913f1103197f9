"""The session that the demo and the examples start: what of Java's and PySpark's words reaches the screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from binspark.spark.session import has_java, without_noise

BROKEN_PIPE = [
    "Traceback (most recent call last):\n",
    '  File "pyspark/daemon.py", line 264, in manager\n',
    '  File "pyspark/daemon.py", line 95, in worker\n',
    "BrokenPipeError: [Errno 32] Broken pipe\n",
]
OTHER_FAILURE = [*BROKEN_PIPE[:2], "ValueError: too short\n"]


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: Using incubator modules: jdk.incubator.vector\n",
        "Picked up JAVA_TOOL_OPTIONS: -Dx=y\n",
        "NOTE: Picked up JDK_JAVA_OPTIONS: -Dx=y\n",
    ],
)
def test_the_startup_messages_of_java_are_omitted(line: str) -> None:
    assert list(without_noise([line, "12:00:00 ERROR Executor: no\n"])) == ["12:00:00 ERROR Executor: no\n"]


def test_the_traceback_of_a_worker_whose_pipe_was_closed_is_omitted() -> None:
    assert list(without_noise(["before\n", *BROKEN_PIPE, *BROKEN_PIPE, "after\n"])) == ["before\n", "after\n"]


def test_interleaved_tracebacks_of_two_workers_are_omitted() -> None:
    interleaved = [line for pair in zip(BROKEN_PIPE, BROKEN_PIPE, strict=True) for line in pair]
    late = [*BROKEN_PIPE[:1], *BROKEN_PIPE[:3], *BROKEN_PIPE[3:], *BROKEN_PIPE[1:]]
    assert list(without_noise(["before\n", *interleaved, *late, "after\n"])) == ["before\n", "after\n"]


def test_a_failure_among_closed_pipes_is_shown() -> None:
    lines = [*BROKEN_PIPE[:1], *OTHER_FAILURE]
    assert list(without_noise(lines)) == lines


def test_other_tracebacks_are_shown_completely() -> None:
    lines = [*BROKEN_PIPE, *OTHER_FAILURE, "after\n"]
    assert list(without_noise(lines)) == [*OTHER_FAILURE, "after\n"]


def test_a_traceback_that_is_cut_off_is_shown() -> None:
    assert list(without_noise(BROKEN_PIPE[:2])) == BROKEN_PIPE[:2]


def test_java_is_found_in_java_home_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert not has_java()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", "")
    assert has_java()


def test_java_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not has_java()
    (tmp_path / "java").touch(mode=0o755)
    assert has_java()


def test_a_java_that_fails_is_reported_with_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text("#!/bin/sh\necho 'class file version 61.0' >&2\nexit 1\n")
    java.chmod(0o755)
    script = "from binspark.spark.session import local_session; local_session()"
    environment = os.environ | {"JAVA_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    words, _, error = done.stderr.partition("Traceback")
    assert "class file version 61.0" in words
    assert "binspark.errors.OptionError: Spark did not start" in error
