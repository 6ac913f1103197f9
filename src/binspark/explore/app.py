"""The web application: a page, and questions about logs that are answered as JSON. It changes nothing.

Every question must have the token, and the address that the browser names must be this machine: a page of somebody else
can then not ask, not even one whose name leads to this machine.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from binspark.errors import BinlogError, OptionError
from binspark.explore.events import DEFAULT_BYTES, event_detail, unit_events
from binspark.explore.explorer import MAX_UNITS, Explorer
from binspark.explore.jump import jump
from binspark.explore.row_history import row_history, rows_by_key
from binspark.explore.row_position import WantedRow, find_row
from binspark.explore.search import Cursor, search
from binspark.explore.units import Unit
from binspark.hidden_secrets import hide_secrets

_STATIC = Path(__file__).parent / "static"
_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_READERS = 2
_COUNTERS = 1
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
Answer = Callable[["_Question"], Any]


def make_app(explorer: Explorer, token: str) -> ASGIApp:
    """Return the application over an explorer."""
    readers = ThreadPoolExecutor(_READERS, thread_name_prefix="binspark-page")
    counters = ThreadPoolExecutor(_COUNTERS, thread_name_prefix="binspark-counts")

    def endpoint(answer: Answer, threads: ThreadPoolExecutor) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            question = _Question(explorer, request)
            return await asyncio.get_running_loop().run_in_executor(threads, _answered, answer, question)

        return respond

    questions = [(name, answer, readers) for name, answer in _READ.items()]
    questions += [(name, answer, counters) for name, answer in _COUNTED.items()]
    routes = [Route(f"/api/{name}", endpoint(answer, pool), methods=["GET"]) for name, answer, pool in questions]
    routes.append(Route("/", _page, methods=["GET"]))
    return _Guard(Starlette(routes=[*routes, Mount("/static", StaticFiles(directory=_STATIC))]), token)


async def _page(_request: Request) -> Response:
    return FileResponse(_STATIC / "index.html", media_type="text/html")


class _Guard:
    """Refuses requests of others, and gives every response the headers that confine the page."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").rpartition(":")[0] not in _HOSTS:
            return _error(403, "this address is not served: open the one that binspark explore prints")
        if scope["method"] not in ("GET", "HEAD"):
            return _error(405, "nothing can be changed here")
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if scope["path"].startswith("/api/") and not secrets.compare_digest(given.encode(), self._token.encode()):
            return _error(401, "the token is missing or wrong: open the address that binspark explore prints")
        return None


class _Question:
    """A request for data: its parameters, checked."""

    def __init__(self, explorer: Explorer, request: Request) -> None:
        self.explorer = explorer
        self._given = request.query_params

    def number(self, name: str, default: int | None = None) -> int:
        """Return a number that is not negative."""
        text = self._given.get(name, "" if default is None else str(default))
        if not (text.isascii() and text.isdigit()) or len(text) > 18:  # noqa: PLR2004
            raise OptionError(f"must be a number, got {text or 'nothing'}", option=name)
        return int(text)

    def optional_number(self, name: str) -> int | None:
        """Return a number, None if it is not given."""
        return self.number(name) if self._given.get(name) else None

    def text(self, name: str) -> str:
        """Return a text, empty if it is not given."""
        return self._given.get(name, "")

    def cursor(self) -> Cursor:
        """Return where a search continues."""
        return Cursor(self.number("log", 0), self.number("offset", 0))


def _answered(answer: Answer, question: _Question) -> Response:
    try:
        return Response(json.dumps(answer(question)), media_type="application/json")
    except OptionError as error:
        return _error(400, str(error))
    except BinlogError as error:
        return _error(422, str(error))


def _error(status: int, message: str) -> Response:
    return Response(json.dumps({"error": message}), status, media_type="application/json")


def _units(question: _Question) -> dict[str, Any]:
    first, count = question.number("first", 0), min(question.number("count", 100), MAX_UNITS)
    explorer = question.explorer
    units = [
        {"number": explorer.number_of(number, unit.number), "log": number, **unit.to_json(), **_text(explorer, unit)}
        for number, unit in explorer.units(first, count)
    ]
    return {"units": units}


def _text(explorer: Explorer, unit: Unit) -> dict[str, str]:
    """Return the text of a unit, without passwords."""
    text = unit.about.get("text")
    return {} if text is None or explorer.show_secrets else {"text": hide_secrets(text)}


def _events(question: _Question) -> dict[str, Any]:
    number = question.number("log")
    unit = question.explorer.unit_at(number, question.number("pos"))
    inner = question.optional_number("inner")
    return unit_events(question.explorer, number, unit, question.number("first", 0), inner).to_json()


def _event(question: _Question) -> dict[str, Any]:
    inner, max_bytes = question.optional_number("inner"), question.number("bytes", DEFAULT_BYTES)
    number, offset, field = question.number("log"), question.number("pos"), question.optional_number("field")
    return event_detail(question.explorer, number, offset, inner, max_bytes, field)


def _jump(question: _Question) -> dict[str, Any]:
    return jump(question.explorer, question.text("to"), question.number("log", 0))


def _search(question: _Question) -> dict[str, Any]:
    return search(question.explorer, question.text("kind"), question.text("text"), question.cursor()).to_json()


def _rows(question: _Question) -> dict[str, Any]:
    return row_history(question.explorer, question.text("table"), question.text("where"), question.cursor()).to_json()


def _keys(question: _Question) -> dict[str, Any]:
    return rows_by_key(question.explorer, question.text("text"), question.cursor()).to_json()


def _row(question: _Question) -> dict[str, Any]:
    wanted = WantedRow(question.number("row"), question.text("image"), question.text("column"))
    return find_row(question.explorer, question.number("log"), question.number("pos"), wanted)


_READ: dict[str, Answer] = {
    "units": _units,
    "events": _events,
    "event": _event,
    "jump": _jump,
    "search": _search,
    "rows": _rows,
    "keys": _keys,
    "row": _row,
}
_COUNTED: dict[str, Answer] = {
    "logs": lambda question: question.explorer.overview(),
    "timeline": lambda question: question.explorer.timeline_record(),
    "tables": lambda question: question.explorer.tables_record(),
}
"""What is known without reading a log: answered although others wait for one."""
