"""The explorer, served by its real web server, and a client that asks as its page does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from binspark.explore.explorer import Explorer
from binspark.explore.web_server import WebServer
from binspark.files.sources import find_logs


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: HTTPMessage
    body: bytes


class Served:
    """A folder or file that is explored, and its address."""

    def __init__(self, path: Path, server: WebServer) -> None:
        self.path = path
        self.address = server.address
        self._port = server.port
        self._token = urlsplit(server.address).query.removeprefix("token=")

    def request(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Send a request, with the token unless `authorization` is given."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        given = {"authorization": f"Bearer {self._token}", **headers}
        try:
            connection.request(method, path, headers=given)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def ask(self, name: str, **parameters: Any) -> Any:
        """Return the answer to a question, which must not be refused."""
        status, _, body = self.request(f"/api/{name}?{_query(parameters)}")
        assert status == 200, body
        return json.loads(body)

    def refusal(self, name: str, **parameters: Any) -> tuple[int, str]:
        """Return with which status and message a question is refused."""
        status, _, body = self.request(f"/api/{name}?{_query(parameters)}")
        return status, json.loads(body)["error"]

    def all_hits(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return what a search finds in all its steps."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, int] | None = {}
        while cursor is not None:
            answer = self.ask(name, **parameters, **cursor)
            found += answer["hits"]
            cursor = answer["next"]
        return found

    def events(self) -> list[dict[str, Any]]:
        """Return all events of all units."""
        found: list[dict[str, Any]] = []
        for unit in self.ask("units", first=0, count=500)["units"]:
            following: tuple[int, int | None] | None = (unit["pos"], None)
            while following is not None:
                first, inner = following
                page = self.ask("events", log=unit["log"], pos=unit["pos"], first=first, inner=inner)
                found += [{**event, "log": unit["log"]} for event in page["events"]]
                following = page["next"]
        return found


@contextmanager
def serving(path: Path, *, show_secrets: bool = False) -> Iterator[Served]:
    """Serve the logs of a path, which are read already."""
    explorer = Explorer(lambda: find_logs(path), show_secrets=show_secrets)
    explorer.read_all()
    with _serving(path, WebServer(explorer)) as served:
        yield served


@contextmanager
def serving_unread(path: Path) -> Iterator[tuple[Explorer, Served]]:
    """Serve the logs of a path, which are read when the test says so."""
    explorer = UnreadLogs(lambda: find_logs(path))
    with _serving(path, WebServer(explorer)) as served:
        yield explorer, served


class UnreadLogs(Explorer):
    """Logs that no thread reads."""

    def start(self) -> None:
        """Begin nothing."""

    def stop(self) -> None:
        """End nothing."""


@contextmanager
def _serving(path: Path, server: WebServer) -> Iterator[Served]:
    worker = threading.Thread(target=server.run)
    worker.start()
    try:
        yield Served(path, server)
    finally:
        server.stop()
        worker.join()


def _query(parameters: dict[str, Any]) -> str:
    return urlencode({name: value for name, value in parameters.items() if value is not None})
