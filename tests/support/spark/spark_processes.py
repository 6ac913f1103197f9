"""Spark as it runs elsewhere: a standalone cluster, a Connect server, and Pythons that have no sources of ours."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyspark

import binspark

LOOPBACK = "127.0.0.1"
SPARK_HOME = Path(pyspark.__file__).parent
SPARK_CLASS = str(SPARK_HOME / "bin" / "spark-class")
SPARK_SUBMIT = str(SPARK_HOME / "bin" / "spark-submit")
SOURCES = Path(binspark.__file__).parents[1]
PACKAGES = ("binspark", "pyspark_binlog")
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
START_SECONDS = 120
STOP_SECONDS = 60
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


def build_wheel(folder: Path) -> Path:
    """Build the package as it is released."""
    options = ["--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(SOURCES.parent)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def package_files() -> dict[str, bytes]:
    """Return the files of the package, by their names in an archive."""
    return {
        path.relative_to(SOURCES).as_posix(): path.read_bytes()
        for package in PACKAGES
        for path in sorted((SOURCES / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def make_archive(path: Path) -> Path:
    """Put the sources into an archive, as `--py-files` takes it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in package_files().items():
            archive.writestr(name, content)
    return path


def make_python(folder: Path, wheel: Path | None, *, sources: bool = False) -> Path:
    """Make a Python that has our dependencies, and binspark from a wheel, from the sources, or not at all."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "lib" / version / "site-packages"
    (site / "dependencies.pth").write_text(f"{SPARK_HOME.parent}\n")  # what .pth files there name is not among them
    if sources:
        (site / "sources.pth").write_text(f"{SOURCES}\n")
    if wheel is not None:
        options = ["--quiet", "--no-deps", "--target", str(site)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True)
    return folder / "bin" / "python"


def environment(python: Path | str = "", cache: Path | str = "") -> dict[str, str]:
    """Return the environment of Spark's processes: a Python, loopback, a directory for compiled kernels."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_REMOTE")}
    own = {
        "BINSPARK_CACHE": str(cache),
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
        "PYTHONWARNINGS": "ignore::FutureWarning",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": LOOPBACK,
    }
    return {**inherited, **own}


@contextmanager
def start_cluster(folder: Path) -> Iterator[str]:
    """Start a master and two workers of one core each; yield the master's address."""
    port, variables = free_port(), environment()
    address = f"spark://{LOOPBACK}:{port}"
    with ExitStack() as running:
        here = ["--host", LOOPBACK, "--webui-port", "0"]
        master = [SPARK_CLASS, MASTER, *here, "--port", str(port)]
        wait_for(port, running.enter_context(running_process(master, folder / "master.txt", variables)))
        for number in range(2):
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker{number}")]
            worker = [SPARK_CLASS, WORKER, *here, *size, address]
            running.enter_context(running_process(worker, folder / f"worker{number}.txt", variables))
        yield address


@contextmanager
def start_connect_server(folder: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """Start a Spark Connect server; yield its address."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.local.dir": str(folder),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    chosen = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    where = ["--master", "local[2]", "--driver-memory", "1g"]
    command = [SPARK_SUBMIT, "--class", CONNECT, *where, *chosen]
    with running_process(command, folder / "connect.txt", variables) as process:
        wait_for(port, process)
        yield f"sc://{LOOPBACK}:{port}"


@contextmanager
def running_process(
    command: Sequence[str], output: Path, variables: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that writes to a file, until the block ends."""
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=variables, cwd=output.parent)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run_driver(command: Sequence[str | Path], variables: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Run a driver to its end, and return what it prints in its last line."""
    done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process listens."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"{process.args!r} does not listen on port {port}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
