"""A local Spark session without startup messages, for notebooks and scripts."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from binspark.errors import OptionError

LOOPBACK = "127.0.0.1"
LOGGING = Path(__file__).with_name("log4j2.properties")
SETTINGS: Mapping[str, str] = {
    "spark.master": "local[*]",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={LOGGING.as_uri()}"',
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_JOIN_SECONDS = 5
_LOCAL = "local"
_STARTING = Lock()
_STARTUP_NOISE = ("WARNING: ", "Picked up ", "NOTE: Picked up ")
"""How the lines begin that Java prints at every start, about modules and about options in the environment."""
_PIPE_CLOSED = ("BrokenPipeError", "ConnectionResetError")


def local_session(app_name: str = "binspark", settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return a Spark session on this machine; if a session exists already, that one, unchanged.

    It listens on loopback only, has no web UI, shows times in UTC and logs only errors. `settings` are Spark
    properties, which override these.

    >>> spark = local_session("look at a log")  # doctest: +SKIP
    >>> spark.read.format("binlog").option("table", "shop.orders").load("logs/")  # doctest: +SKIP
    """
    with _STARTING:  # a mirror copies several tables at once, each in a thread that may need Spark
        if SparkContext._active_spark_context is None:
            _start({**SETTINGS, **(settings or {}), "spark.app.name": app_name})
    return SparkSession.builder.getOrCreate()


def given_session(app_name: str, master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """Return a session of the Spark that a user has named, or of spark-submit, if `master` is None.

    On this machine it is as `local_session` makes it. A cluster has settings of its own, by which its executors reach
    this process.
    """
    own = dict(settings) if master is None else {**settings, "spark.master": master}
    if master is not None and master.startswith(_LOCAL):
        return local_session(app_name, own)
    with _STARTING:
        if SparkContext._active_spark_context is None:
            _start({**own, "spark.app.name": app_name}, is_local=False)
    return SparkSession.builder.getOrCreate()


def has_java() -> bool:
    """Return whether there is a Java to run Spark with: in JAVA_HOME, or else on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home, "bin")) if home else None) is not None


def _start(settings: Mapping[str, str], *, is_local: bool = True) -> None:
    if not has_java():
        raise OptionError("Spark needs Java 17 or later, but none was found in JAVA_HOME or on the PATH")
    if is_local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise workers run the python3 of the PATH
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        gateway = SparkContext._gateway or _launch(conf)
        SparkContext(conf=conf, gateway=gateway)


def _launch(conf: SparkConf) -> Any:
    """Start the JVM, and pass on what it writes to standard error, without the noise."""
    read_end, write_end = os.pipe()
    listener = Thread(target=_pass_on, args=(read_end,), name="stderr of the JVM", daemon=True)
    listener.start()
    try:
        with open(write_end, "w") as messages:
            return launch_gateway(conf, {"stderr": messages})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError:
        listener.join(_JOIN_SECONDS)
        raise OptionError("Spark did not start; see the messages of Java above") from None


def _pass_on(read_end: int) -> None:
    with open(read_end, encoding="utf-8", errors="replace") as lines:
        for line in without_noise(lines):
            sys.stderr.write(line)


def without_noise(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without Java's startup messages, and without tracebacks of workers whose pipe Spark closed.

    A query that needs only a few rows closes the pipes of its workers, and PySpark prints that as tracebacks. Lines of
    several workers are interleaved: they are buffered until as many tracebacks ended as began.
    """
    buffered: list[str] = []
    open_tracebacks = 0
    for line in lines:
        open_tracebacks += line.startswith("Traceback ")
        if not open_tracebacks:
            if not line.startswith(_STARTUP_NOISE):
                yield line
            continue
        buffered.append(line)
        open_tracebacks -= line.startswith(_PIPE_CLOSED)
        if not line.startswith(("Traceback ", " ", *_PIPE_CLOSED)):  # another failure, or another message
            yield from buffered
            open_tracebacks = 0
        if not open_tracebacks:
            buffered.clear()
    yield from buffered
