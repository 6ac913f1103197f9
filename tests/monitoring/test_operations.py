"""docs/operations.md and examples/operations: what they name exists, and what they run can be run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from binspark.cli.main import COMMANDS, main
from binspark.folders import cache_folder
from binspark.monitoring.endpoint import MetricsEndpoint
from binspark.monitoring.metrics import METRICS
from binspark.monitoring.settings import MetricsSettings
from binspark.monitoring.status import Status, TableStatus
from binspark.schema.table import TableName
from binspark.testing.servers import MySQL
from tests.support.monitoring import EXAMPLES, asked_metrics, expressions, free_port, get
from tests.support.servers import StartServer

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operations.md"
UNITS = sorted(EXAMPLES.glob("*.service"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMES = {metric.name for metric in METRICS}
PROMTOOL = shutil.which("promtool") or shutil.which(
    cache_folder() / "prometheus" / "packages" / "usr" / "bin" / "promtool"
)
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed: make programs")


def test_every_metric_of_the_dashboard_and_the_alerts_exists() -> None:
    asked = {name for name in asked_metrics() if name.startswith("binspark_")}
    assert asked - NAMES == set()
    assert {"binspark_lag_seconds", "binspark_connected", "binspark_table_lag_seconds"} <= asked


def promtool(*arguments: str | Path, given: str | None = None) -> str:
    """Run Prometheus' own tool, which must find nothing wrong; return what it prints."""
    assert PROMTOOL is not None
    done = subprocess.run([PROMTOOL, *arguments], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@needs_promtool
def test_prometheus_accepts_its_configuration_and_the_alerts() -> None:
    assert "SUCCESS" in promtool("check", "config", EXAMPLES / "prometheus.yml")


@needs_promtool
def test_every_alert_fires_when_it_should_and_not_before() -> None:
    rules = yaml.safe_load((EXAMPLES / "binspark-alerts.yml").read_text())["groups"][0]["rules"]
    tests = yaml.safe_load((EXAMPLES / "binspark-alerts-test.yml").read_text())["tests"]
    checked = [check for test in tests for check in test["alert_rule_test"]]
    assert {check["alertname"] for check in checked if "exp_alerts" in check} == {rule["alert"] for rule in rules}
    assert {check["alertname"] for check in checked if "exp_alerts" not in check} == {rule["alert"] for rule in rules}
    promtool("test", "rules", EXAMPLES / "binspark-alerts-test.yml")


@needs_promtool
def test_prometheus_can_parse_what_the_dashboard_asks_for(tmp_path: Path) -> None:
    asked = [re.sub(r"\$__\w+", "5m", text) for text in expressions() if not text.startswith("label_values(")]
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(asked)]
    path = tmp_path / "panels.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(asked)} rules found" in promtool("check", "rules", path)


@needs_promtool
def test_prometheus_finds_nothing_wrong_with_what_is_served() -> None:
    table = TableStatus(
        name=TableName("shop", 'or"ders'), phase="current", rows=1, expected=None, rate=0.0, version=1,
        position="b.000001:4", lag_bytes=7, lag_seconds=1.5,
    )  # fmt: skip
    status = Status(
        command="mirror", position="binlog.000012:345", gtids="0-1-7", address="db1:3306", connected=True,
        last_success=1000.5, lag_bytes=10, lag_seconds=2.5, bytes=100, events=20, transactions=3, rows=4, reconnects=1,
        errors={"ConnectionLost": 1}, clients=2, sessions=3, tables=(table,),
    )  # fmt: skip
    endpoint = MetricsEndpoint(lambda: status, MetricsSettings(0))
    try:
        code, text = get(f"{endpoint.url}/metrics")
    finally:
        endpoint.close()
    assert code == 200
    assert promtool("check", "metrics", given=text) == ""


