"""The rules as a page of documentation: `binspark doctor --rules` prints it, `docs/doctor.md` is a copy."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from binspark.doctor.rule import Rule, Severity
from binspark.doctor.rules import RULES

_WIDTH = 120
_EXAMPLE = {"account": "`user`@`host`", "role": "`role`", "table": "`shop`.`orders`"}

_INTRODUCTION = """\
# Problems of a server

`binspark doctor --host db1` checks a server's settings, its tables and the privileges of its user, and reports the
problems that readers of its logs will have: the current value, why it is a problem, and the statements that fix it. It
changes nothing.

Exit code 0: no error. 1: there is an error. 2: wrong use, or no connection. `--format jsonl` prints an object for each
finding: `code`, `severity`, `setting`, `value`, `reason`, `fix`. Codes are never renamed. `fix` can be run as it is;
what no statement can do is a comment in it. For a managed server, set the same values in its parameter group.

This page is generated from the rules: `binspark doctor --rules`.
"""

_MEANINGS = {
    Severity.ERROR: "Changes are missing, rows are incomplete, or the logs cannot be read at all.",
    Severity.WARNING: "Readers work until something usual happens: a failover, a crash, a schema change.",
    Severity.NOTE: "Worth knowing.",
}


def rules_page() -> str:
    """Return all rules in Markdown, the most severe first."""
    return "\n".join(_parts())


def _parts() -> Iterator[str]:
    yield _INTRODUCTION
    for severity, meaning in _MEANINGS.items():
        yield f"## {severity.capitalize()}s\n\n{meaning}\n"
        yield from (_rule(rule) for rule in RULES if rule.severity is severity)


def _rule(rule: Rule) -> str:
    settings = " or ".join(rule.settings)
    text = fill(f"**{settings}: {rule.when}.** {rule.reason}", _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"### {rule.code}\n\n{text}\n\n{_fix(rule)}\n"


def _fix(rule: Rule) -> str:
    persisting = rule.fix.persisting.format(setting=rule.settings[0], **_EXAMPLE)
    plain = rule.fix.plain.format(setting=rule.settings[-1], **_EXAMPLE)
    if persisting == plain:
        return _sql(plain)
    if not persisting or not plain:
        return f"{'MySQL' if persisting else 'MariaDB'}:\n\n{_sql(persisting or plain)}"
    return f"MySQL since 8.0:\n\n{_sql(persisting)}\n\nServers without SET PERSIST:\n\n{_sql(plain)}"


def _sql(text: str) -> str:
    return f"```sql\n{text}\n```"
