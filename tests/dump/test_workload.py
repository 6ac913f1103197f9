"""Dumps of random workloads: those of mysqlbinlog, byte for byte, and statements that a server applies."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.dump.mysql import frames
from binspark.testing.servers import MySQL, Server
from tests.support.dump import find_mysqlbinlog, our_dump
from tests.support.dump.workload import play
from tests.support.servers import StartServer

SEED = 20261116


@pytest.mark.mysql
def test_the_dump_of_a_random_workload_is_that_of_mysqlbinlog(
    mysql: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = play(mysql, "dump_random", SEED, 200, tmp_path)
    mysqlbinlog = find_mysqlbinlog(tmp_path / "load")
    for options in ((), ("-vv", "--print-table-metadata"), ("--hexdump", "-v"), ("--database=dump_random",)):
        mysqlbinlog.compare(logs, *options)
    monkeypatch.setattr(frames, "MIN_BULK_BYTES", 0)  # printed by kernels, except for a few events
    for options in ((), ("-vv",)):
        mysqlbinlog.compare(logs, *options)


@pytest.mark.mysql
def test_a_dump_that_is_applied_to_an_empty_server_gives_equal_tables(
    mysql: Server, start_server: StartServer, tmp_path: Path
) -> None:
    logs = play(mysql, "dump_applied", SEED + 1, 120, tmp_path)
    target = start_server(MySQL, {"local-infile": "ON"})
    target.query("CREATE DATABASE dump_applied")
    local = tmp_path / "load"
    local.mkdir()
    text = our_dump(logs, "--local-load", f"{local}/")
    target.run_sql(text.decode("utf-8", "surrogateescape"), "--local-infile=1", "--binary-mode")
    assert checksums(target) == checksums(mysql)


def checksums(server: Server) -> dict[str, tuple[object, ...]]:
    """Return the definition and the checksum of each table."""
    found: dict[str, tuple[object, ...]] = {}
    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'dump_applied' ORDER BY table_name"
    for (name,) in server.query(names):
        quoted = f"dump_applied.`{name.replace('`', '``')}`"
        found[name] = (*server.query(f"CHECKSUM TABLE {quoted}"), *server.query(f"SHOW CREATE TABLE {quoted}"))
    return found
