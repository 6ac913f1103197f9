"""`binspark status`: whether a program that serves metrics does its work."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import click

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.output import echo, json_line, safe, size_text
from binspark.errors import OptionError, SourceError
from binspark.options.monitoring import STATUS_OPTIONS
from binspark.position import Position

_HEALTH_PATH = "/healthz"
_UNHEALTHY = 503
_TIMEOUT_SECONDS = 5.0
_DIRECTLY = build_opener(ProxyHandler({}))
"""A proxy that the environment names is not for what runs here."""


def _status_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(STATUS_OPTIONS):
        command = click_option(option)(command)
    return command


@click.command("status", cls=Command)
@click.argument("url", metavar="PORT|URL")
@_status_options
@format_option("text", "jsonl")
def status_command(url: str, max_lag: float | None, timeout: float | None, output_format: str) -> int:
    """Ask a program that runs with --metrics-port how it is.

    PORT is its port on this machine; URL names another machine, as http://db1:9306. One line is printed: position, lag,
    and what is wrong. For health checks of containers and other supervisors.

    Exit code 0: it is connected to its source, and the lag is at most --max-lag. 1: it is not, or does not answer. 2:
    wrong use.
    """
    answer = _ask(_address(url, max_lag), timeout or _TIMEOUT_SECONDS)
    echo(json_line(answer) if output_format == "jsonl" else safe(_text(answer)))
    return 0 if answer["healthy"] else 1


def _address(url: str, max_lag: float | None) -> str:
    base = f"http://127.0.0.1:{url}" if url.isdigit() else url
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise OptionError(f"PORT|URL must be a port or a URL such as http://db1:9306, got {url!r}")
    query = "" if max_lag is None else f"?max_lag={max_lag}"
    return f"{parts.scheme}://{parts.netloc}{_HEALTH_PATH}{query}"


def _ask(address: str, seconds: float) -> dict[str, Any]:
    """Return the answer of a health check."""
    try:
        body = _read(address, seconds)
        answer = json.loads(body)
    except (URLError, OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise SourceError(f"no answer: {reason}", Position(source=address)) from None
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or "healthy" not in answer:
        raise SourceError("the answer is not that of binspark", Position(source=address))
    return answer


def _read(address: str, seconds: float) -> bytes:
    try:
        with _DIRECTLY.open(address, timeout=seconds) as response:
            return bytes(response.read())
    except HTTPError as error:
        if error.code != _UNHEALTHY:
            raise
        with error:
            return error.read()


def _text(answer: dict[str, Any]) -> str:
    parts = [str(answer["command"]), answer["position"] or "not begun"]
    if answer["lag_bytes"] is not None:
        parts.append(f"lag {size_text(answer['lag_bytes'])}")
    if answer["lag_seconds"] is not None:
        parts.append(f"{answer['lag_seconds']:.0f} s")
    parts.append("healthy" if answer["healthy"] else f"unhealthy: {answer['problem']}")
    return "  ".join(parts)
