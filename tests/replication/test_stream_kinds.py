"""Streams of real servers of all kinds: large, compressed, encrypted, semi-synchronous."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from binspark import errors
from binspark.errors import OptionError
from binspark.event import inner_events
from binspark.replication.settings import StreamSettings
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.replication.following import in_background, insert, make_table
from tests.support.replication.streams import (
    end_of,
    files_on_disk,
    in_file,
    streamed_files,
    streaming,
    to_the_end,
    until_heartbeat,
)
from tests.support.servers import StartServer, every_family

pytestmark = pytest.mark.timeout(120)


@every_family
def test_transactions_over_16_mb_are_joined(family: Family, start_server: StartServer) -> None:
    redo_log = {MySQL: "innodb-redo-log-capacity", MariaDB: "innodb-log-file-size"}[family]
    server = start_server(family, {"max-allowed-packet": "256M", redo_log: "512M"})
    make_table(server, "d")
    sizes = [(1 << 24) - 60, 1 << 24, 40_000_000]
    for number, size in enumerate(sizes):
        server.run_sql(f"INSERT INTO d.t VALUES ({number}, REPEAT('x', {size}))", "--max-allowed-packet=256M")
    events = to_the_end(server, in_file("binlog.000001"))
    assert streamed_files(events) == files_on_disk(server)
    assert max(len(event.data) for event in events) > 40_000_000


@pytest.mark.mysql
def test_compressed_transactions_are_streamed_as_they_are(start_server: StartServer) -> None:
    server = start_server(MySQL, {"binlog-transaction-compression": "ON"})
    make_table(server, "d")
    insert(server, "d", 1, pad=100_000)
    payloads = [event.decode() for event in to_the_end(server, in_file("binlog.000001")) if event.type_code == 40]
    inside = [inner.type for payload in payloads for inner in inner_events(payload)]
    assert inside == ["QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"]


@pytest.mark.mariadb
def test_an_encrypted_log_comes_decrypted(start_server: StartServer, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("1;" + "ab" * 32 + "\n")
    server = start_server(
        MariaDB,
        {
            "plugin-load-add": "file_key_management",
            "file-key-management-filename": str(keys),
            "encrypt-binlog": "ON",
        },
    )
    make_table(server, "d")
    insert(server, "d", 1, 2)
    types = [event.decode().type for event in to_the_end(server, in_file("binlog.000001"))]
    assert types.count("START_ENCRYPTION") == 1
    assert types.count("XID") == 2
    assert b"START" not in server.log_files()[0].read_bytes()


SEMI_SYNC = {
    MySQL: {"plugin-load-add": "semisync_source.so"},
    MariaDB: {},
}


@every_family
def test_a_server_that_waits_gets_its_acknowledgements(family: Family, start_server: StartServer) -> None:
    server = start_server(family, SEMI_SYNC[family])
    side = {MySQL: "source", MariaDB: "master"}[family]
    make_table(server, "d")
    server.query(f"SET GLOBAL rpl_semi_sync_{side}_timeout = 60000")
    server.query(f"SET GLOBAL rpl_semi_sync_{side}_enabled = ON")
    with streaming(server, end_of(server), semi_sync=True) as stream:
        until_heartbeat(stream)
        with in_background(lambda: insert(server, "d", 1, 2, 3)):
            committed = list(islice((event for event in stream if event.type_code == 16), 3))
            stream.acknowledge()
        assert len(committed) == 3
        status = dict(server.query("SHOW STATUS LIKE 'Rpl_semi_sync%'"))
    assert (status[f"Rpl_semi_sync_{side}_yes_tx"], status[f"Rpl_semi_sync_{side}_no_tx"]) == ("3", "0")


@pytest.mark.mysql
def test_a_server_that_never_waits_is_named(mysql: Server) -> None:
    with (
        pytest.raises(errors.Server, match="INSTALL PLUGIN"),
        streaming(mysql, end_of(mysql), semi_sync=True),
    ):
        pass


def test_a_server_id_is_chosen_where_servers_have_none() -> None:
    assert all(StreamSettings().connection_server_id >= 1 << 31 for _ in range(20))
    assert StreamSettings().connection_server_id != StreamSettings().connection_server_id
    assert StreamSettings().uuid != StreamSettings().uuid


@pytest.mark.parametrize(
    "wrong",
    [
        {"connection_server_id": 0},
        {"connection_server_id": 1 << 32},
        {"heartbeat_seconds": 0},
        {"missed_heartbeats": 0},
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        StreamSettings(**wrong)
