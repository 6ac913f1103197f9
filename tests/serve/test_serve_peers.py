"""Clients that others wrote read a served archive: python-mysql-replication and MySQL's own mysqlbinlog."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.testing.servers import Server
from tests.corpus.cases import CORPUS, case_logs
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
