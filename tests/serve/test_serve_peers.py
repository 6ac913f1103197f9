"""Clients that others wrote read a served archive.

They are python-mysql-replication, mysql-binlog-connector-java, with which Debezium reads, and MySQL's own mysqlbinlog.
"""

from __future__ import annotations

import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.testing.servers import Server
from binspark.transactions import transactions
from tests.corpus.cases import CORPUS, case_logs
from tests.support.maven import NoJars, fetched_jars
from tests.support.serve.clients import serving

peers_warnings = pytest.mark.filterwarnings("ignore:.* is deprecated, use:DeprecationWarning")
"""python-mysql-replication uses names of PyMySQL's arguments that are deprecated."""


def stream_of(port: int, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pytest.importorskip("pymysqlreplication")
    settings = {"host": "127.0.0.1", "port": port, "user": "repl", "password": ""}
    return peer.BinLogStreamReader(connection_settings=settings, server_id=4711, blocking=False, **options)


@peers_warnings
@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_python_mysql_replication_reads_all_rows(family: str) -> None:
    case = CORPUS / family / "rotation"
    first = case_logs(f"{family}/rotation")[0].name
    with serving(case) as served:
        stream = stream_of(served.port, log_file=first, log_pos=4, resume_stream=True, is_mariadb=family == "mariadb")
        found = [row for event in stream if hasattr(event, "rows") for row in event.rows]
        stream.close()
    assert len(found) == len(list(binspark.rows(case)))


@peers_warnings
def test_python_mysql_replication_reads_by_gtids() -> None:
    case = CORPUS / "mysql/rotation"
    executed = [event.body.gtid for event in binspark.events(case) if event.type == "GTID"]
    read = binspark.GtidSet.of(executed[: len(executed) // 2])
    with serving(case) as served:
        stream = stream_of(served.port, auto_position=str(read))
        gtids = [event.gtid for event in stream if type(event).__name__ == "GtidEvent"]
        stream.close()
    assert binspark.GtidSet(",".join(gtids)) == binspark.GtidSet.of(executed) - read


@pytest.mark.mysql
def test_mysqlbinlog_copies_a_served_log(mysql: Server, tmp_path: Path) -> None:
    log = case_logs("mysql/rotation")[0]
    with serving(log.parent) as served:
        mysql.mysqlbinlog(
            log.name,
            *("--read-from-remote-server", "--host=127.0.0.1", f"--port={served.port}", "--user=repl", "--raw"),
            f"--result-file={tmp_path}/",
        )
    assert (tmp_path / log.name).read_bytes() == log.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_mysql_binlog_connector_java_reads_by_position_and_by_gtids(family: str) -> None:
    case, wanted = CORPUS / family / "rotation", len(list(binspark.rows(CORPUS / family / "rotation")))
    found = list(transactions(binspark.events(case)))
    with_rows = next(number for number, each in enumerate(found) if each.changes)
    last_read = found[with_rows - 1].gtid
    assert last_read is not None
    with serving(case, password="secret") as served:
        for start in ([case_logs(f"{family}/rotation")[0].name, "4"], [last_read]):
            assert connector_rows(served.port, wanted, start) == wanted


def connector_rows(port: int, wanted: int, start: list[str]) -> int:
    """Return how many rows the connector gets from a start on."""
    if shutil.which("javac") is None:
        pytest.skip("the harness of the Java connector needs a JDK")
    try:
        jars = fetched_jars(Path(__file__).parents[2] / "benchmarks/java/pom.xml", "java-connector")
    except NoJars as error:
        pytest.skip(str(error))
    program = Path(__file__).parents[1] / "support/serve/ConnectorRows.java"
    command = ["java", "-cp", f"{jars}/*", str(program), str(port), "secret", str(wanted), *start]
    return int(subprocess.run(command, check=True, capture_output=True, text=True, timeout=180).stdout)
