"""Commands that run are watched: their metrics are scraped over HTTP, while their server works and while it is gone."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

import binspark
from binspark.cli.main import exit_code
from binspark.monitoring.status import Status
from binspark.testing.servers import MySQL, Server
from tests.support.monitoring import Scrape, asked_metrics, free_port, health, scrape, wait_for, watched
from tests.support.servers import StartServer
from tests.support.tcp_proxy import TcpProxy, proxied

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(240)]
READ = {"binspark_read_bytes_total", "binspark_read_events_total", "binspark_read_transactions_total"}
ALWAYS = {
    *("binspark_build_info", "binspark_source_info", "binspark_connected", "binspark_last_success_timestamp_seconds"),
    *("binspark_lag_bytes", "binspark_lag_seconds", "binspark_reconnects_total", *READ),
    *("binspark_position_file_number", "binspark_position_offset_bytes"),
}
"""What every program has that follows a server."""
OF_SERVE = {"binspark_clients", "binspark_sessions_total", "binspark_sent_bytes_total"}


def address(server: Server | TcpProxy) -> list[str]:
    return ["--no-defaults", "--host", f"127.0.0.1:{server.port}", "--user", "root", "--ssl-mode", "disabled"]


def is_current(found: Scrape) -> bool:
    return found.get("binspark_connected") == 1 and found.get("binspark_lag_bytes") == 0


def is_cut_off(found: Scrape) -> bool:
    return found["binspark_connected"] == 0 and found["binspark_reconnects_total"] >= 2


def test_an_archive_is_watched_over_the_crash_of_its_server(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.stock (id INT PRIMARY KEY)")
    lines = ["--format", "jsonl", "--progress-seconds", "0.2", "--heartbeat-seconds", "0.2"]
    with watched("archive", *address(server), "-o", str(tmp_path), *lines) as archive:
        first = wait_for(archive.url, is_current)
        assert first.names >= ALWAYS
        assert first["binspark_read_bytes_total"] == sum(path.stat().st_size for path in server.log_files())
        server.query("INSERT INTO shop.stock VALUES (1)")
        count = first["binspark_read_transactions_total"] + 1
        wait_for(archive.url, lambda found: found["binspark_read_transactions_total"] == count and is_current(found))
        assert exit_code(["status", archive.url, "--max-lag", "1m"]) == 0

        server.kill()
        gone = wait_for(archive.url, is_cut_off)
        assert gone.get("binspark_lag_bytes") is None
        assert (gone.get("binspark_errors_total", "ConnectionLost") or 0) >= 2
        later = wait_for(archive.url, lambda found: found["binspark_lag_seconds"] > gone["binspark_lag_seconds"])
        assert later["binspark_last_success_timestamp_seconds"] == gone["binspark_last_success_timestamp_seconds"]
        code, answer = health(archive.url)
        assert (code, answer["problem"].partition(":")[0]) == (503, "not connected")
        assert exit_code(["status", archive.url]) == 1

        server.launch()
        back = wait_for(archive.url, is_current)
        assert back["binspark_lag_seconds"] == 0
        assert back["binspark_position_file_number"] == len(server.log_files())
        assert health(archive.url, "?max_lag=1m")[0] == 200
    assert all(list(status) == list(Status(command="").to_json()) for status in archive.statuses)
    assert any(status["connected"] is False and status["reconnects"] for status in archive.statuses)
    assert archive.statuses[-1]["ended"] is True


def test_a_tail_is_watched_over_a_lost_connection(mysql: Server, database: str) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {database}.stock (id INT PRIMARY KEY)")
    with proxied(mysql.port) as proxy:
        more = ["--tables", f"{database}.*", "--format", "jsonl", "--progress-seconds", "0.2"]
        with watched("tail", *address(proxy), *more, "--heartbeat-seconds", "0.2") as tail:
            wait_for(tail.url, lambda found: found.get("binspark_connected") == 1)
            mysql.query(f"INSERT INTO {database}.stock VALUES (1), (2), (3)")
            shown = wait_for(tail.url, lambda found: found["binspark_rows_total"] == 3 and is_current(found))
            assert shown.names >= ALWAYS
            gtids = dict(item for item in shown.samples.items() if item[0][0] == "binspark_last_gtid_number")
            assert all(number > 0 for number in gtids.values())
            proxy.refusing = True
            proxy.cut()
            gone = wait_for(tail.url, is_cut_off)
            wait_for(tail.url, lambda found: found["binspark_lag_seconds"] > gone["binspark_lag_seconds"])
            mysql.query(f"INSERT INTO {database}.stock VALUES (4)")
            proxy.refusing = False
            wait_for(tail.url, lambda found: found["binspark_rows_total"] == 4 and is_current(found))
    assert len(tail.output) == 4
    assert tail.statuses[-1]["rows"] == 4


def test_a_mirror_is_watched_with_each_of_its_tables(mysql: Server, database: str, tmp_path: Path) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    for name in ("stock", "orders"):
        mysql.query(f"CREATE TABLE {database}.{name} (id INT PRIMARY KEY)")
        mysql.query(f"INSERT INTO {database}.{name} VALUES (1), (2)")
    stock = f"{database}.stock"
    with proxied(mysql.port) as proxy:
        more = ["--tables", f"{database}.*", "--target", str(tmp_path), "--apply-every", "200ms"]
        with watched("mirror", *address(proxy), *more, "--progress", "jsonl") as mirror:
            wait_for(mirror.url, is_current)
            mysql.query(f"INSERT INTO {stock} VALUES (3)")
            found = wait_for(
                mirror.url, lambda found: found.get("binspark_table_rows_total", stock) == 3 and is_current(found)
            )
            assert found.names >= ALWAYS
            assert (found.get("binspark_tables", "current"), found["binspark_rows_total"]) == (2, 5)
            assert asked_metrics() - found.names == {"binspark_errors_total", *OF_SERVE}
            assert found.get("binspark_table_phase", "current", stock) == 1
            assert found.get("binspark_table_lag_bytes", stock) == found.get("binspark_table_lag_seconds", stock) == 0
            proxy.refusing = True
            proxy.cut()
            gone = wait_for(mirror.url, is_cut_off)
            wait_for(mirror.url, lambda found: found["binspark_lag_seconds"] > gone["binspark_lag_seconds"])
            assert health(mirror.url)[0] == 503
            proxy.refusing = False
            wait_for(mirror.url, is_current)
            assert health(mirror.url, "?max_lag=1m")[0] == 200
    assert all(list(status) == list(Status(command="").to_json()) for status in mirror.statuses)


def test_what_is_served_is_watched(start_server: StartServer, mysql: Server, tmp_path: Path) -> None:
    options = {"host": f"127.0.0.1:{mysql.port}", "user": "root", "ssl_mode": "disabled"}
    binspark.open_archiver(tmp_path, start="latest", until="end", **options).run()  # type: ignore[arg-type]
    port = free_port()
    with binspark.open_server(tmp_path, port=0, metrics_port=port) as server:
        before = scrape(f"http://127.0.0.1:{port}")
        assert before.names >= OF_SERVE
        assert (before["binspark_clients"], before["binspark_sent_bytes_total"]) == (0, 0)
        last = max(path for path in tmp_path.iterdir() if path.suffix.strip(".").isdigit())
        assert before["binspark_position_file_number"] == int(last.suffix[1:])
        client = {"host": f"127.0.0.1:{server.port}", "user": "repl", "ssl_mode": "disabled"}
        with binspark.follow(start="earliest", **client) as follower:  # type: ignore[arg-type]
            next(chunk for chunk in follower if chunk.data)
            found = scrape(f"http://127.0.0.1:{port}")
            assert (found["binspark_clients"], found["binspark_sessions_total"]) == (1, 1)
            assert found["binspark_sent_bytes_total"] > 100
        with pytest.raises(binspark.Authentication):
            binspark.connect(host=f"127.0.0.1:{server.port}", user="nobody", ssl_mode="disabled")
        wait_for(f"http://127.0.0.1:{port}", lambda found: found.get("binspark_errors_total", "ClientError") == 1)


def test_an_archiver_in_python_is_watched(mysql: Server, tmp_path: Path) -> None:
    seen: list[Status] = []
    port = free_port()

    def scrape_and_stop(status: Status) -> None:
        if status.lag_bytes == 0:
            seen.append(status)
            assert scrape(f"http://127.0.0.1:{port}")["binspark_connected"] == 1
            archiver.stop()

    archiver = binspark.open_archiver(
        tmp_path, host=f"127.0.0.1:{mysql.port}", user="root", ssl_mode="disabled", start="latest",
        progress_seconds=0.05, metrics_port=port, on_progress=scrape_and_stop,
    )  # fmt: skip
    assert archiver.run().position == seen[-1].position


def test_a_follower_in_python_is_watched_until_it_is_closed(mysql: Server, database: str) -> None:
    seen: list[Status] = []
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with binspark.follow(
        host=f"127.0.0.1:{mysql.port}", user="root", ssl_mode="disabled", start="latest", heartbeat_seconds=0.1,
        metrics_port=port, on_progress=seen.append, progress_seconds=0.05,
    ) as follower:  # fmt: skip
        next(follower)
        mysql.query(f"CREATE DATABASE {database}")
        assert any(database in str(event.body) for chunk in follower for event in chunk.events())
        while not is_current(found := scrape(url)):
            next(follower)
        assert found.names >= ALWAYS
        assert found["binspark_read_transactions_total"] >= 1
        assert health(url)[1]["command"] == "follow"
        while not seen or not seen[-1].transactions:
            next(follower)
    with pytest.raises(OSError, match="refused"):
        scrape(url)


def test_a_follower_whose_port_is_taken_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(binspark.OptionError, match=f"^metrics_port {port} of 127.0.0.1 cannot be listened on"):
            binspark.follow(host="127.0.0.1:1", user="root", metrics_port=port)
    with pytest.raises(binspark.OptionError, match="there is no option keep_days"):
        binspark.follow(host="127.0.0.1:1", user="root", keep_days=3)  # type: ignore[call-arg]
