"""Workers find binspark: in a virtual environment that is not activated, with an empty environment as cron has it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from binspark.cli.demo import SHOP
from tests.support.spark import spark_processes as processes

pytestmark = [pytest.mark.timeout(600)]

JOB = Path(processes.__file__).with_name("plain_job.py")
ORDERS = 391


def run_job(python: Path, folder: Path, **variables: str) -> dict[str, Any]:
    """Run the job of a user with an empty environment, except for Java and a `python3` that lacks everything."""
    other = folder / "bin"
    other.mkdir(exist_ok=True)
    (other / "python3").write_text("#!/bin/sh\nexit 9\n")
    (other / "python3").chmod(0o755)
    base = {"PATH": f"{other}:/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"}
    java = {name: os.environ[name] for name in ("JAVA_HOME",) if name in os.environ}
    return processes.run_driver([python, JOB, SHOP / "mysql"], {**base, **java, **variables}, folder)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python of a virtual environment in which binspark and what it needs are installed."""
    return processes.make_python(tmp_path_factory.mktemp("with"), None, sources=True)


@pytest.mark.slow
def test_a_job_runs_in_an_environment_that_is_not_activated_and_empty(python: Path, tmp_path: Path) -> None:
    found = run_job(python, tmp_path)
    assert found == {"driver": str(python), "worker": str(python), "rows": ORDERS}


@pytest.mark.slow
def test_workers_run_the_python_that_pyspark_python_names(
    python: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    other = processes.make_python(tmp_path_factory.mktemp("other"), None, sources=True)
    found = run_job(python, tmp_path, PYSPARK_PYTHON=str(other))
    assert found == {"driver": str(python), "worker": str(other), "rows": ORDERS}


@pytest.mark.slow
def test_workers_without_binspark_say_what_to_set(
    python: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    bare = processes.make_python(tmp_path_factory.mktemp("without"), None)
    failure = run_job(python, tmp_path, PYSPARK_PYTHON=str(bare))["failure"]
    assert f"Spark's workers run {bare} on " in failure
    assert "which has no binspark. Set PYSPARK_PYTHON, before the session starts, to a Python with" in failure
