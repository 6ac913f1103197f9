"""A report as one page of HTML: no script, no file beside it, everything from the log escaped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

from binspark.options.times import UTC_CLOCK
from binspark.position import log_name
from binspark.render.contents import size_text
from binspark.reports.numbers import ReportNumbers
from binspark.reports.plots import activity_plot, histogram_plot, parallelism_plot, tables_plot
from binspark.reports.timeline import SECOND
from binspark.transactions.contents import TableTally

_MAX_TABLES = 30
_MAX_FINDINGS = 50
_PART = '<p class="lead">Only what options select is counted. The logs are verified completely.</p>\n'
_CSS = """
:root { color-scheme: light dark; --back: #fff; --ink: #1c2733; --soft: #5a6775; --line: #d9dfe6; --card: #f5f7f9;
  --bad: #b3261e; --warn: #8a5a00; --good: #1f7a3d; }
@media (prefers-color-scheme: dark) { :root { --back: #14191f; --ink: #e4e9ee; --soft: #9aa7b4; --line: #303a45;
  --card: #1c232b; --bad: #ff8a80; --warn: #f0b95a; --good: #6fd694; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 68rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--back); }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.lead, .soft { color: var(--soft); } p.lead { margin-top: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
.card b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
.scroll { overflow-x: auto; } svg { width: 100%; height: auto; color: var(--ink); }
svg text { fill: currentColor !important; font-family: system-ui, sans-serif !important; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
td { overflow-wrap: anywhere; } code { font-size: .85em; }
code.one { white-space: nowrap; } pre { margin: .2rem 0; white-space: pre-wrap; }
.error { color: var(--bad); } .warning { color: var(--warn); } .good { color: var(--good); }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; }
  svg, tr, .card { break-inside: avoid; } }
"""


def report_page(report: ReportNumbers) -> str:
    """Return the page."""
    names = ", ".join(log_name(file) for file in report.files[:3]) + (" …" if len(report.files) > 3 else "")  # noqa: PLR2004
    sections = (
        _overview(report),
        _section("Activity", activity_plot(report) + _note(_activity_note(report))),
        _section("Changed rows", tables_plot(report) + _tables(report)),
        _section("Transactions", _transactions(report)),
        _section("Rows that change most often", _hot_rows(report)),
        _section("Parallelism", _parallelism(report)),
        _section("GTIDs", _gtids(report)),
        _section("Schema changes", _schema_changes(report)),
        _section("Findings of verify", _findings(report)),
        _section("Hints for the server's settings", _hints(report)),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_text(names)} · binspark report</title><style>{_CSS}</style></head>\n<body><main>\n"
        f"<h1>{_text(names)}</h1>\n{_PART if report.is_part else ''}"
        + "\n".join(sections)
        + "\n</main></body></html>\n"
    )


def _overview(report: ReportNumbers) -> str:
    contents, summary = report.contents, report.verification.summary
    span = " to ".join(_time(second) for second in (contents.first_timestamp, contents.last_timestamp))
    servers = ", ".join(f"{version} (server id {number})" for version, number in contents.servers.items())
    rows = sum(tally.rows for tally in contents.tables.values())
    verdict = '<b class="good">intact</b>' if summary.ok else f'<b class="error">{summary.errors:,} errors</b>'
    cards = (
        ("files", f"<b>{len(report.files):,}</b>"),
        ("bytes", f"<b>{size_text(contents.events.bytes)}</b>"),
        ("events", f"<b>{contents.events.count:,}</b>"),
        ("transactions", f"<b>{contents.transactions.count:,}</b>"),
        ("changed rows", f"<b>{rows:,}</b>"),
        ("tables", f"<b>{len({name[:2] for name in contents.tables}):,}</b>"),
        ("schema changes", f"<b>{report.schema_change_count:,}</b>"),
        ("verify", verdict),
    )
    shown = "".join(f'<div class="card">{value}<span class="soft">{label}</span></div>' for label, value in cards)
    return f'<p class="lead">{span}<br>written by {_text(servers)}</p><div class="cards">{shown}</div>'


def _activity_note(report: ReportNumbers) -> str:
    marks = " Dotted lines are schema changes." if report.schema_changes else ""
    return f"By the time of the commit, in UTC.{marks}"


def _tables(report: ReportNumbers) -> str:
    totals: dict[tuple[str, str], TableTally] = {}
    operations: dict[tuple[str, str], list[str]] = {}
    for (schema, table, operation), tally in report.contents.tables.items():
        totals.setdefault((schema, table), TableTally()).add(tally)
        operations.setdefault((schema, table), []).append(f"{tally.rows:,} {operation}")
    ordered = sorted(totals, key=lambda name: (-totals[name].bytes, name))
    rows = (
        (
            _text(".".join(name)),
            f"{totals[name].rows:,}" + ("+" if totals[name].uncounted else ""),
            ", ".join(operations[name]),
            size_text(totals[name].bytes),
        )
        for name in ordered[:_MAX_TABLES]
    )
    more = len(ordered) - _MAX_TABLES
    return _table(("table", "rows", "of them", "bytes"), rows, numeric={1, 3}) + (
        _note(f"{more:,} more tables are not shown.") if more > 0 else ""
    )


def _transactions(report: ReportNumbers) -> str:
    plots = [histogram_plot(report.sizes, size_text, "Sizes of transactions, from a number of bytes up to twice that")]
    notes = ["Left: sizes, from a number of bytes up to twice that."]
    if report.durations.bounds:
        plots.append(histogram_plot(report.durations, lambda bound: f"{bound} s", "Durations of transactions"))
        notes.append("Right: seconds from the first statement to the commit, as far as the times of events show it.")
    pictures = '<div class="pair">' + "".join(f"<div>{plot}</div>" for plot in plots) + "</div>"
    largest = _table(
        ("largest", "bytes", "where", "what"),
        (
            (
                _code(each.gtid or "anonymous"),
                size_text(each.length),
                _position(each.file, each.start),
                _text(", ".join(each.changes[:4]) or (each.text or b"").decode(errors="backslashreplace")[:100]),
            )
            for each in report.contents.largest
        ),
        numeric={1},
    )
    longest = _table(
        ("longest", "seconds", "committed", "where", "tables"),
        (
            (
                _code(each.gtid or "anonymous"),
                f"{each.seconds:,}",
                _time(each.time // SECOND),
                _position(each.file, each.offset),
                _text(", ".join(each.tables[:4])),
            )
            for each in report.longest
        ),
        numeric={1},
    )
    return pictures + _note(" ".join(notes)) + largest + (longest if report.longest else "")


def _hot_rows(report: ReportNumbers) -> str:
    if not report.hot_rows:
        return _note("No row with a known primary key was updated or deleted more than once.")
    rows = (
        (
            _text(row.table),
            _code(", ".join(f"{name} = {value}" for name, value in row.key.items())),
            f"{row.count:,}" + (f" to {row.count + row.error:,}" if row.error else ""),
        )
        for row in report.hot_rows
    )
    return _table(("table", "key", "updates and deletes"), rows, numeric={2})


def _parallelism(report: ReportNumbers) -> str:
    found = report.contents.parallelism
    if not found.transactions:
        return _note("There are no transactions.")
    text = (
        f"A replica needs at least {found.critical_path:,} steps for {found.transactions:,} transactions: "
        f"{found.average:.1f} at a time on average, {found.largest_group:,} at most."
    )
    return (parallelism_plot(report) if report.parallelism.times else "") + _note(text)


def _gtids(report: ReportNumbers) -> str:
    if not report.gtids:
        return _note("The logs have no MySQL GTIDs.")
    shown = report.gtids if len(report.gtids) <= 2000 else report.gtids[:2000] + " …"  # noqa: PLR2004
    if not report.gtid_gaps:
        return f"<p>{_code(shown)}</p>" + _note("No number between the first and the last of a source is missing.")
    rows = ((_code(gap.source), f"{gap.count:,}", _code(gap.missing[:500])) for gap in report.gtid_gaps)
    return f"<p>{_code(shown)}</p>" + _table(("source", "missing", "GTIDs"), rows, numeric={1})


def _schema_changes(report: ReportNumbers) -> str:
    if not report.schema_changes:
        return _note("There are none.")
    rows = (
        (_time(change.time // SECOND), _position(change.file, change.offset), _code(change.statement))
        for change in report.schema_changes
    )
    more = report.schema_change_count - len(report.schema_changes)
    table = _table(("time", "where", "statement"), rows)
    return table + (_note(f"{more:,} more are not shown.") if more > 0 else "")


def _findings(report: ReportNumbers) -> str:
    findings = report.verification.findings
    if not findings:
        return '<p class="good">Nothing is damaged, missing or there twice.</p>'
    rows = (
        (
            f'<span class="{finding.severity.value}">{finding.severity.value}</span>',
            _position(finding.position.file or "", finding.position.offset or 0),
            _text(finding.message),
        )
        for finding in findings[:_MAX_FINDINGS]
    )
    more = len(findings) - _MAX_FINDINGS
    table = _table(("severity", "where", "finding"), rows)
    return table + (_note(f"{more:,} more: see binspark verify.") if more > 0 else "")


def _hints(report: ReportNumbers) -> str:
    if not report.hints:
        return _note("The logs show no problem of the server's settings; binspark doctor asks the server itself.")
    rows = (
        (
            f'<span class="{hint.severity.value}">{hint.severity.value}</span>',
            _code(hint.setting) + "<br>" + _text(hint.value),
            _text(hint.reason) + f"<pre><code>{_text(hint.fix)}</code></pre>",
        )
        for hint in report.hints
    )
    return _table(("severity", "setting", "why, and what to do"), rows)


def _section(title: str, content: str) -> str:
    return f"<section><h2>{_text(title)}</h2>{content}</section>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Collection[int] = ()) -> str:
    """Return a table; the cells are HTML already."""

    def cell(kind: str, index: int, content: str) -> str:
        return f"<{kind}{' class=n' if index in numeric else ''}>{content}</{kind}>"

    head = "".join(cell("th", index, _text(name)) for index, name in enumerate(heads))
    body = "".join(
        "<tr>" + "".join(cell("td", index, content) for index, content in enumerate(row)) + "</tr>" for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _note(text: str) -> str:
    return f'<p class="soft">{_text(text)}</p>'


def _time(second: int | None) -> str:
    return "?" if not second else UTC_CLOCK.text(second)


def _position(file: str, offset: int) -> str:
    return f'<code class="one">{_text(log_name(file))}:{offset}</code>'


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _text(text: str) -> str:
    return escape(text)
