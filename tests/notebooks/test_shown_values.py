"""Notebooks show values as tables, in which nothing of a log is markup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.cli.demo import SHOP
from binspark.gtid import MariadbPosition
from binspark.html_table import html_table
from binspark.testing.builder import BinlogBuilder, insert, table, varchar
from binspark.transactions import Assembler

EVIL = "<script>alert(1)</script>\"'&"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = BinlogBuilder()
    builder.transaction(insert(table(f"{EVIL}.{EVIL}", varchar(EVIL, 100)), (EVIL,)), text=f"INSERT /* {EVIL} */")
    builder.ddl(f"CREATE TABLE `{EVIL}` (id INT)", schema=EVIL)
    return builder.save(tmp_path_factory.mktemp("evil"))[0]


def shown(value: Any) -> str:
    text: str = value._repr_html_()
    return text


def test_everything_that_a_notebook_shows_is_escaped(log: Path) -> None:
    events = list(binspark.events(log))
    assembler = Assembler()
    transactions = [done for event in events for done in assembler.feed(event)]
    values = [
        *events,
        *transactions,
        *binspark.rows(log),
        *binspark.explain(log),
        binspark.stat(log),
    ]
    assert len(transactions) == 2
    for value in values:
        text = shown(value)
        assert "<script" not in text
        assert text.startswith("<table>")
    assert sum("&lt;script&gt;" in shown(value) for value in values) >= 8


def test_a_gtid_set_is_a_table_of_its_sources() -> None:
    source = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
    text = shown(binspark.GtidSet(f"{source}:1-5:8, {source}:blue:3"))
    assert "<td>1-5, 8</td><td>6</td>" in text
    assert "<td>blue</td><td>3</td>" in text
    assert "<caption>7 GTIDs</caption>" in text
    assert "<td>0</td><td>1</td><td>42</td>" in shown(MariadbPosition("0-1-42"))


def test_an_explanation_shows_offset_bytes_field_and_meaning() -> None:
    [explanation] = binspark.explain(SHOP / "mysql" / "binlog.000001", at=4)
    assert "<td>4</td><td><code>" in shown(explanation)
    assert "FORMAT_DESCRIPTION" in shown(explanation)


def test_stat_counts_what_the_command_counts() -> None:
    found = binspark.stat(SHOP / "mysql")
    assert (found.transactions.count, found.events.count) == (159, 2469)
    assert "2,469 events in 159 transactions" in shown(found)


def test_a_long_table_is_cut_and_says_so() -> None:
    text = html_table(("n",), ((number,) for number in range(1000)))
    assert text.count("<tr>") == 202
    assert "… 800 more" in text
