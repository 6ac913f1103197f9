"""Streams that end where the server was when they began: they get there, or say that they do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from binspark.errors import ConnectionLost
from binspark.spark.options import read_options
from binspark.spark.streaming import server as stream_live
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.offset import StreamOffset
from binspark.spark.streaming.server import LiveServer
from binspark.testing.servers import MySQL
from tests.support.replicas import reset_logs
from tests.support.spark.stream_queries import live_options

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]


def test_what_a_server_has_written_and_does_not_send_is_missed(
    start_server,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    live = LiveServer(read_options(live_options(server)))
    try:
        start, head = live.start("earliest"), live.head()
        end = live.latest(start, Limit(), head)
        assert end.place == head.place
        assert live.latest(end, Limit(), head) == end
        monkeypatch.setattr(stream_live, "_TARGET_SECONDS", 0.5)
        with pytest.raises(
            ConnectionLost, match=f"written up to {head.file}:{head.pos + 1}, and has sent nothing more"
        ):
            live.latest(end, Limit(), replace(head, pos=head.pos + 1))
    finally:
        live.stop()


def test_a_range_that_was_planned_and_is_gone_has_no_parts(start_server) -> None:  # type: ignore[no-untyped-def]
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    planner = LiveServer(read_options(live_options(server)))
    start = planner.start("earliest")
    end = planner.latest(start, Limit(), planner.head())
    assert planner.parts(start, end)
    planner.stop()
    reset_logs(server)
    later = LiveServer(read_options(live_options(server, failOnDataLoss="false")))
    try:
        assert later.parts(start, end) == []
        anew = later.latest(end, Limit(), later.head())
        assert (anew.lost, anew.file, later.parts(end, anew)) == (1, start.file, [])
        assert later.latest(anew, Limit(), later.head()).place == later.head().place
    finally:
        later.stop()


def test_an_offset_of_before_losses_were_counted_is_read() -> None:
    kept = {"v": 1, "file": "b.000001", "pos": 4, "gtid": None, "server": "s", "created": 0, "by_file": True}
    assert StreamOffset.parse(kept) == StreamOffset("b.000001", 4, None, "s")
