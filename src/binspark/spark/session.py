"""A local Spark that starts quietly: for a notebook, a script, a first look."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Thread
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
_PATIENCE_SECONDS = 5
_START_CHATTER = ("WARNING: ", "Picked up ", "NOTE: Picked up ")
"""How lines begin that Java writes at every start: of modules that Spark asks for, of options in the environment."""
_PIPE_CLOSED = ("BrokenPipeError", "ConnectionResetError")


def local_session(app_name: str = "binspark", settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return a Spark session on this machine. If one is running already, it is that one, as it is.

    It listens on loopback only, has no web page, shows times in UTC and logs nothing but errors. `settings` are Spark's
    own, and go before these.

    >>> spark = local_session("look at a log")  # doctest: +SKIP
    >>> spark.read.format("binlog").option("table", "shop.orders").load("logs/")  # doctest: +SKIP
    """
    if SparkContext._active_spark_context is None:
        _start({**SETTINGS, **(settings or {}), "spark.app.name": app_name})
    return SparkSession.builder.getOrCreate()


def has_java() -> bool:
    """Tell whether there is a Java to run Spark with: in JAVA_HOME, else on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home, "bin")) if home else None) is not None


def _start(settings: Mapping[str, str]) -> None:
    if not has_java():
        raise OptionError("Spark needs Java 17 or later: there is none in JAVA_HOME or on the PATH")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers run whatever is called python3
    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        gateway = SparkContext._gateway or _launch(conf)
        SparkContext(conf=conf, gateway=gateway)


def _launch(conf: SparkConf) -> Any:
    """Start the JVM. What it writes to standard error comes to ours, but for its chatter."""
    read_end, write_end = os.pipe()
    listener = Thread(target=_pass_on, args=(read_end,), name="stderr of the JVM", daemon=True)
    listener.start()
    try:
        with open(write_end, "w") as words:
            return launch_gateway(conf, {"stderr": words})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError:
        listener.join(_PATIENCE_SECONDS)
        raise OptionError("Spark does not start; what Java says about it stands above") from None


def _pass_on(read_end: int) -> None:
    with open(read_end, encoding="utf-8", errors="replace") as lines:
        for line in without_chatter(lines):
            sys.stderr.write(line)


def without_chatter(lines: Iterable[str]) -> Iterator[str]:
    """Leave out what tells nothing: of Java's start, and of workers whose rows nobody wants any more.

    A query that needs a few rows closes the pipes of the workers that send them, and PySpark prints that as tracebacks.
    Several workers write at once, a line each in turn: what they say is held until as many ended as began.
    """
    held: list[str] = []
    begun = 0
    for line in lines:
        begun += line.startswith("Traceback ")
        if not begun:
            if not line.startswith(_START_CHATTER):
                yield line
            continue
        held.append(line)
        begun -= line.startswith(_PIPE_CLOSED)
        if not line.startswith(("Traceback ", " ", *_PIPE_CLOSED)):  # another failure, or words of somebody else
            yield from held
            begun = 0
        if not begun:
            held.clear()
    yield from held
