"""Activity over time, counted by Spark and drawn by matplotlib."""

from __future__ import annotations

import io
from typing import Any

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark.cli.demo import SHOP
from binspark.errors import OptionError


def bars(figure: Any) -> dict[str, float]:
    """Return the sum of the bars of each kind."""
    [axes] = figure.axes
    return {each.get_label(): sum(bar.get_height() for bar in each) for each in axes.containers}


@pytest.mark.parametrize(
    ("view", "by", "expected"),
    [
        ("changes", None, {"insert": 421, "update": 348, "delete": 150}),
        ("changes", "_table", {"orders": 391, "products": 263, "order_lines": 258, "customers": 7}),
        ("transactions", None, {"xid": 153, "statement": 6}),
    ],
)
def test_bars_are_the_counts_of_the_view(
    spark: SparkSession, view: str, by: str | None, expected: dict[str, int]
) -> None:
    frame = spark.read.format("binlog").option("view", view).load(str(SHOP / "mysql"))
    figure = binspark.plot_activity(frame, "1 second", by=by)
    assert bars(figure) == expected
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    assert picture.tell() > 5000


def test_of_many_kinds_the_rest_are_one(spark: SparkSession) -> None:
    frame = spark.read.format("binlog").option("view", "events").load(str(SHOP / "mysql"))
    found = bars(binspark.plot_activity(frame, "1 second", by="end_pos"))
    assert len(found) == 9
    assert sum(found.values()) == 2469


def test_a_frame_without_times_is_refused(spark: SparkSession) -> None:
    with pytest.raises(OptionError, match="plot_activity needs a column with times; expected one of _commit_time"):
        binspark.plot_activity(spark.range(3), by="id")
