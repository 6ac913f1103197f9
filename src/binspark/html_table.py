"""Tables in HTML, with which notebooks show values (`_repr_html_`). Everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_SHOWN_BYTES = 32
_SHOWN_CHARACTERS = 300
_MAX_ROWS = 200


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table; of very many rows the first ones, and how many there are."""
    body, count = [], 0
    for row in rows:
        count += 1
        if count <= _MAX_ROWS:
            body.append("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>")
    if count > _MAX_ROWS:
        body.append(f'<tr><td colspan="{len(heads)}">… {count - _MAX_ROWS:,} more</td></tr>')
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def html_fields(caption: str, fields: Iterable[tuple[str, object]]) -> str:
    """Return the fields of one value, without those that are None, as a table of names and values."""
    return html_table(("field", "value"), ((name, value) for name, value in fields if value is not None), caption)


def _cell(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        text = data[:_SHOWN_BYTES].hex(" ") + (f" … {len(data):,} bytes" if len(data) > _SHOWN_BYTES else "")
        return f"<code>{text}</code>"
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**6 else str(value)
    shown = text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"
    return escape(shown)