def test_labels_of_the_dashboard_and_the_alerts_exist() -> None:
    known = {"command", "instance", "job", *(label for metric in METRICS for label in metric.labels)}
    texts = [(EXAMPLES / name).read_text() for name in ("grafana-dashboard.json", "binspark-alerts.yml")]
    used = {found for text in texts for found in re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", text)}
    assert used - known == set()


def test_panels_do_not_overlap_and_have_a_number_each() -> None:
    panels = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())["panels"]
    cells = [
        (column, row)
        for place in (panel["gridPos"] for panel in panels)
        for column in range(place["x"], place["x"] + place["w"])
        for row in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(column for column, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_the_page_lists_every_metric_with_its_meaning() -> None:
    rows = re.findall(r"^\| `(binspark_\w+)` \| (.*?) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    expected = [(metric.name, ", ".join(f"`{label}`" for label in metric.labels), metric.help) for metric in METRICS]
    assert rows == expected


def test_the_page_lists_every_field_of_a_status_line() -> None:
    table = TableStatus(
        name=TableName("a", "b"), phase="", rows=0, expected=None, rate=0.0, version=0, position=""
    ).to_json()
    text = PAGE.read_text(encoding="utf-8").partition("## Status lines")[2].partition("## Health")[0]
    named = re.findall(r"`([a-z_]+)`", " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)))
    assert named == list(Status(command="").to_json())
    assert [name for name in table if f"`{name}`" not in text] == []


def test_prometheus_scrapes_the_ports_of_the_services() -> None:
    scraped = yaml.safe_load((EXAMPLES / "prometheus.yml").read_text())["scrape_configs"][0]["static_configs"]
    ports = {environment(path)["METRICS_PORT"] for path in EXAMPLES.glob("*.env")}
    assert {target.rpartition(":")[2] for target in scraped[0]["targets"]} == ports


def environment(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def parsed(words: list[str]) -> click.Context:
    """Parse a command line without running it."""
    assert words[0] in COMMANDS
    context = click.Context(main)
    command = main.get_command(context, words[0])
    assert command is not None
    return command.make_context(words[0], words[1:])


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_runs_a_command_that_can_be_parsed(unit: Path) -> None:
    kind = unit.name.removeprefix("binspark-").partition("@")[0]
    given = environment(EXAMPLES / f"{kind}-db1.env")
    (line,) = re.findall(r"^ExecStart=\S+/binspark (.*)$", unit.read_text(), re.MULTILINE)
    words = []
    for word in line.split():
        if word == "$OPTIONS":  # as systemd does: this one becomes several words
            words += given["OPTIONS"].split()
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda found: given[found[1]], word))
    words = [word.replace("%d/my.cnf", str(EXAMPLES / "db1.cnf")).replace("%S", "/var/lib") for word in words]
    parameters = parsed(words).params
    assert parameters["metrics_port"] in (int(given["METRICS_PORT"]), given["METRICS_PORT"])
    assert str(parameters["target"]) == f"/var/lib/binspark/{kind}-%i".replace(
        "%i", "db1" if kind == "mirror" else "%i"
    )
    assert "RestartPreventExitStatus=2" in unit.read_text()


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_accepts_a_unit(unit: Path, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    copy = tmp_path / unit.name.replace("@", "@db1")
    copy.write_text(unit.read_text().replace("/opt/binspark/bin/binspark", "/bin/true"))
    done = subprocess.run([analyze, "verify", str(copy)], capture_output=True, text=True, check=False)
    problems = [line for line in done.stderr.splitlines() if copy.name in line]
    assert (done.returncode, problems) == (0, []), done.stderr


def test_the_image_checks_the_health_with_a_command_that_can_be_parsed() -> None:
    text = (EXAMPLES / "Containerfile").read_text().replace("\\\n", " ")
    (check,) = re.findall(r"^HEALTHCHECK .*CMD (.*)$", text, re.MULTILINE)
    words = shlex.split(check.replace("$METRICS_PORT", "9306").replace("$MAX_LAG", "15m"))
    assert words[0] == "binspark"
    assert parsed(words[1:]).params["max_lag"] == 900.0
    copied = [name for line in re.findall(r"^COPY ([^-].*)$", text, re.MULTILINE) for name in line.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.timeout(300)
def test_every_block_of_the_page_works(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    server.query("CREATE USER repl IDENTIFIED BY 'secret'")
    server.query("GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO repl")
    command = tmp_path / "bin" / "binspark"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m binspark "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    programs = {"sh": ["bash", "-e"], "python": [sys.executable, "-"]}
    printed = []
    for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        text = text.replace("3306", str(server.port)).replace("9306", str(free_port()))
        if language == "ini":
            (tmp_path / "my.cnf").write_text(text)
            continue
        done = subprocess.run(
            programs[language], input=text, cwd=tmp_path, env=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert "healthy" in printed[0]
    assert 'binspark_lag_bytes{command="archive"}' in printed[0]
    assert json.loads((tmp_path / "status.jsonl").read_text().splitlines()[-1])["ended"] is True
