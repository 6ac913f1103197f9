"""The metrics and the health of a program over HTTP."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException
from urllib.request import Request, urlopen

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from binspark.cli.main import exit_code
from binspark.errors import OptionError
from binspark.monitoring import endpoint as endpoint_module
from binspark.monitoring.endpoint import MetricsEndpoint
from binspark.monitoring.reporter import StatusReporter, monitored
from binspark.monitoring.settings import MetricsSettings, metrics_settings
from binspark.monitoring.status import Status
from tests.support.monitoring import free_port, get, health, scrape

STATUS = Status(command="archive", position="binlog.000003:154", connected=True, lag_bytes=5, lag_seconds=12.0, bytes=9)


@pytest.fixture
def url() -> Iterator[str]:
    """The endpoint of a program with one status."""
    endpoint = MetricsEndpoint(lambda: STATUS, MetricsSettings(0))
    yield endpoint.url
    endpoint.close()


def test_prometheus_reads_metrics(url: str) -> None:
    found = scrape(url)
    assert (found["binspark_lag_bytes"], found["binspark_read_bytes_total"]) == (5, 9)
    assert found["process_cpu_seconds_total"] >= 0


def test_metrics_may_be_requested_in_the_open_format(url: str) -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    with urlopen(Request(f"{url}/metrics", headers={"Accept": accept}), timeout=20) as response:
        assert response.headers["Content-Type"].startswith("application/openmetrics-text")
        names = {family.name for family in text_string_to_metric_families(response.read().decode())}
    assert {"binspark_read_bytes", "binspark_lag_seconds"} <= names


def test_a_health_check_has_a_limit_for_the_lag(url: str) -> None:
    assert health(url) == (200, {"healthy": True, "problem": None, **STATUS.to_json()})
    assert health(url, "?max_lag=1m")[0] == 200
    code, answer = health(url, "?max_lag=10s")
    assert (code, answer["healthy"], answer["problem"]) == (503, False, "lag is 12 s, expected at most 10 s")
    assert get(f"{url}/healthz?max_lag=soon") == (
        400,
        "max_lag must be a time span such as 30s, 5m, 1h or 7d, got 'soon'\n",
    )


def test_other_paths_are_not_found(url: str) -> None:
    assert get(f"{url}/") == (404, "try /metrics or /healthz\n")


def test_a_request_may_be_for_the_head_alone(url: str) -> None:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=20)
    connection.request("HEAD", "/healthz")
    response = connection.getresponse()
    assert (response.status, response.read()) == (200, b"")
    connection.close()


def test_it_listens_on_loopback_alone_by_default() -> None:
    assert metrics_settings(9306, None) == MetricsSettings(9306, "127.0.0.1")
    assert metrics_settings(None, None) is None
    with pytest.raises(OptionError, match=r"^metrics_host is only valid with a port for metrics$"):
        metrics_settings(None, "0.0.0.0")


def test_a_port_that_is_taken_is_an_error(url: str) -> None:
    port = int(url.rpartition(":")[2])
    with pytest.raises(OptionError, match=f"^metrics_port {port} of 127.0.0.1 cannot be listened on: Address already"):
        MetricsEndpoint(lambda: STATUS, MetricsSettings(port))


def test_a_missing_library_is_an_error_that_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert (
        exit_code(["archive", "--no-defaults", "--host", "127.0.0.1:1", "-o", "/nowhere", "--metrics-port", "0"]) == 2
    )
    expected = "--metrics-port needs the package prometheus-client: pip install 'binspark[metrics]'"
    assert capsys.readouterr().err == f"binspark: {expected}\n"


def test_the_command_status_asks_for_the_health(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    port = url.rpartition(":")[2]
    assert exit_code(["status", port]) == 0
    assert capsys.readouterr().out == "archive  binlog.000003:154  lag 5 B  12 s  healthy\n"
    assert exit_code(["status", url, "--max-lag", "10s", "--format", "jsonl"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["healthy"], answer["problem"]) == (False, "lag is 12 s, expected at most 10 s")
    assert exit_code(["status", url, "--max-lag", "10s"]) == 1
    assert capsys.readouterr().out.endswith("unhealthy: lag is 12 s, expected at most 10 s\n")


def test_who_does_not_answer_is_not_healthy(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    assert exit_code(["status", str(port)]) == 1
    assert capsys.readouterr().err.startswith(f"binspark: http://127.0.0.1:{port}/healthz: no answer: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["db1:9306"], "PORT|URL must be a port or a URL such as http://db1:9306, got 'db1:9306'"),
        (["9306", "--max-lag", "soon"], "--max-lag must be a time span such as 30s, 5m, 1h or 7d, got 'soon'"),
        (["9306", "--timeout", "0"], "--timeout must be positive, got '0'"),
    ],
)
def test_wrong_use_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["status", *arguments]) == 2
    assert capsys.readouterr().err == f"binspark: {message}\n"


def test_another_program_at_the_port_is_recognized(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("binspark.cli.status._HEALTH_PATH", "/metrics")
    assert exit_code(["status", url]) == 1
    assert "the answer is not that of binspark" in capsys.readouterr().err


def test_a_status_is_reported_while_something_runs() -> None:
    seen: list[Status] = []
    stopped = threading.Event()

    def note(status: Status) -> None:
        seen.append(status)
        if len(seen) == 3:
            raise ValueError("enough")

    reporter = StatusReporter(lambda: STATUS, note, 0.001, stopped.set)
    with pytest.raises(ValueError, match="enough"), reporter:
        assert stopped.wait(30)
    assert [status.bytes_per_second is not None for status in seen] == [True] * 3


def test_nothing_is_opened_that_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with monitored(lambda: STATUS, None):
        pass


# --- Strangers --------------------------------------------------------------------------------------------------------


def ask(url: str, host: str | None, path: str = "/healthz") -> int:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    for name in filter(None, [host]):
        connection.putheader("Host", name)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize(
    "host", ["localhost:9104", "127.0.0.1", "127.0.0.1:9104", "[::1]:9104", "[::1]", "LOCALHOST", None]
)
def test_a_request_for_this_machine_is_answered(url: str, host: str | None) -> None:
    assert ask(url, host) == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9104", "127.0.0.1.evil.example", "[::2]:9104", "::1:1"])
@pytest.mark.parametrize("path", ["/metrics", "/healthz", "/"])
def test_a_page_whose_name_leads_to_this_machine_gets_nothing(url: str, host: str, path: str) -> None:
    assert ask(url, host, path) == 403


def test_an_endpoint_for_others_is_asked_under_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "is_loopback", lambda _host: False)
    endpoint = MetricsEndpoint(lambda: STATUS, MetricsSettings(0))
    assert ask(endpoint.url, "db1.example:9104") == 200
    endpoint.close()


def address_of(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return host, int(port)


def received(opened: socket.socket) -> bytes:
    """Return all that comes; a connection that is reset has nothing more."""
    data = b""
    with suppress(ConnectionResetError):
        while chunk := opened.recv(1 << 16):
            data += chunk
    return data


def test_a_request_that_never_ends_is_ended(url: str) -> None:
    with socket.create_connection(address_of(url), 30) as stranger:
        with suppress(OSError):
            for _ in range(10_000):
                stranger.sendall(b"X-Header: " + b"x" * 1000)
        assert received(stranger) == b""
    assert ask(url, "localhost") == 200


def test_a_request_has_one_limit_of_time(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "_REQUEST_SECONDS", 1.0)
    with socket.create_connection(address_of(url), 0.2) as stranger:
        sent, is_open = 0, True
        while is_open:
            try:
                stranger.sendall(b"G")
                is_open = stranger.recv(1) != b""
            except TimeoutError:
                sent += 1
            except OSError:
                is_open = False
            assert sent < 300  # each byte would begin a limit of time for one read again


def test_idle_connections_are_limited_and_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as opened:
        idle = [
            opened.enter_context(socket.create_connection(address_of(url), 30))
            for _ in range(endpoint_module._MAX_CONNECTIONS + 1)
        ]
        assert received(idle[-1]) == b""
        idle[0].close()
        while True:
            try:
                assert ask(url, "localhost") == 200
                return
            except (OSError, HTTPException):
                continue
