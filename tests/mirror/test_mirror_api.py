"""`binspark.mirror` in Python: a function, whatever of the package of the same name was imported."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
import binspark.mirror.state
from binspark.errors import OptionError
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
