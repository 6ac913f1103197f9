"""Pictures of a report, as SVG. Lines and texts have the colour of the text around them, light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from binspark.reports.figures import new_figure
from binspark.reports.numbers import Histogram, ReportNumbers, Series
from binspark.reports.timeline import SECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#2b7bba", "#e08214", "#3a9d5d", "#c0392b", "#8e6bbf", "#8c6d46", "#d770ad", "#7f8c8d", "#b5b83a")
_OPERATION_COLOURS = {"insert": "#3a9d5d", "update": "#2b7bba", "delete": "#c0392b", "truncate": "#8e6bbf"}
_INK = "#010203"
"""Stands for the colour of the text around a picture, which the page knows."""
_WIDTH, _HEIGHT = 9.0, 2.6
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_MAX_MARKED = 60
_INTERVALS = ((86400 * SECOND, "d"), (3600 * SECOND, "h"), (60 * SECOND, "min"), (SECOND, "s"), (1000, "ms"))


def activity_plot(report: ReportNumbers) -> str:
    """Return transactions and bytes over time."""
    figure, (top, bottom) = _figure(2)
    _area(top, report.writes, ("transactions",), COLOURS[:1])
    _area(bottom, report.writes, ("bytes",), COLOURS[1:2])
    top.set_ylabel(f"transactions\nin {_interval(report.writes.width)}")
    bottom.set_ylabel("bytes")
    _mark_schema_changes(report, top)
    return _svg(figure, "Transactions and bytes over time")


def tables_plot(report: ReportNumbers) -> str:
    """Return rows over time, by table and by operation."""
    figure, (top, bottom) = _figure(2)
    names = tuple(report.rows.values)
    _area(top, report.rows, names, COLOURS)
    _legend(top)
    operations = tuple(report.operations.values)
    _area(bottom, report.operations, operations, [_OPERATION_COLOURS[name] for name in operations])
    _legend(bottom)
    top.set_ylabel(f"rows\nin {_interval(report.rows.width)}")
    bottom.set_ylabel("rows")
    return _svg(figure, "Changed rows over time, by table and by operation")


def parallelism_plot(report: ReportNumbers) -> str:
    """Return how many transactions a replica could apply at the same time, over time."""
    figure, (axes,) = _figure(1)
    _area(axes, report.parallelism, ("average",), COLOURS[4:5])
    axes.set_ylabel("at the same time")
    return _svg(figure, "Parallelism over time")


def histogram_plot(histogram: Histogram, label: Callable[[int], str], title: str) -> str:
    """Return a histogram whose bars have labels of their lower bounds."""
    figure, (axes,) = _figure(1, width=_WIDTH / 2)
    numbers = range(len(histogram.bounds))
    axes.bar(numbers, histogram.counts, color=COLOURS[0], width=0.85)
    axes.set_yscale("symlog", linthresh=1)
    every = max(1, len(histogram.bounds) // 8)
    axes.set_xticks(list(numbers)[::every], [label(bound) for bound in histogram.bounds[::every]])
    axes.yaxis.set_major_formatter(lambda value, _position: short(value))
    axes.set_ylabel("transactions")
    return _svg(figure, title)


def short(value: float) -> str:
    """Return a number in few characters: `1.5M`."""
    for factor, unit in _UNITS:
        if abs(value) >= factor:
            return f"{value / factor:.3g}{unit}"
    return f"{value:.3g}"


def _figure(rows: int, width: float = _WIDTH) -> tuple[Figure, Sequence[Axes]]:
    figure = new_figure(width, _HEIGHT * rows * (0.8 if rows > 1 else 1))
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}):
        axes: list[Axes] = list(figure.subplots(rows, 1, sharex=rows > 1, squeeze=False)[:, 0])
    for each in axes:
        each.tick_params(colors=_INK, which="both")
        each.yaxis.label.set_color(_INK)
        for name, spine in each.spines.items():
            spine.set_color(_INK)
            spine.set_visible(name in {"left", "bottom"})
        each.grid(axis="y", color=_INK, alpha=0.15, linewidth=0.6)
        each.set_axisbelow(True)
    return figure, axes


def _area(axes: Axes, series: Series, names: Sequence[str], colours: Sequence[str]) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    if not series.times:
        axes.text(0.5, 0.5, "nothing was logged", ha="center", transform=axes.transAxes, color=_INK)
        return
    # Steps: a number is of its interval, and must be visible where there is only one.
    ends = [_date(time) for time in (*series.times, series.times[-1] + series.width)]
    values = [[*series.values[name], series.values[name][-1]] for name in names]
    axes.stackplot(ends, values, labels=list(names), colors=list(colours), step="post", linewidth=0)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    locator = AutoDateLocator(tz=UTC, maxticks=9)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
    axes.xaxis.get_offset_text().set_color(_INK)
    axes.yaxis.set_major_formatter(lambda value, _position: short(value))


def _date(time: int) -> float:
    """Return a time as matplotlib counts it: in days."""
    from matplotlib.dates import date2num

    return float(date2num(datetime.fromtimestamp(time / SECOND, UTC)))  # type: ignore[no-untyped-call]


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, labelcolor=_INK, fontsize=8)


def _mark_schema_changes(report: ReportNumbers, axes: Axes) -> None:
    for change in report.schema_changes[:_MAX_MARKED]:
        axes.axvline(_date(change.time), color=COLOURS[3], linewidth=0.8, linestyle=":")


def _interval(width: int) -> str:
    for size, unit in _INTERVALS:
        if width % size == 0:
            return f"{width // size} {unit}"
    return f"{width} µs"


def _svg(figure: Figure, title: str) -> str:
    from html import escape

    from matplotlib import rc_context

    target = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = target.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' (width|height)="[\d.]+pt"', "", text, count=2)
    label = escape(title, quote=True)
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
