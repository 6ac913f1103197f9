"""The plan of a recovery, as text for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from binspark.cli.output import counted, json_line, one_line, shown_statement, size_text
from binspark.diff.gtids import MariadbGtids
from binspark.options.times import Clock
from binspark.position import log_name
from binspark.restore.plan import Decision, Plan
from binspark.restore.target import Target

_MAX_SHOWN = 200
_MAX_TABLES = 10
_REASONS = {
    Decision.ON_TARGET: "the target has them",
    Decision.EXCLUDED: "left out by options",
    Decision.STOPPED: "after the position to stop at",
    Decision.INCOMPLETE: "incomplete at the end of a log",
    Decision.HALF_ALTER: "the first half of a two-phase ALTER, which the second repeats",
}


def plan_record_line(
    plan: Plan, target: Target | None, obstacles: Sequence[str], warnings: Sequence[str], _clock: Clock
) -> str:
    """Return a plan as a line of JSON."""
    counts = {decision.name.lower(): count for decision, count in plan.counts.items() if decision is not Decision.APPLY}
    record: dict[str, Any] = {
        "files": [log_name(file.source.name) for file in plan.files],
        "transactions": plan.transactions,
        "rows": plan.rows,
        "bytes": plan.bytes,
        "ddl": plan.ddl,
        "statements": plan.statements,
        "first": plan.first,
        "last": plan.last,
        "first_time": plan.first_time,
        "last_time": plan.last_time,
        "tables": sorted(plan.tables),
        "left_out": counts,
        "stop": plan.stopped_by,
        "statement": None if plan.found is None else plan.found.text,
        "target": None if target is None else {"server": target.name, "gtids": _gtids(target)},
        "obstacles": list(obstacles),
        "warnings": list(warnings),
    }
    return json_line(record)


def plan_text(
    plan: Plan, target: Target | None, obstacles: Sequence[str], warnings: Sequence[str], clock: Clock
) -> str:
    """Return a plan as text for people."""
    names = [log_name(file.source.name) for file in plan.files]
    logs = f"{counted(len(names), 'file')}, {names[0]} to {names[-1]}" if len(names) > 1 else names[0]
    lines = [("archive", f"{logs} ({plan.server_version})")]
    if target is not None:
        lines.append(("target", f"{target.name} ({target.version}), has {_gtids(target) or 'no GTIDs'}"))
    lines += _applied_lines(plan, clock)
    lines += [
        ("leave out", f"{counted(count, 'transaction')}: {_REASONS[decision]}")
        for decision, count in plan.counts.items()
        if count and decision in _REASONS
    ]
    if plan.stopped_by is not None:
        lines.append(("stop", plan.stopped_by))
    if plan.found is not None:
        lines.append(("statement", shown_statement(plan.found.text, _MAX_SHOWN)))
    lines += [("warning", text) for text in warnings]
    lines += [("obstacle", text) for text in obstacles]
    return "\n".join(f"{title:<10} {text}" for title, text in lines)


def _applied_lines(plan: Plan, clock: Clock) -> list[tuple[str, str]]:
    counts = (
        f"{counted(plan.transactions, 'transaction')}, {counted(plan.rows, 'row')}, "
        f"{counted(plan.ddl, 'DDL statement')}, {size_text(plan.bytes)}"
    )
    if not plan.transactions:
        return [("apply", "nothing: the target has everything up to there")]
    lines = [
        ("apply", counts),
        ("from", f"{plan.first}  {clock.text(plan.first_time)}"),
        ("to", f"{plan.last}  {clock.text(plan.last_time)}"),
    ]
    if plan.tables:
        shown = sorted(plan.tables)[:_MAX_TABLES]
        more = f" and {len(plan.tables) - len(shown):,} more" if len(plan.tables) > len(shown) else ""
        lines.append(("tables", f"{', '.join(shown)}{more}"))
    return lines


def _gtids(target: Target) -> str:
    held = target.gtids
    text = str(held.state or held.applied) if isinstance(held, MariadbGtids) else str(held.executed)
    return one_line(text, _MAX_SHOWN)
