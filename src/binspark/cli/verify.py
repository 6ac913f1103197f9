"""`binspark verify`: whether logs are complete and undamaged, for people and for scripts."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from binspark.cli.command import Command, format_option
from binspark.cli.output import counted, echo, echo_styled, json_line, print_page, safe, time_text
from binspark.errors import BinlogError, OptionError
from binspark.files.sources import log_order
from binspark.verify import ADVICE, Code, Extent, FileReport, Finding, Report, Severity, Summary, Verdict, verify_files

if TYPE_CHECKING:
    from rich.table import Table

_GTIDS_WIDTH = 60
WIDE_TERMINAL = 150
_VERDICT_STYLES = {Verdict.INTACT: "green", Verdict.DOUBTFUL: "yellow", Verdict.NOT_INTACT: "bold red"}
_SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


class _Column(NamedTuple):
    """A column of the table. Those that are not essential are omitted on a narrow terminal."""

    name: str
    cell: Callable[[FileReport], str]
    is_number: bool = False
    essential: bool = False


_COLUMNS = (
    _Column("file", lambda report: os.path.basename(report.file), essential=True),
    _Column("verdict", lambda report: report.verdict.value, essential=True),
    _Column("events", lambda report: f"{report.events:,}", is_number=True, essential=True),
    _Column("transactions", lambda report: f"{report.transactions:,}", is_number=True, essential=True),
    _Column("bytes", lambda report: f"{report.bytes:,}", is_number=True, essential=True),
    _Column("server", lambda report: report.server_version or "-"),
    _Column("checksum", lambda report: report.checksum or "-"),
    _Column("first", lambda report: _time(report.first_time)),
    _Column("last", lambda report: _time(report.last_time)),
    _Column("GTIDs", lambda report: _shortened(report.gtids) or "-"),
)


def print_report(reports: Iterable[FileReport]) -> Summary:
    """Print all reports and findings, and return the totals."""
    collected = Report.of(reports)
    if sys.stdout.isatty():
        _print_table(collected.files)
    else:
        echo("\n".join(_plain_lines(collected.files)))
    _print_findings(collected.files)
    color = "green" if collected.ok else "red"
    echo_styled(click.style(conclusion(collected.summary), fg=color, bold=not collected.ok))
    return collected.summary


def conclusion(summary: Summary) -> str:
    """Return the result in one line."""
    checked = f"{counted(summary.files, 'file')}, {counted(summary.events, 'event')}"
    if summary.errors:
        return f"{checked}: {counted(summary.errors, 'error')}, {counted(summary.warnings, 'warning')}"
    if summary.warnings:
        return f"{checked}: no error, {counted(summary.warnings, 'warning')}"
    return f"{checked}: nothing is damaged or missing {', or '.join(map(_extent_text, summary.extents))}"


def _extent_text(extent: Extent) -> str:
    """Return what a chain covers, and whether earlier logs are not in it."""
    first, last = os.path.basename(extent.first), os.path.basename(extent.last)
    covered = f"from {first} to {last}:{extent.end}" if first != last else f"from the start of {first} to {extent.end}"
    begins_late = extent.gtids_before or log_order(extent.first)[1] > 1
    return f"{covered} (earlier logs were not given)" if begins_late else covered


def _print_table(reports: Iterable[FileReport]) -> None:
    print_page(_table(reports, wide=shutil.get_terminal_size().columns >= WIDE_TERMINAL))


def _table(reports: Iterable[FileReport], *, wide: bool) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    columns = [column for column in _COLUMNS if wide or column.essential]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column.name, justify="right" if column.is_number else "left", no_wrap=True)
    for report in reports:
        table.add_row(*(Text(column.cell(report), style=_style(column, report)) for column in columns))
    return table


def _style(column: _Column, report: FileReport) -> str:
    return _VERDICT_STYLES[report.verdict] if column.name == "verdict" else ""


def _plain_lines(reports: Iterable[FileReport]) -> list[str]:
    """Return the table as lines of any width, for files and pipes."""
    rows = [[column.name for column in _COLUMNS]]
    rows += [[column.cell(report) for column in _COLUMNS] for report in reports]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return ["  ".join(map(_aligned, row, widths, _COLUMNS)).rstrip() for row in rows]


def _aligned(cell: str, width: int, column: _Column) -> str:
    return cell.rjust(width) if column.is_number else cell.ljust(width)


def _print_findings(reports: Iterable[FileReport]) -> None:
    """Print the findings; the advice is printed once for each code."""
    advised: set[str] = set()
    for report in reports:
        for finding in report.findings:
            _print_finding(finding, with_advice=finding.code not in advised)
            advised.add(finding.code)
        for code, count in report.omitted:
            echo(f"{report.file}: and {count:,} more of [{code}]")


def _print_finding(finding: Finding, *, with_advice: bool) -> None:
    style = _SEVERITY_STYLES[finding.severity]
    severity = click.style(finding.severity.value, fg=style.removeprefix("bold "), bold=style.startswith("bold"))
    echo_styled(f"{severity}: {safe(f'{finding.position}: {finding.message} [{finding.code}]')}")
    if with_advice:
        echo(f"    {ADVICE[Code(finding.code)]}")


def _time(timestamp: int | None) -> str:
    return "-" if timestamp is None else time_text(timestamp)


def _shortened(gtids: str) -> str:
    return gtids if len(gtids) <= _GTIDS_WIDTH else gtids[: _GTIDS_WIDTH - 1] + "…"


@click.command("verify", cls=Command)
@click.argument("paths", metavar="PATH…", nargs=-1, required=True)
@format_option("text", "json", "jsonl")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option(
    "--limit",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="The maximum number of findings of the same kind to show for a file; all are counted.",
)
def verify_command(paths: tuple[str, ...], output_format: str, strict: bool, limit: int) -> int:
    """Check whether logs are complete and undamaged.

    PATH is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Nothing may be damaged, missing or duplicated. Files with the same base name and consecutive numbers are a chain:
    each must begin where the previous one ends. Reading continues after damage, so that one pass shows all of it. With
    --format jsonl there is one object per file, then one with the totals. The last line says from where to where the
    logs are complete: what was in earlier or later ones is not known.

    Exit code 0: nothing is damaged or missing in between. 1: something is damaged, missing or cannot be verified. 2:
    wrong use.
    """
    try:
        summary = _PRINTERS[output_format](verify_files(paths, findings_per_code=limit), strict)
    except BinlogError as error:
        raise OptionError(error.message, error.position) from None
    return 0 if _passes(summary, strict) else 1


def _passes(summary: Summary, strict: bool) -> bool:
    return summary.ok and not (strict and summary.warnings)


def _print_json(reports: Iterator[FileReport], strict: bool) -> Summary:
    summary, files = Summary(), []
    for report in reports:
        summary = summary.add(report)
        files.append(_file_record(report))
    echo(json.dumps({"files": files, "summary": _summary_record(summary, strict)}, ensure_ascii=False, indent=2))
    return summary


def _print_json_lines(reports: Iterator[FileReport], strict: bool) -> Summary:
    summary = Summary()
    for report in reports:
        summary = summary.add(report)
        echo(json_line(_file_record(report)))
    echo(json_line({"summary": _summary_record(summary, strict)}))
    return summary


def _print_text(reports: Iterator[FileReport], _strict: bool) -> Summary:
    return print_report(reports)


_PRINTERS = {"text": _print_text, "json": _print_json, "jsonl": _print_json_lines}


def _file_record(report: FileReport) -> dict[str, Any]:
    return {
        "file": report.file,
        "verdict": report.verdict.value,
        "bytes": report.bytes,
        "sound_bytes": report.sound_bytes,
        "events": report.events,
        "transactions": report.transactions,
        "server_version": report.server_version,
        "server_id": report.server_id,
        "checksum": report.checksum,
        "first_time": report.first_time,
        "last_time": report.last_time,
        "gtids_before": report.gtids_before,
        "gtids": report.gtids,
        "errors": report.errors,
        "warnings": report.warnings,
        "findings": [_finding_record(finding) for finding in report.findings],
        "omitted": dict(report.omitted),
    }


def _finding_record(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity.value,
        "code": finding.code,
        "message": finding.message,
        "pos": finding.position.offset,
        "type": finding.position.event,
    }


def _summary_record(summary: Summary, strict: bool) -> dict[str, Any]:
    return {
        "ok": _passes(summary, strict),
        "files": summary.files,
        "events": summary.events,
        "transactions": summary.transactions,
        "bytes": summary.bytes,
        "errors": summary.errors,
        "warnings": summary.warnings,
        "extents": [
            {
                "from": extent.first,
                "to": extent.last,
                "end": extent.end,
                "gtids_before": extent.gtids_before,
            }
            for extent in summary.extents
        ],
    }
