"""`binspark doctor`: the problems of a server's settings, for people and for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from binspark.cli.command import Command, RenamedOption, format_option
from binspark.cli.output import counted, echo, json_line, print_message, safe
from binspark.cli.server_options import server_options
from binspark.errors import SourceError
from binspark.live import connect
from binspark.server.config import ConnectionConfig

if TYPE_CHECKING:
    from binspark.doctor.rule import Finding
    from binspark.doctor.server_profile import ServerProfile

_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_INDENT = " " * 4


def _print_rules(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from binspark.doctor.page import rules_page

        click.echo(rules_page(), nl=False)
        context.exit()


@click.command("doctor", cls=Command)
@server_options
@format_option("text", "jsonl")
@click.option(
    "--check-tables/--no-check-tables",
    cls=RenamedOption,
    old_names={"--no-tables": "--no-check-tables"},
    default=True,
    help="Check the keys and types of tables too, which takes long if there are very many.  [default: check-tables]",
)
@click.option(
    "--rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_rules,
    help="Show all rules as a page in Markdown, without connecting to a server.",
)
def doctor_command(connection: ConnectionConfig, output_format: str, check_tables: bool) -> int:
    """Find problems in the settings of a server.

    Its settings, its tables and the privileges of the user are checked for problems that readers of its logs will have.
    Each problem is shown with the current value, the reason, and the statements that fix it. Nothing is changed. Of
    several hosts, the first that answers is checked.

    Exit code 0: no error. 1: there is an error. 2: wrong use, or no connection.
    """
    from binspark.doctor.read_profile import read_profile
    from binspark.doctor.rules import find_problems

    try:
        with connect(connection) as server:
            address, profile = str(server.address), read_profile(server, check_tables=check_tables)
    except SourceError as error:
        print_message(error)
        return 2
    findings = find_problems(profile)
    if output_format == "jsonl":
        for finding in findings:
            echo(json_line(finding_record(finding)))
    else:
        _print_text(address, profile, findings)
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as the record that `--format jsonl` prints."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "setting": finding.setting,
        "value": finding.value,
        "reason": finding.reason,
        "fix": finding.fix,
    }


def _print_text(address: str, profile: ServerProfile, findings: Sequence[Finding]) -> None:
    console = Console(highlight=False)
    server = _safe(f"{address}: {profile.version}, connected as {profile.account}")
    console.print(Text(f"{server}\n"), soft_wrap=True)
    for finding in findings:
        _print_finding(console, finding)
    console.print(Text(_conclusion(findings), style="bold"))


def _print_finding(console: Console, finding: Finding) -> None:
    headline = Text(finding.severity.value, style=_STYLES[finding.severity.value])
    headline.append(_safe(f": {finding.setting}: {finding.value} [{finding.code}]"), style="bold")
    console.print(headline, soft_wrap=True)
    console.print(Text(fill(finding.reason, console.width, initial_indent=_INDENT, subsequent_indent=_INDENT)))
    for line in finding.fix.splitlines():
        style = "dim" if line.startswith("--") else "green"
        console.print(Text(_INDENT + _safe(line), style=style), soft_wrap=True)
    console.print()


def _safe(text: str) -> str:
    """Names of tables on a server may contain control characters."""
    return safe(text)


def _conclusion(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity.value for finding in findings)
    summary = ", ".join(counted(counts[name], name) for name in _STYLES)
    restarts = sum(finding.restart for finding in findings)
    return summary + (f"; {restarts} of them need a restart of the server to fix" if restarts else "")
