"""A report has the numbers of the log, and a page that is safe whatever the log contains."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import binspark
from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.frames import ChecksumAlgorithm
from binspark.testing.builder import MYSQL_4_1, BinlogBuilder, delete, insert, integer, table, update, varchar
from binspark.testing.servers import Server
from tests.corpus.cases import case_logs
from tests.support.browser import dump_dom, needs_browser, screenshot
from tests.support.servers import every_family

SOURCE = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
EVIL = "<script>alert(1)</script>\"'&"


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_numbers_are_those_of_stat(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = binspark.report(SHOP / family).to_json()
    exit_code(["stat", "--format", "jsonl", str(SHOP / family)])
    shown = json.loads(capsys.readouterr().out)
    assert found["contents"] == shown
    rows = sum(each["rows"] for each in shown["tables"])
    activity = found["activity"]
    for series in ("rows_by_table", "rows_by_operation"):
        assert sum(map(sum, activity[series]["values"].values())) == rows
    writes = activity["writes"]["values"]
    assert (sum(writes["transactions"]), sum(writes["bytes"])) == tuple(shown["transactions"].values())
    assert sum(found["transaction_bytes"]["count"]) == shown["transactions"]["count"]
    assert found["verify"]["ok"]


def test_the_rows_that_change_most_often_and_schema_changes_are_those_of_the_demo() -> None:
    found = binspark.report(SHOP / "mysql").to_json()
    hottest = found["hot_rows"][0]
    assert (hottest["table"], hottest["key"], hottest["error"]) == ("shop.products", {"id": "1"}, 0)
    updates = [
        change
        for change in binspark.rows(SHOP / "mysql", tables=["shop.products"])
        if change.op in ("update", "delete") and change.key == {"id": 1}
    ]
    assert hottest["count"] == len(updates)
    assert [each["statement"].split()[0] for each in found["schema_changes"]] == ["CREATE"] * 5 + ["ALTER"]


def test_a_missing_transaction_is_a_gap(tmp_path: Path) -> None:
    log = BinlogBuilder()
    orders = table("shop.orders", integer("id"))
    for number in (1, 2, 5, 6, 9):
        log.transaction(insert(orders, (number,)), gtid=f"{SOURCE}:{number}")
    log.save(tmp_path)
    found = binspark.report(tmp_path).numbers
    assert [(gap.source, gap.missing, gap.count) for gap in found.gtid_gaps] == [(SOURCE, f"{SOURCE}:3-4:7-8", 4)]


def test_a_long_transaction_is_found_with_its_seconds(tmp_path: Path) -> None:
    log = BinlogBuilder()
    orders = table("shop.orders", integer("id"))
    for number, seconds in enumerate((0, 0, 90, 3), 1):
        start = log.timestamp + 10
        log.timestamp = start + seconds
        log.gtid(f"{SOURCE}:{number}")
        log.timestamp = start
        log.query("BEGIN")
        log.table_map(orders)
        log.rows(insert(orders, (1,)))
        log.timestamp = start + seconds
        log.xid(number)
    log.save(tmp_path)
    found = binspark.report(tmp_path).numbers
    assert [each.seconds for each in found.longest] == [90, 3]
    assert (found.durations.bounds[0], found.durations.counts[0], sum(found.durations.counts)) == (0, 2, 4)


def test_what_settings_lack_is_a_hint(tmp_path: Path) -> None:
    log = BinlogBuilder(checksum=ChecksumAlgorithm.NONE)
    log.transaction(insert(table("shop.orders", integer("id")), (1,)))
    log.transaction("INSERT INTO shop.orders VALUES (2)")
    log.save(tmp_path)
    hints = binspark.report(tmp_path).numbers.hints
    assert [(hint.code, hint.value) for hint in hints] == [
        ("binlog-format", "1 transactions were logged as statements"),
        ("checksum", "events without checksums"),
    ]


def test_logs_of_old_servers_have_a_report(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_4_1)
    log.query("INSERT INTO t VALUES (1)", schema="shop")
    log.save(tmp_path)
    found = binspark.report(tmp_path).numbers
    assert found.contents.transactions.count == 1
    assert {"binlog-format", "gtid-mode", "checksum"} <= {hint.code for hint in found.hints}


def test_a_damaged_log_has_a_report_with_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray(case_logs("mysql/format-row")[0].read_bytes())
    content[len(content) // 2] ^= 0xFF
    (tmp_path / "binlog.000001").write_bytes(content)
    page = tmp_path / "report.html"
    assert exit_code(["report", str(tmp_path / "binlog.000001"), "-o", str(page)]) == 1
    assert 'class="error"' in page.read_text()
    assert "wrote" in capsys.readouterr().err


def test_the_command_writes_json_and_asks_for_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["report", str(SHOP / "mysql"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["contents"]["transactions"]["count"] == 159
    assert exit_code(["report", str(SHOP / "mysql")]) == 2
    assert "--output is missing" in capsys.readouterr().err
    assert exit_code(["report", str(tmp_path / "none"), "-o", str(tmp_path / "x")]) == 1
    assert "no such file" in capsys.readouterr().err


@pytest.fixture(scope="module")
def evil_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a log with markup as table, column, value and statement."""
    folder = tmp_path_factory.mktemp("evil")
    log = BinlogBuilder()
    evil = table(f"{EVIL}.{EVIL}", varchar(EVIL, 100), integer("n"), key=(EVIL,))
    log.transaction(insert(evil, (EVIL, 1)), text=f"INSERT /* {EVIL} */")
    for number in range(3):
        log.transaction(update(evil, ((EVIL, number), (EVIL, number + 1))))
    log.transaction(delete(evil, (EVIL, 3)))
    log.query(f"CREATE TABLE `{EVIL}` (id INT)", schema=EVIL)
    log.save(folder)
    page = folder / "report.html"
    binspark.report(folder).write_html(page)
    return page


