"""Metrics in tests: scraped over HTTP as Prometheus does, from commands that run in processes of their own."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import yaml
from prometheus_client.parser import text_string_to_metric_families

EXAMPLES = Path(__file__).parents[2] / "examples" / "operations"
MAX_WAIT = 90.0
_METRIC = re.compile(r"\b(?:binspark|process)_[a-z_]+\b")
_URL = re.compile(r"metrics are at (http://\S+)/metrics")


def expressions() -> Iterator[str]:
    """Yield what the dashboard and the alerts ask Prometheus for."""
    dashboard = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
    yield from (
        variable["query"]["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"
    )
    rules = yaml.safe_load((EXAMPLES / "binspark-alerts.yml").read_text())
    yield from (rule["expr"] for group in rules["groups"] for rule in group["rules"])


def asked_metrics() -> set[str]:
    """Return the metrics that the dashboard and the alerts ask for."""
    return {name for expression in expressions() for name in _METRIC.findall(expression)}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def get(url: str) -> tuple[int, str]:
    """Return the status code and the text of an answer."""
    try:
        with urlopen(url, timeout=20) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def health(url: str, query: str = "") -> tuple[int, dict[str, Any]]:
    """Return the status code of a health check, and its answer."""
    code, text = get(f"{url}/healthz{query}")
    return code, json.loads(text)


@dataclass(frozen=True)
class Scrape:
    """The samples of one scrape."""

    samples: dict[tuple[str, tuple[str, ...]], float]

    def __getitem__(self, name: str) -> float:
        """Return the sample of a metric without labels of its own."""
        return self.samples[name, ()]

    def get(self, name: str, *labels: str) -> float | None:
        """Return the sample with these labels, None if there is none."""
        return self.samples.get((name, labels))

    @property
    def names(self) -> set[str]:
        """The metrics that have samples."""
        return {name for name, _ in self.samples}


def scrape(url: str) -> Scrape:
    """Read the metrics; the values of labels but `command`, in the order of their names."""
    code, text = get(f"{url}/metrics")
    assert code == 200, text
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(value for name, value in sorted(sample.labels.items()) if name != "command")
            found[sample.name, labels] = sample.value
    return Scrape(found)


def wait_for(url: str, is_reached: Callable[[Scrape], bool]) -> Scrape:
    """Scrape until something is reached."""
    end = time.monotonic() + MAX_WAIT
    while not is_reached(found := scrape(url)):
        assert time.monotonic() < end, found
        time.sleep(0.1)
    return found


@dataclass
class Watched:
    """A command that runs: where its metrics are, and what it has printed."""

    process: subprocess.Popen[str]
    url: str = ""
    errors: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)

    @property
    def statuses(self) -> list[dict[str, Any]]:
        """The status lines so far."""
        records = [json.loads(line) for line in list(self.errors)]
        return [record for record in records if "command" in record]


@contextmanager
def watched(*arguments: str) -> Iterator[Watched]:
    """Run a command with metrics at a free port until the block ends; it must end in order then."""
    command = [sys.executable, "-m", "binspark", *arguments, "--metrics-port", "0"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        found = Watched(process)
        readers = [
            threading.Thread(target=lines.extend, args=(stream,), daemon=True)
            for lines, stream in ((found.output, process.stdout), (found.errors, process.stderr))
        ]
        for reader in readers:
            reader.start()
        try:
            found.url = _url_of(found)
            yield found
            process.terminate()
            assert process.wait(MAX_WAIT) == 0, found.errors
        finally:
            process.kill()
            for reader in readers:
                reader.join(10)


def _url_of(found: Watched) -> str:
    end = time.monotonic() + MAX_WAIT
    while time.monotonic() < end:
        for line in list(found.errors):
            if match := _URL.search(line):
                return match[1]
        assert found.process.poll() is None, found.errors
        time.sleep(0.05)
    raise AssertionError(found.errors)
