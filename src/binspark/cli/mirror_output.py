"""What `binspark mirror` shows: a live table for people, or JSON lines; its plan; its problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table

from binspark.cli.output import counted, echo, json_line, safe
from binspark.cli.status_lines import StatusLines, lag_text

if TYPE_CHECKING:
    from binspark.doctor.rule import Finding
    from binspark.mirror.check.report import CheckReport
    from binspark.mirror.plan import PlannedTable
    from binspark.monitoring.status import Status, TableStatus

Show = Callable[["Status"], None]
_MAX_TABLES = 20
_MAX_GTIDS = 60


@contextmanager
def shown_progress(kind: str) -> Iterator[Show]:
    """Show the progress of a mirror as it comes: `table`, `lines`, `jsonl` or `none`."""
    if kind == "jsonl":
        yield lambda report: echo(json_line(report.to_json()), err=True)
        return
    console = Console(stderr=True)
    if kind == "none":
        yield lambda _report: None
    elif kind == "table" and console.is_terminal:
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield lambda report: live.update(progress_table(report))
    else:
        lines = _Lines()
        yield lines.show


class _Lines:
    """A line for each report that says something new."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, report: Status) -> None:
        line = summary(report)
        if line != self._last:
            echo(line, err=True)
        self._last = line


def summary(report: Status) -> str:
    """Return the progress in one line."""
    copying = [table for table in report.tables if table.expected is not None]
    parts = [report.position or "not begun", counted(len(report.tables), "table"), f"{report.rows or 0} rows applied"]
    parts += [f"copying {table.name}: {table.rows} of about {table.expected}" for table in copying[:1]]
    parts.append(f"lag {lag_text(report)}")
    if report.error:
        parts.append(f"last error: {report.error}")
    return "  ".join(parts)


def progress_table(report: Status) -> Table:
    """Return the progress as a table."""
    shown = sorted(report.tables, key=lambda table: (table.expected is None, -table.rate, table.name))[:_MAX_TABLES]
    table = Table(title=safe(_title(report)), title_justify="left", caption=safe(report.error or ""))
    table.add_column("table", overflow="fold")  # a name that is cut off may be that of another table
    table.add_column("phase", no_wrap=True)
    for name in ("rows applied", "rows/s"):
        table.add_column(name, justify="right")
    table.add_column("position", no_wrap=True)
    for row in shown:
        table.add_row(safe(str(row.name)), str(row.phase), _rows(row), f"{row.rate:,.0f}", safe(row.position))
    left = len(report.tables) - len(shown)
    if left:
        table.add_row(f"… and {counted(left, 'more table')}", "", "", "", "")
    return table


def _title(report: Status) -> str:
    gtids = report.gtids if len(report.gtids) <= _MAX_GTIDS else f"…{report.gtids[-_MAX_GTIDS:]}"
    return f"{report.position or 'not begun'}  lag {lag_text(report)}  {gtids}"


def _rows(table: TableStatus) -> str:
    return f"{table.rows:,}" if table.expected is None else f"{table.rows:,} of {table.expected:,}"


def print_plan(plans: Sequence[PlannedTable], kind: str) -> None:
    """Print what a mirror will do."""
    if kind == "jsonl":
        for plan in plans:
            echo(json_line(plan.to_json()))
        return
    for plan in plans:
        rows = "" if plan.rows is None else f", about {counted(plan.rows, 'row')}"
        key = f"key {', '.join(plan.key)}" if plan.key else "no key"
        echo(f"{plan.name}: {plan.action}{rows}, {key}")
        for name, column_type in plan.columns:
            echo(f"    {name}  {column_type}")
        for note in plan.notes:
            echo(f"  note: {note}")


def print_checked(report: CheckReport, kind: str) -> None:
    """Print what a check has found."""
    if kind == "jsonl":
        for table in report.tables:
            echo(json_line(table.to_json()))
        return
    for line in report.lines():
        echo(safe(line))


def print_problems(findings: Sequence[Finding], kind: str) -> None:
    """Print what `doctor` has found that a mirror will have problems with."""
    if findings:
        listed = ", ".join(f"{finding.setting}={finding.value} [{finding.code}]" for finding in findings)
        message = f"the server has settings that a mirror may have problems with: {listed}; see binspark doctor"
        StatusLines(kind).warn(message)
