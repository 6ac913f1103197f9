"""What `binspark diff` prints: a line for each difference, the rows in it, and a summary."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple, Protocol

from binspark.cli.output import counted, json_line, one_line, shown_statement
from binspark.diff.compare import Finding, Summary
from binspark.diff.contents import Differences, RowChange, TransactionAt
from binspark.options.times import Clock
from binspark.position import log_name
from binspark.render.json_values import readable

_WIDTH = 200


class FindingWriter(Protocol):
    """Writes a difference; `show_rows` is how many rows and statements of each side are written."""

    def __call__(self, finding: Finding, details: Differences | None, show_rows: int) -> str:
        """Return the text."""


class SummaryWriter(Protocol):
    """Writes the summary."""

    def __call__(self, summary: Summary) -> str:
        """Return the text."""


class DiffForm(NamedTuple):
    """How differences are written."""

    finding: FindingWriter
    summary: SummaryWriter


def json_form() -> DiffForm:
    """Return how `--format jsonl` writes."""
    return DiffForm(_finding_json, lambda summary: json_line({"summary": _summary_record(summary)}))


def text_form(clock: Clock, *, show_secrets: bool) -> DiffForm:
    """Return how differences are written for people."""

    def statement_text(statement: bytes) -> str:
        return shown_statement(statement, _WIDTH, show_secrets=show_secrets)

    return DiffForm(
        lambda finding, details, rows: _finding_text(finding, details, rows, clock, statement_text), _summary_text
    )


def _finding_json(finding: Finding, details: Differences | None, show_rows: int) -> str:
    at = finding.a or finding.b
    record: dict[str, Any] = {
        "finding": finding.kind.value.lower().replace(" ", "_"),
        "gtid": None if at is None else at.gtid,
        "a": _at_record(finding.a),
        "b": _at_record(finding.b),
    }
    if details is not None:
        record |= {
            "rows_a": [asdict(row) for row in details.rows_a[:show_rows]],
            "rows_b": [asdict(row) for row in details.rows_b[:show_rows]],
            "statements_a": [readable(text) for text in details.statements_a[:show_rows]],
            "statements_b": [readable(text) for text in details.statements_b[:show_rows]],
        }
    return json_line(record)


def _at_record(at: TransactionAt | None) -> dict[str, Any] | None:
    if at is None:
        return None
    return {
        "file": log_name(at.file),
        "pos": at.start,
        "end_pos": at.end,
        "timestamp": at.time,
        "server_id": at.server_id,
        "rows": at.rows,
        "statements": at.statements,
    }


def _summary_record(summary: Summary) -> dict[str, Any]:
    record = asdict(summary)
    by_gtid = record.pop("by_gtid")
    return {"equal": summary.is_equal, "matched_by": "gtid" if by_gtid else "contents", **record}


def _finding_text(
    finding: Finding,
    details: Differences | None,
    show_rows: int,
    clock: Clock,
    statement_text: Callable[[bytes], str],
) -> str:
    at = finding.a or finding.b
    assert at is not None
    sides = [f"{name} {_at_text(side)}" for name, side in (("A", finding.a), ("B", finding.b)) if side is not None]
    head = f"{finding.kind.value:<9}  {at.gtid or 'anonymous'}  {clock.text(at.time)}  {', '.join(sides)}"
    if details is None:
        return head
    lines = [head]
    for sign, rows, statements in (
        ("-", details.rows_a, details.statements_a),
        ("+", details.rows_b, details.statements_b),
    ):
        shown = [*(_row_text(row) for row in rows), *map(statement_text, statements)]
        lines += [f"    {sign} {text}" for text in shown[:show_rows]]
        if len(shown) > show_rows:
            lines.append(f"    {sign} … {len(shown) - show_rows:,} more")
    if len(lines) == 1 and details.complete:
        lines.append("    the same rows, with other columns in their images or in another order")
    if not details.complete:
        lines.append("    the transaction has more rows than are shown one by one")
    return "\n".join(lines)


def _at_text(at: TransactionAt) -> str:
    counts = [counted(at.rows, "row")] if at.rows or not at.statements else []
    counts += [counted(at.statements, "statement")] if at.statements else []
    return f"{log_name(at.file)}:{at.start} ({', '.join(counts)})"


def _row_text(row: RowChange) -> str:
    images = [json.dumps(image, ensure_ascii=False) for image in (row.before, row.after) if image is not None]
    return one_line(f"{row.op} {row.schema}.{row.table} {' → '.join(images)}", _WIDTH)


def _summary_text(summary: Summary) -> str:
    counts = f"A: {counted(summary.transactions_a, 'transaction')}, {counted(summary.rows_a, 'row')}"
    counts += f"; B: {counted(summary.transactions_b, 'transaction')}, {counted(summary.rows_b, 'row')}"
    matched = "" if summary.by_gtid else "; compared by their contents, because not both sides have GTIDs"
    if summary.is_equal:
        result = "equal"
    else:
        parts = (
            (summary.only_in_a, "only in A"),
            (summary.only_in_b, "only in B"),
            (summary.different, "with the same GTID and other contents"),
            (summary.order, "in another order"),
        )
        result = ", ".join(f"{count:,} {text}" for count, text in parts if count)
    older = f"; {summary.older:,} from before the first log of the other side" if summary.older else ""
    incomplete = f"; {summary.incomplete:,} incomplete" if summary.incomplete else ""
    return f"{result}  ({counts}{matched}{older}{incomplete})"
