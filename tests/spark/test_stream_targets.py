"""Streams that end where the server was when they began: they get there, or say that they do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from binspark.errors import ConnectionLost, OptionError
from binspark.replication.position import BinlogPosition
from binspark.spark.options import read_options
from binspark.spark.streaming import server as server_module
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.reader import UNRESOLVED, parse_offset
from binspark.spark.streaming.server import ServerSource
from binspark.testing.servers import MySQL
from tests.support.replicas import reset_logs
from tests.support.servers import StartServer
from tests.support.spark.stream_queries import live_options

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]


def test_what_a_server_has_written_and_does_not_send_is_missed(
    start_server: StartServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    live = ServerSource(read_options(live_options(server)))
    try:
        start, head = live.start("earliest"), live.head()
        end = live.latest(start, Limit(), head)
        assert end.coordinates == head.coordinates
        assert live.latest(end, Limit(), head) == end
        monkeypatch.setattr(server_module, "_TARGET_SECONDS", 0.5)
        with pytest.raises(
            ConnectionLost, match=f"written up to {head.file}:{head.offset + 1}, but has sent nothing more"
        ):
            live.latest(end, Limit(), replace(head, offset=head.offset + 1))
    finally:
        live.stop()


def test_a_range_that_was_planned_and_is_gone_has_no_parts(start_server: StartServer) -> None:
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    planner = ServerSource(read_options(live_options(server)))
    start = planner.start("earliest")
    end = planner.latest(start, Limit(), planner.head())
    assert planner.parts(start, end)
    planner.stop()
    reset_logs(server)
    later = ServerSource(read_options(live_options(server, failOnDataLoss="false")))
    try:
        assert later.parts(start, end) == []
        anew = later.latest(end, Limit(), later.head())
        assert (anew.resets, anew.file, later.parts(end, anew)) == (1, start.file, [])
        assert later.latest(anew, Limit(), later.head()).coordinates == later.head().coordinates
    finally:
        later.stop()


def test_where_every_stream_begins_is_no_position_yet() -> None:
    assert parse_offset(UNRESOLVED) is None
    assert list(UNRESOLVED) == ["v", "file", "pos", "gtid", "server", "created", "by_file", "lost", "epoch"]
    before = {name: value for name, value in UNRESOLVED.items() if name not in ("lost", "epoch")}
    assert parse_offset(before) is None


def test_an_offset_that_an_earlier_version_kept_is_read() -> None:
    kept = {"v": 1, "file": "b.000001", "pos": 4, "gtid": None, "server": "s", "created": 0, "by_file": True}
    assert parse_offset(kept) == BinlogPosition("b.000001", 4, None, "s")
    with pytest.raises(OptionError, match="expected 1"):
        parse_offset({**kept, "v": 2})
