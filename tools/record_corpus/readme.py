"""The README of the corpus: a table of its cases."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tools.record_corpus.case import Case
from tools.record_corpus.contents import count_events, is_log, server_version

INTRODUCTION = """\
# Recorded logs

Written by `python -m tools.record_corpus`, which starts real servers and runs the SQL in `tools/record_corpus`.
This page is written by it, too. Each folder is one case. `NAME.txt` is the output of `mysqlbinlog` or `mariadb-binlog`
for the log `NAME`, in UTC, with `--verbose --verbose --base64-output=decode-rows --force-if-open
--print-table-metadata`. `*.index` is the server's index of its logs. Encrypted logs come with their key; their text is
what the server sent.
"""


def write_readme(corpus: Path, cases: list[Case], notes: str) -> None:
    """Write the page, with every case that has been recorded."""
    lines = [INTRODUCTION, "| case | shows | server | logs | events |", "| --- | --- | --- | --- | --- |"]
    for case in cases:
        folder = corpus / case.path
        if folder.is_dir():
            lines.append(_row(case, sorted(path for path in folder.iterdir() if is_log(path))))
    (corpus / "README.md").write_text("\n".join(lines) + "\n\n" + notes)


def _row(case: Case, logs: list[Path]) -> str:
    counts: Counter[str] = sum((count_events(log) for log in logs), Counter())
    events = ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "(encrypted)"
    versions = sorted({server_version(log) for log in logs} - {""}) or [case.family.title]
    size = sum(log.stat().st_size for log in logs)
    files = f"{len(logs)}, {size:,} bytes"
    return f"| `{case.path}` | {case.shows} | {', '.join(versions)} | {files} | {events} |"
