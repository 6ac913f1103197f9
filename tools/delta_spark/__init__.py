"""Spark 4.2 with Delta's own jar, for tests and benchmarks: fetched once into the cache, run in a process of its own.

No released jar of Delta runs on the Spark that binspark is developed with, so that both have an environment of their
own: Spark's Python package and its jars are in a folder of the cache, and `worker.py` executes SQL statements there.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Any, Self

from binspark.folders import cache_folder
from binspark.testing.servers.cache import build_once
from binspark.testing.servers.errors import ServerUnavailable

SPARK = "4.2.1"
PY4J = "0.10.9.9"
DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
_WORKER = Path(__file__).with_name("worker.py")
_TOOLS = Path(__file__).parents[2]
_FETCH_SECONDS = 400

SMALL = {
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""Settings with which small tables take the least time: few tasks, and a JVM that does not optimize its code."""


class NoDeltaSpark(Exception):
    """Spark with Delta's jar cannot be had here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a statement gave: its rows, and the CPU time (user and system) that the JVM took."""

    rows: list[dict[str, Any]]
    jvm_cpu: float


class DeltaSpark:
    """A session of Spark with Delta's jar. Times are in UTC."""

    def __init__(self, worker: subprocess.Popen[bytes], requests: IO[bytes], answers: IO[bytes], log: Path) -> None:
        self._worker = worker
        self._requests = requests
        self._answers = answers
        self._log = log

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._requests.close()  # at the end of its input the worker stops
        self._worker.wait()
        self._answers.close()
        shutil.rmtree(self._log.parent)

    def configure(self, name: str, value: str | None) -> None:
        """Change a setting of the session; None lets it have its default."""
        self._ask((name, value))

    def sql(self, statement: str) -> Answer:
        """Execute a statement."""
        return self._ask(statement)

    def _ask(self, statement: str | tuple[str, str | None]) -> Answer:
        pickle.dump(statement, self._requests)
        self._requests.flush()
        try:
            found, jvm_cpu = pickle.load(self._answers)
        except EOFError:
            raise NoDeltaSpark(f"Spark {SPARK} ended: {_end_of(self._log)}") from None
        if isinstance(found, str):
            raise ValueError(f"Spark {SPARK} refused {statement}: {found}")
        return Answer(found, jvm_cpu)


def start_delta_spark(memory: str = "1g", others: Mapping[str, str] = MappingProxyType({})) -> DeltaSpark:
    """Start Spark with Delta's jar, which is fetched the first time, and with other settings."""
    folder = _environment()
    settings = {"spark.jars": _jars(folder), "spark.driver.memory": memory, **others}
    log = Path(tempfile.mkdtemp(prefix="delta-spark-")) / "log"
    session = DeltaSpark(*_start_worker(folder, settings, log), log)
    try:
        session.sql("SELECT 1")
    except BaseException:
        session.__exit__(None, None, None)
        raise
    return session


def environment_with_binspark() -> dict[str, str]:
    """Return the variables of a process that has binspark, Spark and Delta's jar, which is fetched the first time."""
    folder = _environment()
    paths = (folder / "packages", _TOOLS / "src", _TOOLS)
    settings = " ".join(f"--conf '{name}={value}'" for name, value in SMALL.items())
    submitted = f"--jars {_jars(folder)} --driver-memory 1g {settings} pyspark-shell"
    return _variables(folder) | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYSPARK_SUBMIT_ARGS": submitted}


def _jars(folder: Path) -> str:
    return ",".join(map(str, sorted((folder / "jars").glob("*.jar"))))


def _variables(folder: Path) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    variables |= {"PYTHONPATH": str(folder / "packages"), "TZ": "UTC", "SPARK_LOCAL_IP": "127.0.0.1"}
    if (java := _java()) is not None:
        variables["JAVA_HOME"] = java
    return variables


def _start_worker(
    folder: Path, settings: dict[str, str], log: Path
) -> tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]:
    command = [sys.executable, str(_WORKER), *(f"{name}={value}" for name, value in settings.items())]
    with log.open("wb") as errors:
        worker = subprocess.Popen(
            command,
            env=_variables(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=log.parent,
        )
    assert worker.stdin is not None
    assert worker.stdout is not None
    return worker, worker.stdin, worker.stdout


def _java() -> str | None:
    found = subprocess.run([_TOOLS / "tools" / "java"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or None


def _environment() -> Path:
    name = f"delta-spark-{SPARK}-{DELTA.rpartition(':')[2]}-python-{sys.version_info[0]}.{sys.version_info[1]}"
    if _java() is None:
        raise NoDeltaSpark("Java is not installed")
    try:
        return build_once(cache_folder() / name, _fetch)
    except ServerUnavailable as error:
        raise NoDeltaSpark(str(error)) from error


def _fetch(folder: Path) -> None:
    """Install Spark's Python package, and let it resolve Delta's jars."""
    packages = [f"pyspark=={SPARK}", f"py4j=={PY4J}"]
    install = [
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-compile",
        "--target",
        str(folder / "packages"),
        *packages,
    ]
    try:
        subprocess.run([sys.executable, *install], check=True, capture_output=True, timeout=_FETCH_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise NoDeltaSpark(f"pip cannot fetch {' '.join(packages)}") from error
    resolved, log = folder / "resolved", folder / "log"
    settings = {"spark.jars.packages": DELTA, "spark.jars.ivy": str(resolved)}
    worker, requests, answers = _start_worker(folder, settings, log)
    requests.close()
    try:
        status = worker.wait(_FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        worker.terminate()
        status = worker.wait()
    finally:
        answers.close()
    if status != 0:
        raise NoDeltaSpark(f"Spark {SPARK} cannot fetch {DELTA}: {_end_of(log)}")
    shutil.move(resolved / "jars", folder / "jars")
    shutil.rmtree(resolved)


def _end_of(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
