"""A report as values of JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from binspark.render.contents import contents_record
from binspark.reports.numbers import Histogram, ReportNumbers, Series


def report_record(report: ReportNumbers) -> dict[str, Any]:
    """Return all numbers of a report as values of JSON, in a fixed order of keys."""
    summary = report.verification.summary
    return {
        "files": list(report.files),
        "is_part": report.is_part,
        "contents": contents_record(report.contents),
        "activity": {
            "writes": _series(report.writes),
            "rows_by_table": _series(report.rows),
            "rows_by_operation": _series(report.operations),
            "parallelism": _series(report.parallelism),
        },
        "transaction_bytes": _histogram(report.sizes),
        "transaction_seconds": _histogram(report.durations),
        "longest": [each._asdict() | {"tables": list(each.tables)} for each in report.longest],
        "hot_rows": [asdict(row) for row in report.hot_rows],
        "gtids": report.gtids,
        "gtid_gaps": [asdict(gap) for gap in report.gtid_gaps],
        "schema_changes": [each._asdict() for each in report.schema_changes],
        "schema_change_count": report.schema_change_count,
        "verify": {
            "ok": summary.ok,
            "errors": summary.errors,
            "warnings": summary.warnings,
            "findings": [
                {
                    "severity": finding.severity.value,
                    "code": finding.code,
                    "file": finding.position.file,
                    "pos": finding.position.offset,
                    "message": finding.message,
                }
                for finding in report.verification.findings
            ],
        },
        "hints": [{**asdict(hint), "severity": hint.severity.value} for hint in report.hints],
    }


def _series(series: Series) -> dict[str, Any]:
    return {"interval_us": series.width, "times_us": series.times, "values": series.values}


def _histogram(histogram: Histogram) -> dict[str, Any]:
    return {"from": histogram.bounds, "count": histogram.counts}
