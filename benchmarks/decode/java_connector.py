"""mysql-binlog-connector-java, with which Debezium and Maxwell read logs: fetched by Maven, run by a small harness."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from benchmarks.decode.figure import Figure, PeerUnavailable
from benchmarks.decode.logs import Log, bench_folder
from binspark.testing.servers.cache import build_once

JVM_FLAGS = ("-Xms2g", "-Xmx2g", "-XX:+UseSerialGC")
PASSES = 3
_SOURCES = Path(__file__).parent.parent / "java"


def measure(log: Log) -> Figure:
    """Read a log several times in one JVM; the last pass, after warm-up, counts."""
    folder = _compiled()
    classes = f"{folder / 'classes'}:{folder / 'lib'}/*"
    arguments = (str(log.path), str(PASSES), str(log.workload.json_column))
    done = _run("java", *JVM_FLAGS, "-cp", classes, "ConnectorBench", *arguments)
    rows, seconds, _ = done.splitlines()[-1].split()
    return Figure(float(seconds), log.size, int(rows))


def _compiled() -> Path:
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            raise PeerUnavailable(f"{program} is not on the PATH")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_SOURCES.iterdir())))
    return build_once(bench_folder() / f"java-{digest.hexdigest()[:12]}", _compile)


def _compile(folder: Path) -> None:
    """Fetch the connector and its dependencies into `lib`, compile the harness into `classes`."""
    lib = folder / "lib"
    repository = f"-Dmaven.repo.local={bench_folder() / 'maven'}"
    pom = str(_SOURCES / "pom.xml")
    _run("mvn", "-q", "-B", "-f", pom, repository, "dependency:copy-dependencies", f"-DoutputDirectory={lib}")
    harness = str(_SOURCES / "ConnectorBench.java")
    _run("javac", "-cp", f"{lib}/*", "-d", str(folder / "classes"), harness)


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        output = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise PeerUnavailable(f"{program} failed: {output[0] if output else f'exit code {done.returncode}'}")
    return done.stdout
