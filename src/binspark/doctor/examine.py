"""Findings out of facts, by the rules. No server is needed."""

from __future__ import annotations

from collections.abc import Sequence

from binspark.doctor.facts import Facts
from binspark.doctor.rule import RESTART, Finding, Found, Rule, Severity
from binspark.doctor.rules import RULES


def examine(facts: Facts, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Return all that will hurt on a server, the gravest first."""
    found = ((rule, rule.check(facts, rule.settings)) for rule in rules)
    findings = [_finding(rule, hit, facts) for rule, hit in found if hit is not None]
    gravest_first = list(Severity)
    return sorted(findings, key=lambda finding: gravest_first.index(finding.severity))


def _finding(rule: Rule, found: Found, facts: Facts) -> Finding:
    template = rule.mend.persisting if facts.persists else rule.mend.plain
    table = "" if found.table is None else found.table.quoted
    role = next(iter(facts.grants.roles), "")
    mend = template.format(setting=found.setting, account=facts.account, role=role, table=table)
    return Finding(rule.code, rule.severity, found.setting, found.value, rule.reason, mend, RESTART in mend)
