"""mysql-binlog-connector-java, with which Debezium and Maxwell read logs: fetched by Maven, run by a small harness."""

from __future__ import annotations

from pathlib import Path

from benchmarks.decode.figure import Figure
from benchmarks.decode.logs import Log, bench_folder
from benchmarks.decode.programs import PASSES, SOURCES, built, last_pass, run

JVM_FLAGS = ("-Xms2g", "-Xmx2g", "-XX:+UseSerialGC")


def measure(log: Log) -> Figure:
    """Read a log several times in one JVM."""
    folder = built("java", ("java", "javac", "mvn"), _build)
    classes = f"{folder / 'classes'}:{folder / 'lib'}/*"
    arguments = (str(log.path), str(PASSES), str(log.workload.json_column))
    return last_pass(run("java", *JVM_FLAGS, "-cp", classes, "ConnectorBench", *arguments), log)


def _build(folder: Path) -> None:
    """Fetch the connector and its dependencies into `lib`, compile the harness into `classes`."""
    lib = folder / "lib"
    repository = f"-Dmaven.repo.local={bench_folder() / 'maven'}"
    pom = str(SOURCES / "java" / "pom.xml")
    run("mvn", "-q", "-B", "-f", pom, repository, "dependency:copy-dependencies", f"-DoutputDirectory={lib}")
    harness = str(SOURCES / "java" / "ConnectorBench.java")
    run("javac", "-cp", f"{lib}/*", "-d", str(folder / "classes"), harness)
