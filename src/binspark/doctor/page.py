"""The rules as a page of documentation: `binspark doctor --rules` prints it, `docs/doctor.md` keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from binspark.doctor.rule import Rule, Severity
from binspark.doctor.rules import RULES

_WIDTH = 120
_EXAMPLE = {"account": "`user`@`host`", "role": "`role`", "table": "`shop`.`orders`"}

_INTRODUCTION = """\
# What on a server will hurt

`binspark doctor --host db1` asks a server for its settings, its tables and what its user may do, and tells what will
hurt whoever reads its logs: what it is now, why it hurts, and the statements that mend it. It changes nothing.

Exit 0: no error. 1: there is an error. 2: wrong use, or no connection. `--format jsonl` prints an object for each
finding: `code`, `severity`, `setting`, `value`, `reason`, `mend`. Codes are never renamed. `mend` can be run as it is;
what no statement does is a comment in it. Where a service runs the server, set the same values in its parameter group.

This page is made of the rules, by `binspark doctor --rules`.
"""

_MEANINGS = {
    Severity.ERROR: "Changes are missing, rows are not whole, or the logs cannot be read at all.",
    Severity.WARNING: "It works, until something happens that servers and tables do.",
    Severity.NOTE: "Worth knowing.",
}


def rules_page() -> str:
    """Return all rules in Markdown, the gravest first."""
    return "\n".join(_parts())


def _parts() -> Iterator[str]:
    yield _INTRODUCTION
    for severity, meaning in _MEANINGS.items():
        yield f"## {severity.capitalize()}s\n\n{meaning}\n"
        yield from (_rule(rule) for rule in RULES if rule.severity is severity)


def _rule(rule: Rule) -> str:
    settings = " or ".join(rule.settings)
    text = fill(f"**{settings}: {rule.when}.** {rule.reason}", _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"### {rule.code}\n\n{text}\n\n{_mend(rule)}\n"


def _mend(rule: Rule) -> str:
    persisting = rule.mend.persisting.format(setting=rule.settings[0], **_EXAMPLE)
    plain = rule.mend.plain.format(setting=rule.settings[-1], **_EXAMPLE)
    if persisting == plain:
        return _sql(plain)
    if not persisting or not plain:
        return f"{'MySQL' if persisting else 'MariaDB'}:\n\n{_sql(persisting or plain)}"
    return f"MySQL since 8.0:\n\n{_sql(persisting)}\n\nServers without SET PERSIST:\n\n{_sql(plain)}"


def _sql(text: str) -> str:
    return f"```sql\n{text}\n```"