def test_nothing_of_a_log_becomes_markup(evil_page: Path) -> None:
    text = evil_page.read_text()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script" not in text
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)


@needs_browser
def test_a_browser_shows_the_page(evil_page: Path, tmp_path: Path) -> None:
    dom = dump_dom(evil_page)
    assert dom.count("<section>") == 9
    assert dom.count('role="img"') == 5
    for name, options in (("light", ()), ("dark", ("--force-dark-mode",)), ("phone", ("--window-size=390,2000",))):
        picture = screenshot(evil_page, tmp_path / f"{name}.png", *options)
        assert picture.stat().st_size > 10_000


def test_a_page_is_complete_without_a_network(evil_page: Path) -> None:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    assert policy in evil_page.read_text()


def test_a_notebook_shows_the_page_in_a_frame_without_scripts() -> None:
    shown = binspark.report(SHOP / "mariadb")._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert " sandbox " in shown


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        f"sys.argv = ['binspark', 'report', {str(SHOP / 'mysql')!r}, '-o', '/dev/null']\n"
        "from binspark.cli.main import run\n"
        "run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'binspark[report]'" in done.stderr


@every_family
def test_the_seconds_of_a_transaction_are_those_that_it_was_open(shared: Server, database: str) -> None:
    shared.query("FLUSH BINARY LOGS")
    log = shared.log_files()[-1]
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY);"
        f"INSERT INTO {database}.t VALUES (1);"
        f"BEGIN; INSERT INTO {database}.t VALUES (2); DO SLEEP(2.5); INSERT INTO {database}.t VALUES (3); COMMIT;"
        "FLUSH BINARY LOGS"
    )
    longest = binspark.report(log).numbers.longest[0]
    assert (longest.seconds in (2, 3), longest.tables) == (True, (f"{database}.t",))


@every_family
def test_what_a_server_logs_of_a_password_is_in_no_report(shared: Server, database: str, tmp_path: Path) -> None:
    """MySQL logs its hash, MariaDB the password itself."""
    shared.query("FLUSH BINARY LOGS")
    log = shared.log_files()[-1]
    shared.run_sql(f"CREATE USER {database}@localhost IDENTIFIED BY 'Pc7-quite-secret'; FLUSH BINARY LOGS")
    [statement] = [bytes(event.body.query) for event in binspark.events(log) if event.type == "QUERY"]
    secret = statement.rstrip(b"'")[-16:].decode()
    binspark.report(log).write_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert secret not in page
    assert "CREATE USER" in page
    assert secret in binspark.report(log).to_html(show_secrets=True)
