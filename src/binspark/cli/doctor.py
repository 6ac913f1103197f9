"""`binspark doctor`: what on a server will hurt, for a person and for a script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from binspark.cli.connecting import connecting_options
from binspark.cli.output import format_option, json_line, tell
from binspark.errors import SourceError
from binspark.server.config import ConnectionConfig

if TYPE_CHECKING:
    from binspark.doctor.facts import Facts
    from binspark.doctor.rule import Finding

_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_INDENT = " " * 4


def _print_rules(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from binspark.doctor.page import rules_page

        click.echo(rules_page(), nl=False)
        context.exit()


@click.command("doctor")
@connecting_options
@format_option
@click.option(
    "--tables/--no-tables",
    default=True,
    help="Look at tables too, their keys and types. It takes long where there are very many. [default: tables]",
)
@click.option(
    "--rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_rules,
    help="Ask no server: show everything that may hurt, as a page in Markdown.",
)
def doctor_command(connection: ConnectionConfig, output_format: str, tables: bool) -> int:
    """Tell what on a server will hurt whoever reads its logs: what it is now, why it hurts, and the statements that
    mend it. Nothing is changed. Of several hosts the first that answers is asked.

    Exit 0: no error. 1: there is an error. 2: wrong use, or no connection.
    """
    from binspark.doctor.ask import ask
    from binspark.doctor.examine import examine
    from binspark.server.connection import connect

    try:
        with connect(connection) as server:
            place, facts = str(server.address), ask(server, tables=tables)
    except SourceError as error:
        tell(error)
        return 2
    findings = examine(facts)
    if output_format == "jsonl":
        for finding in findings:
            click.echo(json_line(finding_record(finding)))
    else:
        _print_text(place, facts, findings)
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as the record that `--format jsonl` prints."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "setting": finding.setting,
        "value": finding.value,
        "reason": finding.reason,
        "mend": finding.mend,
    }


def _print_text(place: str, facts: Facts, findings: Sequence[Finding]) -> None:
    console = Console(highlight=False)
    console.print(Text(_harmless(f"{place} is {facts.version}, asked as {facts.account}") + "\n"), soft_wrap=True)
    for finding in findings:
        _print_finding(console, finding)
    console.print(Text(_conclusion(findings), style="bold"))


def _print_finding(console: Console, finding: Finding) -> None:
    headline = Text(finding.severity.value, style=_STYLES[finding.severity.value])
    headline.append(_harmless(f": {finding.setting}: {finding.value} [{finding.code}]"), style="bold")
    console.print(headline, soft_wrap=True)
    console.print(Text(fill(finding.reason, console.width, initial_indent=_INDENT, subsequent_indent=_INDENT)))
    for line in finding.mend.splitlines():
        style = "dim" if line.startswith("--") else "green"
        console.print(Text(_INDENT + _harmless(line), style=style), soft_wrap=True)
    console.print()


def _harmless(text: str) -> str:
    """Return text that cannot command a terminal, whatever the tables of a server are called."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _conclusion(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity.value for finding in findings)
    told = ", ".join(f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}" for name in _STYLES)
    restarts = sum(finding.restart for finding in findings)
    return told + (f"; to mend {restarts} of them the server has to be started anew" if restarts else "")
