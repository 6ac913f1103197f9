"""A report as a page, and as JSON."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from binspark.reports.as_json import report_record
from binspark.reports.numbers import ReportNumbers
from binspark.reports.page import report_page


class Report:
    """What logs contain and what is wrong with them; `numbers` has all that is counted."""

    def __init__(self, numbers: ReportNumbers) -> None:
        self.numbers = numbers

    @property
    def ok(self) -> bool:
        """Whether `verify` found no error."""
        return self.numbers.verification.summary.ok

    def to_json(self) -> dict[str, Any]:
        """Return all numbers as values of JSON."""
        return report_record(self.numbers)

    def to_html(self) -> str:
        """Return the page: complete in itself, it needs no network and no script."""
        return report_page(self.numbers)

    def write_html(self, path: str | Path) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.to_html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox style="width: 100%; height: 80vh; border: 0"></iframe>'
