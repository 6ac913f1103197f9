"""Activity over time, as a picture: of any of the views, in one call."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from binspark.columns.metadata import DEFAULT_PREFIX, Metadata
from binspark.errors import OptionError
from binspark.reports.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TIMES = ("immediate_commit_timestamp", "timestamp")
_KINDS = ("type", "end")
_MAX_KINDS = 8
_OTHERS = "all others"
_WIDTH, _HEIGHT = 9.0, 3.2


def plot_activity(
    frame: DataFrame, every: str = "1 minute", *, by: str | None = None, metadata_prefix: str = DEFAULT_PREFIX
) -> Figure:
    """Return a plot of how many rows a view has over time: changes, events, transactions, or a typed table.

    >>> changes = spark.read.format("binlog").load("logs/")  # doctest: +SKIP
    >>> binspark.plot_activity(changes, "10 seconds", by="_table")  # doctest: +SKIP

    every   the length of an interval, as Spark writes it
    by      the column that divides the rows; by default the operation, the type of event, or how transactions ended

    Times are those of the commit in UTC; of events, their own. Spark counts, and only the counts come to the driver.
    """
    figure = new_figure(_WIDTH, _HEIGHT)
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

    kind = by or _first(frame, (f"{metadata_prefix}{Metadata.OP}", *_KINDS), "a column to divide the rows: use by=…")
    counts = _counts(frame, every, kind, metadata_prefix)
    times = sorted({time for time, _ in counts})
    kinds = _kinds(counts)
    axes = figure.subplots()
    bottom = [0] * len(times)
    dates = [float(date2num(time)) for time in times]  # type: ignore[no-untyped-call]
    width = 0.9 * min((later - earlier for earlier, later in pairwise(dates)), default=1 / 1440)
    for name, members in kinds.items():
        values = [sum(counts.get((time, member), 0) for member in members) for time in times]
        axes.bar(dates, values, width, bottom, label=name)
        bottom = [low + value for low, value in zip(bottom, values, strict=True)]
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.set_ylabel(f"rows in {every}")
    if kinds:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


Counts = dict[tuple[datetime, str], int]


def _counts(frame: DataFrame, every: str, kind: str, prefix: str) -> Counts:
    """Return the number of rows by the start of the interval, in UTC, and by kind."""
    start = F.window(_time(frame, prefix), every)["start"]
    utc = F.to_utc_timestamp(start, F.current_timezone()).cast("timestamp_ntz")
    found = frame.groupBy(utc.alias("at"), F.col(f"`{kind}`").cast("string").alias("kind")).count()
    return {(row["at"], row["kind"] or "NULL"): row["count"] for row in found.where("at IS NOT NULL").collect()}


def _time(frame: DataFrame, prefix: str) -> Column:
    commit_time = f"{prefix}{Metadata.COMMIT_TIME}"
    name = _first(frame, (commit_time, *_TIMES), "a column with times")
    found = F.col(f"`{name}`")
    if name == _TIMES[0] and _TIMES[1] in frame.columns:  # servers before MySQL 8.0 log no commit time
        found = F.coalesce(found, F.col(_TIMES[1]))
    return found


def _first(frame: DataFrame, names: tuple[str, ...], what: str) -> str:
    found = next((name for name in names if name in frame.columns), None)
    if found is None:
        raise OptionError(f"plot_activity needs {what}; expected one of {', '.join(names)}")
    return found


def _kinds(counts: Counts) -> dict[str, list[str]]:
    """Return the kinds to show, the most frequent first; the rest of very many are one kind."""
    totals: dict[str, int] = {}
    for (_, kind), count in counts.items():
        totals[kind] = totals.get(kind, 0) + count
    ordered = sorted(totals, key=lambda kind: (-totals[kind], kind))
    shown = {kind: [kind] for kind in ordered[:_MAX_KINDS]}
    return shown | ({_OTHERS: ordered[_MAX_KINDS:]} if len(ordered) > _MAX_KINDS else {})
