"""The metrics and the health of a program over HTTP: `/metrics` for Prometheus, `/healthz` for its supervisor."""

from __future__ import annotations

import io
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from binspark.errors import OptionError
from binspark.monitoring.health import find_problem
from binspark.monitoring.metrics import COMMAND, METRICS, Kind, Metric, Sample, samples
from binspark.monitoring.settings import MetricsSettings
from binspark.monitoring.status import GetStatus
from binspark.options import values
from binspark.os_errors import describe_os_error
from binspark.server.config import is_loopback

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

HEALTH_PATH, METRICS_PATH, MAX_LAG = "/healthz", "/metrics", "max_lag"
_REQUEST_SECONDS = 10.0
_STOP_SECONDS = 0.1
_MAX_CONNECTIONS = 32
_MAX_HEAD_BYTES = 1 << 13
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

log = logging.getLogger("binspark.monitoring")


class MetricsEndpoint:
    """Serves the metrics and the health of one program, in threads of its own, until it is closed."""

    def __init__(self, get_status: GetStatus, settings: MetricsSettings) -> None:
        registry = _registry(get_status)
        self._server = _listen(settings, get_status, registry)
        self._settings = settings
        self._thread = threading.Thread(target=self._serve, name="binspark-metrics", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address that it listens on, as a URL."""
        host = self._settings.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=_STOP_SECONDS)


@contextmanager
def serving_metrics(get_status: GetStatus, settings: MetricsSettings) -> Iterator[None]:
    """Serve metrics in the block."""
    endpoint = MetricsEndpoint(get_status, settings)
    log.info("metrics are at %s%s", endpoint.url, METRICS_PATH)
    try:
        yield
    finally:
        endpoint.close()


def _registry(get_status: GetStatus) -> CollectorRegistry:
    try:
        from prometheus_client import CollectorRegistry, ProcessCollector
    except ModuleNotFoundError:
        problem = "needs the package prometheus-client: pip install 'binspark[metrics]'"
        raise OptionError(problem, option="metrics_port") from None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_StatusCollector(get_status))
    ProcessCollector(registry=registry)
    return registry


class _StatusCollector:
    """Makes metrics of the status when they are read: nothing is counted twice, and an idle endpoint costs nothing."""

    def __init__(self, get_status: GetStatus) -> None:
        self._get_status = get_status

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Yield all metrics that have samples."""
        status = self._get_status()
        found: dict[str, list[Sample]] = {}
        for sample in samples(status):
            found.setdefault(sample.metric.name, []).append(sample)
        for metric in METRICS:
            if metric.name in found:
                yield _family(metric, found[metric.name], status.command)


def _family(metric: Metric, found: list[Sample], command: str) -> CounterMetricFamily | GaugeMetricFamily:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kind = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
    family = kind(metric.name, metric.help, labels=(COMMAND, *metric.labels))
    for sample in found:
        family.add_metric((command, *sample.labels), float(sample.value))
    return family


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self, address: tuple[str, int], family: socket.AddressFamily, get_status: GetStatus, registry: CollectorRegistry
    ) -> None:
        self.address_family = family
        self.get_status = get_status
        self.registry = registry
        self.host = address[0]
        self._free = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, unless as many as may are busy: then close the connection."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and let another one connect."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def is_served(self, host: str | None) -> bool:
        """Return whether a request is for this machine, if only this machine can connect.

        A page whose name leads to this machine sends its own name, and would be the one to read the answer.
        """
        if host is None or not is_loopback(self.host):
            return True
        name = host.rpartition(":")[0] if host.rpartition("]")[2] else host
        return (name or host).lower() in _LOOPBACK_NAMES or (name or host) == self.host

    def handle_error(self, _request: object, client_address: object) -> None:
        """Log what went wrong with one request; the next one is answered."""
        log.debug("a request of %s failed", client_address, exc_info=True)


def _listen(settings: MetricsSettings, get_status: GetStatus, registry: CollectorRegistry) -> _Server:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return _Server((settings.host, settings.port), family, get_status, registry)
    except OSError as error:
        problem = f"{settings.port} of {settings.host} cannot be listened on: {describe_os_error(error)}"
        raise OptionError(problem, option="metrics_port") from None


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "binspark", ""
    timeout = _REQUEST_SECONDS

    def setup(self) -> None:
        """Read the head of the request, all of it within one limit of time and size: nothing else is read."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BytesIO(self._head())

    def _head(self) -> bytes:
        head, ends = b"", time.monotonic() + _REQUEST_SECONDS
        while b"\r\n\r\n" not in head and b"\n\n" not in head:
            left = ends - time.monotonic()
            if left <= 0 or len(head) > _MAX_HEAD_BYTES:
                return b""
            self.connection.settimeout(left)
            chunk = self.connection.recv(_MAX_HEAD_BYTES)
            if not chunk:
                return b""
            head += chunk
        return head

    def do_GET(self) -> None:
        """Answer a request."""
        asked = urlsplit(self.path)
        if not self.server.is_served(self.headers.get("Host")):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"this address is not served: use localhost\n")
        elif asked.path == METRICS_PATH:
            self._send_metrics()
        elif asked.path == HEALTH_PATH:
            self._send_health(parse_qs(asked.query).get(MAX_LAG, [None])[-1])
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", f"try {METRICS_PATH} or {HEALTH_PATH}\n".encode())

    def do_HEAD(self) -> None:
        """Answer a request without the body."""
        self.do_GET()

    def log_message(self, _format: str, *_arguments: object) -> None:
        """Log nothing: a request comes every few seconds."""

    def _send_metrics(self) -> None:
        from prometheus_client.exposition import choose_encoder

        encode, content_type = choose_encoder(self.headers.get("Accept", ""))
        self._send(HTTPStatus.OK, content_type, encode(self.server.registry))

    def _send_health(self, max_lag: str | None) -> None:
        try:
            limit = None if max_lag is None else values.time_span(max_lag)
        except values.InvalidValue as error:
            self._send(HTTPStatus.BAD_REQUEST, "text/plain", f"{MAX_LAG} {error}\n".encode())
            return
        status = self.server.get_status()
        problem = find_problem(status, limit)
        answer = {"healthy": problem is None, "problem": problem, **status.to_json()}
        code = HTTPStatus.OK if problem is None else HTTPStatus.SERVICE_UNAVAILABLE
        self._send(code, "application/json", json.dumps(answer).encode() + b"\n")

    def _send(self, code: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
