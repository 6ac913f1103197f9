"""`binspark.mirror` in Python: a function, whatever of the package of the same name was imported."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import binspark
import binspark.mirror.state
from binspark.cli.demo import SHOP
from binspark.cli.mirror_output import progress_table
from binspark.errors import OptionError
from binspark.files.storage.options import Storage
from binspark.mirror.progress import RowCounter
from binspark.mirror.state import Phase
from binspark.mirror.targets.parse import StorageOptions
from binspark.monitoring.status import Status, TableStatus
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal

pytestmark = pytest.mark.timeout(180)


@pytest.mark.mysql
def test_one_call_mirrors_the_tables_of_a_server(mysql: Server, database: str, lake: Path) -> None:
    orders = create_orders(mysql, database)
    source = {"host": f"127.0.0.1:{mysql.port}", "user": "root", "ssl_mode": "disabled"}
    reports: list[object] = []
    report = binspark.mirror(None, source, lake, f"{database}.*", on_report=reports.append)  # type: ignore[arg-type]
    assert (report.rows, report.lag_bytes) == (500, 0)
    assert reports[-1] == report
    assert_equal(mysql, lake, orders)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"apply_every": "soon"}, "apply_every must be a time span"),
        ({"format": "hudi"}, "format must be delta, delta-merge or iceberg, got 'hudi'"),
        ({"on_drop": "ask"}, "on_drop must be keep or drop, got 'ask'"),
        ({"apply_evry": "1s"}, "there is no option apply_evry; did you mean apply_every?"),
    ],
)
def test_options_are_checked_before_anything_is_done(options: dict[str, str], message: str, lake: Path) -> None:
    with pytest.raises(OptionError, match=message.replace("?", r"\?")):
        binspark.mirror(None, {"host": "127.0.0.1:1"}, lake, "shop.*", **options)  # type: ignore[arg-type]
    assert not lake.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tables": None}, "tables must be names of tables, or patterns such as 'shop.*', got None"),
        ({"tables": []}, "tables must be names of tables, or patterns such as 'shop.*', got []"),
        ({"tables": [7]}, "tables must be schema.table, or a pattern such as 'shop.*', got [7]"),
        ({"source": None}, "source must be a server ({'host': 'db1'}) or logs: a path, or several, got None"),
        ({"source": [7]}, "source must be a server ({'host': 'db1'}) or logs: a path, or several, got 7 (int)"),
        ({"target": None}, "target must be a directory or a URI, got None"),
        ({"spark": "local"}, "spark must be a Spark session, got 'local' (str)"),
        ({"storage": 7}, "storage must be options of the file system, such as {'region': 'eu-west-1'}, got 7 (int)"),
    ],
)
def test_wrong_arguments_are_option_errors(arguments: dict[str, Any], message: str, lake: Path) -> None:
    right = {"spark": None, "source": {"host": "127.0.0.1:1"}, "target": lake, "tables": "shop.*"}
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        binspark.mirror(**{**right, **arguments})
    assert not lake.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tables": None}, "tables must be names of tables, or patterns such as 'shop.*', got None"),
        ({"target": 7}, "target must be a directory or a URI, got 7 (int)"),
        ({"source": "archive/"}, "source must be a server: a mirror is compared with its tables"),
    ],
)
def test_wrong_arguments_of_a_check_are_option_errors(arguments: dict[str, Any], message: str, lake: Path) -> None:
    right = {"source": {"host": "127.0.0.1:1"}, "target": lake, "tables": "shop.*"}
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        binspark.check_mirror(**{**right, **arguments})


@pytest.mark.mysql
def test_a_check_that_compares_nothing_proves_nothing(mysql: Server, lake: Path) -> None:
    source = {"host": f"127.0.0.1:{mysql.port}", "user": "root", "ssl_mode": "disabled"}
    with pytest.raises(OptionError, match=re.escape(f"tables must match a table of {lake}, got shop.x")):
        binspark.check_mirror(source, lake, "shop.x")  # type: ignore[arg-type]


def test_logs_name_the_option_that_says_where_they_begin(lake: Path) -> None:
    with pytest.raises(OptionError, match=r"^start must be earliest, latest or FILE:POSITION in logs, got 'noon'$"):
        binspark.mirror(None, str(SHOP / "mysql"), lake, "shop.*", start="noon")


def test_a_rate_is_that_of_the_last_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    counter = RowCounter()
    for rows in (10, 40):
        counter.reach(rows)
        now += 2
    assert counter.rate == 15.0
    now += 60
    assert counter.rate == 0.0


@pytest.mark.parametrize("storage", [{"region": "eu-west-1"}, Storage.of({"region": "eu-west-1"}), None])
def test_storage_may_be_a_dictionary(storage: StorageOptions | None, lake: Path) -> None:
    mirror = binspark.open_mirror(
        None, str(SHOP / "mysql"), lake, "shop.orders", storage=storage, snapshot="never", once=True
    )
    assert [str(table.name) for table in mirror.run().tables] == ["shop.orders"]


def test_a_narrow_terminal_shows_complete_names_of_tables() -> None:
    names = [TableName("warehouse", f"orders_of_{year}") for year in (2025, 2026)]
    position = "binlog.000001:4008"
    tables = tuple(
        TableStatus(name=name, phase=Phase.CURRENT, rows=7, expected=None, rate=0, version=1, position=position)
        for name in names
    )
    output = StringIO()
    Console(file=output, width=50).print(progress_table(Status(command="mirror", tables=tables)))
    shown = ["".join(line.split("│")[1].split()) for line in output.getvalue().splitlines() if line.startswith("│")]
    assert "".join(shown) == "".join(map(str, names))
