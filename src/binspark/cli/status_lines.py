"""The status lines of commands that run for long, on standard error: text for people, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from binspark.cli.command import click_option
from binspark.cli.live import messages_to, warnings_to
from binspark.cli.output import counted, echo, json_line, print_message, safe, size_text
from binspark.options.monitoring import METRICS_OPTIONS

if TYPE_CHECKING:
    from binspark.monitoring.settings import MetricsSettings
    from binspark.monitoring.status import Status

_DONE = {"archive": "copied", "serve": "sent"}
_MONITORING = "binspark.monitoring"


def metrics_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of metrics."""
    for option in reversed(METRICS_OPTIONS):
        command = click_option(option)(command)
    return command


def take_metrics(options: dict[str, Any]) -> MetricsSettings | None:
    """Take the options of metrics out of a command's arguments, and return what they mean."""
    from binspark.monitoring.settings import metrics_settings

    return metrics_settings(options.pop("metrics_port"), options.pop("metrics_host"))


class StatusLines:
    """Shows a status, warnings and messages in a format: `text` or `jsonl`."""

    def __init__(self, output_format: str) -> None:
        self._is_json = output_format == "jsonl"

    def show(self, status: Status) -> None:
        """Show a status."""
        echo(json_line(status.to_json()) if self._is_json else safe(status_text(status)), err=True)

    def warn(self, message: str) -> None:
        """Show a warning."""
        if self._is_json:
            echo(json_line({"warning": message}), err=True)
        else:
            print_message(message)

    def say(self, message: str) -> None:
        """Show a message that is not a warning."""
        echo(json_line({"message": message}) if self._is_json else message, err=True)

    @contextmanager
    def logged(self) -> Iterator[None]:
        """Show what is logged in the block: warnings, and where metrics are served."""
        with warnings_to(self.warn), self.metrics_announced():
            yield

    @contextmanager
    def metrics_announced(self) -> Iterator[None]:
        """Show where metrics are served."""
        with messages_to(_MONITORING, self.say):
            yield


def status_text(status: Status) -> str:
    """Return a status in one line."""
    if status.position:
        parts = [status.position]
    else:
        parts = ["the server has no logs to copy" if status.command == "archive" else "not begun"]
    if status.clients is not None:
        parts.append(counted(status.clients, "client"))
    if status.bytes is not None:
        parts.append(f"{size_text(status.bytes)} {_DONE.get(status.command, 'read')}")
    if status.rows is not None:
        parts.append(counted(status.rows, "row"))
    if status.bytes_per_second is not None:
        parts.append(f"{size_text(status.bytes_per_second)}/s")
    if status.clients is None and not status.ended:
        parts.append(f"lag {lag_text(status)}")
    if status.error:
        parts.append(f"last error: {status.error}")
    return "  ".join(parts)


def lag_text(status: Status) -> str:
    """Return how far a program lags."""
    size = "unknown" if status.lag_bytes is None else size_text(status.lag_bytes)
    return size if status.lag_seconds is None else f"{size}, {status.lag_seconds:.0f} s"
