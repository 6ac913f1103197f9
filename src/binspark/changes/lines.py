"""Changed rows as lines, one at a time: of JSON, or of text for people. `documents.lines` does the same in bulk."""

from __future__ import annotations

from collections.abc import Iterable

from binspark.changes.change import Change, image_json, key_json
from binspark.documents.line_style import Heading, LineStyle, encoded, quoted, statement_json
from binspark.options.times import Clock
from binspark.position import log_name
from binspark.values.as_json import value_json
from binspark.values.value import Absent, Row, Value


def lines_of_changes(changes: Iterable[Change], style: LineStyle, heading: Heading) -> bytes:
    """Return the lines of changes, with a heading wherever it differs from the last one."""
    if not style.has_headings:
        return b"".join(encoded(change_json(change) + "\n") for change in changes)
    lines: list[bytes] = []
    for change in changes:
        title = encoded(change_heading(change, style) + "\n")
        if title != heading.last:
            lines.append(title)
            heading.last = title
        lines.append(encoded(change_line(change, style) + "\n"))
    return b"".join(lines)


def change_json(change: Change) -> str:
    """Return a change as the record that `binspark rows --format jsonl` prints, with its keys in a fixed order."""
    table = change.table_schema
    members = {
        "file": quoted(log_name(change.file)),
        "pos": str(change.pos),
        "row": str(change.row),
        "gtid": "null" if change.gtid is None else quoted(change.gtid),
        "timestamp": str(change.timestamp),
        "server_id": str(change.server_id),
        "thread_id": "null" if change.thread_id is None else str(change.thread_id),
        "schema": quoted(table.schema),
        "table": quoted(table.table),
        "op": quoted(change.op.value),
        "before": image_json(change.before_image, table),
        "after": image_json(change.after_image, table),
        "key": key_json(change),
        "statement": "null" if change.statement is None else statement_json(change.statement),
    }
    return "{" + ", ".join(f'"{name}": {value}' for name, value in members.items()) + "}"


def change_heading(change: Change, style: LineStyle) -> str:
    """Return the heading of the rows of a transaction and a statement."""
    thread = "" if change.thread_id is None else f"  thread {change.thread_id}"
    statement = "" if change.statement is None else f"  {statement_json(change.statement, style.max_statement)}"
    return f"# {change.gtid or 'anonymous'}  server {change.server_id}{thread}{statement}"


def change_line(change: Change, style: LineStyle) -> str:
    """Return a change as a line for people: position, time, operation, table and values."""
    position = f"{log_name(change.file)}:{change.pos}+{change.row}"
    moment = Clock(style.zone).text(change.timestamp)
    values = _values(change, style.max_value)
    line = f"{position:<24} {moment}  {change.op.value:<6}  {change.table_schema.name}"
    return f"{line}  {values}" if values else line


def _values(change: Change, width: int) -> str:
    """Return the values of the row; for an update the key, and the old and new values that differ."""
    before, after = change.before_image, change.after_image
    if before is None or after is None:
        return " ".join(_named(change, after if before is None else before, width))
    key = [
        f"{change.table_schema.column_names[index]}={_shortened(_text(change, index, before[index]), width)}"
        for index in (change.table_schema.primary_key or ())
        if change.key_image is not None
    ]
    return " ".join([*key, ", ".join(_changed(change, before, after, width)) or "(no value changed)"])


def _named(change: Change, image: Row | None, width: int) -> Iterable[str]:
    if image is None:
        return
    for index, (name, value) in enumerate(zip(change.table_schema.column_names, image, strict=True)):
        if not isinstance(value, Absent):
            yield f"{name}={_shortened(_text(change, index, value), width)}"


def _changed(change: Change, before: Row, after: Row, width: int) -> Iterable[str]:
    """Yield the columns whose values are written differently before and after the change."""
    for index, (name, old, new) in enumerate(zip(change.table_schema.column_names, before, after, strict=True)):
        if isinstance(new, Absent):
            continue
        old_text, new_text = _text(change, index, old), _text(change, index, new)
        if old_text != new_text:
            yield f"{name}: {_shortened(old_text, width)} → {_shortened(new_text, width)}"


def _text(change: Change, index: int, value: Value | Absent) -> str:
    return "?" if isinstance(value, Absent) else value_json(value, change.table_schema.columns[index])


def _shortened(text: str, width: int) -> str:
    return text[: width - 1] + "…" if width and len(text) > width else text
