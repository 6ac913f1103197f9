"""`binspark verify`: whether logs are whole, for a person and for a script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from binspark.cli.verify_text import print_report
from binspark.errors import BinlogError
from binspark.verify import FileReport, Finding, Summary, verify_files


class _WrongUse(click.ClickException):
    exit_code = 2


@click.command("verify")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="text for people; json: one object; jsonl: an object a line for each file, then one for all.",
)
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many findings of the same kind are told for a file; all are counted.",
)
@click.pass_context
def verify_command(
    context: click.Context, paths: tuple[str, ...], output_format: str, strict: bool, limit: int
) -> None:
    """Prove whether logs are whole: nothing damaged, nothing missing, nothing twice.

    PATH is a file, a glob, a directory, an index file, or - for standard input. Files of one name and rising numbers
    are a chain: each must begin where the one before ended. Reading goes on past damage, so that one run shows all of
    it.

    Exit 0: the logs are whole. 1: something is damaged, missing or cannot be verified. 2: wrong use.
    """
    try:
        summary = _PRINTERS[output_format](verify_files(paths, findings_per_code=limit), strict)
    except BinlogError as error:
        raise _WrongUse(str(error)) from None
    if not _passes(summary, strict):
        context.exit(1)


def _passes(summary: Summary, strict: bool) -> bool:
    return summary.ok and not (strict and summary.warnings)


def _print_json(reports: Iterator[FileReport], strict: bool) -> Summary:
    summary, files = Summary(), []
    for report in reports:
        summary = summary.add(report)
        files.append(_file_record(report))
    click.echo(json.dumps({"files": files, "summary": _summary_record(summary, strict)}, ensure_ascii=False, indent=2))
    return summary


def _print_json_lines(reports: Iterator[FileReport], strict: bool) -> Summary:
    summary = Summary()
    for report in reports:
        summary = summary.add(report)
        click.echo(json.dumps(_file_record(report), ensure_ascii=False))
    click.echo(json.dumps({"summary": _summary_record(summary, strict)}, ensure_ascii=False))
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
    }
